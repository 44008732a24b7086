//! Clears up what an interrupted test left. The medium is found by its witness, and not by what a device says of itself. Its
//! old content is put back block by block; intent and journal are deleted last. What cannot be decided is left as it is, and
//! named.
//!
//! It works with any port, files and hold, like the test itself. It writes to a device only through `measure/recover`, in a
//! range that `measure/scratch` proved again.

use crate::device::display::escape_str;
use crate::device::{Device, Same};
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::block::blkid::Signature;
use crate::machine::block::devices;
use crate::machine::clock;
use crate::machine::fs::durable::Durable;
use crate::machine::fs::root::Root;
use crate::machine::port::pattern::{self, UNIT};
use crate::machine::port::{Act, Port, Question, TunablePath};
use crate::measure::journal::{self, Header, Journal, Read};
use crate::measure::recover::{differences, put_back, Report, Rules};
use crate::measure::scratch::{self, temporary, Asked, Proof};
use crate::protocol::{recovery_volume, Machine};
use crate::store::intents::{Intent, Phase};
use crate::units::{human_bytes, SECTOR};

/// Keeps what an intent says of its device, before the intent goes. No device: none was found, or none was needed.
pub type Conclude<'a> = dyn FnMut(Option<&Device>, &Intent) -> Result<()> + 'a;

/// Clears up one intent and its journal, and says what was done. `devices`: where the medium may be.
pub fn recover(
    machine: &mut Machine<'_>,
    name: &str,
    devices: &[Device],
    ledger: &mut dyn Durable,
    conclude: &mut Conclude<'_>,
) -> Result<String> {
    machine.intents.hold(name)?;
    let said = held(machine, name, devices, ledger, conclude);
    machine.port.close();
    machine.hold.unlock();
    machine.intents.release(name);
    said
}

/// The name of the journal's file.
pub fn journal_name(name: &str) -> String {
    format!("{name}.journal")
}

fn held(
    machine: &mut Machine<'_>,
    name: &str,
    devices: &[Device],
    ledger: &mut dyn Durable,
    conclude: &mut Conclude<'_>,
) -> Result<String> {
    let word = machine.intents.of(name)?;
    if let Some(pid) = word.as_ref().and_then(|w| in_flight(machine.root, w)) {
        let why = format!(
            "a call is still in flight, pid {pid}; try again once that process is gone, or after a \
                           restart"
        );
        return Err(Error::NotSafe { device: name.to_owned(), why });
    }
    let file = journal_name(name);
    if let Some(word) = word.as_ref().filter(|w| w.volume.is_some()) {
        let disk = recovery_volume::named(machine.root, devices, (&word.identity, &word.device));
        disk.as_ref().map_or(Ok(()), |disk| off_trial(machine, disk, word))?;
        end(machine, name, Some(word), disk.as_ref(), conclude)?;
        return Ok("the logical volume that was made for the test does not exist any more; its content belonged to \
                   nobody"
            .to_owned());
    }
    let needs_journal = match &word {
        Some(word) => word.journal.is_some() && !matches!(word.phase, Phase::Preparing | Phase::Done),
        // A journal that no intent speaks of may be the last copy of some device's content.
        None => machine.journal.part(&file, 0, 1)?.is_some(),
    };
    if !needs_journal {
        let said = match word.as_ref().map(|w| w.phase) {
            Some(Phase::Preparing) => "the test was cut off before it wrote anything",
            Some(Phase::Done) => "the content had been put back already",
            _ => "there is nothing to put back",
        };
        return end(machine, name, word.as_ref(), None, conclude).map(|()| said.to_owned());
    }
    let shown = machine.journal.shown(&file).display().to_string();
    let kept = |what: String| Error::NotPutBack { device: name.to_owned(), what, journal: shown.clone() };
    let (device, said) = match journal::read(machine.journal, &file)? {
        Read::None => {
            return Err(kept(format!(
                "the journal is missing (is its file system mounted?); nothing was changed. If the old content is \
                 not needed, run `zerocap recover --give-up '{name}'`"
            )))
        }
        Read::Damaged(why) => return Err(kept(format!("the journal is damaged: {why}; nothing was changed"))),
        Read::There(journal) => {
            if word.as_ref().is_some_and(|w| w.run != journal.header.run) {
                return Err(kept(
                    "the journal and the intent belong to different tests; nothing was changed".to_owned(),
                ));
            }
            let mut at = Work {
                root: machine.root,
                port: &mut *machine.port,
                hold: &mut *machine.hold,
                word: word.as_ref(),
                journal: &journal,
            };
            // What is told of a device is told of the disk, also where the test wrote through a volume of it.
            let disk = |device| recovery_volume::disk(machine.root, &journal.header, devices, device);
            match at.medium(devices).map_err(kept)? {
                Medium::AsBefore(device) => (disk(device), "the content was as before".to_owned()),
                Medium::Written(device) => {
                    if let Some(word) = &word {
                        let restoring = Intent { phase: Phase::Restoring, ..word.clone() };
                        machine.intents.write(name, device.devnum, &restoring)?;
                    }
                    let report = at.back(&device, ledger)?;
                    if !report.is_whole() {
                        return Err(kept(remains(&report, &journal.header)));
                    }
                    let said = match report.restored {
                        0 => "the content was as before".to_owned(),
                        bytes => format!("{bytes} bytes were put back and read back"),
                    };
                    (disk(device), said)
                }
            }
        }
    };
    let tunables = match (&word, &device) {
        (Some(word), Some(device)) => off_trial(machine, device, word),
        _ => Ok(()),
    };
    end(machine, name, word.as_ref(), device.as_ref(), conclude)?;
    // Last: the content is back whether or not a tunable is.
    tunables.map(|()| said)
}

