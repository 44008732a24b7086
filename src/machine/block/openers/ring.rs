//! The block devices that an io_uring keeps open: a file that is registered with it stays open when its descriptor is closed
//! (`fdinfo` of the ring, `io_uring_show_fdinfo`). It only reads.

use super::held::{block_node, gone, How, Nodes};
use crate::error::{Error, Result};
use crate::machine::environment::running_kernel;
use crate::machine::fs::mounts::unescape;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The link of a descriptor that is an io_uring, and the file of its mapping.
pub const LINK: &str = "anon_inode:[io_uring]";
/// The kernel shows the files of a ring only while nobody works on it (`mutex_trylock` in `io_uring_show_fdinfo`), so one
/// that shows none is looked at this often, with this pause between.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);
/// From this kernel on a ring that is busy shows nothing at all, so places without a file are empty ones.
const SHOWS_ALL_OR_NOTHING: (u32, u32) = (6, 16);

/// The most that a process can do through the files that it registered with a ring. How a file was opened is not shown, so
/// it counts as if for writing; where the files are not shown, that is said.
pub fn registered(process: &Path, fd: &OsStr, nodes: &Nodes) -> Result<Option<How>> {
    let path = process.join("fdinfo").join(fd);
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        let info = match fs::read_to_string(&path) {
            Ok(info) => info,
            Err(e) if gone(&e) => return Ok(None),
            Err(e) => return Err(Error::file(path, "read", e)),
        };
        match ring_files(&info) {
            Shown::Files(files) => return Ok(files.iter().filter_map(|file| one(process, file, nodes)).max()),
            Shown::None if running_kernel().is_some_and(|k| k >= SHOWS_ALL_OR_NOTHING) => return Ok(None),
            Shown::None | Shown::Nothing => {}
        }
    }
    Ok(Some(How::HidesFiles))
}

/// What the process can do to the nodes by this registered file.
fn one(process: &Path, file: &str, nodes: &Nodes) -> Option<How> {
    let places = places(process, file);
    let numbers: Vec<_> = places.iter().filter_map(|path| block_node(path)).collect();
    if numbers.iter().any(|number| nodes.blocks.contains(number)) {
        return Some(How::Writes);
    }
    // A path that leads to nothing was that of a file which nobody sees any more: it may have been the node.
    let hidden = file.starts_with('/') && !places.iter().any(|path| path.symlink_metadata().is_ok());
    hidden.then_some(How::HidesFiles)
}

/// Where a registered file may lie: by its path, in the file system of this process or of that one, which may be a jail's.
/// Kernels before 6.13 show its own name alone: then only a node in /dev is found. What has neither is no file (a socket).
fn places(process: &Path, file: &str) -> Vec<PathBuf> {
    let file = unescape(file);
    match file.strip_prefix('/') {
        Some(below) => vec![PathBuf::from(&file), process.join("root").join(below)],
        None if file.contains('/') => Vec::new(),
        None => vec![Path::new("/dev").join(file)],
    }
}

/// What the fdinfo of a ring says of its files.
#[derive(Debug, PartialEq, Eq)]
enum Shown<'a> {
    /// These, by their paths; or that it has no places for any.
    Files(Vec<&'a str>),
    /// It has places for files and shows no file: they are empty, or a kernel before 6.16 found the ring busy.
    None,
    /// Nothing was shown of files at all: the ring was busy.
    Nothing,
}

/// Reads `UserFiles:` with the number of places, then a line for each file: `    0: /dev/sda`. Older kernels show an empty
/// place as `<none>`.
fn ring_files(info: &str) -> Shown<'_> {
    let mut lines = info.lines().skip_while(|l| !l.starts_with("UserFiles:"));
    let places = lines.next().and_then(|l| l.split(':').nth(1)?.trim().parse::<u64>().ok());
    let file = |line| -> Option<&str> {
        let (place, file) = str::split_once(line, ": ")?;
        place.trim().parse::<u64>().is_ok().then_some(file)
    };
    let files: Vec<&str> = lines.map_while(file).collect();
    match places {
        None => Shown::Nothing,
        Some(0) => Shown::Files(Vec::new()),
        Some(_) if files.is_empty() => Shown::None,
        Some(_) => Shown::Files(files),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_ring_are_seen_or_it_is_said_that_they_are_not() {
        let old = "pos:\t0\nUserFiles:\t3\n    0: /dev/sda\n    1: <none>\n    2: /tmp/a b\nUserBufs:\t0\n";
        assert_eq!(ring_files(old), Shown::Files(vec!["/dev/sda", "<none>", "/tmp/a b"]));
        let new = "SqMask:\t0x7\nUserFiles:\t64\n   63: /dev/nvme0n1\nUserBufs:\t2\n    0: 0x7f/4096\nPollList:\n";
        assert_eq!(ring_files(new), Shown::Files(vec!["/dev/nvme0n1"]));
        assert_eq!(ring_files("UserFiles:\t0\nUserBufs:\t2\n    0: 0x7f/4096\n"), Shown::Files(Vec::new()));
        assert_eq!(ring_files("UserFiles:\t4\nUserBufs:\t1\n    0: 0x7f/4096\n"), Shown::None);
        for busy in ["", "pos:\t0\nflags:\t02\n", "UserFiles:\tx\n", "UserFiles:\n"] {
            assert_eq!(ring_files(busy), Shown::Nothing, "{busy}");
        }
    }

    #[test]
    fn a_registered_file_is_looked_for_by_its_path_here_and_in_the_process_or_by_its_name_in_dev() {
        let of = |file| places(Path::new("/proc/7"), file);
        let [here, there] = ["/jail/my node", "/proc/7/root/jail/my node"].map(PathBuf::from);
        assert_eq!(of("/jail/my\\040node"), [here, there]);
        assert_eq!(of("nvme0n1"), [Path::new("/dev/nvme0n1")]);
        assert_eq!(of("net/socket"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_ring_that_stays_busy_or_keeps_a_file_that_nobody_finds_is_not_taken_for_empty() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("fdinfo")).unwrap();
        let nodes = Nodes { blocks: vec![(8, 0)], commands: Vec::new() };
        let deleted = "UserFiles:\t1\n    0: /dev/zerocap-no-such-node\\040(deleted)\n";
        for (info, how) in [
            ("UserFiles:\t0\n", None),
            ("pos:\t0\n", Some(How::HidesFiles)),
            (deleted, Some(How::HidesFiles)),
            ("UserFiles:\t2\n    0: /dev/null\n    1: socket:[7]\n", None),
        ] {
            fs::write(dir.path().join("fdinfo/5"), info).unwrap();
            assert_eq!(registered(dir.path(), OsStr::new("5"), &nodes).unwrap(), how, "{info}");
        }
    }
}
