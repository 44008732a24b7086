//! `zerocap record`.

use crate::cli::terminal::{print, remark};
use crate::error::{exit, Result};
use crate::jobs::record;
use crate::jobs::Roots;
use std::io::Write;
use std::path::PathBuf;

/// Write a recorded machine of one device, for a bug report
///
/// All that `show` and `probe` read of DEV and of what it is made of, so that `--root DIR` gives their answers again.
/// Never opens DEV for writing. What could not be read is said on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap record /dev/sda recorded  for a bug report; look through it first
  zerocap --root recorded show      what is answered from it")]
pub struct Record {
    /// The device; a partition stands for its disk
    #[arg(value_name = "DEV")]
    device: String,
    /// A new directory, or an empty one
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Keep serial numbers, WWNs, UUIDs, names of volumes, paths of backing files and of their mounts
    #[arg(long)]
    with_serials: bool,
}

impl Record {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let recorded = record::run(roots, &self.device, &self.dir, self.with_serials)?;
        recorded.lost.iter().for_each(|line| remark(&format!("could not read {line}")));
        print(|out| {
            let (names, dir) = (recorded.devices.join(", "), self.dir.display());
            writeln!(out, "{names}: {} files in {dir}", recorded.files)
        })?;
        Ok(exit::OK)
    }
}
