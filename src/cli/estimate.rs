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

/// Estimate how long zeroing takes, by the best method and by writing zeroes
///
/// The estimate uses the measured rates. If they are not known, the exit code is 5.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap estimate /dev/nvme0n1 100GiB                zero 100 GiB
  zerocap estimate /dev/sda 1TiB --data-fraction 0.3  write a sparse image")]
pub struct Estimate {
    /// A device, file, directory or mount point; a partition stands for its disk
    #[arg(value_name = "DEV|PATH")]
    target: String,
    /// How much to zero, in bytes or with K, M, G, T (powers of 1024) or GB, TB (powers of 1000)
    #[arg(value_name = "BYTES")]
    bytes: String,
    /// The fraction of the bytes that will hold data, from 0 to 1; compares zeroing all of them first with zeroing only the rest
    #[arg(long, value_name = "F")]
    data_fraction: Option<f64>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl Estimate {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let bytes = parse_size(&self.bytes).ok_or_else(|| {
            Error::Usage(format!("BYTES {}: this is not a size; give {SIZE_FORMS}", escape_str(&self.bytes)))
        })?;
        if self.data_fraction.is_some_and(|f| !(0.0..=1.0).contains(&f)) {
            return Err(Error::Usage("--data-fraction: give a number between 0 and 1".to_owned()));
        }
        let request = Request { typed: &self.target, bytes, data: self.data_fraction };
        let (estimate, code) = estimate::run(roots, &request, &mut remark)?;
        print(|out| if self.json { writeln!(out, "{}", json(&estimate)) } else { output::write(out, &estimate) })?;
        Ok(code)
    }
}
