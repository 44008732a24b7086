//! `zerocap record`.

use crate::cli::terminal::{print, remark};
use crate::error::{exit, Result};
use crate::jobs::record;
use crate::jobs::Roots;
use std::io::Write;
use std::path::PathBuf;

/// Record everything that zerocap reads of one device, for a bug report
///
/// DIR then holds everything that `show` and `probe` read of DEV and of its members, so that `--root DIR` gives the same answers
/// anywhere. DEV is never opened for writing. What could not be read is reported on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap record /dev/sda recorded  record; read the files before you publish
  zerocap --root recorded show      show the verdict from the recorded files")]
pub struct Record {
    /// The device; a partition stands for its disk
    #[arg(value_name = "DEV")]
    device: String,
    /// A new directory, or an empty one
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Do not replace serial numbers, WWNs, UUIDs, volume names, and the paths of backing files and of their mounts
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
