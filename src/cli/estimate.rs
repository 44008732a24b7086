//! `zerocap estimate`.

use crate::cli::terminal::{print, remark};
use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::jobs::estimate::{self, Request};
use crate::jobs::Roots;
use crate::output::estimate as output;
use crate::units::{parse_size, SIZE_FORMS};
use std::io::Write;
use verdict_format::answers::json;

/// How long zeroing takes, by the best method and by writing
///
/// From the measured rates; 5 where they are not known.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap estimate /dev/nvme0n1 100GiB                by zeroing and by writing
  zerocap estimate /dev/sda 1TiB --data-fraction 0.3  a mostly empty image")]
pub struct Estimate {
    /// A device (a partition stands for its disk), or a file, directory or mount point
    #[arg(value_name = "DEV|PATH")]
    target: String,
    /// How much, in bytes or with K, M, G, T (powers of 1024) or GB, TB
    #[arg(value_name = "BYTES")]
    bytes: String,
    /// The part of it that will hold data, 0 to 1: zero all of it first, or only the rest?
    #[arg(long, value_name = "F")]
    data_fraction: Option<f64>,
    /// The answer as one object
    #[arg(long)]
    pub(super) json: bool,
}

impl Estimate {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let bytes = parse_size(&self.bytes)
            .ok_or_else(|| Error::Usage(format!("BYTES {}: not a size; give {SIZE_FORMS}", escape_str(&self.bytes))))?;
        if self.data_fraction.is_some_and(|f| !(0.0..=1.0).contains(&f)) {
            return Err(Error::Usage("--data-fraction: not between 0 and 1".to_owned()));
        }
        let request = Request { typed: &self.target, bytes, data: self.data_fraction };
        let (estimate, code) = estimate::run(roots, &request, &mut remark)?;
        print(|out| if self.json { writeln!(out, "{}", json(&estimate)) } else { output::write(out, &estimate) })?;
        Ok(code)
    }
}
