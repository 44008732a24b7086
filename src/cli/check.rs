//! `zerocap check`.

use crate::cli::{print, remark};
use crate::error::Result;
use crate::jobs::check::{self, Requirement};
use crate::jobs::Env;
use crate::output::detail;
use std::io::Write;

/// The verdict of one device as an exit code
///
/// 0 fast, 3 slow, 4 none, 5 unknown, 6 broken, 7 a requirement is not met.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The device; a partition stands for its disk
    #[arg(value_name = "DEV")]
    device: String,
    /// Exit with 7 unless this holds; may be given several times
    #[arg(long, value_name = "WHAT")]
    require: Vec<Requirement>,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
    /// The document of format 1
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

impl Check {
    /// Runs the verb.
    pub fn run(&self, env: &Env) -> Result<u8> {
        let checked = check::run(env, &self.device, &self.require, &mut remark)?;
        if !self.quiet {
            print(|out| match self.json {
                true => writeln!(out, "{}", checked.document.json()),
                false => writeln!(out, "{}", detail::sentence(&checked.document)),
            })?;
            checked.unmet.iter().for_each(|r| remark(&format!("not met: {}", r.as_str())));
        }
        Ok(checked.code)
    }
}
