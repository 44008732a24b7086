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

/// Test how fast a device zeroes and whether the zeroes are real; keep and publish the verdict
///
/// The test writes to the scratch range only, and puts the old content back. Without --scratch nothing is tested: zerocap lists the
/// places on DEV where a test is possible, each with its command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Values of WHERE:
  /dev/...       a partition of DEV, or a logical volume that lies on DEV alone
  label          the GPT partition that is named zerocap-scratch
  gap            space between partitions that reads as zero
  OFFSET+LENGTH  a range of DEV, in bytes or with K, M, G, T
  vg:VG          a logical volume that is made in VG and removed after the test
  DIR            a directory in a file system on DEV: the test uses a file there
                 that has no name; the class needs ext4 on Linux 6.17 or newer
  auto           the first of these that is possible: label, gap, an inactive
                 swap partition, vg:VG, DIR
The old content of an inactive swap partition is not put back, because nobody
needs it; the first MiB of the partition is never written.

Examples:
  zerocap measure /dev/sda --scratch label --dry-run  show the plan, no write
  zerocap measure /dev/sda --scratch label            run the test
  zerocap measure /dev/sda --scratch gap --tune       SCSI: find the best mode
  zerocap measure /dev/sdb --scratch 1GiB+64MiB       test in a range
  zerocap measure /dev/sda --scratch /var/lib         test in a file
  zerocap measure --all --scratch auto                test every device")]
pub struct Measure {
    /// The whole device, by any of its names; a directory or mount point stands for the disk below it
    #[arg(value_name = "DEV", required_unless_present = "all", conflicts_with = "all")]
    device: Option<String>,
    /// Where the test may write; the values are listed below
    #[arg(long, value_name = "WHERE")]
    scratch: Option<String>,
    /// Write where the policy of the device allows an automatic test to write
    #[arg(long, conflicts_with = "scratch")]
    auto: bool,
    /// Test every device whose policy asks for a test; with `--scratch auto`, every device on which a place is found
    #[arg(long, conflicts_with_all = ["auto", "report"])]
    all: bool,
    /// With --all: run up to N tests at once, at most one on each controller; tests that wait for a processor give wrong figures
    #[arg(long, value_name = "N", default_value_t = 2, requires = "all")]
    jobs: usize,
    /// Print the proof and the plan, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Allow a thinly provisioned device (at most 64 MiB of it)
    #[arg(long)]
    thin_ok: bool,
    /// Allow a scratch range that holds data without a known signature; the data is put back
    #[arg(long)]
    data_ok: bool,
    /// Allow a range of a device that other machines may use too, although this machine cannot see what they write
    #[arg(long)]
    shared_ok: bool,
    /// Keep the journal, which holds the old content while the test runs, in DIR
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// Write at most SIZE bytes in all, the put-back included
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    max_bytes: String,
    /// Zero SIZE bytes in one long stretch; the stretch writes six times as much [default: 256MiB]
    #[arg(long, value_name = "SIZE")]
    sustained: Option<String>,
    /// Use SIZE bytes of a larger scratch range [default: 52MiB]
    #[arg(long, value_name = "SIZE")]
    scratch_bytes: Option<String>,
    /// End the test after N seconds; the put-back is not counted
    #[arg(long, value_name = "N", default_value_t = 60)]
    max_seconds: u64,
    /// Treat a call as not answered after N seconds [default: from the device's own timeout]
    #[arg(long, value_name = "N")]
    deadline: Option<u64>,
    /// Put back queue limits and modes of the kernel that the test changed
    #[arg(long)]
    restore_limits: bool,
    /// Try each zeroing_mode that the claims of a SCSI disk allow, and keep the best one as wanted; the modes share the budgets
    #[arg(long, conflicts_with_all = ["deep", "interference"])]
    tune: bool,
    /// Also test a command of more than 65536 blocks, where the limit allows one, and a span larger than a volatile cache
    #[arg(long)]
    deep: bool,
    /// Also measure the latency of single reads and writes, without and with zeroing beside them
    #[arg(long)]
    interference: bool,
    /// Also write a report to FILE: an HTML page with pictures, which needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    report: Option<PathBuf>,
    /// Print one line for each pair on standard error
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON: the document of format 1, or an array of lines with --dry-run (the proof) or without --scratch (the places)
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
                .ok_or_else(|| usage(format!("{option} {}: this is not a size; give {SIZE_FORMS}", escape_str(text)))),
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
                    "--all tests many devices; `--scratch auto` is the only place that it takes".to_owned(),
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
            // The error says why; the list says what is possible instead.
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
