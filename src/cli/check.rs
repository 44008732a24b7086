//! `zerocap check`.

use crate::cli::terminal::{print, remark};
use crate::error::{Error, Result};
use crate::jobs::check::{self, Answer, Request, Requirement};
use crate::jobs::Roots;
use crate::output::{detail, path_answer};
use crate::units::parse_duration;
use std::io::Write;
use verdict_format::answers::json;

/// Give the verdict of a device, or of the devices below a path, as an exit code
///
/// The exit code is 0 for fast, 3 for slow, 4 for none, 5 for unknown and 6 for broken. It is 7 if a requirement is not met, and 8
/// if the device is fast but the path cannot use it because of its file system, the kernel or the kernel's tunable.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap check -q /dev/nvme0n1 && echo fast  in a script
  zerocap check --require verified /dev/sda   do not accept a pin alone
  zerocap check --max-age 90d /dev/sda        do not accept an old measurement
  zerocap check /var/lib/postgresql           can files there be zeroed fast?")]
pub struct Check {
    /// A device, file, directory or mount point; a partition stands for its disk
    #[arg(value_name = "DEV|PATH")]
    target: String,
    /// Exit with 7 unless WHAT is true; may be given several times
    #[arg(long, value_name = "WHAT")]
    require: Vec<Requirement>,
    /// Exit with 7 if the measurement is older than DURATION: a number with s, m, h, d or w
    #[arg(long, value_name = "DURATION")]
    max_age: Option<String>,
    /// Exit with 0 if the device is fast and the path can use it, with 3 for any other answer, and with 1, 2 or 32 if there is no answer
    #[arg(long)]
    boolean: bool,
    /// Print nothing on standard output
    #[arg(short, long)]
    quiet: bool,
    /// Print the answer as JSON: the document of the device, or the answer for the path
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,
}

impl Check {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let max_age = self.max_age.as_deref().map(|text| {
            parse_duration(text).ok_or_else(|| {
                Error::Usage(
                    "--max-age: this is not a duration; give a number with s, m, h, d or w, like 30d".to_owned(),
                )
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
