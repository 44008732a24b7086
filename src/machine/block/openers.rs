//! Which other processes have a block device open, by `/proc/<pid>/fd` and `fdinfo`. Reads only.
//!
//! O_EXCL keeps out only those who claim a device; a database or an emulator that opens it plainly is seen here alone.

use crate::error::{Error, Result};
use rustix::fs::{AtFlags, FileType, StatxFlags};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a process can do to a device by what it has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It has an io_uring with places for registered files, and what they hold was not shown.
    HidesFiles,
    /// It has the node open for reading.
    Reads,
    /// It has the device's node for commands open (`/dev/sg3`, `/dev/ng0n1`): what it sends is not seen.
    SendsCommands,
    /// It has the node open for writing.
    Writes,
}

/// A process that has a device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// Its number.
    pub pid: u32,
    /// Its name (`/proc/<pid>/comm`), as it gave it.
    pub command: String,
    /// The most that it can do.
    pub how: How,
}

/// The nodes of which somebody may have one open.
#[derive(Debug, Clone, Default)]
pub struct Nodes {
    /// Numbers of block devices.
    pub blocks: Vec<(u32, u32)>,
    /// Nodes for commands to the same device.
    pub commands: Vec<String>,
}

/// The inode of the initial pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`).
const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// `O_ACCMODE` of `flags:` in fdinfo, which is octal (proc_pid_fdinfo(5)).
const ACCESS_MODE: u32 = 0o3;

/// The processes that have one of these open, this one and its children left out. An error where not all processes can be
/// seen: then nobody knows.
pub fn find(nodes: &Nodes) -> Result<Vec<Opener>> {
    let namespace = fs::metadata("/proc/self/ns/pid").map_err(|e| Error::file("/proc/self/ns/pid", "look up", e))?;
    if namespace.ino() != INITIAL_PID_NAMESPACE {
        return Err(unseen("this is not the machine's own process namespace (a container)"));
    }
    find_below(Path::new("/proc"), nodes, std::process::id())
}

fn unseen(why: &str) -> Error {
    Error::NotSafe {
        device: "/proc".to_owned(),
        why: format!("who else has the device open cannot be seen: {why}; run it on the machine itself, as root"),
    }
}

fn find_below(proc: &Path, nodes: &Nodes, own: u32) -> Result<Vec<Opener>> {
    let mut found = Vec::new();
    let mut seen_first = false;
    for entry in fs::read_dir(proc).map_err(|e| Error::file(proc, "list", e))? {
        let entry = entry.map_err(|e| Error::file(proc, "list", e))?;
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        seen_first |= pid == 1;
        if pid == own {
            continue;
        }
        // The children of a test are its own: the one that acts has the device open.
        let how = most(&entry.path(), nodes)?.filter(|_| parent(&entry.path()) != Some(own));
        if let Some(how) = how {
            let command = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(Opener { pid, command: command.trim_end().to_owned(), how });
        }
    }
    if !seen_first {
        return Err(unseen("/proc hides other users' processes (hidepid)"));
    }
    Ok(found)
}

/// The parent of a process: the second field behind its name in `stat`; the name may hold anything, so the last ')' ends it.
fn parent(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The most that a process can do to one of the nodes.
fn most(process: &Path, nodes: &Nodes) -> Result<Option<How>> {
    let fds = process.join("fd");
    let entries = match fs::read_dir(&fds) {
        Ok(entries) => entries,
        // It has ended meanwhile.
        Err(e) if gone(&e) => return Ok(None),
        Err(e) => return Err(Error::file(fds, "list", e)),
    };
    let mut most = None;
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) if gone(&e) => return Ok(most),
            Err(e) => return Err(Error::file(fds, "list", e)),
        };
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if nodes.commands.iter().any(|node| target.as_os_str() == node.as_str()) {
            most = most.max(Some(How::SendsCommands));
        }
        if target.as_os_str() == URING {
            most = most.max(registered(process, &entry.file_name(), nodes)?);
        }
        if block_node(&entry.path()).is_some_and(|number| nodes.blocks.contains(&number)) {
            let how = if open_for_writing(process, &entry.file_name()) { How::Writes } else { How::Reads };
            most = most.max(Some(how));
        }
    }
    Ok(most)
}

