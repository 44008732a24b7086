//! Runs `udev` and the child processes without clap, and everything else through it; prints an error and exits with its code.

use std::io::Write;
use std::process::ExitCode;
use zerocap::jobs::measure_child;
use zerocap::jobs::udev_event;
use zerocap::machine::port::process;

fn main() -> ExitCode {
    // As the system gave them: an argument need not be text, and a panic is no answer to one that is not.
    let mut arguments = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned());
    let verb = arguments.next();
    match verb.as_deref() {
        // An event must be cheap and must never fail: no argument parser, exit code 0 whatever happens.
        Some("udev") => {
            let rest: Vec<String> = arguments.collect();
            if rest.iter().any(|a| a == "--help" || a == "-h") {
                return zerocap::cli::run();
            }
            match udev_event::main(&rest) {
                // Nobody may be listening; that fails no event.
                Ok(lines) => drop(std::io::stdout().write_all(lines.as_bytes())),
                Err(e) => drop(writeln!(std::io::stderr(), "zerocap: udev: {e}")),
            }
            ExitCode::SUCCESS
        }
        Some(verb) if verb == process::CHILD_VERB => match process::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Some(verb) if verb == measure_child::VERB => {
            measure_child::serve();
            ExitCode::SUCCESS
        }
        _ => zerocap::cli::run(),
    }
}
