//! `zerocap tune`.

use crate::cli::terminal::{complain, print, remark};
use crate::error::{exit, Error, Result};
use crate::jobs::tune::{self, Line, Outcome, Step};
use crate::jobs::Roots;
use std::io::Write;

/// Show the kernel's tunables, set them as wanted, or put them back
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap tune show             show each tunable and the wanted value
  zerocap tune apply --dry-run  show what would be written
  zerocap tune apply /dev/sda   write the wanted values and read them back
  zerocap tune reset /dev/sda   put back the values that were found")]
pub struct Tune {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show each tunable: its value, the hardware's value, the wanted value and the reason, and who set it
    Show {
        /// The devices; without one, all devices
        #[arg(value_name = "DEV")]
        devices: Vec<String>,
        /// Also show hidden multipath paths, parts of logical volumes, RAM disks and empty devices
        #[arg(long)]
        all: bool,
        /// Print a JSON array of objects
        #[arg(long)]
        json: bool,
    },
    /// Write the wanted values, read them back, and record the values that were found
    Apply {
        /// The devices; without one, all devices
        #[arg(value_name = "DEV")]
        devices: Vec<String>,
        /// Print what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,
        /// Rescan a SCSI disk whose queue limits the kernel no longer lets change
        #[arg(long)]
        rescan: bool,
    },
    /// Put back the values that were found before the first write
    Reset {
        /// The devices; without one, all devices
        #[arg(value_name = "DEV")]
        devices: Vec<String>,
    },
}

impl Tune {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let mut told = Told::default();
        let errors = match &self.action {
            Action::Show { devices, all, json } => {
                let (lines, errors) = tune::show(roots, devices, *all, &mut remark)?;
                told.good = lines.len();
                if *json {
                    print(|out| writeln!(out, "{}", serde_json::to_string(&lines).unwrap_or_default()))?;
                } else if told.good > 0 || errors.is_empty() {
                    print(|out| out.write_all(table(&lines).as_bytes()))?;
                }
                errors
            }
            Action::Apply { devices, dry_run, rescan } => {
                tune::apply(roots, devices, (*dry_run, *rescan), &mut remark, &mut |step| told.tell(&step))?
            }
            Action::Reset { devices } => tune::reset(roots, devices, &mut remark, &mut |step| told.tell(&step))?,
        };
        errors.iter().for_each(complain);
        told.code(&errors)
    }
}

/// What was told so far.
#[derive(Debug, Default)]
struct Told {
    good: usize,
    bad: usize,
    unwritable: Option<Error>,
}

impl Told {
    fn tell(&mut self, step: &Step) {
        let Step { device, path, outcome } = step;
        let line = match outcome {
            Outcome::Would(from, to, why) => format!("{device}: {path}: would write {to} over {from} ({why})"),
            Outcome::Wrote(from, to, why, read) => {
                format!("{device}: {path}: wrote {to} over {from}, reads {read} ({why})")
            }
            Outcome::Left(why) => format!("{device}: {path}: {why}"),
            Outcome::Failed(what) => {
                self.bad += 1;
                return remark(&format!("{device}: {path}: {what}"));
            }
        };
        self.good += 1;
        if let Err(e) = print(|out| writeln!(out, "{line}")) {
            self.unwritable = Some(e);
        }
    }

    fn code(self, errors: &[Error]) -> Result<u8> {
        match (self.unwritable, errors.first()) {
            (Some(e), _) => Err(e),
            (None, None) if self.bad == 0 => Ok(exit::OK),
            (None, Some(e)) if self.good + self.bad == 0 => Ok(e.exit_code()),
            (None, _) if self.good == 0 && errors.is_empty() => Ok(exit::FAILURE),
            (None, _) => Ok(exit::SOME_FAILED),
        }
    }
}

fn table(lines: &[Line]) -> String {
    let or = |v: Option<&str>| v.unwrap_or("-").to_owned();
    let heading = ["DEVICE", "TUNABLE", "NOW", "HW", "WANTED", "SET-BY", "WHY"].map(str::to_owned);
    let rows = lines.iter().map(|l| {
        [
            crate::device::display::escape_str(&l.device),
            l.tunable.to_owned(),
            l.now.clone().or_else(|| l.now_unknown.clone()).unwrap_or_default(),
            or(l.hw.as_deref()),
            or(l.wanted.as_deref()),
            or(l.set_by),
            or(l.why.as_deref()),
        ]
    });
    let rows: Vec<[String; 7]> = std::iter::once(heading).chain(rows).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, w)| format!("{cell:<w$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
