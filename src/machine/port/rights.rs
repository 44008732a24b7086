//! What the acting child may still do: the capabilities that it keeps, and the files that it may write once its node is open.
//!
//! Both only take rights away. If a kernel or a sandbox refuses that, the child keeps the rights of its parent.

use crate::machine::port::{Act, FileAct};
use crate::machine::sys;
use nvme_cli_sys as b;
use rustix::fs::{Mode, OFlags};
use rustix::io::Result;
use rustix::thread::{self, CapabilitySet, CapabilitySets};

/// What changes files and directories, in the first version of Landlock (Linux 5.13).
const CHANGES: u32 = b::LANDLOCK_ACCESS_FS_EXECUTE
    | b::LANDLOCK_ACCESS_FS_WRITE_FILE
    | b::LANDLOCK_ACCESS_FS_REMOVE_DIR
    | b::LANDLOCK_ACCESS_FS_REMOVE_FILE
    | b::LANDLOCK_ACCESS_FS_MAKE_CHAR
    | b::LANDLOCK_ACCESS_FS_MAKE_DIR
    | b::LANDLOCK_ACCESS_FS_MAKE_REG
    | b::LANDLOCK_ACCESS_FS_MAKE_SOCK
    | b::LANDLOCK_ACCESS_FS_MAKE_FIFO
    | b::LANDLOCK_ACCESS_FS_MAKE_BLOCK
    | b::LANDLOCK_ACCESS_FS_MAKE_SYM;

/// Whether this act opens a node for writing.
pub(super) fn opens(act: &Act) -> bool {
    matches!(act, Act::Open | Act::File(FileAct::Make))
}

/// Keeps what asking and acting need, as the unit does (`rules/units/zerocap-measure@.service`): commands to devices, and files
/// whatever their owner.
pub(super) fn give_up() {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_RAWIO | CapabilitySet::DAC_OVERRIDE;
    if let Ok(had) = thread::capabilities(None) {
        let less = CapabilitySets {
            effective: had.effective & needed,
            permitted: had.permitted & needed,
            inheritable: CapabilitySet::empty(),
        };
        let _ = thread::set_capabilities(None, less);
    }
    let _ = thread::set_no_new_privs(true);
}

/// From now on this thread changes no file but this node (a directory: the files below it) and the tunables below /sys, and
/// runs no program. What is open stays open, and everything can still be read.
pub(super) fn confine(node: &str) {
    let _ = confined(&[node, "/sys"]);
}

fn confined(writable: &[&str]) -> Result<()> {
    let mut handled = CHANGES;
    let version = sys::landlock_version()?;
    if version >= 2 {
        handled |= b::LANDLOCK_ACCESS_FS_REFER;
    }
    if version >= 3 {
        handled |= b::LANDLOCK_ACCESS_FS_TRUNCATE;
    }
    let write = u64::from(b::LANDLOCK_ACCESS_FS_WRITE_FILE);
    let open =
        |path: &&str| rustix::fs::open(*path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map(|fd| (fd, write));
    let allowed = writable.iter().map(open).collect::<Result<Vec<_>>>()?;
    sys::landlock_restrict(handled.into(), &allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{ErrorKind, Read as _};

    /// Of the thread alone: the other tests go on with all their rights.
    #[test]
    fn a_confined_thread_writes_what_it_was_left_and_reads_everything() {
        let dir = tempfile::tempdir().unwrap();
        let (left, other) = (dir.path().join("left"), dir.path().join("other"));
        fs::write(&left, "before").unwrap();
        fs::write(&other, "before").unwrap();
        let made = dir.path().join("made");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                thread::set_no_new_privs(true).unwrap();
                if let Err(e) = confined(&[left.to_str().unwrap()]) {
                    // This kernel has no Landlock, or a sandbox around the tests forbids it: then nothing is bound.
                    assert!(sys::landlock_version().is_err(), "there is Landlock, and it refused: {e}");
                    return;
                }
                let writes = |path| fs::OpenOptions::new().write(true).open(path).map(drop).map_err(|e| e.kind());
                assert_eq!(writes(&left), Ok(()));
                assert_eq!(writes(&other), Err(ErrorKind::PermissionDenied));
                assert_eq!(fs::write(&made, "new").map_err(|e| e.kind()), Err(ErrorKind::PermissionDenied));
                assert_eq!(fs::remove_file(&left).map_err(|e| e.kind()), Err(ErrorKind::PermissionDenied));
                let program = std::process::Command::new("/bin/true").status().map_err(|e| e.kind());
                assert_eq!(program.map(|s| s.success()), Err(ErrorKind::PermissionDenied));
                let mut text = String::new();
                fs::File::open(&other).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "before");
            });
        });
        fs::write(&made, "the rest of the process is not bound").unwrap();
    }
}
