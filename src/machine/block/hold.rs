//! What a test holds of a disk, and what it asks the kernel about other users of the disk: the lock, the kernel's view of
//! partitions, who else has it open. This file has the trait, so that the order of a test is the same for live and simulated
//! disks, and the live implementation.
//!
//! It writes nothing to a medium.

use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::block::blkid::{self, Signature};
use crate::machine::block::dm_status::{self, Table};
pub use crate::machine::block::locked_disk::Opened;
use crate::machine::block::locked_disk::{self, LockedDisk};
use crate::machine::block::openers::{self, Nodes, Opener};
use crate::machine::udev;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// One disk at a time, locked by this process.
pub trait Hold {
    /// Opens a whole-disk node read-only and takes its lock. `Ok(None)`: another process has held it for five seconds.
    fn lock(&mut self, node: &str) -> Result<Option<Opened>>;
    /// Gives the lock up.
    fn unlock(&mut self);
    /// Bytes of the locked disk through the page cache; `None` where they cannot be read whole.
    fn read_at(&self, offset: u64, length: usize) -> Option<Vec<u8>>;
    /// The first byte of a span of the locked disk that is not zero, read past the page cache.
    fn first_not_zero(&self, offset: u64, length: u64) -> Result<Option<u64>>;
    /// Adds a partition to the kernel's view of the locked disk. `Ok(false)`: the disk can have none.
    fn add_partition(&mut self, number: i32, start: u64, length: u64) -> Result<bool>;
    /// Takes a partition out of the kernel's view of the locked disk; no error where it is gone already.
    fn delete_partition(&mut self, number: i32) -> Result<()>;
    /// Waits until a node has this device number.
    fn wait_for_node(&self, node: &str, devnum: (u32, u32), at_most: Duration) -> bool;
    /// The device number of a node; `None` where it is no block device.
    fn node_devnum(&self, node: &str) -> Option<(u32, u32)>;
    /// Whether a node can be claimed exclusively right now; `Err` is the errno.
    fn claimable(&self, node: &str) -> std::result::Result<(), i32>;
    /// What signature lies on a node, or on these bytes of it alone.
    fn signature(&self, node: &str, bytes: Option<(u64, u64)>) -> Result<Signature>;
    /// The other processes that have one of these nodes open.
    fn openers(&self, nodes: &Nodes) -> Result<Vec<Opener>>;
    /// Keeps a node open until [`Hold::delete_partition`]: of a partition that nobody has open BLKRRPART makes nothing.
    fn keep_open(&mut self, node: &str) -> Result<()>;
    /// How long the lock has been held.
    fn held_for(&self) -> Duration;
    /// Gives the lock up for long enough that udev handles what it waits with, and takes it again; gives what the disk says
    /// then. `Ok(None)`: another process has it now.
    fn let_udev_in(&mut self) -> Result<Option<Opened>>;
    /// The table of a device-mapper device.
    fn table(&self, devnum: Devnum) -> Fact<Table>;
    /// Has udev look at a device again.
    fn changed(&mut self, device: &Device) -> Result<()>;
}

/// udevd tries a locked disk again every 200 ms or more: a lock given up for 0.3 s lets nothing through, for 1 s it does
/// (fieldguide 13).
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// udev may be busy with other devices for as long as it likes.
const MOST_PAUSE: Duration = Duration::from_secs(5);
/// udevd has this file while it has events to handle.
const UDEV_QUEUE: &str = "/run/udev/queue";

/// Disks of the running system.
#[derive(Debug, Default)]
pub struct LiveHold {
    disk: Option<(LockedDisk, Instant)>,
    /// The temporary partition, open.
    partition: Option<OwnedFd>,
}

impl LiveHold {
    fn disk(&self) -> Result<&LockedDisk> {
        self.disk.as_ref().map(|(disk, _)| disk).ok_or_else(|| Error::NotSafe {
            device: "the disk".to_owned(),
            why: "it is not locked by this process".to_owned(),
        })
    }
}

impl Hold for LiveHold {
    fn lock(&mut self, node: &str) -> Result<Option<Opened>> {
        self.unlock();
        blkid::answers(node)?;
        let Some(disk) = LockedDisk::open(node)? else { return Ok(None) };
        let opened = disk.opened;
        self.disk = Some((disk, Instant::now()));
        Ok(Some(opened))
    }

    fn unlock(&mut self) {
        self.disk = None;
    }

    fn read_at(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        self.disk().ok()?.read_at(offset, length)
    }

    fn first_not_zero(&self, offset: u64, length: u64) -> Result<Option<u64>> {
        self.disk()?.first_not_zero(offset, length)
    }

    fn add_partition(&mut self, number: i32, start: u64, length: u64) -> Result<bool> {
        self.disk()?.add_partition(number, start, length)
    }

    fn delete_partition(&mut self, number: i32) -> Result<()> {
        self.partition = None;
        self.disk()?.delete_partition(number)
    }

    fn wait_for_node(&self, node: &str, devnum: (u32, u32), at_most: Duration) -> bool {
        locked_disk::wait_for_node(node, devnum, at_most)
    }

    fn node_devnum(&self, node: &str) -> Option<(u32, u32)> {
        locked_disk::node_devnum(node)
    }

    fn claimable(&self, node: &str) -> std::result::Result<(), i32> {
        locked_disk::claimable(node).map_err(|e| e.raw_os_error())
    }

    fn signature(&self, node: &str, bytes: Option<(u64, u64)>) -> Result<Signature> {
        blkid::probe(node, bytes)
    }

    fn openers(&self, nodes: &Nodes) -> Result<Vec<Opener>> {
        openers::find(nodes)
    }

    fn keep_open(&mut self, node: &str) -> Result<()> {
        self.partition = Some(locked_disk::open_for_reading(node)?);
        Ok(())
    }

    fn held_for(&self) -> Duration {
        self.disk.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    fn let_udev_in(&mut self) -> Result<Option<Opened>> {
        let Some((disk, _)) = self.disk.take() else { return Ok(None) };
        let node = disk.node().to_owned();
        drop(disk);
        let from = Instant::now();
        std::thread::sleep(LEAST_PAUSE);
        while std::path::Path::new(UDEV_QUEUE).exists() && from.elapsed() < MOST_PAUSE {
            std::thread::sleep(Duration::from_millis(50));
        }
        self.lock(&node)
    }

    fn table(&self, devnum: Devnum) -> Fact<Table> {
        dm_status::table(devnum)
    }

    fn changed(&mut self, device: &Device) -> Result<()> {
        udev::send_change(device)
    }
}
