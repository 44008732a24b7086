//! Room on disk for what does not fit into memory: a file without a name, which vanishes with the process. It decides where
//! the file lies, and does not know what is kept in it.

use crate::error::{Error, Result};
use crate::machine::{environment, io};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Where it lies without TMPDIR: /tmp is memory on many machines, and memory is what there is too little of.
const USUAL: &str = "/var/tmp";

/// A file without a name.
#[derive(Debug)]
pub struct Spill {
    file: OwnedFd,
    dir: String,
    length: u64,
}

impl Spill {
    /// An empty one, in TMPDIR or /var/tmp.
    pub fn new() -> Result<Spill> {
        let dir = environment::variable("TMPDIR").filter(|d| !d.is_empty()).unwrap_or_else(|| USUAL.to_owned());
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(&dir, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|e| Error::file(&dir, "make a temporary file without a name (in TMPDIR)", e))?;
        Ok(Spill { file, dir, length: 0 })
    }

    /// Adds bytes at the end; where they begin.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let start = self.length;
        io::write_all(&self.file, bytes, start)
            .map_err(|e| self.failed("write a temporary file without a name (in TMPDIR)", e))?;
        self.length += bytes.len() as u64;
        Ok(start)
    }

    /// Reads as many bytes as are asked for.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        io::read_all(&self.file, bytes, offset)
            .map_err(|e| self.failed("read a temporary file without a name (in TMPDIR)", e))
    }

    fn failed(&self, operation: &'static str, e: Errno) -> Error {
        Error::file(&self.dir, operation, e)
    }
}
