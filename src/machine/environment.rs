//! This process: its id, whether it is root's, and what its environment says.

use std::ffi::OsString;

/// The number of this process.
pub fn own_id() -> u32 {
    std::process::id()
}

/// Whether it runs as root (the effective user).
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A variable of the environment; `None` where it is not set or not UTF-8.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether a terminal on standard output is to show colour: it can, and NO_COLOR is not set to anything (no-color.org).
pub fn wants_colour() -> bool {
    use std::io::IsTerminal;
    let set = |name: &str| -> Option<OsString> { std::env::var_os(name).filter(|v| !v.is_empty()) };
    std::io::stdout().is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_some_and(|t| t != "dumb")
}