/// The number of the block device whose node this is, wherever the node lies (a jail has its own); `None` where it is none.
/// What the kernel has in memory is enough: a file of a server that does not answer must not keep this process waiting
/// (`AT_STATX_DONT_SYNC`), and what a descriptor is does not change while it is open.
fn block_node(path: &Path) -> Option<(u32, u32)> {
    let found = rustix::fs::statx(rustix::fs::CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(found.stx_mode.into()).is_block_device();
    is_block.then_some((found.stx_rdev_major, found.stx_rdev_minor))
}

/// The link of a descriptor that is an io_uring.
const URING: &str = "anon_inode:[io_uring]";
/// The kernel shows the files of a ring only while nobody works on it (`mutex_trylock` in `io_uring_show_fdinfo`), so one
/// that shows none is looked at this often, with this pause between.
const URING_LOOKS: u32 = 20;
const URING_PAUSE: Duration = Duration::from_millis(5);

/// The most that a process can do through the files that it registered with a ring: such a file stays open when its
/// descriptor is closed. How it was opened is not shown, so it counts as if for writing.
fn registered(process: &Path, fd: &std::ffi::OsStr, nodes: &Nodes) -> Result<Option<How>> {
    let path = process.join("fdinfo").join(fd);
    let mut how = None;
    for look in 0..URING_LOOKS {
        if look > 0 {
            std::thread::sleep(URING_PAUSE);
        }
        let info = match fs::read_to_string(&path) {
            Ok(info) => info,
            Err(e) if gone(&e) => return Ok(None),
            Err(e) => return Err(Error::file(path, "read", e)),
        };
        match ring_files(&info) {
            Ring::Files(files) => {
                let ours = |file: &&str| {
                    let node = node_of(file).and_then(|path| block_node(&path));
                    node.is_some_and(|number| nodes.blocks.contains(&number))
                };
                return Ok(files.iter().any(ours).then_some(How::Writes));
            }
            Ring::NoneShown => how = Some(How::HidesFiles),
            Ring::Busy => {}
        }
    }
    match how {
        Some(how) => Ok(Some(how)),
        None => Err(unseen(&format!("the io_uring of process {} is busy and does not show its files", path.display()))),
    }
}

/// Where the node of a registered file would be: its path is looked up anew, so only below /dev, where no server can keep that
/// waiting. Older kernels (6.12) show the file's own name alone.
fn node_of(file: &str) -> Option<PathBuf> {
    match file.contains('/') {
        true => file.starts_with("/dev/").then(|| PathBuf::from(file)),
        false => Some(Path::new("/dev").join(file)),
    }
}

/// What the fdinfo of a ring says of its files.
#[derive(Debug, PartialEq, Eq)]
enum Ring<'a> {
    /// These, by their paths; or that it has none.
    Files(Vec<&'a str>),
    /// It has places for files and shows none: they are empty, or a kernel before 6.16 found the ring busy.
    NoneShown,
    /// Nothing was shown of files at all.
    Busy,
}

/// Reads `UserFiles:` with the number of places, then a line for each file: `    0: /dev/sda`. Older kernels show an empty
/// place as `<none>`.
fn ring_files(info: &str) -> Ring<'_> {
    let mut lines = info.lines().skip_while(|l| !l.starts_with("UserFiles:"));
    let places = lines.next().and_then(|l| l.split(':').nth(1)?.trim().parse::<u64>().ok());
    let file = |line| -> Option<&str> {
        let (place, file) = str::split_once(line, ": ")?;
        place.trim().parse::<u64>().is_ok().then_some(file)
    };
    let files: Vec<&str> = lines.map_while(file).collect();
    match places {
        None => Ring::Busy,
        Some(0) => Ring::Files(Vec::new()),
        Some(_) if files.is_empty() => Ring::NoneShown,
        Some(_) => Ring::Files(files),
    }
}

/// Whether a descriptor was opened for writing; what cannot be read counts as if it were.
fn open_for_writing(process: &Path, fd: &std::ffi::OsStr) -> bool {
    let info = fs::read_to_string(process.join("fdinfo").join(fd)).unwrap_or_default();
    let flags = info.lines().find_map(|l| l.strip_prefix("flags:")).map(str::trim);
    flags.and_then(|f| u32::from_str_radix(f, 8).ok()).is_none_or(|f| f & ACCESS_MODE != 0)
}

