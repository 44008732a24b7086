//! This process: its id, whether root runs it, and what its environment has.

use std::ffi::OsString;

/// The number of this process.
pub fn own_id() -> u32 {
    std::process::id()
}

/// Whether it runs as root (the effective user).
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Major and minor number of a kernel release: `6.17.0-rc3+` is 6.17.
pub fn kernel_version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The same of the running kernel.
pub fn running_kernel() -> Option<(u32, u32)> {
    kernel_version(&std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?)
}

/// A variable of the environment; `None` where it is not set or not UTF-8.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether standard output is a terminal whose locale has Unicode; the first of the three variables that is set says it.
pub fn shows_unicode() -> bool {
    use std::io::IsTerminal;
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|v| !v.is_empty());
    let utf8 = locale.is_some_and(|l| l.to_ascii_lowercase().replace('-', "").contains("utf8"));
    std::io::stdout().is_terminal() && utf8 && variable("TERM").is_some_and(|t| t != "dumb" && t != "linux")
}

/// Whether a terminal on standard output is to show colour: it can, and NO_COLOR is not set to anything (no-color.org).
pub fn wants_colour() -> bool {
    use std::io::IsTerminal;
    let set = |name: &str| -> Option<OsString> { std::env::var_os(name).filter(|v| !v.is_empty()) };
    std::io::stdout().is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_some_and(|t| t != "dumb")
}

/// How many columns the terminal on standard output has; `None` where there is no terminal.
pub fn columns() -> Option<usize> {
    columns_of(std::io::stdout())
}

/// The same of standard error, where progress is shown.
pub fn error_columns() -> Option<usize> {
    columns_of(std::io::stderr())
}

/// A terminal that does not say its width counts as one of 80 columns.
fn columns_of(stream: impl std::os::fd::AsFd + std::io::IsTerminal) -> Option<usize> {
    stream.is_terminal().then(|| match rustix::termios::tcgetwinsize(&stream) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => 80,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_releases_are_parsed() {
        assert_eq!(kernel_version("6.17.0-rc3+"), Some((6, 17)));
        assert_eq!(kernel_version("5.14.0-427.el9.x86_64"), Some((5, 14)));
        for no_release in ["7", "linux-6.1", ""] {
            assert_eq!(kernel_version(no_release), None, "{no_release}");
        }
    }
}
