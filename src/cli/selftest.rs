//! `zerocap selftest`.

use crate::error::{exit, Result};
use crate::jobs::selftest;

/// The whole job on a throw-away loop device
#[derive(Debug, clap::Args)]
pub struct Selftest {}

impl Selftest {
    /// Runs the verb.
    pub fn run(&self) -> Result<u8> {
        let held = selftest::run(&mut |line| println!("{line}"))?;
        println!("{}", if held { "selftest passed" } else { "selftest FAILED" });
        Ok(if held { exit::OK } else { exit::FAILURE })
    }
}