/// Nothing waits any more: what the intent says is kept, then journal and intent go.
fn end(
    machine: &mut Machine<'_>,
    name: &str,
    word: Option<&Intent>,
    device: Option<&Device>,
    conclude: &mut Conclude<'_>,
) -> Result<()> {
    let devnum = device.and_then(|d| d.devnum);
    if let Some(word) = word {
        machine.intents.write(name, devnum, &Intent { phase: Phase::Done, ..word.clone() })?;
        conclude(device, word)?;
    }
    drop_journal(machine.journal, name, word)?;
    machine.intents.end(name)
}

/// Takes the journal of a test away, where it made one: of one that needed none, a journal of that name is another's.
pub fn drop_journal(journal: &mut dyn Durable, name: &str, word: Option<&Intent>) -> Result<()> {
    match word {
        Some(word) if word.journal.is_none() => Ok(()),
        _ => journal.remove(&journal_name(name)),
    }
}

/// Gives up what a test left: journal and intent go, the device is not touched.
pub fn give_up(machine: &mut Machine<'_>, name: &str) -> Result<String> {
    machine.intents.hold(name)?;
    // A word that cannot be read is given up too, and its journal with it.
    let word = machine.intents.of(name).ok().flatten();
    let done = drop_journal(machine.journal, name, word.as_ref()).and_then(|()| machine.intents.end(name));
    machine.intents.release(name);
    done.map(|()| "given up: journal and intent are removed; the device was not touched".to_owned())
}

/// The tunables that a test held on trial are put back to what was found.
fn off_trial(machine: &mut Machine<'_>, device: &Device, word: &Intent) -> Result<()> {
    for (path, found) in &word.on_trial {
        let now = machine.root.text(&device.attr(path));
        if now.known().is_some_and(|now| now != found) {
            machine.port.set(device, &TunablePath(path.clone()), found).map_err(|e| Error::Act {
                device: device.node(),
                operation: format!("put {path} back to {}", escape_str(found)),
                what: e.to_string(),
            })?;
        }
    }
    Ok(())
}

/// The child of this boot that did not answer and is still there.
pub fn in_flight(root: &Root, word: &Intent) -> Option<u32> {
    let pid = word.left_behind.filter(|_| same_boot(root, word))?;
    root.exists(&format!("proc/{pid}")).then_some(pid)
}

/// Whether an intent is of this boot.
pub fn same_boot(root: &Root, word: &Intent) -> bool {
    word.boot_id.is_some() && word.boot_id == clock::boot_id(root)
}

/// Where the content of a journal is.
enum Medium {
    /// The device of that name holds it already, and no witness.
    AsBefore(Device),
    /// The device bears the witness.
    Written(Device),
}

/// What the recovery of one journal works with.
struct Work<'a> {
    root: &'a Root,
    port: &'a mut dyn Port,
    hold: &'a mut dyn crate::machine::block::hold::Hold,
    word: Option<&'a Intent>,
    journal: &'a Journal<'a>,
}

