//! Devices that did not answer, and the child that still waits for each: `/run/zerocap/stuck/<name>`, for this boot.
//!
//! It decides whether a device is asked at all. While the child that was left behind exists, another one would only wait too,
//! and a program that asks every minute would pile them up. Once that child is gone, the device is asked again.

use crate::fact::Fact;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::fs::root::Root;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// For so long nothing that was found counts.
const FRESH: Duration = Duration::from_secs(1);

/// What is remembered. Only root can write it down; others remember for as long as they run.
#[derive(Debug)]
pub struct Stuck {
    files: LiveDurable,
    /// What this process found out itself.
    own: RefCell<BTreeMap<String, u32>>,
    /// When nothing was found of a device: one answer asks several times, and looks once.
    nothing: RefCell<BTreeMap<String, Instant>>,
}

impl Stuck {
    /// The memory of the running system below `/run/zerocap`.
    pub fn below(run: &Path) -> Stuck {
        Stuck {
            files: LiveDurable::volatile(run.join("stuck"), 0o644),
            own: RefCell::default(),
            nothing: RefCell::default(),
        }
    }

    /// The child that waits for a device, by the kernel's name of it; `None` where nobody does.
    pub fn waits(&self, device: &str) -> Option<u32> {
        if let Some(pid) = self.own.borrow().get(device) {
            return Some(*pid);
        }
        if self.nothing.borrow().get(device).is_some_and(|then| then.elapsed() < FRESH) {
            return None;
        }
        let Some(text) = self.files.read(device).ok().flatten() else {
            self.nothing.borrow_mut().insert(device.to_owned(), Instant::now());
            return None;
        };
        let text = String::from_utf8(text).ok()?;
        let mut words = text.split_whitespace();
        let pid: u32 = words.next()?.parse().ok()?;
        let said = (words.next()?.to_owned(), words.next()?.to_owned());
        let proc = Root::open(Path::new("/")).ok()?;
        let waits = started(&proc, pid).as_ref() == Some(&said.0) && diskseq(&proc, device) == said.1;
        waits.then_some(pid)
    }

    /// Remembers that a child was left behind.
    pub fn remember(&self, device: &str, pid: u32) {
        self.own.borrow_mut().insert(device.to_owned(), pid);
        let Ok(proc) = Root::open(Path::new("/")) else { return };
        let Some(started) = started(&proc, pid) else { return };
        let text = format!("{pid} {started} {}\n", diskseq(&proc, device));
        // Without the right to write it is remembered by this process alone.
        let _ = LiveDurable::volatile(self.files.dir(), 0o644).replace(device, text.as_bytes());
    }

    /// Forgets a device that is gone.
    pub fn forget(&self, device: &str) {
        self.own.borrow_mut().remove(device);
        let _ = LiveDurable::volatile(self.files.dir(), 0o644).remove(device);
    }
}

/// The disk's sequence number: another disk of that name is not the one that did not answer. `-` where there is none.
fn diskseq(root: &Root, device: &str) -> String {
    root.text(&format!("sys/block/{device}/diskseq")).known().cloned().unwrap_or_else(|| "-".to_owned())
}

/// When a process was started, in the kernel's ticks (proc_pid_stat(5), field 22): a number is used again, this is not.
/// `None` where it has ended, waited for or not.
fn started(root: &Root, pid: u32) -> Option<String> {
    let Fact::Known(stat) = root.text(&format!("proc/{pid}/stat")) else { return None };
    // The name of the program, in brackets, may hold anything.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X" | "x")).then(|| fields.nth(18).map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuck_device_is_remembered_while_its_child_exists() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let first = Stuck::below(dir.path());
        assert_eq!(first.waits("sdx"), None);
        first.remember("sdx", child.id());
        assert_eq!(first.waits("sdx"), Some(child.id()));
        // Another process of ours.
        assert_eq!(Stuck::below(dir.path()).waits("sdx"), Some(child.id()));
        assert_eq!(Stuck::below(dir.path()).waits("sdy"), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Stuck::below(dir.path()).waits("sdx"), None, "it is asked again");
        // A number that somebody else has by now, and what makes no sense.
        let write = |text: &str| std::fs::write(dir.path().join("stuck/sdx"), text).unwrap();
        for text in [format!("{} 1 -", std::process::id()), "x".to_owned(), String::new(), "1".to_owned()] {
            write(&text);
            assert_eq!(Stuck::below(dir.path()).waits("sdx"), None, "{text}");
        }
        first.forget("sdx");
        assert!(!dir.path().join("stuck/sdx").exists());
    }
}
