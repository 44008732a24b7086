//! `zerocap recover`: puts back what an interrupted test left, or says why not. Also takes away a temporary partition that
//! was left, and turns an intent of another boot into what it says of the device.

use crate::assess;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::find;
use crate::jobs::measure;
use crate::machine::block::locked_disk::LockedDisk;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::port::child::ChildPort;
use crate::machine::port::pattern::UNIT;
use crate::machine::port::{Act, Port};
use crate::machine::Roots;
use crate::machine::{clock, udev};
use crate::measure::journal::{self, Journal, Read};
use crate::measure::recover::{put_back, Outcome, Trust};
use crate::measure::scratch::{self, temporary};
use crate::protocol::result::{self, Conditions};
use crate::store::intents::{self, Intent};
use crate::store::measurements;
use crate::store::published;
use crate::terms::{Class, FindingCode, Hazard, Method};
use crate::units::Nanos;
use crate::verdict::measurement::{RecordedHazard, TestFinding};
use std::path::PathBuf;

/// What was done for one journal or intent, in words, or why it was not.
pub type Report = (String, Result<String>);

/// Clears up every journal and intent, or those of one device. `journal`: another directory than the usual one.
pub fn run(roots: &Roots, device: Option<&str>, journal: Option<PathBuf>) -> Result<Vec<Report>> {
    if !roots.is_live() {
        return Err(Error::Usage(
            "a recorded machine is never written to: recover works on the running system".to_owned(),
        ));
    }
    let only = device.map(|typed| find::named(roots, typed)).transpose()?;
    let root = &roots.system;
    let only = only.map(|d| intents::name(&facts::gather(root, roots.port().as_mut(), &d, Depth::Event)));
    let usual = journal.unwrap_or_else(|| roots.var().join("journal"));
    let mut left: Vec<(String, PathBuf)> = LiveDurable::new(&usual, 0o600)
        .list()?
        .iter()
        .filter_map(|n| n.strip_suffix(".journal").map(|n| (n.to_owned(), usual.clone())))
        .collect();
    for (name, word) in intents::all(roots)? {
        let dir = word.journal.unwrap_or_else(|| usual.clone());
        // A journal that was found where it was said to be is that of the intent, wherever else one could lie.
        if left.iter().all(|(n, _)| *n != name) {
            left.push((name, dir));
        }
    }
    left.sort();
    left.retain(|(n, _)| only.as_ref().is_none_or(|o| o == n));
    let mut reports: Vec<Report> = left
        .into_iter()
        .map(|(name, dir)| {
            let report = one(roots, &mut LiveDurable::new(dir, 0o600), &name);
            (name, report)
        })
        .collect();
    if device.is_none() {
        reports.extend(stale_partitions(roots)?);
    }
    Ok(reports)
}

/// Takes away the temporary partitions that killed tests left before there was a journal.
fn stale_partitions(roots: &Roots) -> Result<Vec<Report>> {
    let mut ledger = measure::ledger(roots);
    let root = &roots.system;
    let mut reports = Vec::new();
    // A disk that a call is in flight on is not even opened: that may wait for as long as the call does.
    let words: Vec<Intent> = intents::all(roots)?.into_iter().map(|(_, word)| word).collect();
    let waits = |device: &str| words.iter().any(|w| w.device == device && in_flight(roots, w).is_some());
    for devnum in temporary::noted(&ledger)? {
        let Some(device) = find::listed(roots, false)?.into_iter().find(|d| d.devnum == Some(devnum)) else {
            // The disk is gone, and its partitions with it.
            ledger.remove(&devnum.to_string())?;
            continue;
        };
        if waits(&device.name) {
            continue;
        }
        let gone = LockedDisk::open(&device.node())
            .and_then(|disk| temporary::take_stale_away(root, &device, &disk, &mut ledger));
        match gone {
            Ok(false) => {}
            Ok(true) => reports.push((device.name, Ok("a temporary partition that was left is taken away".to_owned()))),
            Err(e) => reports.push((device.name, Err(e))),
        }
    }
    Ok(reports)
}

fn one(roots: &Roots, files: &mut LiveDurable, name: &str) -> Result<String> {
    let word = intents::of(roots, name)?;
    if let Some(pid) = word.as_ref().and_then(|w| in_flight(roots, w)) {
        let why = format!("a call is still in flight, pid {pid}; try again once it is gone, or after a restart");
        return Err(Error::NotSafe { device: name.to_owned(), why });
    }
    let journal_file = format!("{name}.journal");
    let said = match journal::read(files, &journal_file)? {
        Read::None => "nothing to put back".to_owned(),
        Read::Unfinished => {
            // Never finished means never relied on: the first write to the device comes after the sync.
            files.remove(&journal_file)?;
            "nothing was written; an unfinished journal is removed".to_owned()
        }
        Read::Whole(journal) => {
            let facts = device_of(roots, &journal, name)?;
            let said = back(roots, &facts, &journal, &files.shown(&journal_file).display().to_string())?;
            drop(journal);
            files.remove(&journal_file)?;
            said
        }
    };
    if let Some(word) = word {
        conclude(roots, name, &word)?;
    }
    Ok(said)
}

/// What is said of a block that is not the test's, and what a person can do; `at`: byte of the whole device.
fn foreign(node: &str, at: u64, ones: u64) -> String {
    let seen = format!(
        "byte {at} of the device was written by somebody else since; nothing was changed. If the new content is wanted, \
         remove the journal"
    );
    if ones == 0 {
        return seen;
    }
    let (seek, count) = (at / UNIT as u64, ones / UNIT as u64);
    format!(
        "{seen}. {ones} bytes from there read 0xff, as some devices do after zeroing: if nobody wrote that, write zeroes \
         over it (dd if=/dev/zero of={node} bs={UNIT} seek={seek} count={count} conv=notrunc,fsync) and run \
         `zerocap recover` again"
    )
}

