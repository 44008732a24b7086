//! `zerocap explain`.

use crate::cli::terminal::print;
use crate::error::{exit, Error, Result};
use crate::output::explain;
use std::io::Write;

/// Explain what a finding, a class or an exit code means, and what to do about it
///
/// Without CODE, every word that can be explained is listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap explain not-sustained  a finding
  zerocap explain unknown        a class
  zerocap explain 7              an exit code of check")]
pub struct Explain {
    /// The word as zerocap prints it, such as old-data-left, unknown or 7
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

impl Explain {
    /// Runs the verb.
    pub fn run(&self) -> Result<u8> {
        let Some(code) = &self.code else {
            print(|out| explain::words().iter().try_for_each(|word| writeln!(out, "{word}")))?;
            return Ok(exit::OK);
        };
        let text = explain::explain(code).ok_or_else(|| {
            let shown = crate::device::display::escape_str(code);
            Error::Usage(format!(
                "{shown} is not a finding, a class or an exit code; `zerocap explain` lists all of them"
            ))
        })?;
        print(|out| writeln!(out, "{text}"))?;
        Ok(exit::OK)
    }
}
