//! `zerocap recover`.

use crate::cli::terminal::{print, remark};
use crate::error::{exit, Result};
use crate::jobs::recover::{self, Request};
use crate::jobs::Roots;
use std::io::Write;
use std::path::PathBuf;

/// Put back what an interrupted test left behind, or say why it is not put back
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap recover                            recover all interrupted tests
  zerocap recover /dev/sda --export old.img  save the old content in a file
  zerocap recover /dev/sda --give-up         drop the old content for good")]
pub struct Recover {
    /// The device, or the name that an earlier `recover` printed; without it, all interrupted tests
    #[arg(value_name = "DEV")]
    device: Option<String>,
    /// The directory of the journal, if the test was given --journal
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// Write the old content to FILE, and change nothing
    #[arg(long, value_name = "FILE", conflicts_with = "give_up")]
    export: Option<PathBuf>,
    /// Delete what is kept of the test, its journal and its intent; the device is not touched
    #[arg(long, requires = "device")]
    give_up: bool,
}

impl Recover {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let reports = recover::run(
            roots,
            &Request {
                device: self.device.clone(),
                journal: self.journal.clone(),
                export: self.export.clone(),
                give_up: self.give_up,
            },
        )?;
        let mut failed = 0;
        print(|out| {
            reports.iter().try_for_each(|(name, report)| match report {
                Ok(said) => writeln!(out, "{name}: {said}"),
                Err(e) => {
                    failed += 1;
                    remark(&e.to_string());
                    Ok(())
                }
            })
        })?;
        // Whatever remains is a failure, also beside others that were cleared up.
        Ok(if failed == 0 { exit::OK } else { exit::FAILURE })
    }
}
