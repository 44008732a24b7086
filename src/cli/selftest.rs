//! `zerocap selftest`.

use crate::error::{exit, Error, Result};
use crate::jobs::selftest;
use crate::jobs::Roots;
use std::io::Write;

/// Check that zerocap works on this machine, by a whole test on a temporary loop device
///
/// As root the test runs on a loop device that exists only for it; otherwise the device is simulated. It also checks whether udev
/// rule, units, policy and kernel are in place, and prints the command that mends what is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap selftest  check this machine")]
pub struct Selftest {}

impl Selftest {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        if !roots.is_live() {
            return Err(Error::Usage(
                "selftest works on the running system only, because a recorded machine is never written to; \
                 leave out --root"
                    .to_owned(),
            ));
        }
        // Each line as it is done; a reader that went away ends nothing.
        let say = |line: &str| drop(writeln!(std::io::stdout(), "{line}"));
        let held = selftest::run(&mut |line| say(line))?;
        say(if held { "selftest passed" } else { "selftest FAILED" });
        Ok(if held { exit::OK } else { exit::FAILURE })
    }
}
