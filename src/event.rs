//! What udev's rule calls, installed as `/usr/lib/udev/zerocap`: `zerocap udev` without all that an event does not need, and
//! so small that its start costs little. Exit code 1, and nothing written: the rule has the whole program answer.
//!
//! glibc calls `main` itself: what Rust's own does before it (a handler for an overflow of the stack, for which it reads the
//! table of mappings, and for signals) is a quarter of the system calls of an event. The arguments come through glibc too;
//! elsewhere Rust's `main` is called.
#![cfg_attr(target_env = "gnu", no_main)]

use std::io::Write;
use zerocap::jobs::udev_event;
use zerocap::machine::port::process;

/// The exit code that has the whole program answer.
const NOT_HERE: i32 = 1;

#[cfg(target_env = "gnu")]
#[allow(unsafe_code)] // The name alone: no other function of this program is called so.
#[no_mangle]
extern "C" fn main() -> i32 {
    event()
}

#[cfg(not(target_env = "gnu"))]
fn main() -> std::process::ExitCode {
    match event() {
        0 => std::process::ExitCode::SUCCESS,
        _ => std::process::ExitCode::FAILURE,
    }
}

fn event() -> i32 {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    if arguments.first().is_some_and(|verb| verb == process::CHILD_VERB) {
        return process::serve().map_or(NOT_HERE, |()| 0);
    }
    match udev_event::small_main(&arguments) {
        // Nobody may be listening; that fails no event.
        Ok(Some(lines)) => drop(std::io::stdout().write_all(lines.as_bytes())),
        Ok(None) => return NOT_HERE,
        Err(e) => drop(writeln!(std::io::stderr(), "zerocap: udev: {e}")),
    }
    // Rust's own end would have done it.
    drop(std::io::stdout().flush());
    0
}
