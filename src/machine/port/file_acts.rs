//! Acts on a file that is made for a test and has no name: space is allocated in it, and small synchronous writes are timed.
//! What the file holds belongs to nobody, and it is gone with its last descriptor.

use crate::machine::io::Aligned;
use crate::machine::port::pattern;
use crate::machine::port::{ActError, ScratchRange};
use crate::machine::sys;
use crate::units::Nanos;
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use serde::{Deserialize, Serialize};
use std::io::IoSlice;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

/// What is done with the file. Offsets are bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileAct {
    /// Makes it in the directory that the range names (O_TMPFILE), with O_DIRECT, and checks the file system's number.
    Make,
    /// Allocates space as databases do: fallocate, mode 0.
    Allocate {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// Writes of one block after the other, each of them synchronous (O_DIRECT, RWF_DSYNC).
    SyncWrites {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
        /// Bytes of one write.
        block: u64,
        /// Of the pattern.
        seed: u64,
    },
    /// Where the file system has put the bytes: gives 24 bytes an extent, see [`decode_extents`].
    Extents {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
    },
}

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its first byte on the device.
    pub physical: u64,
    /// Its bytes.
    pub length: u64,
    /// `FIEMAP_EXTENT_*`.
    pub flags: u64,
}

/// `FIEMAP_EXTENT_SHARED`: other files hold the same bytes, so a write goes elsewhere.
pub const SHARED: u64 = 0x2000;

/// The inverse of what [`FileAct::Extents`] gives.
pub fn decode_extents(bytes: &[u8]) -> Vec<Extent> {
    let word = |chunk: &[u8], i: usize| {
        chunk.get(i * 8..).and_then(|w| w.first_chunk::<8>()).map_or(0, |w| u64::from_le_bytes(*w))
    };
    bytes.chunks_exact(24).map(|c| Extent { physical: word(c, 0), length: word(c, 1), flags: word(c, 2) }).collect()
}

fn os(e: Errno) -> ActError {
    ActError::Os(e.raw_os_error())
}

/// Makes the file.
pub(super) fn make(range: &ScratchRange) -> Result<OwnedFd, ActError> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&range.node, flags, Mode::RUSR | Mode::WUSR).map_err(os)?;
    let stat = rustix::fs::fstat(&fd).map_err(os)?;
    if (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev)) != range.devnum {
        return Err(ActError::Refused(format!("{} lies on another file system than was checked", range.node)));
    }
    Ok(fd)
}

/// Allocates.
pub(super) fn allocate(fd: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), ActError> {
    rustix::fs::fallocate(fd, FallocateFlags::empty(), offset, length).map_err(os)?;
    rustix::fs::fsync(fd).map_err(os)
}

/// Writes, and gives the time of the system calls alone.
pub(super) fn sync_writes(
    fd: BorrowedFd<'_>,
    (offset, length): (u64, u64),
    block: u64,
    seed: u64,
) -> Result<Nanos, ActError> {
    let mut buffer = Aligned::zeroed(block as usize);
    let mut took = 0;
    for at in (offset..offset + length).step_by(block.max(1) as usize) {
        pattern::fill(&mut buffer, seed, 0, at);
        let from = Instant::now();
        let written = rustix::io::pwritev2(fd, &[IoSlice::new(&buffer)], at, ReadWriteFlags::DSYNC).map_err(os)?;
        took += from.elapsed().as_nanos();
        if written != buffer.len() {
            return Err(os(Errno::IO));
        }
    }
    Ok(Nanos(u64::try_from(took).unwrap_or(u64::MAX)))
}

/// Asks for the extents.
pub(super) fn extents(fd: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Vec<u8>, ActError> {
    let found = sys::extents(fd, offset, length).map_err(os)?;
    Ok(found.iter().flat_map(|e| [e.0, e.1, u64::from(e.2)]).flat_map(u64::to_le_bytes).collect())
}

/// Bytes that a user may still write below a directory.
pub fn free_bytes(dir: &str) -> std::io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
