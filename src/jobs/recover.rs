//! `zerocap recover`: clears up what interrupted tests left, or says why not. It also removes temporary partitions that were
//! left, and turns an intent of another boot into what it says about the device.

use crate::assess;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::{self, Depth};
use crate::jobs::{measure, target, volume};
use crate::machine::block::hold::{Hold, LiveHold};
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::fs::unfinished;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::child::ChildPort;
use crate::machine::{udev, Roots};
use crate::measure::journal;
use crate::measure::scratch::{temporary, Asked};
use crate::protocol::recovery::{self, in_flight, journal_name, same_boot};
use crate::protocol::result::{self, Conditions};
use crate::protocol::Machine;
use crate::store::intents::{self, Intent, Intents};
use crate::store::{measurements, published};
use crate::terms::{Class, FindingCode, Hazard, Method};
use crate::units::Nanos;
use crate::verdict::measurement::{RecordedHazard, TestFinding};
use std::path::{Path, PathBuf};

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The device as typed, or the name that an earlier call gave of what is left, where no device has it; none: all.
    pub device: Option<String>,
    /// `--journal DIR`: where a journal lies that no intent speaks of.
    pub journal: Option<PathBuf>,
    /// `--export FILE`: the old content goes to this file; the device is not touched.
    pub export: Option<PathBuf>,
    /// `--give-up`: what was left is dropped.
    pub give_up: bool,
}

/// What was done for one journal or intent, in words, or why it was not.
pub type Report = (String, Result<String>);

/// A call to the device is not answered after this.
const DEADLINE: Nanos = Nanos::from_secs(120);

/// Clears up every journal and intent, or those of one device.
pub fn run(roots: &Roots, request: &Request) -> Result<Vec<Report>> {
    if !roots.is_live() {
        return Err(Error::Usage(
            "recover works on the running system only, because a recorded machine is never written to; leave out \
             --root"
                .to_owned(),
        ));
    }
    let root = &roots.system;
    let usual = request.journal.clone().unwrap_or_else(|| roots.var().join("journal"));
    let mut reports: Vec<Report> = Vec::new();
    let mut left: Vec<(String, PathBuf)> = Vec::new();
    for (name, word) in Intents::live(roots).all()? {
        match word {
            // A journal that was found where it was said to be is that of the intent, wherever else one could lie.
            Ok(word) => left.push((name, word.journal.unwrap_or_else(|| usual.clone()))),
            Err(e) => reports.push((name, Err(e))),
        }
    }
    for file in LiveDurable::new(&usual, 0o600).list()? {
        if let Some(name) = file.strip_suffix(".journal") {
            if left.iter().all(|(n, _)| n != name) && reports.iter().all(|(n, _)| n != name) {
                left.push((name.to_owned(), usual.clone()));
            }
        }
    }
    left.sort();
    let is_left =
        |typed: &String| left.iter().map(|(n, _)| n).chain(reports.iter().map(|(n, _)| n)).any(|n| n == typed);
    let only = match &request.device {
        // Of a device that is gone only this name is there.
        Some(typed) if is_left(typed) => Some(typed.clone()),
        Some(typed) => {
            let device = target::named(roots, typed)?;
            let facts = facts::gather(root, roots.port().as_mut(), &device, Depth::Event);
            Some(intents::name(facts.names.identity.as_ref(), device.devnum))
        }
        None => None,
    };
    left.retain(|(n, _)| only.as_ref().is_none_or(|o| o == n));
    reports.retain(|(n, _)| only.as_ref().is_none_or(|o| o == n));
    if let Some(file) = &request.export {
        let [(name, dir)] = &left[..] else {
            let what = format!(
                "--export writes the content of one device, but there are {} to recover; name one of them",
                left.len()
            );
            return Err(Error::Usage(what));
        };
        return Ok(vec![(name.clone(), export(dir, name, file))]);
    }
    for (name, dir) in left {
        let report = one(roots, &dir, &name, request.give_up);
        reports.push((name, report));
    }
    // What was done is told in any case.
    reports.extend(Intents::live(roots).sweep().err().map(|e| ("intents".to_owned(), Err(e))));
    // One that stays is no content of anybody: it is told, and is no failure.
    for dir in [roots.config(), roots.run(), roots.var()] {
        reports.extend(unfinished::remove(&dir).err().map(|e| ("temporary files".to_owned(), Ok(e.to_string()))));
    }
    if request.device.is_none() && !request.give_up {
        reports.extend(stale_partitions(roots)?);
    }
    Ok(reports)
}

fn one(roots: &Roots, dir: &Path, name: &str, give_up: bool) -> Result<String> {
    let interrupt = Interrupt::default();
    let (mut port, mut hold) = (ChildPort::new(DEADLINE), LiveHold::default());
    let (mut files, mut intents) = (LiveDurable::new(dir, 0o600), Intents::live(roots));
    let mut machine = Machine {
        root: &roots.system,
        port: &mut port,
        hold: &mut hold,
        journal: &mut files,
        intents: &mut intents,
        interrupt: &interrupt,
    };
    if give_up {
        let volume = machine.intents.of(name).ok().flatten().and_then(|word| word.volume);
        let left = volume.map(|v| {
            format!("; the logical volume {0}/{1} still exists; remove it with: lvremove {0}/{1}", v.group, v.name)
        });
        return recovery::give_up(&mut machine, name).map(|said| said + &left.unwrap_or_default());
    }
    let devices = target::listed(roots, false)?;
    let mut conclude = |device: Option<&Device>, word: &Intent| {
        conclude(roots, name, device, word)?;
        word.volume.as_ref().map_or(Ok(()), |own| volume::remove(roots, own, word.run))
    };
    recovery::recover(&mut machine, name, &devices, &mut measure::ledger(roots), &mut conclude)
}