impl Work<'_> {
    fn header(&self) -> &Header {
        &self.journal.header
    }

    /// Finds the medium; the error says in words why it is not touched.
    fn medium(&mut self, devices: &[Device]) -> std::result::Result<Medium, String> {
        let header = self.header();
        let end = header.place(header.span.0.saturating_add(header.span.1));
        let devices = &recovery_volume::among(self.root, header, devices)?;
        let large =
            |d: &&Device| self.root.number(&d.attr("size")).get().is_some_and(|n| n.saturating_mul(SECTOR) >= end);
        let candidates: Vec<Device> = devices.iter().filter(large).cloned().collect();
        let mut bearing: Vec<Device> = candidates.iter().filter(|d| self.bears_witness(d)).cloned().collect();
        // Of devices that lie over each other the one that nothing lies over is the one whose user wrote.
        if bearing.len() > 1 {
            bearing.retain(|d| !self.is_held(d));
        }
        let names = |devices: &[Device]| devices.iter().map(Device::node).collect::<Vec<_>>().join(", ");
        match <[Device; 1]>::try_from(bearing) {
            Ok([device]) => Ok(Medium::Written(device)),
            Err(several) if !several.is_empty() => Err(format!(
                "{} all hold the witness of this test (one may be a clone or a snapshot), so none is touched; remove \
                 all but the right one and run `zerocap recover` again",
                names(&several)
            )),
            Err(_) => self.without_witness(&candidates),
        }
    }

    /// No device bears the witness: either it was never written, or it was put back already, or somebody has written over
    /// it, or the medium is not here.
    fn without_witness(&mut self, candidates: &[Device]) -> std::result::Result<Medium, String> {
        let named: Vec<&Device> = candidates.iter().filter(|d| self.is_named(d)).collect();
        let absent = "the medium of this journal is not present: no device holds the witness of its test".to_owned();
        let [device] = named[..] else { return Err(absent) };
        let (header, run, offset) = (&self.journal.header, self.journal.header.run, self.journal.header.node_offset);
        let (port, mut ours) = (&mut *self.port, false);
        let mut read = |at: u64, length: u64| {
            let length = u32::try_from(length).ok()?;
            let bytes = port.ask(device, Question::Blocks(header.place(at), length)).ok()?;
            let place = |i: usize| offset + at + (i * UNIT) as u64;
            ours |= bytes.chunks(UNIT).enumerate().any(|(i, unit)| pattern::is_ours(unit, run.seed(), place(i)));
            Some(bytes)
        };
        let difference = differences(self.journal, &mut read).map_err(|e| e.to_string())?;
        match difference {
            // A block of its pattern is as good a proof as the witness: nobody else has such a thing.
            _ if ours => Ok(Medium::Written(device.clone())),
            // While the test writes its medium bears the witness: one that holds the old content without it is a copy.
            None if self.word.is_some_and(|w| w.phase != Phase::Writing) => Ok(Medium::AsBefore(device.clone())),
            None => Err(format!(
                "{absent}; {} has its name and holds all of the old content: it is a copy, or the test put the \
                 content back but could not record that. If there is no other medium, `zerocap recover --give-up {}` \
                 loses nothing",
                device.node(),
                device.node()
            )),
            Some(_) => Err(format!(
                "{absent}; {} has its name, but nothing of the test: it is another medium, or somebody has \
                 overwritten the whole range since",
                device.node()
            )),
        }
    }

    fn bears_witness(&mut self, device: &Device) -> bool {
        let header = self.journal.header.clone();
        let block = header.witness_block();
        header.witnesses().into_iter().any(|at| {
            let place = header.node_offset + at;
            let length = u32::try_from(block).unwrap_or(u32::MAX);
            let bytes = self.port.ask(device, Question::Blocks(header.place(at), length)).unwrap_or_default();
            let units = || bytes.chunks(UNIT).enumerate();
            // Of a block that was torn a part is as good as the whole: nobody else writes such a thing.
            !bytes.is_empty()
                && units().any(|(i, unit)| pattern::is_witness(unit, header.run, place + (i * UNIT) as u64))
        })
    }

    /// Whether something lies over the device or a partition of it. What cannot be listed counts as if it did.
    fn is_held(&self, device: &Device) -> bool {
        let any = |path: String| match self.root.list(&path) {
            Fact::Known(names) => !names.is_empty(),
            Fact::Unknown(_) => true,
        };
        let Fact::Known(partitions) = devices::partitions(self.root, device) else { return true };
        any(device.attr("holders")) || partitions.iter().any(|p| any(device.attr(&format!("{}/holders", p.name))))
    }

    /// Whether a device is the one that the journal names: by identity, or in one boot by its sequence number; where the kernel
    /// has none, by number and size.
    fn is_named(&self, device: &Device) -> bool {
        let header = self.header();
        // Of the volumes only the journal's own is among those that are asked.
        if header.volume.is_some() {
            return true;
        }
        match &header.identity {
            Some(id) => crate::facts::device::identity(self.root, device).is_some_and(|i| i.as_str() == id),
            None => {
                let now = crate::facts::device::instance(self.root, device);
                // A sequence number begins anew with each boot.
                header.boot_id.is_some()
                    && header.boot_id == clock::boot_id(self.root)
                    && header.instance().is(&now) == Same::Yes
                    && (header.diskseq.is_some()
                        || header.devnum.is_some() && header.devnum == device.devnum.map(|d| d.to_string()))
            }
        }
    }

    fn back(&mut self, device: &Device, ledger: &mut dyn Durable) -> Result<Report> {
        let not_safe = |why: &str| Error::NotSafe { device: device.node(), why: why.to_owned() };
        let opened = self.hold.lock(&device.node())?;
        let opened = opened
            .ok_or_else(|| not_safe("another program holds its lock (flock); try again when that program is done"))?;
        let mut asked = Asked { root: self.root, hold: &mut *self.hold, opened };
        let proof = scratch::of_journal(&mut asked, device, &self.journal.header, ledger)?;
        let result = self.back_in(&proof);
        self.port.close();
        if let Some((number, true)) = proof.partition {
            temporary::take_away(self.hold, proof.opened.devnum, ledger, number)?;
        }
        result
    }

    fn back_in(&mut self, proof: &Proof) -> Result<Report> {
        let act = |operation: &str, what: String| Error::Act {
            device: proof.range.node.clone(),
            operation: operation.to_owned(),
            what,
        };
        // A file system that somebody made here since has blocks of zeroes of its own.
        let bytes = self.header().node_length.is_none().then(|| self.header().span);
        let unclaimed = matches!(self.hold.signature(&proof.range.node, bytes), Ok(Signature::Nothing));
        self.port.act(&proof.range, &Act::Open).value.map_err(|e| act("open for writing", e.to_string()))?;
        let zeroed = self.word.map_or(&[][..], |w| &w.zeroed);
        let rules = Rules { zeroed, medium_is_proved: unclaimed, reads_ones: false };
        put_back(self.port, &proof.range, self.journal, &rules).map_err(|e| act(&e.operation, e.error.to_string()))
    }
}

