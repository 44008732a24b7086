//! Power cuts at every point of a test and of the recovery after it, with others writing to the range in between: no byte
//! of anybody is ever lost.
//!
//! `ZEROCAP_POWER_CUTS` sets how many (200 without it). Each has its own seed: geometry, device, the step at which the
//! power goes (an act on the device or a step of a file), what of it reached the media, who writes meanwhile, which other
//! media are present, the cuts during recovery.

#![allow(clippy::unwrap_used)] // all of it is test

#[path = "power_cut/recovery.rs"]
mod recovery;
mod sim;
#[path = "power_cut/swap.rs"]
mod swap;

use sim::{Mains, Stand, JOURNAL, NAME};
use std::collections::HashMap;
use std::rc::Rc;
use zerocap::machine::block::openers::{How, Opener};
use zerocap::machine::fs::durable::Durable;
use zerocap::machine::simulated::disk::Shared;
use zerocap::machine::simulated::{Model, Noise, SimulatedPort, Writing, Zeroing};
use zerocap::measure::journal;
use zerocap::store::intents::Phase;

/// A device and a test on it, by seed.
fn stand(seed: u64) -> Stand {
    stand_of(seed, false)
}

/// As [`stand`]; `sound`: its device neither lies nor fails.
fn stand_of(seed: u64, sound: bool) -> Stand {
    let mut random = zerocap::machine::simulated::Random::new(seed);
    let block = if random.below(3) == 0 { 4096 } else { 512 };
    let segment = match random.below(16) {
        0 => 128 * 1024,
        n => 4096 * (1 + n % 3),
    };
    let thin = random.below(4) == 0;
    let fast = Model::steady(8_000_000, 1_000_000);
    let model = match random.below(7) + if sound { 7 } else { 0 } {
        0 => Model::steady(8_000_000, 8_000_000),
        1 => Model { zeroing: Zeroing::LieInLastBlock, ..fast },
        2 => Model { zeroing: Zeroing::FailsAfter(9), ..fast },
        3 => Model { writing: Writing::ZeroesCheap(8), ..fast },
        4 => Model { zeroing: Zeroing::Fails(95), ..fast },
        5 => Model { noise: Noise::Uniform(5.0), ..fast },
        _ => fast,
    };
    let model = if thin { Model { writing: Writing::FirstTouch(1_000_000), ..model } } else { model };
    let mut stand = Stand::new(model, seed, segment, block, thin);
    // Pieces that do not match the segments, so that what is put back crosses from one to the next.
    stand.prepared.layout.span.1 = stand.prepared.layout.span.1 / block * block;
    stand
}

fn cuts() -> u64 {
    match std::env::var("ZEROCAP_POWER_CUTS") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("ZEROCAP_POWER_CUTS is no number: {text}")),
        Err(_) => 200,
    }
}

/// A cut of the power at this step.
fn cut_at(step: u64) -> Rc<Mains> {
    let mains = Mains::default();
    mains.cut_at.set(Some(step));
    Rc::new(mains)
}

/// What somebody wrote between the cut and the recovery.
struct Foreign(Vec<(usize, Vec<u8>)>);

impl Foreign {
    /// A few blocks anywhere in the journalled span, not the test's and not what was there.
    fn write(stand: &mut Stand, mostly_none: bool) -> Foreign {
        let block = stand.opened.logical_block;
        let (start, length) = stand.prepared.layout.span;
        let n = if mostly_none && stand.random.below(3) > 0 { 0 } else { 1 + stand.random.below(3) };
        let mut written = Vec::new();
        for _ in 0..n {
            let at = (start + block * stand.random.below(length / block)) as usize;
            let bytes = vec![0x53; block as usize];
            stand.disk.0.borrow_mut().content[at..at + bytes.len()].copy_from_slice(&bytes);
            written.push((at, bytes));
        }
        Foreign(written)
    }

