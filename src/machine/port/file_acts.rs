//! Acts on a file that is made for a test and has no name: space is allocated in it, and small synchronous writes are timed.
//! Nobody else uses the file, and it vanishes with its last descriptor.

use crate::machine::io::Aligned;
use crate::machine::port::act_error::ActError;
use crate::machine::port::pattern;
use crate::machine::port::range::ScratchRange;
use crate::machine::sys;
use crate::units::Nanos;
use rustix::fs::{AtFlags, FallocateFlags, IFlags, Mode, OFlags, StatxAttributes, StatxFlags};
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
    /// Where the file system has put the bytes: gives 32 bytes an extent, see [`decode_extents`].
    Extents {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// What the file system says of the file: gives the bytes of [`Marks`].
    Marks,
    /// From now on acts go to this range of the file, which lies inside of the one it was made with.
    Bind,
}

/// Marks of a file that decide whether its bytes go to the device as they are, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// What offsets of O_DIRECT are multiples of; 0 where it goes through the page cache all the same (data=journal,
    /// encryption, verity).
    pub direct_align: u32,
    /// The content is encrypted by the file system.
    pub encrypted: bool,
    /// The content is compressed.
    pub compressed: bool,
    /// It is read and written in place of the page cache, without a block layer.
    pub dax: bool,
    /// Its data goes through the journal too.
    pub journaled: bool,
    /// It lies on the realtime device of an xfs.
    pub realtime: bool,
}

impl Marks {
    /// The bytes that [`FileAct::Marks`] gives.
    pub fn encoded(self) -> Vec<u8> {
        let flags = [self.encrypted, self.compressed, self.dax, self.journaled, self.realtime].map(u8::from);
        self.direct_align.to_le_bytes().into_iter().chain(flags).collect()
    }

    /// The inverse of what [`FileAct::Marks`] gives.
    pub fn decode(bytes: &[u8]) -> Option<Marks> {
        let (align, flags) = (bytes.first_chunk::<4>()?, bytes.get(4..)?.first_chunk::<5>()?);
        let [encrypted, compressed, dax, journaled, realtime] = flags.map(|f| f != 0);
        Some(Marks { direct_align: u32::from_le_bytes(*align), encrypted, compressed, dax, journaled, realtime })
    }
}

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its first byte in the file.
    pub logical: u64,
    /// Its first byte on the device.
    pub physical: u64,
    /// Its bytes.
    pub length: u64,
    /// `FIEMAP_EXTENT_*`.
    pub flags: u64,
}

/// `FIEMAP_EXTENT_UNWRITTEN`: allocated, and read as zero whatever lies there.
pub const UNWRITTEN: u64 = 0x800;
/// `FIEMAP_EXTENT_LAST` and `FIEMAP_EXTENT_MERGED`: nothing that bears on the bytes.
const HARMLESS: u64 = 0x1 | 0x1000;
/// `FIEMAP_EXTENT_SHARED`: other files hold the same bytes, so a write goes elsewhere.
pub const SHARED: u64 = 0x2000;

/// The inverse of what [`FileAct::Extents`] gives.
pub fn decode_extents(bytes: &[u8]) -> Vec<Extent> {
    let word = |chunk: &[u8], i: usize| {
        chunk.get(i * 8..).and_then(|w| w.first_chunk::<8>()).map_or(0, |w| u64::from_le_bytes(*w))
    };
    let extent = |c| Extent { logical: word(c, 0), physical: word(c, 1), length: word(c, 2), flags: word(c, 3) };
    bytes.chunks_exact(32).map(extent).collect()
}

impl Extent {
    /// The part of it that lies between two bytes of the file, where there is one.
    pub fn within(&self, offset: u64, length: u64) -> Option<Extent> {
        let from = self.logical.max(offset);
        let to = self.logical.saturating_add(self.length).min(offset.saturating_add(length));
        (from < to).then(|| Extent {
            logical: from,
            physical: self.physical + (from - self.logical),
            length: to - from,
            flags: self.flags,
        })
    }

    /// Whether the bytes of the device are the bytes of the file, and of no other: no inline data, no compression, nothing that
    /// is not settled yet, nothing shared. `unwritten`: whether it may be space that reads as zero whatever lies there.
    pub fn is_plain(&self, unwritten: bool) -> bool {
        self.flags & !(HARMLESS | if unwritten { UNWRITTEN } else { 0 }) == 0
    }
}

fn os(e: Errno) -> ActError {
    ActError::Os(e.raw_os_error())
}

/// The places alone, neighbours joined: a change of flags splits and joins extents without moving a byte.
pub fn places(extents: &[Extent]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for e in extents {
        match found.last_mut() {
            Some((start, length)) if *start + *length == e.physical => *length += e.length,
            _ => found.push((e.physical, e.length)),
        }
    }
    found
}

