//! `zerocap probe`.

use crate::cli::terminal::{print, remark};
use crate::error::{exit, Result};
use crate::jobs;
use crate::jobs::Roots;
use crate::output::probe;
use std::io::Write;
use verdict_format::answers::json;

/// Show every reading with its source
///
/// The device is never opened for writing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap probe /dev/nvme0n1     show each field, raw and decoded
  zerocap probe --json /dev/sda  also say why a reading is not known")]
pub struct Probe {
    /// The device
    #[arg(value_name = "DEV")]
    device: String,
    /// Print JSON: raw and decoded values, and the reason for each value that is not known
    #[arg(long)]
    pub(super) json: bool,
}

impl Probe {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let (answer, document) = jobs::probe::run(roots, &self.device, &mut remark)?;
        print(
            |out| {
                if self.json {
                    writeln!(out, "{}", json(&answer))
                } else {
                    probe::write(out, &answer, &document)
                }
            },
        )?;
        Ok(exit::OK)
    }
}
