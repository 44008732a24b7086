//! Why an act was not done, and whether that can be the fault of the medium; errno values have the kernel's names.

use serde::{Deserialize, Serialize};

/// The kernel's name of an errno, else its number.
pub fn errno_name(errno: i32) -> String {
    use rustix::io::Errno;
    const NAMES: &[(Errno, &str)] = &[
        (Errno::PERM, "EPERM"),
        (Errno::NOENT, "ENOENT"),
        (Errno::INTR, "EINTR"),
        (Errno::IO, "EIO"),
        (Errno::NXIO, "ENXIO"),
        (Errno::BADF, "EBADF"),
        (Errno::AGAIN, "EAGAIN"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::ACCESS, "EACCES"),
        (Errno::BUSY, "EBUSY"),
        (Errno::NODEV, "ENODEV"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NOTTY, "ENOTTY"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::ROFS, "EROFS"),
        (Errno::NODATA, "ENODATA"),
        (Errno::REMOTEIO, "EREMOTEIO"),
        (Errno::OPNOTSUPP, "EOPNOTSUPP"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
        (Errno::ILSEQ, "EILSEQ"),
        (Errno::NOSYS, "ENOSYS"),
        (Errno::LOOP, "ELOOP"),
        (Errno::XDEV, "EXDEV"),
    ];
    NAMES.iter().find(|(e, _)| e.raw_os_error() == errno).map_or_else(|| errno.to_string(), |(_, n)| (*n).to_owned())
}

/// The number of an errno by the kernel's name (`EACCES`), or of a decimal text; the inverse of [`errno_name`].
pub fn errno_number(name: &str) -> Option<i32> {
    name.parse().ok().or_else(|| (1..=133).find(|n| errno_name(*n) == name))
}

/// Why an act was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActError {
    /// The port carries out no such act: it writes nothing (recorded), the span is not in the range, or the range is not
    /// what was checked. Nothing was done.
    Refused(String),
    /// Whoever watches the test has stopped it (an interrupt, a call for attention). Nothing was done.
    Stopped,
    /// The range is not open: the process that had it open has ended since. Nothing was done.
    Closed,
    /// The process that acts could not be started, or ended before it answered: zerocap's own failure, never the device's.
    PortLost(String),
    /// An answer that does not fit the act: zerocap's own failure, or a device that does not keep what it is given.
    Protocol(String),
    /// The system's answer: an errno.
    Os(i32),
    /// No answer by the deadline; the child with this pid is left behind.
    NoAnswer(u32),
}

impl ActError {
    /// Whether this answer can be the medium's fault. Space, reservations, paths, rights, memory and interrupts are
    /// somebody else's: they end a test and accuse nobody.
    pub fn may_accuse(&self) -> bool {
        use rustix::io::Errno;
        const NEVER: &[Errno] = &[
            Errno::NOSPC,
            Errno::BADE,
            Errno::NODEV,
            Errno::NXIO,
            Errno::NOLINK,
            Errno::ROFS,
            Errno::PERM,
            Errno::ACCESS,
            Errno::NOMEM,
            Errno::AGAIN,
            Errno::INTR,
        ];
        matches!(self, ActError::Os(errno) if NEVER.iter().all(|e| e.raw_os_error() != *errno))
    }
}

impl std::fmt::Display for ActError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ActError::Refused(why) | ActError::PortLost(why) | ActError::Protocol(why) => f.write_str(why),
            ActError::Stopped => f.write_str("stopped"),
            ActError::Closed => f.write_str("the scratch range is not open"),
            // The library's text ends with "(os error 61)", which the name says better.
            ActError::Os(errno) => {
                let text = std::io::Error::from_raw_os_error(*errno).to_string();
                write!(f, "{} ({})", text.split(" (os error").next().unwrap_or_default(), errno_name(*errno))
            }
            ActError::NoAnswer(pid) => write!(f, "no answer by the deadline; the call is still in flight, pid {pid}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_about_the_medium_accuses_the_device() {
        assert!(ActError::Os(5).may_accuse() && ActError::Os(121).may_accuse());
        for other in [ActError::Os(28), ActError::Os(19), ActError::NoAnswer(1), ActError::PortLost(String::new())] {
            assert!(!other.may_accuse(), "{other}");
        }
    }

    #[test]
    fn an_errno_has_the_name_that_the_kernel_gives_it() {
        assert_eq!(ActError::Os(61).to_string(), "No data available (ENODATA)");
        assert_eq!(errno_number("EREMOTEIO"), Some(121));
        assert_eq!(errno_number("ENONSENSE"), None);
    }
}
