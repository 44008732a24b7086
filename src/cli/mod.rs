//! The command line: each verb turns what was typed into a request, calls one job and prints its result. It decides nothing else.

pub mod check;
pub mod completions;
pub mod estimate;
pub mod explain;
pub mod fleet;
pub mod is_zero;
pub mod measure;
mod measure_all;
pub mod policy;
pub mod probe;
mod progress;
pub mod record;
pub mod recover;
pub mod selftest;
pub mod show;
mod terminal;
pub mod tune;

use crate::cli::terminal::{complain, print, remark};
use crate::error::{exit, Result};
use crate::jobs::udev_event;
use crate::jobs::{guarded, Roots};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use verdict_format::answers::{json, Failure};

/// Find out whether writing zeroes to a block device is fast, and whether the zeroes are real
#[derive(Debug, Parser)]
#[command(name = "zerocap", version, max_term_width = 80, arg_required_else_help = true)]
#[command(after_help = "zerocap(8) has exit codes, files and examples; zerocap-verdict(5) has the JSON.")]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    places: Places,
}

/// Where things lie.
#[derive(Debug, Args)]
pub struct Places {
    /// Read the recorded machine in DIR instead of the running system
    #[arg(long, value_name = "DIR", global = true)]
    root: Option<PathBuf>,
    /// Use DIR/etc/zerocap, DIR/var/lib/zerocap and DIR/run/zerocap instead of the system's directories
    #[arg(long, value_name = "DIR", global = true)]
    state: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(show::Show),
    Probe(probe::Probe),
    Measure(measure::Measure),
    Check(check::Check),
    Estimate(estimate::Estimate),
    IsZero(is_zero::IsZero),
    Record(record::Record),
    Recover(recover::Recover),
    Tune(tune::Tune),
    Policy(policy::Policy),
    Fleet(fleet::Fleet),
    Explain(explain::Explain),
    Selftest(selftest::Selftest),
    Completions(completions::Completions),
    Udev(UdevHelp),
}

/// Print properties and publish the verdict; the udev rule calls this
///
/// It reads the event from its environment (ACTION, MAJOR, MINOR). It never writes to the device, and it never makes the event fail.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ACTION=change zerocap udev /dev/sda  show what the rule gets at an event")]
// main.rs sends this verb past clap; the type stands here for its help.
struct UdevHelp {
    /// The device node, as in udev's $devnode
    node: String,
    /// Only trigger change events for the devices whose answer depends on this one: its partitions, and the stacks on it
    #[arg(long)]
    tell: bool,
}

/// Parses, runs one verb, prints an error, gives the exit code.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version are no errors; clap knows which stream each belongs to.
            let code = if e.use_stderr() { exit::USAGE } else { exit::OK };
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    match verb(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            complain(&e);
            if cli.verb.answers_in_json() {
                // Whoever parses the answer gets an object in any case; what failed is on standard error too.
                let failure = Failure::new(e.exit_code(), e.to_string());
                let _ = print(|out| writeln!(out, "{}", json(&failure)));
            }
            ExitCode::from(e.exit_code())
        }
    }
}

impl Verb {
    /// Whether one object in JSON was asked for.
    fn answers_in_json(&self) -> bool {
        match self {
            Verb::Check(v) => v.json,
            Verb::Estimate(v) => v.json,
            Verb::Fleet(v) => v.json(),
            Verb::IsZero(v) => v.json,
            Verb::Probe(v) => v.json,
            _ => false,
        }
    }
}

fn verb(cli: &Cli) -> Result<u8> {
    match &cli.verb {
        Verb::Completions(v) => return v.run(&mut Cli::command()),
        Verb::Explain(v) => return v.run(),
        Verb::Fleet(v) => return v.run(),
        _ => {}
    }
    let roots = Roots::new(cli.places.root.as_deref(), cli.places.state.as_deref())?;
    // Queue files of the running system are read in a child with a deadline.
    let mut roots = guarded(roots);
    // An answer and the process ends.
    if matches!(cli.verb, Verb::Check(_) | Verb::Estimate(_) | Verb::Show(_)) {
        roots.system = roots.system.fleeting();
    }
    match &cli.verb {
        Verb::Show(v) => v.run(&roots),
        Verb::Probe(v) => v.run(&roots),
        Verb::Measure(v) => v.run(&roots),
        Verb::Check(v) => v.run(&roots),
        Verb::Estimate(v) => v.run(&roots),
        Verb::IsZero(v) => v.run(&roots),
        Verb::Record(v) => v.run(&roots),
        Verb::Recover(v) => v.run(&roots),
        Verb::Tune(v) => v.run(&roots),
        Verb::Policy(v) => v.run(&roots),
        Verb::Explain(v) => v.run(),
        Verb::Fleet(v) => v.run(),
        Verb::Selftest(v) => v.run(&roots),
        Verb::Completions(v) => v.run(&mut Cli::command()),
        Verb::Udev(v) => {
            let lines = if v.tell {
                udev_event::tell(&roots, &v.node)
            } else {
                udev_event::run(&roots, &v.node, &udev_event::Event::from_environment())
            };
            match lines {
                Ok(lines) => print(|out| out.write_all(lines.as_bytes()))?,
                Err(e) => remark(&format!("udev: {e}")),
            }
            Ok(exit::OK)
        }
    }
}
