//! `zerocap fleet`.

use crate::cli::terminal::{columns, complain, print, remark};
use crate::error::{exit, Result};
use crate::jobs::fleet::{self, Least, FLEET};
use crate::output;
use std::io::Write;
use verdict_format::answers::json;

/// At most this many bad lines are named.
const NAMED: usize = 5;

/// Summarize the documents of many machines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap fleet summarize hosts/*.jsonl.zst         a table of all models
  zerocap fleet summarize --hwdb hosts/*.jsonl.zst  model entries for hwdb")]
pub struct Fleet {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show for each model its classes, its rates, and any disagreement with its likely cause
    Summarize {
        /// A file with the output of `show --jsonl --fleet`, plain or compressed by gzip or zstd; `-` is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<String>,
        /// Print the summary as one JSON object
        #[arg(long)]
        json: bool,
        /// Print hwdb entries for the models whose tested devices agree
        #[arg(long, conflicts_with = "json")]
        hwdb: bool,
        /// With --hwdb: require at least N tested devices of a model, told apart by their identity
        #[arg(long, value_name = "N", requires = "hwdb", default_value_t = FLEET.devices)]
        devices: u64,
        /// With --hwdb: require that these devices are on at least N machines
        #[arg(long, value_name = "N", requires = "hwdb", default_value_t = FLEET.machines)]
        machines: u64,
    },
}

impl Fleet {
    /// Whether one object in JSON was asked for.
    pub fn json(&self) -> bool {
        matches!(self.action, Action::Summarize { json: true, .. })
    }

    /// Runs the verb.
    pub fn run(&self) -> Result<u8> {
        let Action::Summarize { files, json: as_json, hwdb, devices, machines } = &self.action;
        let mut done = fleet::summarize(files)?;
        if !done.any {
            let last = done.errors.pop();
            done.errors.iter().for_each(complain);
            return last.map_or(Ok(exit::OK), Err);
        }
        let summary = &done.summary;
        print(|out| {
            if *as_json {
                writeln!(out, "{}", json(summary))
            } else if *hwdb {
                let least = Least { devices: *devices, machines: *machines, ..FLEET };
                out.write_all(fleet::entries(&done.tested, least).as_bytes())
            } else {
                output::fleet::write(out, summary, columns())
            }
        })?;
        for bad in summary.bad_lines.iter().take(NAMED) {
            remark(&format!("{}:{}: {}", bad.file, bad.line, bad.why));
        }
        if summary.bad > 0 {
            remark(&format!("{} of {} lines are not valid documents and are not counted", summary.bad, summary.lines));
        }
        done.errors.iter().for_each(complain);
        Ok(if done.errors.is_empty() { exit::OK } else { exit::SOME_FAILED })
    }
}
