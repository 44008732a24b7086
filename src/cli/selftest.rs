//! `zerocap selftest`.

use crate::error::{exit, Error, Result};
use crate::jobs::selftest;
use crate::jobs::Roots;
use std::io::Write;

/// The whole job on a throw-away loop device
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap selftest  as root on a loop device, else simulated")]
pub struct Selftest {}

impl Selftest {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        if !roots.is_live() {
            return Err(Error::Usage(
                "a recorded machine is never written to: selftest works on the running system".to_owned(),
            ));
        }
        // Each line as it is done; a reader that went away ends nothing.
        let say = |line: &str| drop(writeln!(std::io::stdout(), "{line}"));
        let held = selftest::run(&mut |line| say(line))?;
        say(if held { "selftest passed" } else { "selftest FAILED" });
        Ok(if held { exit::OK } else { exit::FAILURE })
    }
}
