//! Intents: a durable word, written before the first act of a test, that the test has begun.
//!
//! One under `/var/lib/zerocap/intent/` survives the boot: an intent left by another boot means that the test was cut off,
//! perhaps by the device. One under `/run/zerocap/intent/` says at an event, before `/var` is there, that a test of this
//! boot is open, so that no queue file is read.

use crate::device::Devnum;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::Roots;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
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
    /// The directory of the journal, so that `recover` finds one that lies elsewhere.
    #[serde(default)]
    pub journal: Option<PathBuf>,
    /// When.
    pub at: String,
}

fn lasting(roots: &Roots) -> LiveDurable {
    LiveDurable::new(roots.var().join("intent"), 0o600)
}

fn of_this_boot(roots: &Roots) -> LiveDurable {
    LiveDurable::volatile(roots.run().join("intent"), 0o644)
}

/// The name under which journal and intent of a device are kept.
pub fn name(facts: &Facts) -> String {
    match (&facts.names.identity, facts.device.devnum) {
        (Some(identity), _) => identity.file_name(),
        (None, Some(devnum)) => format!("devnum-{devnum}"),
        (None, None) => "unnamed".to_owned(),
    }
}

/// The intents that are kept, with their names.
pub fn all(roots: &Roots) -> Result<Vec<(String, Intent)>> {
    let names = lasting(roots).list()?;
    names.into_iter().filter_map(|n| of(roots, &n).map(|i| Some((n, i?))).transpose()).collect()
}

/// The intent of one device.
pub fn of(roots: &Roots, name: &str) -> Result<Option<Intent>> {
    let files = lasting(roots);
    let Some(bytes) = files.read(name)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|e| Error::Malformed {
        path: files.shown(name).display().to_string(),
        what: format!("not an intent ({e}); remove it once `zerocap recover` has nothing left to do"),
    })
}

/// Writes the word, before the first act.
pub fn begin(roots: &Roots, name: &str, devnum: Option<Devnum>, intent: &Intent) -> Result<()> {
    let bytes = serde_json::to_vec(intent).unwrap_or_default();
    lasting(roots).replace(name, &bytes)?;
    if let Some(devnum) = devnum {
        of_this_boot(roots).replace(&devnum.to_string(), &bytes)?;
    }
    Ok(())
}

/// The test is over and the content is back.
pub fn end(roots: &Roots, name: &str, devnum: Option<Devnum>) -> Result<()> {
    lasting(roots).remove(name)?;
    devnum.map_or(Ok(()), |d| of_this_boot(roots).remove(&d.to_string()))
}

/// Whether a test of this boot is open on a device (by its number, as an event has it).
pub fn open_in_this_boot(roots: &Roots, devnum: Devnum) -> bool {
    matches!(of_this_boot(roots).read(&devnum.to_string()), Ok(Some(_)))
}