    /// What the device must hold in the end: its old content, and what they wrote.
    fn over(&self, before: &[u8]) -> Vec<u8> {
        let mut wanted = before.to_vec();
        for (at, bytes) in &self.0 {
            wanted[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        wanted
    }
}

/// Whether the journal is whole: then what is not on the device yet is not lost.
fn journal_is_whole(stand: &Stand) -> bool {
    let files = stand.journal.borrow();
    matches!(journal::read(&*files, JOURNAL).unwrap(), journal::Read::There(j) if j.digest.is_some())
}

#[test]
fn no_power_cut_loses_a_byte() {
    let (mut phases, mut again, mut restored, mut left) = (HashMap::<Option<Phase>, u64>::new(), 0, 0, 0);
    for seed in 0..cuts() {
        let steps = {
            let mut whole = stand(seed);
            let mains = Rc::new(Mains::default());
            // A device that lies or fails ends the test; its content is back all the same.
            let (result, _) = whole.test(&mains);
            result.unwrap_or_else(|e| panic!("{seed}: {e}"));
            assert!(whole.is_as_before(), "{seed}: not as before after a whole test");
            assert!(whole.journal.borrow().list().unwrap().is_empty() && whole.intent().is_none(), "{seed}");
            mains.steps.get()
        };
        let mut s = stand(seed);
        // Half of the cuts fall anywhere, half near the end, where a byte can be lost for good.
        let at = match s.random.below(2) {
            0 => 1 + s.random.below(steps),
            _ => steps - s.random.below(steps.min(60)),
        };
        let mains = cut_at(at);
        let (cut, _) = s.test(&mains);
        assert!(cut.is_err() && mains.off.get(), "{seed}: no cut at {at} of {steps}");
        s.reboot();
        let phase = s.intent().map(|i| i.phase);
        *phases.entry(phase).or_default() += 1;
        if phase.is_none_or(|p| p == Phase::Preparing) {
            assert!(s.is_as_before(), "{seed}: written to before the intent said so");
        }
        let foreign = Foreign::write(&mut s, true);
        let wanted = foreign.over(&s.before);
        // A second medium that says that it is the same one.
        let twin = (s.random.below(3) == 0).then(|| {
            let blank = vec![0; s.before.len()];
            let disk = Shared::new(SimulatedPort::new(Model::steady(1, 1), blank, 1));
            // Sometimes it comes first and has the old name.
            if s.random.below(2) == 0 {
                s.others.push((sim::TWIN.to_owned(), disk.clone()));
            } else {
                s.as_disk = Some(sim::TWIN.to_owned());
                s.others.push((zerocap::machine::simulated::disk::NAME.to_owned(), disk.clone()));
            }
            disk
        });
        // Most recoveries are cut as well, some several times.
        for _ in 0..s.random.below(4) {
            let step = 1 + s.random.below(30);
            let (said, _) = s.recover(&cut_at(step));
            again += u64::from(said.is_err());
            s.reboot();
        }
        let (said, _) = s.recover(&Rc::default());
        let now = s.disk.0.borrow().content.clone();
        match said {
            Ok(said) => {
                let lost = now.iter().zip(&wanted).filter(|(a, b)| a != b).count();
                assert_eq!(lost, 0, "{seed}: bytes lost after a cut in {phase:?}, step {at} of {steps}: {said}");
                assert!(s.intent().is_none(), "{seed}: {said}");
                assert_eq!(s.journal.borrow().list().unwrap(), Vec::<String>::new(), "{seed}: {said}");
                restored += u64::from(said.contains("put back"));
            }
            Err(e) => {
                left += 1;
                assert!(!foreign.0.is_empty() || twin.is_some(), "{seed}: {phase:?}, step {at}: {e}");
                assert!(journal_is_whole(&s), "{seed}: {e}");
                // What is not as wanted is as it was when the power went: nothing was written over somebody's blocks.
                for (place, bytes) in &foreign.0 {
                    assert_eq!(now[*place..*place + bytes.len()], bytes[..], "{seed}: {e}");
                }
            }
        }
        if let Some(twin) = twin {
            assert!(twin.0.borrow().content.iter().all(|b| *b == 0), "{seed}: the other medium was written to");
        }
    }
    println!("{} cuts: {phases:?}, {again} more during recovery, {restored} put back, {left} left to a person", cuts());
    if cuts() >= 200 {
        let all = [Phase::Preparing, Phase::Writing, Phase::Restoring];
        for phase in all {
            assert!(phases.get(&Some(phase)).is_some_and(|n| *n >= 5), "{phase:?} was hardly cut: {phases:?}");
        }
        assert!(again >= 40 && restored >= 40 && left >= 10, "{again} cut again, {restored} put back, {left} left");
    }
}

/// A thin device is left with the media it had: what held zeroes and had none has none again.
#[test]
fn thin_zeroes_are_put_back_without_media() {
    let mut tried = 0;
    for seed in 0..24 {
        let model = Model { writing: Writing::FirstTouch(1_000_000), ..Model::steady(8_000_000, 1_000_000) };
        let mut s = Stand::new(model, seed, 8192, 512, true);
        let units = s.before.len() as u64;
        let mapped = s.disk.0.borrow().mapped(0, units).to_vec();
        s.test(&Rc::default()).0.unwrap();
        let now = s.disk.0.borrow().mapped(0, units).to_vec();
        for (i, unit) in s.before.chunks(512).enumerate() {
            if unit.iter().all(|b| *b == 0) {
                tried += 1;
                assert_eq!(now[i], mapped[i], "{seed}: unit {i}");
            }
        }
    }
    assert!(tried >= 100, "{tried}");
}

/// Cut in the middle of the test proper, with a whole journal on disk and the witness on the device.
fn cut_while_writing(seed: u64) -> Stand {
    for more in 0..200 {
        let mut s = stand_of(seed, true);
        let at = 14 + s.random.below(20) + more;
        if s.test(&cut_at(at)).0.is_ok() {
            break;
        }
        s.reboot();
        if s.intent().is_some_and(|i| i.phase == Phase::Writing && !i.zeroed.is_empty()) {
            return s;
        }
    }
    panic!("{seed}: the test was never cut while it wrote")
}

/// Everybody else is looked at again before the first write to each segment.
#[test]
fn a_process_that_opens_the_disk_for_writing_ends_the_test_and_nothing_is_kept() {
    for (openers, said) in [
        (Some(vec![Opener { pid: 9, command: "database".to_owned(), how: How::Writes }]), "database (pid 9)"),
        (None, "hidden"),
    ] {
        let mut stand = stand_of(7, true);
        stand.openers = openers;
        let (result, kept) = stand.test(&Rc::new(Mains::default()));
        let error = result.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert!(kept.is_none(), "nothing is kept");
        assert!(stand.disk.0.borrow().content == stand.before, "the content is as before");
        assert!(stand.journal.borrow().list().unwrap().is_empty(), "no journal is left");
    }
    let mut stand = stand_of(7, true);
    stand.openers = Some(vec![Opener { pid: 9, command: "smartd".to_owned(), how: How::Reads }]);
    let (result, kept) = stand.test(&Rc::new(Mains::default()));
    assert!(result.is_ok() && kept.is_some(), "who only reads is no matter");
}

/// Whoever comes in the middle of a test is seen when it is over at the latest, before anything is kept.
#[test]
fn whoever_opens_the_disk_for_writing_before_the_last_act_ends_the_test() {
    let steps = Rc::new(Mains::default());
    stand_of(7, true).test(&steps).0.unwrap();
    let (mut seen, mut late) = (0, 0);
    for step in 1..=steps.steps.get() {
        let mut stand = stand_of(7, true);
        stand.openers = Some(vec![Opener { pid: 9, command: "database".to_owned(), how: How::Writes }]);
        stand.opened_at = step;
        let mains = Rc::new(Mains::default());
        let (result, kept) = stand.test(&mains);
        assert!(stand.is_as_before(), "step {step}");
        if result.is_err() {
            assert!(kept.is_none(), "step {step}: nothing is kept");
            seen += 1;
        } else {
            assert!(step > mains.changed_at.get(), "step {step}: the test changed the device afterwards");
            late += 1;
        }
    }
    assert!(seen > 50 && late > 0, "{seen}, {late}");
}
