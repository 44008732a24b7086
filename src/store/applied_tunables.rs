//! What zerocap last wrote to each tunable: `/run/zerocap/set/<major>:<minor>`, written at the event that prints `_SET_`, and
//! before `tune apply` writes. It tells zerocap's value from an administrator's. It is changed under a lock.

use crate::device::Devnum;
use crate::error::Result;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::fs::lock::Lock;
use crate::machine::Roots;
use crate::verdict::LastWrite;
use std::collections::BTreeMap;

/// What was written to the tunables of one device.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// The disk's sequence number: a device number is reused, this is not.
    pub diskseq: Option<u64>,
    /// By the tunable's name.
    pub tunables: BTreeMap<String, LastWrite>,
}

impl Record {
    /// What was written to the tunable of this name.
    pub fn last(&self, name: &str) -> Option<&LastWrite> {
        self.tunables.get(name)
    }
}

fn files(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run().join("set"), 0o644)
}

/// The record of a device as it is kept; empty where nothing was written to this very disk.
pub fn load(roots: &Roots, devnum: Option<Devnum>, diskseq: Option<u64>) -> Record {
    let bytes = devnum.and_then(|devnum| files(roots).read(&devnum.to_string()).ok().flatten());
    let record: Option<Record> = bytes.and_then(|b| serde_json::from_slice(&b).ok());
    record.filter(|r| r.diskseq == diskseq).unwrap_or_else(|| Record { diskseq, ..Record::default() })
}

/// Changes the record of a device under the lock; nothing is written where nothing changes. `change` is given the lock's
/// view of what is there.
pub fn update(
    roots: &Roots,
    devnum: Devnum,
    diskseq: Option<u64>,
    change: impl FnOnce(Record) -> Record,
) -> Result<()> {
    let _lock = Lock::take(&roots.run().join("lock"), "set")?;
    let before = load(roots, Some(devnum), diskseq);
    let after = change(before.clone());
    if after == before {
        return Ok(());
    }
    files(roots).replace(&devnum.to_string(), &serde_json::to_vec(&after).unwrap_or_default())
}

/// Forgets a device that is gone.
pub fn remove(roots: &Roots, devnum: Devnum) -> Result<()> {
    files(roots).remove(&devnum.to_string())
}
