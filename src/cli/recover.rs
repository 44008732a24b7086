//! `zerocap recover`.

use crate::cli::{print, remark};
use crate::error::{exit, Result};
use crate::jobs::recover;
use crate::machine::Roots;
use std::io::Write;
use std::path::PathBuf;

/// Put back what an interrupted test left, or say why not
#[derive(Debug, clap::Args)]
pub struct Recover {
    /// The device; none: all
    #[arg(value_name = "DEV")]
    device: Option<String>,
    /// Where the journal lies, if the test was given --journal
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
}

impl Recover {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let reports = recover::run(roots, self.device.as_deref(), self.journal.clone())?;
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
        Ok(match failed {
            0 => exit::OK,
            n if n == reports.len() => exit::FAILURE,
            _ => exit::SOME_FAILED,
        })
    }
}