/// Writes the journalled content to a file that is not there yet.
fn export(dir: &Path, name: &str, file: &Path) -> Result<String> {
    let files = LiveDurable::new(dir, 0o600);
    let shown = files.shown(&journal_name(name)).display().to_string();
    let malformed = |what: String| Error::Malformed { path: shown.clone(), what };
    let journal = match journal::read(&files, &journal_name(name))? {
        journal::Read::There(journal) => journal,
        journal::Read::None => return Err(malformed("there is no journal".to_owned())),
        journal::Read::Damaged(why) => return Err(malformed(why)),
    };
    let mut lost = 0;
    let header = &journal.header;
    let mut content = Vec::new();
    for (offset, length) in header.pieces() {
        match journal.content(offset, length)? {
            Some(bytes) => content.extend(bytes),
            None => {
                lost += length;
                content.resize(content.len() + length as usize, 0);
            }
        }
    }
    crate::machine::fs::durable::write_new(file, &content)?;
    let damaged = if lost > 0 {
        format!("; {lost} bytes are damaged in the journal and are zero in the file")
    } else {
        String::new()
    };
    let (first, _) = header.on_device();
    Ok(format!("{} bytes from byte {first} of the device are in {}{damaged}", content.len(), file.display()))
}

/// Takes away the temporary partitions that killed tests left before there was a journal.
fn stale_partitions(roots: &Roots) -> Result<Vec<Report>> {
    let mut ledger = measure::ledger(roots);
    let root = &roots.system;
    let mut reports = Vec::new();
    // A disk that a call is in flight on is not even opened: that may wait for as long as the call does.
    let words: Vec<Intent> = Intents::live(roots).all()?.into_iter().filter_map(|(_, word)| word.ok()).collect();
    let waits = |device: &str| words.iter().any(|w| w.device == device && in_flight(root, w).is_some());
    for devnum in temporary::noted(&ledger)? {
        let Some(device) = target::listed(roots, false)?.into_iter().find(|d| d.devnum == Some(devnum)) else {
            // The disk is gone, and its partitions with it.
            ledger.remove(&devnum.to_string())?;
            continue;
        };
        if waits(&device.name) {
            continue;
        }
        let mut hold = LiveHold::default();
        let gone = match hold.lock(&device.node()) {
            Ok(Some(opened)) => {
                let mut asked = Asked { root, hold: &mut hold, opened };
                temporary::take_stale_away(&mut asked, &device, &mut ledger)
            }
            // A test that is running has a partition of its own.
            Ok(None) => Ok(false),
            Err(e) => Err(e),
        };
        match gone {
            Ok(false) => {}
            Ok(true) => {
                reports.push((device.name, Ok("a temporary partition of an earlier test was removed".to_owned())))
            }
            Err(e) => reports.push((device.name, Err(e))),
        }
    }
    Ok(reports)
}

/// What an intent that was left says of the device: cut off once is a remark, cut off twice, or a recorded deadline, is a
/// hazard. A measurement or hazard that is kept already stays as it is.
fn conclude(roots: &Roots, name: &str, device: Option<&Device>, word: &Intent) -> Result<()> {
    let root = &roots.system;
    let mut port = roots.port();
    let named = |f: &facts::Facts| intents::name(f.names.identity.as_ref(), f.device.devnum) == name;
    let gathered = match device {
        Some(device) => Some(facts::gather(root, port.as_mut(), device, Depth::Event)),
        None => {
            let devices = target::listed(roots, false)?;
            devices.iter().map(|d| facts::gather(root, port.as_mut(), d, Depth::Event)).find(named)
        }
    };
    // Of a device that is not here nothing can be kept.
    let Some(facts) = gathered else { return Ok(()) };
    let loaded = measurements::load(roots, &facts);
    // A file that cannot be used may have held a hazard: it stays, and keeps the device from being trusted.
    let usable = loaded.is_ok();
    let kept_before = loaded.ok().flatten();
    if usable
        && kept_before.as_ref().is_none_or(|m| m.hazard.is_none() && m.at < word.at)
        && !same_boot(root, word)
        && word.phase == intents::Phase::Writing
        && !word.zeroed.is_empty()
    {
        let conditions = Conditions::without_test(word.at.clone(), "", Vec::new());
        let mut m = result::blank(&facts, &conditions);
        let before =
            kept_before.as_ref().is_some_and(|k| k.findings.iter().any(|f| f.code == FindingCode::TestInterrupted));
        let text = format!("the test of {} was cut off by the end of that boot", word.at);
        if before || word.left_behind.is_some() {
            m.class = Class::Broken;
            m.hazard =
                Some(RecordedHazard { hazard: Hazard::NoAnswer, method: Some(Method::PunchHole), text: text.clone() });
        } else if let Some(kept) = kept_before {
            // What was known stays known: the cut is a remark beside it.
            m = kept;
            m.findings.retain(|f| f.code != FindingCode::TestInterrupted);
        }
        m.findings.push(TestFinding { code: FindingCode::TestInterrupted, text });
        measurements::save(roots, &facts, &m)?;
    }
    // udev and other programs learn of it; nobody listens to a remark here.
    let picture = assess::look_at(roots, port.as_mut(), &facts.device, Depth::Claims, &mut |_| {});
    published::write(roots, facts.device.devnum, &picture.document)?;
    udev::send_change(&facts.device)?;
    crate::assess::publish::tell(roots, &facts.device, &mut |_| {});
    Ok(())
}