/// What remains of a put-back, and what can be done, in words. Places are bytes of the whole device.
pub fn remains(report: &Report, header: &Header) -> String {
    let mut said = vec![format!("{} were put back", human_bytes(report.restored))];
    let sum = |spans: &[(u64, u64)]| spans.iter().map(|(_, n)| n).sum::<u64>();
    let first = |at: u64| header.node_offset + at;
    if let Some((at, _)) = report.foreign.first() {
        said.push(format!(
            "somebody else wrote {} bytes in {} places, the first at byte {}; they are left as they are",
            sum(&report.foreign),
            report.foreign.len(),
            first(*at)
        ));
    }
    if report.ones > 0 {
        said.push(format!(
            "{} of these bytes read as 0xff, as some devices do after zeroing, so they cannot be told from bytes \
             that somebody wrote",
            report.ones
        ));
    }
    if let Some((at, _, error)) = report.failed.first() {
        let bytes: u64 = report.failed.iter().map(|(_, n, _)| n).sum();
        said.push(format!("{bytes} bytes could not be written back, the first at byte {}: {error}", first(*at)));
    }
    if !report.damaged.is_empty() {
        said.push(format!("{} bytes are damaged in the journal", sum(&report.damaged)));
    }
    said.push(
        "run `zerocap recover` to try again, with --export FILE to write the old content to a file, or with \
         --give-up to drop it"
            .to_owned(),
    );
    said.join("; ")
}
