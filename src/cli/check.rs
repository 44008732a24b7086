//! `zerocap check`.

use crate::cli::terminal::{print, remark};
use crate::error::{Error, Result};
use crate::jobs::check::{self, Answer, Request, Requirement};
use crate::jobs::Roots;
use crate::output::{detail, path_answer};
use crate::units::parse_duration;
use std::io::Write;
use verdict_format::answers::json;

/// The verdict of a device, or of what a path lies on, as an exit code
///
/// 0 fast, 3 slow, 4 none, 5 unknown, 6 broken, 7 a requirement is not met, 8 the device is fast but this path cannot use
/// it (file system, kernel, knob).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap check -q /dev/nvme0n1 && echo fast  in a script
  zerocap check --require verified /dev/sda   a pin alone is not enough
  zerocap check --max-age 90d /dev/sda        an old answer is none
  zerocap check /var/lib/postgresql           can files there be zeroed fast?")]
pub struct Check {
    /// A device (a partition stands for its disk), or a file, directory or mount point
    #[arg(value_name = "DEV|PATH")]
    target: String,
    /// Exit with 7 unless this holds; may be given several times
    #[arg(long, value_name = "WHAT")]
    require: Vec<Requirement>,
    /// Exit with 7 if the measurement is older: a number with s, m, h, d or w
    #[arg(long, value_name = "DURATION")]
    max_age: Option<String>,
    /// Exit with 0 for fast and usable here, 3 for anything else that is known or not, and 1, 2 or 32 for no answer
    #[arg(long)]
    boolean: bool,
    /// Print nothing on standard output
    #[arg(short, long)]
    quiet: bool,
    /// The document of format 1; for a path, the answer for a path
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,
}

impl Check {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let max_age = self.max_age.as_deref().map(|text| {
            parse_duration(text).ok_or_else(|| {
                Error::Usage("--max-age: not a duration; a number with s, m, h, d or w, like 30d".to_owned())
            })
        });
        let max_age = max_age.transpose()?;
        let request = Request { typed: &self.target, require: &self.require, max_age, boolean: self.boolean };
        let checked = check::run(roots, &request, &mut remark)?;
        if !self.quiet {
            print(|out| match &checked.answer {
                Answer::Device(document) if self.json => writeln!(out, "{}", document.json()),
                Answer::Device(document) => writeln!(out, "{}", detail::sentence(document)),
                Answer::Path(answer) if self.json => writeln!(out, "{}", json(answer)),
                Answer::Path(answer) => path_answer::write(out, answer),
            })?;
            checked.unmet.iter().for_each(|r| remark(&format!("not met: {r}")));
        }
        Ok(checked.code)
    }
}
