//! A temporary loop device on a file, for `selftest`. It frees itself at its last close (LO_FLAGS_AUTOCLEAR), so nothing of
//! it is left whatever happens to this process.

use crate::error::{Error, Result};
use crate::machine::sys;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// An attached loop device.
#[derive(Debug)]
pub struct LoopDevice {
    /// Its node.
    pub node: String,
    /// Keeps it attached.
    _open: File,
}

/// Makes a file of this content and attaches a loop device to it.
pub fn attach(file: &Path, content: &[u8]) -> Result<LoopDevice> {
    let mut backing = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .map_err(|e| Error::file(file, "make", e))?;
    backing.write_all(content).and_then(|()| backing.sync_all()).map_err(|e| Error::file(file, "write", e))?;
    let control = "/dev/loop-control";
    let control_fd = File::open(control).map_err(|e| Error::file(control, "open", e))?;
    // Another program may take the free number between the question and the attachment.
    for _ in 0..16 {
        let number = sys::loop_free(&control_fd).map_err(|e| Error::file(control, "ask for a free loop device", e))?;
        let node = format!("/dev/loop{number}");
        let open = OpenOptions::new().read(true).write(true).open(&node).map_err(|e| Error::file(&node, "open", e))?;
        match sys::loop_configure(&open, backing.as_fd(), 4096) {
            Ok(()) => return Ok(LoopDevice { node, _open: open }),
            Err(rustix::io::Errno::BUSY) => {}
            Err(e) => return Err(Error::file(node, "attach a file to", e)),
        }
    }
    Err(Error::file(control, "find a free loop device", rustix::io::Errno::BUSY))
}

/// The content of a device as it is on the medium, through a fresh page cache.
pub fn content(node: &str) -> Result<Vec<u8>> {
    let file = File::open(node).map_err(|e| Error::file(node, "open", e))?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
        .map_err(|e| Error::file(node, "drop the cache of", e))?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut &file, &mut bytes).map_err(|e| Error::file(node, "read", e))?;
    Ok(bytes)
}

/// A new private directory for a test's state, below the usual place for temporary files.
pub fn private_directory() -> Result<std::path::PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let seed = crate::machine::clock::fresh_seed().map_err(|e| Error::file("/dev/urandom", "read", e))?;
    let dir = std::env::temp_dir().join(format!("zerocap-selftest-{seed:016x}"));
    std::fs::DirBuilder::new().mode(0o700).create(&dir).map_err(|e| Error::file(&dir, "make the directory", e))?;
    Ok(dir)
}

/// Removes what [`private_directory`] made.
pub fn remove_directory(dir: &Path) -> Result<()> {
    std::fs::remove_dir_all(dir).map_err(|e| Error::file(dir, "remove", e))
}
