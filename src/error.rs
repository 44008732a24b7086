//! What can go wrong, sorted by what the caller can do about it. This file uses nothing of the crate.
//!
//! A reading that fails is not an error but an unknown [`crate::fact::Fact`]. An [`Error`] means that the request as a whole
//! cannot be answered. Each error names the path and the operation. The exit codes are those of zerocap(8).

use std::path::PathBuf;

/// What a file of root's gives to others; a device that refuses gives EPERM.
const EACCES: i32 = rustix::io::Errno::ACCESS.raw_os_error();

/// The result of everything that can fail as a whole.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, and with which path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing of that name, or not a block device: exit code 32.
    #[error("{path}: {what}")]
    NoDevice {
        /// What was named on the command line, escaped.
        path: String,
        /// What it is instead.
        what: String,
    },
    /// The request makes no sense as typed: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read, written, locked: exit code 1.
    #[error("{path}: {operation}: {source}{}", if source.raw_os_error() == Some(EACCES) { "; try it as root" } else { "" })]
    File {
        /// The file.
        path: PathBuf,
        /// The operation, as a verb: "read", "replace".
        operation: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A kept file that makes no sense: exit code 1.
    #[error("{path}: {what}")]
    Malformed {
        /// The file, with a line where there is one.
        path: String,
        /// What was expected.
        what: String,
    },
    /// A write was not allowed, before anything was written: exit code 1.
    #[error("{device}: not tested: {why}")]
    NotSafe {
        /// The device or range.
        device: String,
        /// The check that failed and what to do.
        why: String,
    },
    /// No place on a device is possible as it is: exit code 1.
    #[error("{device}: not tested: there is no place for a test on it; {why}")]
    NoPlace {
        /// The device.
        device: String,
        /// Each place that was looked at, and why not there.
        why: String,
    },
    /// An act on the device failed: exit code 1.
    #[error("{device}: {operation}: {what}")]
    Act {
        /// The device node.
        device: String,
        /// The operation.
        operation: String,
        /// What came back.
        what: String,
    },
    /// Somebody asked the process to end: exit code 1.
    #[error("{device}: interrupted; {what}")]
    Interrupted {
        /// The device node.
        device: String,
        /// In what state it is.
        what: String,
    },
    /// The content could not be put back; the journal is kept: exit code 1.
    #[error("{device}: not put back: {what}; the journal {journal} is kept")]
    NotPutBack {
        /// The device node.
        device: String,
        /// Why.
        what: String,
        /// The journal.
        journal: String,
    },
}

impl Error {
    /// An error of the file system with its path.
    pub fn file(path: impl Into<PathBuf>, operation: &'static str, source: impl Into<std::io::Error>) -> Self {
        Error::File { path: path.into(), operation, source: source.into() }
    }

    /// The exit code of zerocap(8).
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::NoDevice { .. } => exit::NO_DEVICE,
            Error::Usage(_) => exit::USAGE,
            _ => exit::FAILURE,
        }
    }
}

/// The exit codes of zerocap(8); 3 to 8 come only from `check`.
pub mod exit {
    /// Answered; `check`: fast.
    pub const OK: u8 = 0;
    /// Failure.
    pub const FAILURE: u8 = 1;
    /// Usage.
    pub const USAGE: u8 = 2;
    /// The device is slow.
    pub const SLOW: u8 = 3;
    /// There is no offload.
    pub const NONE: u8 = 4;
    /// Not known.
    pub const UNKNOWN: u8 = 5;
    /// The device is broken.
    pub const BROKEN: u8 = 6;
    /// A requirement is not met.
    pub const REQUIREMENT: u8 = 7;
    /// The device is fast but this path cannot use it.
    pub const PATH_CANNOT: u8 = 8;
    /// No such device.
    pub const NO_DEVICE: u8 = 32;
    /// Some devices failed.
    pub const SOME_FAILED: u8 = 64;
    /// All of them.
    pub const ALL: [u8; 11] =
        [OK, FAILURE, USAGE, SLOW, NONE, UNKNOWN, BROKEN, REQUIREMENT, PATH_CANNOT, NO_DEVICE, SOME_FAILED];
}