/// Makes the file.
pub(super) fn make(range: &ScratchRange) -> Result<OwnedFd, ActError> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&range.node, flags, Mode::RUSR | Mode::WUSR).map_err(os)?;
    let stat = rustix::fs::fstat(&fd).map_err(os)?;
    if (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev)) != range.devnum {
        return Err(ActError::Refused(format!(
            "{} is on a different file system from the one that was checked",
            range.node
        )));
    }
    Ok(fd)
}

/// Whether a range is a part of the one that a file was made with.
pub(super) fn is_part(made: &ScratchRange, part: &ScratchRange) -> bool {
    let end = |r: &ScratchRange| r.start.checked_add(r.length);
    (&made.node, made.devnum, made.logical_block) == (&part.node, part.devnum, part.logical_block)
        && made.start <= part.start
        && end(part).is_some_and(|to| end(made).is_some_and(|own| to <= own))
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

/// Asks for the extents, after what is in the cache was written.
pub(super) fn extents(fd: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Vec<u8>, ActError> {
    let (found, _) = extents_of(fd, (offset, length), true, usize::MAX).map_err(os)?;
    let words = |e: &Extent| [e.logical, e.physical, e.length, e.flags];
    Ok(found.iter().flat_map(words).flat_map(u64::to_le_bytes).collect())
}

/// The extents of a part of a file, all of them, since one answer of the kernel holds some; once there are `most`, no further
/// ones are asked for. Also gives the byte up to which was looked.
pub fn extents_of(
    fd: BorrowedFd<'_>,
    (offset, length): (u64, u64),
    sync: bool,
    most: usize,
) -> rustix::io::Result<(Vec<Extent>, u64)> {
    let (mut at, end) = (offset, offset.saturating_add(length));
    let mut all = Vec::new();
    while at < end && all.len() < most {
        let found = sys::extents(fd, at, end - at, sync)?;
        let extent =
            |e: &(u64, u64, u64, u32)| Extent { logical: e.0, physical: e.1, length: e.2, flags: u64::from(e.3) };
        all.extend(found.iter().map(extent));
        at = match found.last().map(|e| e.0.saturating_add(e.2)) {
            Some(next) if next > at => next,
            // Past a hole at the end nothing comes any more.
            _ => end,
        };
    }
    Ok((all, at.min(end)))
}

/// Asks for the marks. An attribute that the file system does not know of is not set; flags that it does not give are an
/// error, since then nobody knows.
pub(super) fn marks(fd: BorrowedFd<'_>) -> Result<Vec<u8>, ActError> {
    let stat = rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).map_err(os)?;
    let has = |mark| stat.stx_attributes.contains(mark);
    let flags = rustix::fs::ioctl_getflags(fd).map_err(os)?;
    let xflags = sys::xflags(fd).map_err(os)?;
    let marks = Marks {
        direct_align: stat.stx_dio_offset_align,
        encrypted: has(StatxAttributes::ENCRYPTED),
        compressed: has(StatxAttributes::COMPRESSED),
        dax: has(StatxAttributes::DAX),
        journaled: flags.contains(IFlags::JOURNALING),
        realtime: xflags & sys::FS_XFLAG_REALTIME != 0,
    };
    Ok(marks.encoded())
}

/// Bytes of a block of the file system of a directory.
pub fn block_bytes(dir: &str) -> std::io::Result<u64> {
    Ok(rustix::fs::statvfs(dir)?.f_frsize)
}

/// Bytes that a user may still write below a directory.
pub fn free_bytes(dir: &str) -> std::io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_file_are_encoded_and_decoded() {
        let marks = Marks { direct_align: 512, dax: true, realtime: true, ..Marks::default() };
        assert_eq!(Marks::decode(&marks.encoded()), Some(marks));
        assert_eq!(Marks::decode(&[0; 8]), None);
    }

    #[test]
    fn parts_of_an_extent_are_mapped() {
        let extent = Extent { logical: 4096, physical: 1 << 20, length: 8192, flags: UNWRITTEN };
        let part = extent.within(8192, 1 << 20).unwrap();
        assert_eq!((part.logical, part.physical, part.length), (8192, (1 << 20) + 4096, 4096));
        assert_eq!(extent.within(0, 4096), None);
        assert!(extent.is_plain(true) && !extent.is_plain(false));
        assert!(!Extent { flags: SHARED, ..extent }.is_plain(true));
        assert!(Extent { flags: 1, ..extent }.is_plain(false));
    }

    #[test]
    fn two_extents_are_equal_if_they_lie_at_the_same_place() {
        let e = |physical, length, flags| Extent { logical: 0, physical, length, flags };
        assert_eq!(places(&[e(0, 8, 0), e(8, 8, 0x800), e(32, 8, 0)]), places(&[e(0, 16, 1), e(32, 8, 1)]));
        assert_ne!(places(&[e(0, 8, 0)]), places(&[e(8, 8, 0)]));
    }
}
