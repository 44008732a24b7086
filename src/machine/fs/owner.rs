//! Which files are trusted, and with which modes the program makes its own. It decides by owner and mode only, and reads no
//! content.
//!
//! A kept measurement, a rule or an intent makes root write to the kernel and to disks. If somebody else owns it or may write
//! it, it is not root's word. It is refused by name and never silently repaired. A recorded machine is only read, so it is
//! exempt (`Roots`).

use crate::error::{Error, Result};
use rustix::fs::Mode;
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Write permission of the group and of all others.
const OTHERS_WRITE: u32 = 0o022;

/// The directory from which on everything is this program's own, wherever the root of state lies.
const OURS: &str = "zerocap";

/// Refuses what is neither root's nor the caller's own (which is root on a system that rules act on), and what others may
/// write.
pub fn check(path: &Path, uid: u32, mode: u32) -> Result<()> {
    check_with(path, uid, mode, "so it is not used; check its content, then run chmod go-w on it or remove it")
}

fn check_with(path: &Path, uid: u32, mode: u32, what_to_do: &str) -> Result<()> {
    let refuse = |what: String| Err(Error::Malformed { path: path.display().to_string(), what });
    let own = rustix::process::geteuid;
    if uid != 0 && uid != own().as_raw() {
        let whom = if own().is_root() { "root" } else { "root or you" };
        return refuse(format!(
            "it belongs to uid {uid} and not to {whom}, so it is not used; check its content, then chown it to root \
             or remove it"
        ));
    }
    if mode & OTHERS_WRITE != 0 {
        return refuse(format!("others may write it (mode {:04o}), {what_to_do}", mode & 0o7777));
    }
    Ok(())
}

/// Checks a directory, and those above it up to the first that is this program's own; one that is not there passes. Gives
/// whether it is there.
pub fn check_directory(dir: &Path) -> Result<bool> {
    // A directory of somebody's choice, /tmp say, is as it has to be; another one is wanted.
    let own = dir.ancestors().any(|d| d.file_name().is_some_and(|n| n == OURS));
    for dir in ours(dir) {
        let elsewhere = format!(
            "so anybody could replace a file there; name a directory that only root may write, such as {}, which is \
             created if needed",
            dir.join(OURS).display()
        );
        match rustix::fs::stat(dir) {
            Ok(stat) if own => check(dir, stat.st_uid, stat.st_mode)?,
            Ok(stat) => check_with(dir, stat.st_uid, stat.st_mode, &elsewhere)?,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(false),
            Err(e) => return Err(Error::file(dir, "look at", e)),
        }
    }
    Ok(true)
}

/// A directory and those above it down from the last one named [`OURS`]; only itself where there is none. Outermost first.
fn ours(dir: &Path) -> Vec<&Path> {
    let mut chain: Vec<&Path> = dir.ancestors().collect();
    let until = chain.iter().position(|d| d.file_name().is_some_and(|n| n == OURS)).unwrap_or(0);
    chain.truncate(until + 1);
    chain.reverse();
    chain
}

/// The outermost of the program's own directories on the way to this one; itself where there is none.
pub fn outermost(dir: &Path) -> &Path {
    ours(dir).first().copied().unwrap_or(dir)
}

/// Makes a directory and what is missing above it, each with this mode whatever the umask; what is there stays as it is.
/// Gives those that were made, outermost first.
pub fn make_directories(dir: &Path, mode: u32) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::file(dir, "make the directory", e);
    let make = || DirBuilder::new().mode(mode).create(dir);
    let (mut made, mut outcome) = (Vec::new(), make());
    if matches!(&outcome, Err(e) if e.kind() == ErrorKind::NotFound) {
        made = make_directories(dir.parent().unwrap_or(Path::new("/")), mode)?;
        outcome = make();
    }
    match outcome {
        Ok(()) => {
            fs::set_permissions(dir, fs::Permissions::from_mode(mode)).map_err(failed)?;
            made.push(dir.to_owned());
            Ok(made)
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists && fs::metadata(dir).is_ok_and(|m| m.is_dir()) => Ok(made),
        Err(e) => Err(failed(e)),
    }
}

/// Gives a file that was just made its mode, whatever the umask.
pub fn set_mode(file: &File, mode: u32) -> std::io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_others_may_write_is_refused_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("zerocap/etc/zerocap/devices");
        assert_eq!(make_directories(&place, 0o755).unwrap().len(), 4);
        assert!(make_directories(&place, 0o755).unwrap().is_empty());
        check_directory(&place).unwrap();
        check_directory(&place.join("not/there")).unwrap();
        let mode = |dir: &Path, mode| fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
        for (bad, level) in [(0o775, &place), (0o757, &place), (0o1777, &dir.path().join("zerocap/etc/zerocap"))] {
            mode(level, bad);
            let error = check_directory(&place).unwrap_err().to_string();
            assert!(error.contains(&format!("{}: others may write it", level.display())), "{error}");
            mode(level, 0o755);
        }
        // One that others share is not to be changed: a directory in it does.
        mode(dir.path(), 0o1777);
        let error = check_directory(dir.path()).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "name a directory that only root may write, such as {}/zerocap",
                dir.path().display()
            )),
            "{error}"
        );
        assert!(!error.contains("chmod"), "{error}");
        mode(dir.path(), 0o755);
        // What is above the program's own directories is not its business.
        mode(&dir.path().join("zerocap/etc"), 0o777);
        check_directory(&place).unwrap();
        let file = dir.path().join("x");
        fs::write(&file, "x").unwrap();
        mode(&file, 0o666);
        let look = || fs::metadata(&file).map(|meta| check(&file, meta.uid(), meta.mode())).unwrap();
        assert!(look().is_err());
        // Root may give a file away; nobody else can in a test.
        if rustix::process::geteuid().is_root() {
            mode(&file, 0o644);
            std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
            let error = look().unwrap_err().to_string();
            assert!(error.contains("belongs to uid 65534"), "{error}");
        }
    }

    #[test]
    fn a_file_in_the_way_is_no_directory() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "").unwrap();
        assert!(make_directories(&dir.path().join("x"), 0o755).is_err());
        assert!(make_directories(&dir.path().join("x/y"), 0o755).is_err());
    }
}
