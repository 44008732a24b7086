//! What a process may hold of a device, and which node a descriptor or a mapping refers to. It only reads.

use rustix::fs::{AtFlags, FileType, StatxFlags};
use std::path::Path;

/// What a process can do to a device by what it has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It has the node open for reading.
    Reads,
    /// It has the device's node for commands open (`/dev/sg3`, `/dev/ng0n1`): what it sends is not seen.
    SendsCommands,
    /// It has an io_uring, and which files that keeps open is not shown: perhaps the node, for writing.
    HidesFiles,
    /// It has the node open for writing.
    Writes,
}

/// The nodes of which somebody may have one open.
#[derive(Debug, Clone, Default)]
pub struct Nodes {
    /// Numbers of block devices.
    pub blocks: Vec<(u32, u32)>,
    /// Nodes for commands to the same device.
    pub commands: Vec<String>,
}

/// The number of the block device whose node this is, wherever the node lies (a jail has its own); `None` where it is none.
/// What the kernel has in memory is enough: a file of a server that does not answer must not keep this process waiting
/// (`AT_STATX_DONT_SYNC`), and what a descriptor is does not change while it is open.
pub fn block_node(path: &Path) -> Option<(u32, u32)> {
    let found = rustix::fs::statx(rustix::fs::CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(found.stx_mode.into()).is_block_device();
    is_block.then_some((found.stx_rdev_major, found.stx_rdev_minor))
}

/// Whether an error says that the process has ended meanwhile.
pub fn gone(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::NotFound) || e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}
