//! Sends `udev` and the acting child past clap, everything else through it; prints the error and ends with its code.

use std::process::ExitCode;
use zerocap::machine::child;

fn main() -> ExitCode {
    let mut arguments = std::env::args();
    let verb = arguments.nth(1);
    match verb.as_deref() {
        // An event must be cheap and must never fail: no argument parser, exit code 0 whatever happens.
        Some("udev") => {
            let rest: Vec<String> = arguments.collect();
            match zerocap::jobs::udev_event::main(&rest) {
                Ok(lines) => print!("{lines}"),
                Err(e) => eprintln!("zerocap: udev: {e}"),
            }
            ExitCode::SUCCESS
        }
        Some(verb) if verb == child::CHILD_VERB => match child::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        _ => zerocap::cli::run(),
    }
}
