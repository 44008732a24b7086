//! `zerocap measure`.

use crate::cli::measure_all;
use crate::cli::progress::ProgressLine;
use crate::cli::terminal::{complain, glyphs, print, remark};
use crate::device::display::escape_str;
use crate::error::{exit, Error, Result};
use crate::jobs::measure::{self, Answer, Request};
use crate::jobs::{measure_auto, measure_places, report, Roots};
use crate::output::detail;
use crate::units::{parse_size, SIZE_FORMS};
use std::io::Write;
use std::path::PathBuf;
use verdict_format::answers::json;

/// The timed and verified test; keeps and publishes the verdict
///
/// Writes to the scratch range only, and puts its content back. WHERE is a partition of DEV or a logical volume on it alone
/// (/dev/…), `label` (the GPT partition named zerocap-scratch), `gap` (space between partitions that reads zero), `vg:VG` (a
/// logical volume that is made there and removed), `auto` (the first that is possible of label, gap, an inactive swap partition,
/// vg: and a directory), or OFFSET+LENGTH in bytes, or with K, M, G, T. Swap that is not active is nobody's: it is left as the
/// test left it, its first MiB as it was. A directory of a file system on DEV: a file without a name is made there; ext4 from
/// Linux 6.17 on gives the class, and what zeroed space in files gains is said. A directory or a mount point in place of DEV
/// stands for the disk below it. Without --scratch nothing is tested: the places that are possible on DEV are listed,
/// each with its command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap measure /dev/sda --scratch label --dry-run  proof and plan, no write
  zerocap measure /dev/sda --scratch label            the test
  zerocap measure /dev/sda --scratch gap --tune       SCSI: the best mode, too
  zerocap measure /dev/sdb --scratch 1GiB+64MiB       a range, put back
  zerocap measure /dev/sda --scratch /var/lib         in a file there
  zerocap measure --all --scratch auto                every device with a place")]
pub struct Measure {
    /// The whole device, by any of its names; a directory stands for the disk below it
    #[arg(value_name = "DEV", required_unless_present = "all", conflicts_with = "all")]
    device: Option<String>,
    /// Where the test may write
    #[arg(long, value_name = "WHERE")]
    scratch: Option<String>,
    /// Where the policy says that an automatic test may write
    #[arg(long, conflicts_with = "scratch")]
    auto: bool,
    /// Every device whose policy asks for a test; with `--scratch auto` every device on which a place is found
    #[arg(long, conflicts_with_all = ["auto", "report"])]
    all: bool,
    /// With --all: so many tests at once, one a controller. A test that waits for the processor measures it
    #[arg(long, value_name = "N", default_value_t = 2, requires = "all")]
    jobs: usize,
    /// Print the proof and the plan, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Allow a thinly provisioned device (at most 64 MiB of it)
    #[arg(long)]
    thin_ok: bool,
    /// Allow a scratch that holds data without a signature; it is put back
    #[arg(long)]
    data_ok: bool,
    /// Allow a range of a device that other machines may use too, though nobody here sees what they write
    #[arg(long)]
    shared_ok: bool,
    /// Keep the old content in DIR while the test runs
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// Bytes that the test writes at most, the put-back included
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    max_bytes: String,
    /// Bytes that are zeroed in one long stretch; the test writes six times as much [default: 256MiB]
    #[arg(long, value_name = "SIZE")]
    sustained: Option<String>,
    /// Bytes of a larger scratch that are used [default: 52MiB]
    #[arg(long, value_name = "SIZE")]
    scratch_bytes: Option<String>,
    /// Seconds for the test, put-back not counted
    #[arg(long, value_name = "N", default_value_t = 60)]
    max_seconds: u64,
    /// Seconds after which a call counts as not answered [default: from the device's own timeout]
    #[arg(long, value_name = "N")]
    deadline: Option<u64>,
    /// Put back limits and modes of the kernel that the test changed
    #[arg(long)]
    restore_limits: bool,
    /// Try each zeroing_mode that the claims of a SCSI disk allow; the best is kept as wanted. Budgets are shared out
    #[arg(long, conflicts_with_all = ["deep", "interference"])]
    tune: bool,
    /// Also a command over 65536 blocks, where the limit allows one, and a span past a volatile cache
    #[arg(long)]
    deep: bool,
    /// Also what zeroing does to reads and writes meanwhile
    #[arg(long)]
    interference: bool,
    /// Also write a report: a page of HTML with pictures that needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    report: Option<PathBuf>,
    /// A line a pair on standard error
    #[arg(short, long)]
    verbose: bool,
    /// The document of format 1; with --dry-run the proof, without --scratch the places, as an array of lines
    #[arg(long)]
    json: bool,
}

