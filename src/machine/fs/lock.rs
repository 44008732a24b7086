//! Locks between processes of this program: `/run/zerocap/lock/<name>`, held by flock until they are dropped or the process
//! ends.
//!
//! A lock is held only while one small file is changed, and never while waiting for a device, so nobody waits for a device
//! that hangs.

use crate::error::{Error, Result};
use crate::machine::fs::owner;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a lock is waited for: each holder changes one file.
const WAIT: Duration = Duration::from_secs(10);

/// Root's alone, whatever the umask.
const MODE: Mode = Mode::from_raw_mode(0o600);

/// A lock that is held.
#[derive(Debug)]
pub struct Lock {
    fd: OwnedFd,
}

impl Lock {
    /// Takes the lock of this name below a directory, which is made where it is not there.
    pub fn take(dir: &Path, name: &str) -> Result<Lock> {
        Lock::within(dir, name, WAIT)
    }

    /// A descriptor for another process: the lock is held until both are gone.
    pub fn share(&self) -> std::io::Result<OwnedFd> {
        self.fd.try_clone()
    }

    fn within(dir: &Path, name: &str, wait: Duration) -> Result<Lock> {
        let path = dir.join(name);
        owner::check_directory(dir)?;
        let open = || {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            rustix::fs::open(&path, flags, MODE)
        };
        let fd = match open() {
            Err(Errno::NOENT) => {
                owner::make_directories(dir, 0o755)?;
                open()
            }
            opened => opened,
        }
        .map_err(|e| Error::file(&path, "open", e))?;
        rustix::fs::fchmod(&fd, MODE).map_err(|e| Error::file(&path, "set the mode of", e))?;
        exclusive(&fd, wait, Duration::from_millis(5))
            .map_err(|e| Error::file(&path, "lock (another zerocap holds it; try again)", e))?;
        Ok(Lock { fd })
    }
}

/// Takes the exclusive flock of an open file, trying again so often; EWOULDBLOCK where somebody else still holds it at the
/// end.
pub fn exclusive(fd: impl AsFd, at_most: Duration, every: Duration) -> rustix::io::Result<()> {
    let until = Instant::now() + at_most;
    loop {
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(every),
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_process_holds_a_lock_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("run/lock");
        let held = Lock::take(&place, "set").unwrap();
        let short = Duration::from_millis(20);
        let error = Lock::within(&place, "set", short).unwrap_err().to_string();
        assert!(error.contains("run/lock/set: lock"), "{error}");
        Lock::within(&place, "pins", short).unwrap();
        drop(held);
        Lock::within(&place, "set", short).unwrap();
    }
}
