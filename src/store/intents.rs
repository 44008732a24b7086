//! Intents: a durable file, written before the first act of a test, which says that the test has begun, and how far it is.
//!
//! An intent below `/var/lib/zerocap/intent/` survives the boot: if nobody holds it, its test was cut off, perhaps by the
//! device. An intent below `/run/zerocap/intent/` says at an event, before `/var` is mounted, that a test of this boot has
//! not ended, so no queue file is read. A running test holds its name there (flock), so *running* and *cut off* can be told
//! apart.

use crate::device::{Device, Devnum, Identity};
use crate::error::{Error, Result};
use crate::machine::fs::durable::Durable;
use crate::machine::fs::root::Root;
use crate::machine::lvm::Own;
use crate::machine::port::pattern::RunId;
use crate::machine::{clock, environment, Roots};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How far a test is. Each is durable before anything of it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Nothing was written to the device; a journal may be there in part.
    Preparing,
    /// The journal is whole and synced; nothing but the witness was written to the device.
    Journalled,
    /// The test writes to the device.
    Writing,
    /// The content is being put back.
    Restoring,
    /// The content is back: the journal may go.
    Done,
}

/// The word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The run: whose pattern and witness lie on the device.
    pub run: RunId,
    /// How far it is.
    pub phase: Phase,
    /// The device's name at the time.
    pub device: String,
    /// Its identity's text.
    pub identity: Option<String>,
    /// The boot in which the test began.
    pub boot_id: Option<String>,
    /// The process that runs the test.
    pub pid: u32,
    /// The child that did not answer, once it did not.
    pub left_behind: Option<u32>,
    /// The directory of the journal, so that `recover` finds one that lies elsewhere; null where the test needs none.
    pub journal: Option<PathBuf>,
    /// The journal's digest, once it is whole.
    pub journal_digest: Option<String>,
    /// The segments (offset on the node, length) that the test has zeroed or was about to.
    pub zeroed: Vec<(u64, u64)>,
    /// Tunables that a test holds on trial: path below the device, and the value that was found.
    #[serde(default)]
    pub on_trial: Vec<(String, String)>,
    /// The logical volume that was made for the test, or was about to be: it goes with the test.
    #[serde(default)]
    pub volume: Option<Own>,
    /// When.
    pub at: String,
}

impl Intent {
    /// The word of a test that begins now, in this process: nothing was written, and nothing has to be put back.
    pub fn begun(root: &Root, device: &Device, identity: Option<&Identity>, run: RunId) -> Intent {
        Intent {
            run,
            phase: Phase::Preparing,
            device: device.name.clone(),
            identity: identity.map(|i| i.as_str().to_owned()),
            boot_id: clock::boot_id(root),
            pid: environment::own_id(),
            left_behind: None,
            journal: None,
            journal_digest: None,
            zeroed: Vec::new(),
            on_trial: Vec::new(),
            volume: None,
            at: clock::now_utc(),
        }
    }
}

/// The intents of a machine.
pub struct Intents {
    lasting: Box<dyn Durable>,
    of_this_boot: Box<dyn Durable>,
}

impl std::fmt::Debug for Intents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intents").field("lasting", &self.lasting.shown("")).finish_non_exhaustive()
    }
}

impl Intents {
    /// Those of a system's state.
    pub fn live(roots: &Roots) -> Intents {
        Intents {
            lasting: Box::new(roots.lasting(roots.var().join("intent"), 0o600)),
            of_this_boot: Box::new(roots.volatile(roots.run().join("intent"), 0o644)),
        }
    }

    /// Those in two directories: one that survives the boot, and one that does not.
    pub fn new(lasting: impl Durable + 'static, of_this_boot: impl Durable + 'static) -> Intents {
        Intents { lasting: Box::new(lasting), of_this_boot: Box::new(of_this_boot) }
    }

    /// Holds a name for the life of a test or a recovery. An error where another process holds it: its test is running.
    pub fn hold(&mut self, name: &str) -> Result<()> {
        if self.of_this_boot.hold(name)? {
            return Ok(());
        }
        let pid = self.of(name).ok().flatten().map_or_else(String::new, |i| format!(", pid {}", i.pid));
        let why =
            format!("a test or a recovery of it is running{pid}; nothing was touched; try again when it has ended");
        Err(Error::NotSafe { device: name.to_owned(), why })
    }

    /// Gives a name up.
    pub fn release(&mut self, name: &str) {
        self.of_this_boot.release(name);
    }

    /// The intents that are kept, with their names. One that cannot be read comes as the error that says so.
    pub fn all(&self) -> Result<Vec<(String, Result<Intent>)>> {
        let names = self.lasting.list()?;
        Ok(names.into_iter().filter_map(|n| Some((n.clone(), self.of(&n).transpose()?))).collect())
    }

