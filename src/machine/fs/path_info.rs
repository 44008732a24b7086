//! What a path is: the node of a block device, a file or a directory; on which mount; with which flags. It only reads. It
//! opens a regular file or a directory for its flags, and nothing else, because opening a FIFO or a device node has effects.

use crate::device::display::escape_str;
use crate::device::Devnum;
use crate::error::{Error, Result};
use crate::machine::sys;
use rustix::fs::{AtFlags, FileType, IFlags, Mode, OFlags, Statx, StatxAttributes, StatxFlags};
use std::os::fd::OwnedFd;
use std::path::Path;

/// `FS_EXTENT_FL` of `<linux/fs.h>`: an ext4 inode that is mapped by extents.
const FS_EXTENT_FL: IFlags = IFlags::from_bits_retain(0x0008_0000);

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The node of a block device.
    BlockDevice(Devnum),
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Something that holds no data: a character device, a FIFO, a socket.
    Other(&'static str),
}

/// Marks of a file that decide what fallocate does with it. `None`: not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// It may not be changed.
    pub immutable: bool,
    /// It may only grow.
    pub append_only: bool,
    /// Its content is encrypted by the file system.
    pub encrypted: Option<bool>,
    /// An ext4 inode that is mapped by extents.
    pub extents: Option<bool>,
    /// What is written over stays in its place (btrfs: chattr +C; f2fs: pinned).
    pub no_cow: Option<bool>,
    /// Its content is compressed.
    pub compressed: Option<bool>,
    /// Its data is to go through the journal (ext4: chattr +j).
    pub journaled: Option<bool>,
    /// It lies on the realtime device of an xfs.
    pub realtime: Option<bool>,
}

/// A path that was looked up; links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The path without links, dots and double slashes.
    pub path: String,
    /// What it is.
    pub what: What,
    /// The device number of the file system; its major is 0 for one without a block device of its own, or with several.
    pub filesystem: Devnum,
    /// The mount's number in `/proc/self/mountinfo`; `None` before Linux 5.8.
    pub mount: Option<u64>,
    /// Marks of a file.
    pub marks: Marks,
}

/// Looks a path up.
pub fn locate(typed: &str) -> Result<Located> {
    let none = |what: &str| Error::NoDevice { path: escape_str(typed), what: what.to_owned() };
    let path = std::fs::canonicalize(typed).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            none("no such file, directory or device; for a file that does not exist yet, name its directory")
        }
        _ => Error::file(typed, "look up", e),
    })?;
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let stat = rustix::fs::statx(rustix::fs::CWD, &path, AtFlags::NO_AUTOMOUNT, wanted)
        .map_err(|e| Error::file(&path, "look up", e))?;
    let what = match FileType::from_raw_mode(u32::from(stat.stx_mode)) {
        FileType::BlockDevice => What::BlockDevice(Devnum { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor }),
        FileType::RegularFile => What::File,
        FileType::Directory => What::Directory,
        FileType::CharacterDevice => What::Other("a character device"),
        FileType::Fifo => What::Other("a FIFO"),
        FileType::Socket => What::Other("a socket"),
        _ => What::Other("no file"),
    };
    let marks = match what {
        What::File => marks(&path, &stat),
        // What is made in a directory is encrypted, and mapped, as the directory is; but it can be changed.
        What::Directory => Marks { immutable: false, append_only: false, ..marks(&path, &stat) },
        _ => Marks::default(),
    };
    let mount = (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id);
    Ok(Located {
        path: path.to_string_lossy().into_owned(),
        what,
        filesystem: Devnum { major: stat.stx_dev_major, minor: stat.stx_dev_minor },
        mount,
        marks,
    })
}

/// Whether something of that name can be looked up, without an error where it cannot.
pub fn exists(path: &str) -> bool {
    Path::new(path).exists()
}

/// The number of a block device's node; `None` where there is none.
pub fn node_number(node: &str) -> Option<Devnum> {
    crate::machine::block::locked_disk::node_devnum(node).map(|(major, minor)| Devnum { major, minor })
}

/// The marks of a file or directory, where its file system says them.
fn marks(path: &Path, stat: &Statx) -> Marks {
    let has = |mark| stat.stx_attributes.contains(mark);
    // A bit that the file system does not know of says nothing.
    let known = |mark| stat.stx_attributes_mask.contains(mark).then(|| has(mark));
    let fd = open(path).ok();
    let flags = fd.as_ref().and_then(|fd| rustix::fs::ioctl_getflags(fd).ok());
    let flag = |flag| flags.map(|flags| flags.contains(flag));
    Marks {
        immutable: has(StatxAttributes::IMMUTABLE),
        append_only: has(StatxAttributes::APPEND),
        encrypted: known(StatxAttributes::ENCRYPTED),
        extents: flag(FS_EXTENT_FL),
        no_cow: flag(IFlags::NOCOW),
        compressed: flag(IFlags::COMPRESSED).or_else(|| known(StatxAttributes::COMPRESSED)),
        journaled: flag(IFlags::JOURNALING),
        realtime: fd.and_then(|fd| sys::xflags(fd).ok()).map(|x| x & sys::FS_XFLAG_REALTIME != 0),
    }
}

/// Opens a file or directory for reading; it must be one.
pub(super) fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Whether a file has no data between two offsets in bytes, only holes; `None` where it cannot be told.
pub fn only_holes(path: &str, from: u64, to: u64) -> Option<bool> {
    let fd = open(Path::new(path)).ok()?;
    if !FileType::from_raw_mode(rustix::fs::fstat(&fd).ok()?.st_mode).is_file() {
        return None;
    }
    match rustix::fs::seek(&fd, rustix::fs::SeekFrom::Data(from)) {
        Ok(data) => Some(data >= to),
        // No data up to the end of the file.
        Err(rustix::io::Errno::NXIO) => Some(true),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_path_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
        assert_eq!(locate(&at("")).unwrap().what, What::Directory);
        assert_eq!(locate(&at("fifo")).unwrap().what, What::Other("a FIFO"));
        let link = locate(&at("link")).unwrap();
        assert_eq!(link.what, What::File);
        assert!(link.path.ends_with("/file"), "{}", link.path);
        assert_eq!(locate("/dev/null").unwrap().what, What::Other("a character device"));
        assert_eq!(locate(&at("none")).unwrap_err().exit_code(), 32);
        assert!(locate("/proc/self").unwrap().filesystem.major == 0);
    }
}
