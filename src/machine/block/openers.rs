//! Which other processes have a block device open for writing, by `/proc/<pid>/fd` and `fdinfo`. Reads only.
//!
//! O_EXCL keeps out only those who claim a device; a database or an emulator that opens it plainly is seen here alone.

use crate::error::{Error, Result};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A process that has a device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// Its number.
    pub pid: u32,
    /// Its name (`/proc/<pid>/comm`), as it gave it.
    pub command: String,
}

/// The inode of the initial pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`).
const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// `O_ACCMODE` of `flags:` in fdinfo, which is octal (proc_pid_fdinfo(5)).
const ACCESS_MODE: u32 = 0o3;

/// The other processes that have one of these devices open for writing. An error where not all processes can be seen:
/// then nobody knows.
pub fn writers(devnums: &[(u32, u32)]) -> Result<Vec<Opener>> {
    let namespace = fs::metadata("/proc/self/ns/pid").map_err(|e| Error::file("/proc/self/ns/pid", "look up", e))?;
    if namespace.ino() != INITIAL_PID_NAMESPACE {
        return Err(unseen("this is not the machine's own process namespace (a container)"));
    }
    writers_below(Path::new("/proc"), devnums, std::process::id())
}

fn unseen(why: &str) -> Error {
    Error::NotSafe {
        device: "/proc".to_owned(),
        why: format!("who else has the device open cannot be seen: {why}; run it on the machine itself, as root"),
    }
}

fn writers_below(proc: &Path, devnums: &[(u32, u32)], own: u32) -> Result<Vec<Opener>> {
    let mut found = Vec::new();
    let mut seen_first = false;
    for entry in fs::read_dir(proc).map_err(|e| Error::file(proc, "list", e))? {
        let entry = entry.map_err(|e| Error::file(proc, "list", e))?;
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        seen_first |= pid == 1;
        if pid != own && writes(&entry.path(), devnums)? {
            let command = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(Opener { pid, command: command.trim_end().to_owned() });
        }
    }
    if !seen_first {
        return Err(unseen("/proc hides other users' processes (hidepid)"));
    }
    Ok(found)
}

fn writes(process: &Path, devnums: &[(u32, u32)]) -> Result<bool> {
    let fds = process.join("fd");
    let entries = match fs::read_dir(&fds) {
        Ok(entries) => entries,
        // It has ended meanwhile.
        Err(e) if gone(&e) => return Ok(false),
        Err(e) => return Err(Error::file(fds, "list", e)),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) if gone(&e) => return Ok(false),
            Err(e) => return Err(Error::file(fds, "list", e)),
        };
        // Only a link to a device node is followed: a look behind others may block (a file of a dead server).
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if !target.starts_with("/dev/") {
            continue;
        }
        let Ok(meta) = fs::metadata(entry.path()) else { continue };
        let device = (rustix::fs::major(meta.rdev()), rustix::fs::minor(meta.rdev()));
        let is_block = rustix::fs::FileType::from_raw_mode(meta.mode()).is_block_device();
        if is_block && devnums.contains(&device) && open_for_writing(process, &entry.file_name()) {
            return Ok(true);
        }
    }
    Ok(false)
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
        let error = writers_below(dir.path(), &[(8, 0)], 1).unwrap_err().to_string();
        assert!(error.contains("hidepid"), "{error}");
        fs::create_dir_all(dir.path().join("1/fd")).unwrap();
        assert_eq!(writers_below(dir.path(), &[(8, 0)], 2).unwrap(), []);
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
}