/// The child of this boot that did not answer and is still there.
fn in_flight(roots: &Roots, word: &Intent) -> Option<u32> {
    let pid = word.left_behind.filter(|_| same_boot(roots, Some(word)))?;
    roots.system.exists(&format!("proc/{pid}")).then_some(pid)
}

fn same_boot(roots: &Roots, word: Option<&Intent>) -> bool {
    word.is_some_and(|w| w.boot_id.is_some() && w.boot_id == clock::boot_id(&roots.system))
}

/// The device that a journal belongs to: by identity; without one by diskseq in the same boot.
fn device_of(roots: &Roots, journal: &Journal<'_>, name: &str) -> Result<Facts> {
    let root = &roots.system;
    let header = &journal.header;
    let mut port = roots.port();
    let found: Vec<Facts> = find::listed(roots, false)?
        .iter()
        .map(|d| facts::gather(root, port.as_mut(), d, Depth::Event))
        .filter(|f| match &header.identity {
            Some(id) => f.names.identity.as_ref().is_some_and(|i| i.as_str() == id),
            None => {
                header.boot_id.is_some()
                    && header.boot_id == clock::boot_id(root)
                    && header.diskseq.is_some()
                    && f.names.diskseq.get() == header.diskseq
            }
        })
        .collect();
    let none = |why: &str| Error::NotSafe { device: name.to_owned(), why: format!("{why}; the journal is kept") };
    match <[Facts; 1]>::try_from(found) {
        Ok([facts]) => Ok(facts),
        Err(found) if found.is_empty() => Err(none("the device of this journal is not present")),
        Err(_) => Err(none("several devices bear the identity of this journal")),
    }
}

fn back(roots: &Roots, facts: &Facts, journal: &Journal<'_>, shown: &str) -> Result<String> {
    let proof = scratch::of_journal(&roots.system, &facts.device, &journal.header, &mut measure::ledger(roots))?;
    let mut port = ChildPort::new(Nanos::from_secs(120));
    let not_back = |what: String| Error::NotPutBack { device: facts.device.node(), what, journal: shown.to_owned() };
    let result = match port.act(&proof.range, &Act::Open).value {
        Err(e) => Err(not_back(format!("open for writing: {e}"))),
        Ok(_) => match put_back(&mut port, &proof.range, journal, Trust::Nobody) {
            Ok(Outcome::Back(0)) => Ok("the content was as before".to_owned()),
            Ok(Outcome::Back(bytes)) => Ok(format!("{bytes} bytes put back and read back")),
            Ok(Outcome::Foreign { offset, ones }) => {
                Err(not_back(foreign(&facts.device.node(), proof.range.node_offset + offset, ones)))
            }
            Err(e) => Err(not_back(format!("{}: {}", e.operation, e.error))),
        },
    };
    port.close();
    measure::drop_partition(roots, &proof, &mut |_| {});
    result
}

/// What an intent that was left says of the device: cut off once is a remark, cut off twice, or a recorded deadline, is a
/// hazard. A measurement or hazard that is kept already stays as it is.
fn conclude(roots: &Roots, name: &str, word: &Intent) -> Result<()> {
    let root = &roots.system;
    let mut port = roots.port();
    let device = find::listed(roots, false)?
        .iter()
        .map(|d| facts::gather(root, port.as_mut(), d, Depth::Event))
        .find(|f| intents::name(f) == name);
    let Some(facts) = device else {
        // Of a device that is not here nothing can be kept; its intent waits for it.
        return Ok(());
    };
    let loaded = measurements::load(roots, &facts);
    // A file that cannot be used may have held a hazard: it stays, and keeps the device from being trusted.
    let usable = loaded.is_ok();
    let kept_before = loaded.ok().flatten();
    if usable
        && kept_before.as_ref().is_none_or(|m| m.hazard.is_none() && m.at < word.at)
        && !same_boot(roots, Some(word))
    {
        let conditions = Conditions::without_test(word.at.clone(), "", Vec::new());
        let mut m = result::blank(&facts, &conditions);
        let before = kept_before.is_some_and(|k| k.findings.iter().any(|f| f.code == FindingCode::TestInterrupted));
        let text = format!("the test of {} was cut off by the end of that boot", word.at);
        if before || word.left_behind.is_some() {
            m.class = Class::Broken;
            m.hazard =
                Some(RecordedHazard { hazard: Hazard::NoAnswer, method: Some(Method::PunchHole), text: text.clone() });
        }
        m.findings.push(TestFinding { code: FindingCode::TestInterrupted, text });
        measurements::save(roots, &facts, &m)?;
    }
    intents::end(roots, name, facts.device.devnum)?;
    // udev and other programs learn of it; nobody listens to a remark here.
    let picture = assess::of(roots, port.as_mut(), &facts.device, Depth::Claims, &mut |_| {});
    published::write(roots, facts.device.devnum, &picture.document)?;
    udev::send_change(&facts.device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_foreign_block() {
        let said = foreign("/dev/sda", 1_048_576, 0);
        assert!(said.starts_with("byte 1048576 of the device") && !said.contains("0xff"), "{said}");
        let said = foreign("/dev/sda", 1_048_576, 65536);
        assert!(said.contains("remove the journal. 65536 bytes from there read 0xff"), "{said}");
        assert!(said.contains("of=/dev/sda bs=512 seek=2048 count=128 conv"), "{said}");
    }
}
