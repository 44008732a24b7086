//! `zerocap recover`.

use crate::cli::terminal::{print, remark};
use crate::error::{exit, Result};
use crate::jobs::recover::{self, Request};
use crate::jobs::Roots;
use std::io::Write;
use std::path::PathBuf;

/// Put back what an interrupted test left, or say why not
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap recover                            all that interrupted tests left
  zerocap recover /dev/sda --export old.img  the old content into a file
  zerocap recover /dev/sda --give-up         nothing of it is wanted")]
pub struct Recover {
    /// The device, or the name that an earlier call gave of what is left; none: all
    #[arg(value_name = "DEV")]
    device: Option<String>,
    /// Where the journal lies, if the test was given --journal
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// Write the old content to FILE, and change nothing
    #[arg(long, value_name = "FILE", conflicts_with = "give_up")]
    export: Option<PathBuf>,
    /// Drop what is left of a test: its journal and its intent; the device is not touched
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