    /// The intent of one device.
    pub fn of(&self, name: &str) -> Result<Option<Intent>> {
        let Some(bytes) = self.lasting.read(name)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|e| Error::Malformed {
            path: self.lasting.shown(name).display().to_string(),
            what: format!(
                "it is not an intent of this version ({e}); use the version that wrote it to recover what \
                           it left"
            ),
        })
    }

    /// Writes the word.
    pub fn write(&mut self, name: &str, devnum: Option<Devnum>, intent: &Intent) -> Result<()> {
        let shown = self.lasting.shown(name);
        let bytes = serde_json::to_vec(intent).map_err(|e| Error::file(shown, "write", e))?;
        self.lasting.replace(name, &bytes)?;
        devnum.map_or(Ok(()), |devnum| self.of_this_boot.replace(&devnum.to_string(), &bytes))
    }

    /// The test is over and the content is back.
    pub fn end(&mut self, name: &str) -> Result<()> {
        let run = self.of(name).ok().flatten().map(|word| word.run);
        self.lasting.remove(name)?;
        // Whatever number the disk had when the word of this boot was written.
        let words = self.of_this_boot.list()?;
        self.forget(words, |word| Some(word.run) == run)
    }

    /// Takes away what tests left that were killed and are cleared up: their words of this boot, and what held their names. A
    /// test writes the lasting word first, so one that begins meanwhile loses nothing.
    pub fn sweep(&mut self) -> Result<()> {
        let words = self.of_this_boot.list()?;
        let open = self.all()?.into_iter().map(|(_, word)| word.map(|w| w.run)).collect::<Result<Vec<RunId>>>();
        // Where a lasting word cannot be read nobody knows which test is open.
        if let Ok(open) = open {
            self.forget(words, |word| !open.contains(&word.run))?;
        }
        self.of_this_boot.remove_free_locks()
    }

    fn forget(&mut self, words: Vec<String>, which: impl Fn(&Intent) -> bool) -> Result<()> {
        for file in words {
            let word = self.of_this_boot.read(&file)?.and_then(|b| serde_json::from_slice::<Intent>(&b).ok());
            if word.is_some_and(|word| which(&word)) {
                self.of_this_boot.remove(&file)?;
            }
        }
        Ok(())
    }

    /// Whether a test of this boot is open on a device (by its number, as an event has it).
    pub fn open_in_this_boot(&self, devnum: Devnum) -> bool {
        !matches!(self.of_this_boot.read(&devnum.to_string()), Ok(None))
    }
}

/// The name under which journal and intent of a device are kept.
pub fn name(identity: Option<&Identity>, devnum: Option<Devnum>) -> String {
    match (identity, devnum) {
        (Some(identity), _) => identity.file_name(),
        (None, Some(devnum)) => format!("devnum-{devnum}"),
        (None, None) => "unnamed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fs::durable::SimulatedDurable;

    fn word(run: u64) -> Intent {
        Intent {
            run: RunId(run, run),
            phase: Phase::Preparing,
            device: "sda".to_owned(),
            identity: None,
            boot_id: None,
            pid: 1,
            left_behind: None,
            journal: None,
            journal_digest: None,
            zeroed: Vec::new(),
            on_trial: Vec::new(),
            volume: None,
            at: "2026-12-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn removing_an_intent_also_removes_that_of_this_boot() {
        let number = |minor| Devnum { major: 8, minor };
        let mut intents = Intents::new(SimulatedDurable::default(), SimulatedDurable::default());
        intents.write("a", Some(number(0)), &word(1)).unwrap();
        intents.write("b", Some(number(16)), &word(2)).unwrap();
        assert!(intents.open_in_this_boot(number(0)) && intents.open_in_this_boot(number(16)));
        intents.end("a").unwrap();
        assert!(!intents.open_in_this_boot(number(0)) && intents.open_in_this_boot(number(16)));
        // Where a lasting word cannot be read nobody knows whose the others are; a test that ends knows its own.
        intents.lasting.replace("c", b"{").unwrap();
        intents.write("d", Some(number(32)), &word(4)).unwrap();
        intents.end("d").unwrap();
        assert!(!intents.open_in_this_boot(number(32)));
        intents.lasting.remove("b").unwrap();
        intents.sweep().unwrap();
        assert!(intents.open_in_this_boot(number(16)));
        intents.lasting.remove("c").unwrap();
        intents.sweep().unwrap();
        assert!(!intents.open_in_this_boot(number(16)));
    }
}