fn gone(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::NotFound) || e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_cannot_be_seen_is_not_taken_for_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("7/fd")).unwrap();
        let nodes = Nodes { blocks: vec![(8, 0)], commands: Vec::new() };
        let error = find_below(dir.path(), &nodes, 1).unwrap_err().to_string();
        assert!(error.contains("hidepid"), "{error}");
        fs::create_dir_all(dir.path().join("1/fd")).unwrap();
        assert_eq!(find_below(dir.path(), &nodes, 2).unwrap(), []);
    }

    #[test]
    fn a_descriptor_is_for_writing_unless_it_says_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("fdinfo")).unwrap();
        for (fd, text, writes) in
            [("3", "pos:\t0\nflags:\t0100000\n", false), ("4", "flags:\t0100002\n", true), ("5", "flags:\t01\n", true)]
        {
            fs::write(dir.path().join("fdinfo").join(fd), text).unwrap();
            assert_eq!(open_for_writing(dir.path(), fd.as_ref()), writes, "{text}");
        }
        assert!(open_for_writing(dir.path(), "9".as_ref()), "not known");
    }

    #[test]
    fn the_files_of_a_ring_are_seen_or_it_is_said_that_they_are_not() {
        let old = "pos:\t0\nUserFiles:\t3\n    0: /dev/sda\n    1: <none>\n    2: /tmp/a b\nUserBufs:\t0\n";
        assert_eq!(ring_files(old), Ring::Files(vec!["/dev/sda", "<none>", "/tmp/a b"]));
        let new = "SqMask:\t0x7\nUserFiles:\t64\n   63: /dev/nvme0n1\nUserBufs:\t2\n    0: 0x7f/4096\nPollList:\n";
        assert_eq!(ring_files(new), Ring::Files(vec!["/dev/nvme0n1"]));
        assert_eq!(ring_files("UserFiles:\t0\nUserBufs:\t2\n    0: 0x7f/4096\n"), Ring::Files(Vec::new()));
        assert_eq!(ring_files("UserFiles:\t4\nUserBufs:\t1\n    0: 0x7f/4096\n"), Ring::NoneShown);
        for busy in ["", "pos:\t0\nflags:\t02\n", "UserFiles:\tx\n", "UserFiles:\n"] {
            assert_eq!(ring_files(busy), Ring::Busy, "{busy}");
        }
    }

    #[test]
    fn a_registered_file_is_looked_for_below_dev_by_its_path_or_its_name() {
        assert_eq!(node_of("/dev/nvme0n1"), Some("/dev/nvme0n1".into()));
        assert_eq!(node_of("nvme0n1"), Some("/dev/nvme0n1".into()));
        assert_eq!(node_of("/net/dead/file"), None);
    }

    #[test]
    fn a_ring_that_stays_busy_is_not_taken_for_empty() {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["1/fd", "1/fdinfo"] {
            fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        std::os::unix::fs::symlink(URING, dir.path().join("1/fd/5")).unwrap();
        let nodes = Nodes { blocks: vec![(8, 0)], commands: Vec::new() };
        for (info, what) in [("UserFiles:\t0\n", Ok(0)), ("UserFiles:\t9\n", Ok(1)), ("pos:\t0\n", Err(()))] {
            fs::write(dir.path().join("1/fdinfo/5"), info).unwrap();
            let found = find_below(dir.path(), &nodes, 2);
            match what {
                Ok(n) => {
                    let hows: Vec<How> = found.unwrap().iter().map(|o| o.how).collect();
                    assert_eq!(hows, vec![How::HidesFiles; n], "{info}");
                }
                Err(()) => assert!(found.unwrap_err().to_string().contains("busy"), "{info}"),
            }
        }
    }

    #[test]
    fn a_node_for_commands_is_told_and_a_child_of_the_test_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        for (pid, parent) in [("1", "0"), ("7", "1"), ("8", "5")] {
            fs::create_dir_all(dir.path().join(pid).join("fd")).unwrap();
            fs::write(dir.path().join(pid).join("stat"), format!("{pid} (a) b) S {parent} 0 0\n")).unwrap();
            fs::write(dir.path().join(pid).join("comm"), "tool\n").unwrap();
        }
        for pid in ["7", "8"] {
            std::os::unix::fs::symlink("/dev/sg3", dir.path().join(pid).join("fd/4")).unwrap();
        }
        let nodes = Nodes { blocks: Vec::new(), commands: vec!["/dev/sg3".to_owned()] };
        let tool = Opener { pid: 7, command: "tool".to_owned(), how: How::SendsCommands };
        assert_eq!(find_below(dir.path(), &nodes, 5).unwrap(), [tool]);
        let other = Nodes { blocks: Vec::new(), commands: vec!["/dev/sg30".to_owned()] };
        assert_eq!(find_below(dir.path(), &other, 5).unwrap(), []);
    }
}
