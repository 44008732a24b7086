//! A whole disk that is opened read-only with its advisory lock: what a scratch proof reads, and the kernel's view of
//! partitions.
//!
//! The lock is flock(LOCK_EX) on the whole-disk node (systemd's block device locking): udev does not touch the disk while it
//! is held. Only this process holds it; the descriptor is close-on-exec, so no child in D state can inherit it.

use crate::error::{Error, Result};
use crate::machine::fs::lock;
use crate::machine::io::{self, Aligned};
use crate::machine::sys;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long an event in progress may keep the lock from us.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// How long a partition that is to go may still be held.
const HELD_WAIT: Duration = Duration::from_secs(3);

/// What a whole disk says once it is open and locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Size in bytes (BLKGETSIZE64).
    pub size: u64,
    /// Logical block size in bytes (BLKSSZGET).
    pub logical_block: u64,
    /// Physical block size in bytes (BLKPBSZGET).
    pub physical_block: u64,
    /// `major, minor` of the open node.
    pub devnum: (u32, u32),
    /// The disk's sequence number, where the kernel has it (Linux 5.15).
    pub diskseq: Option<u64>,
}

/// A whole disk, open for reading, locked.
#[derive(Debug)]
pub struct LockedDisk {
    fd: OwnedFd,
    node: String,
    /// What it says.
    pub opened: Opened,
}

impl LockedDisk {
    /// Opens a whole-disk node and takes its lock, waiting while an event of udev has it; `None` where another program
    /// keeps it longer.
    pub fn open(node: &str) -> Result<Option<LockedDisk>> {
        let fd = open_for_reading(node)?;
        match lock::exclusive(&fd, LOCK_WAIT, Duration::from_millis(50)) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(e) => return Err(Error::file(node, "lock", e)),
        }
        let ask = |e: Errno| Error::file(node, "ask for size and number of", e);
        let stat = rustix::fs::fstat(&fd).map_err(ask)?;
        let opened = Opened {
            size: sys::size_bytes(&fd).map_err(ask)?,
            logical_block: sys::logical_block_bytes(&fd).map_err(ask)?,
            physical_block: sys::physical_block_bytes(&fd).map_err(ask)?,
            devnum: (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev)),
            diskseq: sys::diskseq(&fd).ok(),
        };
        Ok(Some(LockedDisk { fd, node: node.to_owned(), opened }))
    }

    /// The node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Bytes of the disk through the page cache; `None` where they cannot be read whole.
    pub fn read_at(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0u8; length];
        io::read_all(&self.fd, &mut bytes, offset).ok().map(|()| bytes)
    }

    /// The first byte that is not zero, read past the page cache (O_DIRECT).
    pub fn first_not_zero(&self, offset: u64, length: u64) -> Result<Option<u64>> {
        const CHUNK: u64 = 1 << 20;
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&self.node, flags, Mode::empty()).map_err(|e| Error::file(&self.node, "open", e))?;
        let mut buffer = Aligned::zeroed(CHUNK.min(length) as usize);
        let end = offset.saturating_add(length);
        let mut at = offset;
        while at < end {
            let wanted = buffer.len().min((end - at) as usize);
            io::read_all(&fd, &mut buffer[..wanted], at).map_err(|e| Error::file(&self.node, "read", e))?;
            if let Some(first) = io::first_not_zero(&buffer[..wanted]) {
                return Ok(Some(at + first as u64));
            }
            at += wanted as u64;
        }
        Ok(None)
    }

    /// Adds a partition to the kernel's view. `Ok(false)`: this disk cannot have any.
    pub fn add_partition(&self, number: i32, start: u64, length: u64) -> Result<bool> {
        match sys::add_partition(&self.fd, number, start, length) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOTTY | Errno::OPNOTSUPP) => Ok(false),
            Err(e) => Err(Error::file(&self.node, "add a temporary partition (BLKPG) to", e)),
        }
    }

    /// Takes a partition out of the kernel's view; no error where it is gone already. An event of it that is still worked
    /// on, or a process that is about to end, may hold it for a moment.
    pub fn delete_partition(&self, number: i32) -> Result<()> {
        let until = Instant::now() + HELD_WAIT;
        loop {
            match sys::delete_partition(&self.fd, number) {
                Ok(()) | Err(Errno::NXIO) => return Ok(()),
                Err(Errno::BUSY) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
                Err(e) => return Err(Error::file(&self.node, "delete the temporary partition (BLKPG) of", e)),
            }
        }
    }
}

/// Opens a node for reading, without a claim: no event follows when it is closed.
pub fn open_for_reading(node: &str) -> Result<OwnedFd> {
    rustix::fs::open(node, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(|e| Error::file(node, "open", e))
}

/// Whether a node can be claimed exclusively right now (O_EXCL fails where it is mounted, a member, or swap). Opened
/// read-only: nothing is written and no event follows.
pub fn claimable(node: &str) -> std::result::Result<(), Errno> {
    rustix::fs::open(node, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()).map(drop)
}

/// The device number of a node; `None` where it is no block device.
pub fn node_devnum(node: &str) -> Option<(u32, u32)> {
    let stat = rustix::fs::stat(node).ok()?;
    rustix::fs::FileType::from_raw_mode(stat.st_mode)
        .is_block_device()
        .then(|| (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev)))
}

/// Waits until a node has this device number (udev or devtmpfs makes it after the kernel's event).
pub fn wait_for_node(node: &str, devnum: (u32, u32), at_most: Duration) -> bool {
    let until = Instant::now() + at_most;
    while node_devnum(node) != Some(devnum) {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
