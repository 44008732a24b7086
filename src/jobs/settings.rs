//! What zerocap last wrote to each tunable: `/run/zerocap/set/<major>:<minor>`, written at the event that prints `_SET_`.
//! It tells our own value from an administrator's.

use crate::device::Devnum;
use crate::error::Result;
use crate::facts::Facts;
use crate::jobs::Env;
use crate::machine::durable::{Durable, LiveDurable};
use crate::tunable::{plan, Row, MANAGED};
use std::collections::BTreeMap;

/// By the tunable's name.
pub type Record = BTreeMap<String, plan::Last>;

fn files(env: &Env) -> LiveDurable {
    LiveDurable::volatile(env.roots.run().join("set"), 0o644)
}

/// The record of a device; empty where nothing was written.
pub fn read(env: &Env, devnum: Devnum) -> Record {
    let bytes = files(env).read(&devnum.to_string()).ok().flatten();
    bytes.and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default()
}

/// Records what is about to be written.
pub fn write(env: &Env, devnum: Devnum, record: &Record) -> Result<()> {
    files(env).replace(&devnum.to_string(), &serde_json::to_vec(record).unwrap_or_default())
}

/// Forgets a device that is gone.
pub fn remove(env: &Env, devnum: Devnum) -> Result<()> {
    files(env).remove(&devnum.to_string())
}

/// What a tunable is now and what the kernel would have it be, from facts that were read already.
fn values(facts: &Facts, row: &Row) -> (Option<String>, Option<String>) {
    match row.name {
        "write_zeroes_unmap_max_bytes" => {
            let text = |f: &crate::fact::Fact<u64>| f.get().map(|n| n.to_string());
            (text(&facts.queue.unmap), text(&facts.queue.unmap_hw))
        }
        _ => (None, None),
    }
}

/// Tunables that hold a value which neither the kernel nor zerocap put there, a text each.
pub fn foreign(env: &Env, facts: &Facts) -> Vec<String> {
    let differing = MANAGED.iter().filter_map(|row| {
        let (now, default) = values(facts, row);
        let (now, default) = (now?, default?);
        (now != default).then_some((row, now, default))
    });
    // The record is looked at only where a value is not the kernel's.
    differing
        .filter(|(row, now, _)| {
            let record = facts.device.devnum.map(|d| read(env, d)).unwrap_or_default();
            record.get(row.name).is_none_or(|last| last.wrote != *now)
        })
        .map(|(row, now, default)| {
            format!("{} is {now}; neither the kernel ({default}) nor zerocap put it there: it is left alone", row.path)
        })
        .collect()
}

/// Plans one tunable of a device: whether the wanted value is to be written now.
pub fn plan(facts: &Facts, row: &Row, wanted: &str, record: &Record) -> plan::Plan {
    let (now, default) = values(facts, row);
    plan::plan(now.as_deref(), default.as_deref(), wanted, record.get(row.name))
}

/// Notes that a value is about to be written, keeping what was found before the first write.
pub fn note(facts: &Facts, row: &Row, wanted: &str, record: &mut Record) {
    let found = match record.get(row.name) {
        Some(last) => last.found.clone(),
        None => values(facts, row).0.unwrap_or_default(),
    };
    record.insert(row.name.to_owned(), plan::Last { found, wrote: wanted.to_owned() });
}
