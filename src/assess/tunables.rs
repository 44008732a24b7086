//! Compares the tunables of one device with what zerocap last wrote to them: who set the present value, and what has to be
//! written now. It writes the record of that, and never a tunable.

use crate::error::Result;
use crate::facts::Facts;
use crate::machine::block::devices;
use crate::machine::Roots;
use crate::store::applied_tunables::{self, Record};
use crate::tunable::plan::Plan;
use crate::tunable::{managed, plan, Row};
use crate::verdict::{LastWrite, KNOB};

/// The record of a device; empty where nothing was written to this very disk. A 0 of the knob that a stack took over from a
/// member when its table was loaded (fieldguide 1.3) is zerocap's own where the member's is.
pub fn read(roots: &Roots, facts: &Facts) -> Record {
    let stored = applied_tunables::load(roots, facts.device.devnum, facts.names.diskseq.get());
    with_taken_over(roots, facts, stored)
}

fn with_taken_over(roots: &Roots, facts: &Facts, mut record: Record) -> Record {
    let knob = managed().find(|row| row.name == KNOB).filter(|_| facts.device.kind.is_stack());
    let zero = "0".to_owned();
    let differs =
        |row: &Row| row.now(facts).known() == Some(&zero) && row.kernel(facts).is_some_and(|kernel| kernel != zero);
    if let Some(row) = knob.filter(|r| record.last(r.name).is_none() && differs(r) && taken_over(roots, facts, r)) {
        // Nothing was ever wanted of it: whatever is wanted at the next event is news, and is noted.
        let (found, wrote) = (row.kernel(facts).unwrap_or_default(), zero);
        record.tunables.insert(row.name.to_owned(), LastWrite { found, wrote, wanted: String::new(), put_back: false });
    }
    record
}

/// Whether zerocap put a member's knob to 0.
fn taken_over(roots: &Roots, facts: &Facts, row: &Row) -> bool {
    let root = &roots.system;
    let members = facts.stack.members.known().into_iter().flatten();
    members.filter_map(|name| devices::resolve_name(root, name)).any(|member| {
        let record = applied_tunables::load(roots, member.devnum, root.number(&member.attr("diskseq")).get());
        record.last(row.name).is_some_and(|last| last.wrote == "0")
    })
}

/// Changes the record of a device under the lock; nothing is written where nothing changes.
pub fn update(roots: &Roots, facts: &Facts, change: impl FnOnce(&mut Record)) -> Result<()> {
    let Some(devnum) = facts.device.devnum else { return Ok(()) };
    applied_tunables::update(roots, devnum, facts.names.diskseq.get(), |stored| {
        let mut record = with_taken_over(roots, facts, stored);
        change(&mut record);
        record
    })
}

/// Tunables that hold a value which neither the kernel nor zerocap put there, a text each. A `zeroing_mode` of somebody else
/// has a finding of its own, and the kernel takes it back at the next close.
pub fn foreign(roots: &Roots, facts: &Facts) -> Vec<String> {
    let differing = managed().filter(|row| !row.is_volatile(facts) || facts.scsi().is_none()).filter_map(|row| {
        let (now, default) = (row.now(facts).known()?.clone(), row.kernel(facts)?);
        (now != default).then_some((row, now, default))
    });
    // The record is looked at only where a value is not the kernel's.
    differing
        .filter(|(row, now, _)| read(roots, facts).last(row.name).is_none_or(|last| last.wrote != *now))
        .map(|(row, now, default)| {
            format!(
                "{} is {now}; neither the kernel (its default is {default}) nor zerocap set this value, so \
                     zerocap does not change it",
                row.path
            )
        })
        .collect()
}

/// Plans one tunable of a device, by hand or at an event.
pub fn plan(facts: &Facts, row: &Row, wanted: &str, record: &Record, event: bool) -> Plan {
    let (now, default) = (row.now(facts), row.kernel(facts));
    let (now, default) = (now.known().map(String::as_str), default.as_deref());
    if event {
        plan::at_event(now, default, wanted, record.last(row.name), row.is_volatile(facts))
    } else {
        plan::plan(now, default, wanted, record.last(row.name))
    }
}

/// Notes that a value is about to be written, keeping what was found before the first write.
pub fn note(facts: &Facts, row: &Row, wanted: &str, record: &mut Record) {
    let found = match record.last(row.name) {
        Some(last) => last.found.clone(),
        None => row.now(facts).known().cloned().unwrap_or_default(),
    };
    let (wrote, wanted) = (wanted.to_owned(), wanted.to_owned());
    record.tunables.insert(row.name.to_owned(), LastWrite { found, wrote, wanted, put_back: false });
}

/// Notes what is there and what is wanted where the record speaks of the tunable and nothing is written: a value that
/// somebody puts there later is then not taken for our own, and the next other wish is a new one.
pub fn seen(facts: &Facts, row: &Row, wanted: &str, record: &mut Record) {
    let Some(last) = record.tunables.get_mut(row.name) else { return };
    if let Some(now) = row.now(facts).known() {
        last.wrote.clone_from(now);
    }
    if last.wanted != wanted {
        (last.wanted, last.put_back) = (wanted.to_owned(), false);
    }
}

/// Whether [`seen`] would change the record.
pub fn news(facts: &Facts, row: &Row, wanted: &str, record: &Record) -> bool {
    let mut after = record.clone();
    seen(facts, row, wanted, &mut after);
    after != *record
}
