//! The other processes that have a block device open: by a descriptor (`/proc/<pid>/fd`), by a mapping whose descriptor was
//! closed, or by an io_uring that keeps a file. It only reads.
//!
//! O_EXCL keeps out only those that claim a device; a database or an emulator that opens it without a claim is seen only
//! here.

mod held;
mod mappings;
mod ring;

pub use held::{How, Nodes};

use crate::error::{Error, Result};
use held::{block_node, gone};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{mpsc, Arc};
use std::time::Duration;

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

/// The inode of the initial pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`).
const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// `O_ACCMODE` of `flags:` in fdinfo, which is octal (proc_pid_fdinfo(5)).
const ACCESS_MODE: u32 = 0o3;
/// How long the look at all processes may take. The mappings of a process cannot be read while it changes them itself, and
/// one that hangs in that would keep this process waiting for as long.
const DEADLINE: Duration = Duration::from_secs(30);

/// The processes that have one of these open, this one and its children left out. An error where not all processes can be
/// seen: then nobody knows.
pub fn find(nodes: &Nodes) -> Result<Vec<Opener>> {
    let namespace = fs::metadata("/proc/self/ns/pid").map_err(|e| Error::file("/proc/self/ns/pid", "look up", e))?;
    if namespace.ino() != INITIAL_PID_NAMESPACE {
        return Err(unseen("zerocap runs in a process namespace of its own, as in a container"));
    }
    let (nodes, own) = (nodes.clone(), std::process::id());
    within(DEADLINE, move |at| find_below(Path::new("/proc"), &nodes, own, at))
}

/// What the look finds, unless it takes longer: then the process at which it hangs is named. The look gets a number to keep
/// up to date, that of the process which it looks at.
fn within<T: Send + 'static>(
    deadline: Duration,
    look: impl FnOnce(&AtomicU32) -> Result<T> + Send + 'static,
) -> Result<T> {
    let at = Arc::new(AtomicU32::new(0));
    let (tell, told) = mpsc::channel();
    let looked_at = Arc::clone(&at);
    std::thread::spawn(move || {
        // Nobody listens any more where it took too long.
        let _ = tell.send(look(&looked_at));
    });
    told.recv_timeout(deadline).unwrap_or_else(|_| {
        Err(unseen(&format!("process {} did not show what it has open", at.load(Ordering::Relaxed))))
    })
}

fn unseen(why: &str) -> Error {
    Error::NotSafe {
        device: "/proc".to_owned(),
        why: format!(
            "it cannot be seen who else has the device open: {why}; run zerocap as root, not in a \
             container, and with CAP_SYS_PTRACE"
        ),
    }
}

/// A process that a security module, say, keeps even root from looking at.
fn hidden(path: &Path, e: &std::io::Error) -> Error {
    unseen(&format!("{}: {e}", path.display()))
}

fn find_below(proc: &Path, nodes: &Nodes, own: u32, at: &AtomicU32) -> Result<Vec<Opener>> {
    let mut found = Vec::new();
    let mut seen_first = false;
    for entry in fs::read_dir(proc).map_err(|e| Error::file(proc, "list", e))? {
        let entry = entry.map_err(|e| Error::file(proc, "list", e))?;
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        seen_first |= pid == 1;
        if pid == own {
            continue;
        }
        at.store(pid, Ordering::Relaxed);
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
        Err(e) => return Err(hidden(&fds, &e)),
    };
    let (mut most, mut rings) = (None, false);
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) if gone(&e) => return Ok(most),
            Err(e) => return Err(Error::file(fds, "list", e)),
        };
        let target = match fs::read_link(entry.path()) {
            Ok(target) => target,
            // It was closed meanwhile.
            Err(e) if gone(&e) => continue,
            Err(e) => return Err(hidden(&entry.path(), &e)),
        };
        if nodes.commands.iter().any(|node| target.as_os_str() == node.as_str()) {
            most = most.max(Some(How::SendsCommands));
        }
        if target.as_os_str() == ring::LINK {
            rings = true;
            most = most.max(ring::registered(process, &entry.file_name(), nodes)?);
        }
        if block_node(&entry.path()).is_some_and(|number| nodes.blocks.contains(&number)) {
            let how = if open_for_writing(process, &entry.file_name()) { How::Writes } else { How::Reads };
            most = most.max(Some(how));
        }
    }
    let mapped = mappings::shared(process).map_err(|e| hidden(&process.join("maps"), &e))?;
    if mapped.nodes.iter().any(|number| nodes.blocks.contains(number)) {
        most = most.max(Some(How::Writes));
    }
    // A ring of which there is a mapping and no descriptor: it is registered with itself, and its files are shown nowhere.
    if mapped.ring && !rings {
        most = most.max(Some(How::HidesFiles));
    }
    Ok(most)
}

/// Whether a descriptor was opened for writing; what cannot be read counts as if it were.
fn open_for_writing(process: &Path, fd: &std::ffi::OsStr) -> bool {
    let info = fs::read_to_string(process.join("fdinfo").join(fd)).unwrap_or_default();
    let flags = info.lines().find_map(|l| l.strip_prefix("flags:")).map(str::trim);
    flags.and_then(|f| u32::from_str_radix(f, 8).ok()).is_none_or(|f| f & ACCESS_MODE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_cannot_be_seen_is_not_taken_for_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("7/fd")).unwrap();
        let nodes = Nodes { blocks: vec![(8, 0)], commands: Vec::new() };
        let error = find_below(dir.path(), &nodes, 1, &AtomicU32::new(0)).unwrap_err().to_string();
        assert!(error.contains("hidepid"), "{error}");
        fs::create_dir_all(dir.path().join("1/fd")).unwrap();
        assert_eq!(find_below(dir.path(), &nodes, 2, &AtomicU32::new(0)).unwrap(), []);
    }

    #[test]
    fn a_descriptor_counts_as_writing_unless_it_is_read_only() {
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
        assert_eq!(find_below(dir.path(), &nodes, 5, &AtomicU32::new(0)).unwrap(), [tool]);
        let other = Nodes { blocks: Vec::new(), commands: vec!["/dev/sg30".to_owned()] };
        assert_eq!(find_below(dir.path(), &other, 5, &AtomicU32::new(0)).unwrap(), []);
    }

    #[test]
    fn a_process_that_does_not_answer_is_named_and_is_not_waited_for() {
        let hang = |at: &AtomicU32| {
            at.store(4711, Ordering::Relaxed);
            std::thread::park();
            Ok(Vec::<Opener>::new())
        };
        let error = within(Duration::from_millis(50), hang).unwrap_err().to_string();
        assert!(error.contains("process 4711 did not show"), "{error}");
        assert_eq!(within(Duration::from_secs(20), |_| Ok(7)).unwrap(), 7);
    }
}