impl Measure {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let usage = |what: String| Error::Usage(what);
        let size = |text: &Option<String>, option: &str| match text {
            None => Ok(None),
            Some(text) => parse_size(text)
                .map(Some)
                .ok_or_else(|| usage(format!("{option} {}: not a size; give {SIZE_FORMS}", escape_str(text)))),
        };
        let sustained = size(&self.sustained, "--sustained")?;
        let max_bytes = size(&Some(self.max_bytes.clone()), "--max-bytes")?.unwrap_or_default();
        // With --all there is none, and each gets its own.
        let device = self.device.clone().unwrap_or_default();
        let auto = if self.auto { Some(measure_auto::wanted(roots, &device)?) } else { None };
        let request = Request {
            device,
            place: match &self.scratch {
                Some(scratch) => scratch.parse().map_err(|e| usage(format!("--scratch: {e}")))?,
                // Without a policy only the places are listed.
                None => auto.as_ref().map(|wanted| wanted.place.clone()).unwrap_or_default(),
            },
            thin_ok: self.thin_ok,
            // A rule of an administrator that names the bytes as scratch has said so.
            data_ok: self.data_ok || auto.as_ref().is_some_and(|wanted| wanted.names_the_bytes),
            shared_ok: self.shared_ok,
            private: false,
            dry_run: self.dry_run,
            journal: self.journal.clone().or(auto.and_then(|wanted| wanted.journal)),
            // Who asks for a longer stretch allows what it writes.
            max_bytes: max_bytes.saturating_add(sustained.unwrap_or(0).saturating_mul(7)),
            sustained,
            scratch_bytes: size(&self.scratch_bytes, "--scratch-bytes")?,
            max_seconds: self.max_seconds,
            deadline: self.deadline,
            restore_limits: self.restore_limits,
            tune: self.tune,
            deep: self.deep,
            interference: self.interference,
        };
        if self.all {
            if self.scratch.as_deref().is_some_and(|place| place != "auto") {
                return Err(usage(
                    "--all tests many devices: no place but `--scratch auto` can be given with it".to_owned(),
                ));
            }
            let how = (self.scratch.is_some(), self.jobs);
            return measure_all::run(roots, &request, how, (self.verbose, self.json));
        }
        if self.scratch.is_none() && !self.auto {
            let found = measure_places::run(roots, &request, &mut remark)?;
            print(|out| match self.json {
                true => writeln!(out, "{}", json(&found.lines())),
                false => found.lines().iter().try_for_each(|l| writeln!(out, "{l}")),
            })?;
            return Ok(exit::USAGE);
        }
        if let Some(file) = &self.report {
            report::may_be_written(file)?;
        }
        let mut line = ProgressLine::new(self.verbose, &request.device);
        let answer = measure::run(roots, &request, &mut line);
        line.end();
        let answer = match answer {
            // The reason stands in the error; what is possible instead, in the list.
            Err(e @ (Error::NotSafe { .. } | Error::NoPlace { .. })) if !self.auto => {
                complain(&e);
                remark(&format!("`zerocap measure {}` lists where a test is possible", escape_str(&request.device)));
                return Ok(e.exit_code());
            }
            answer => answer?,
        };
        let samples = match &answer {
            Answer::Verdict(document) => report::samples_of(roots, document).ok(),
            Answer::Planned(_) => None,
        };
        print(|out| match &answer {
            Answer::Planned(lines) if self.json => {
                writeln!(out, "{}", json(lines))
            }
            Answer::Planned(lines) => lines.iter().try_for_each(|l| writeln!(out, "{l}")),
            Answer::Verdict(document) if self.json => writeln!(out, "{}", document.json()),
            Answer::Verdict(document) => detail::write(out, document, samples.as_ref(), glyphs()),
        })?;
        if let (Answer::Verdict(document), Some(file)) = (&answer, &self.report) {
            report::write(roots, document, file)?;
        }
        Ok(exit::OK)
    }
}
