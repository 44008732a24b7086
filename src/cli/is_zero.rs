//! `zerocap is-zero`.

use crate::cli::terminal::print;
use crate::error::Result;
use crate::jobs::is_zero;
use crate::jobs::Roots;
use crate::units::{human_bytes, human_rate};
use std::io::{IsTerminal, Write};
use verdict_format::answers::json;

/// Read a whole device and name the first block that is not zero
///
/// The exit code is 0 if every byte is zero, 7 if not, and 1 if the device could not be read. That a device is zero now says nothing
/// about how fast it can zero.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap is-zero /dev/sdb                 did the wipe work?
  zerocap is-zero -q /dev/sdb1 || echo no  in a script")]
pub struct IsZero {
    /// The device; of a partition, only the partition is read
    #[arg(value_name = "DEV")]
    device: String,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
    /// Print the answer as one JSON object
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,
}

impl IsZero {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let shows = !self.quiet && std::io::stderr().is_terminal();
        let from = std::time::Instant::now();
        let mut shown = false;
        let mut tell = |done: u64, size: u64| {
            if shows && size > 0 {
                let rate = done as f64 / from.elapsed().as_secs_f64();
                let percent = done as f64 * 100.0 / size as f64;
                // Nobody may be listening any more; that is no reason to stop.
                let _ = write!(std::io::stderr(), "\r{percent:5.1} %  {:>12}\x1b[K", human_rate(rate as u64));
                shown = true;
            }
        };
        let result = is_zero::run(roots, &self.device, &mut tell);
        if shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        let answer = result?;
        if !self.quiet {
            print(|out| match (self.json, answer.first_nonzero_block, answer.first_nonzero_byte) {
                (true, _, _) => writeln!(out, "{}", json(&answer)),
                (false, Some(block), Some(byte)) => writeln!(
                    out,
                    "{} is not zero: block {block} of {} bytes is the first that is not (byte {byte}).",
                    answer.node, answer.block_bytes
                ),
                _ => writeln!(
                    out,
                    "{} is zero: all {} were read in {:.1} s.",
                    answer.node,
                    human_bytes(answer.size_bytes),
                    answer.seconds
                ),
            })?;
        }
        Ok(is_zero::code(&answer))
    }
}
