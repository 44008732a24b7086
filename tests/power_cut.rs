//! Power cuts at every point of a measurement and of the recovery after it: no byte of the old content is ever lost.
//!
//! `ZEROCAP_POWER_CUTS` sets how many (200 without it). Each has its own seed: geometry, device, the step at which the
//! power goes (an act on the device or a step of a file), what of it reached the media, the cuts during recovery.

#![allow(clippy::unwrap_used)] // all of it is test

#[path = "power_cut/foreign.rs"]
mod foreign;
mod sim;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::PathBuf;
use zerocap::device::Device;
use zerocap::error::{Error, Result};
use zerocap::machine::fs::durable::{Durable, SimulatedDurable};
use zerocap::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use zerocap::machine::simulated::{Cut, Model, Noise, Random, SimulatedPort, Writing, Zeroing};
use zerocap::measure::journal::{self, Header};
use zerocap::measure::plan::Plan;
use zerocap::measure::recover::{Outcome as Back, Trust};
use zerocap::measure::scratch;
use zerocap::measure::trial::{self, SEGMENTS};
use zerocap::units::Nanos;

/// The word that a test has begun; while it is there no other test begins.
const INTENT: &str = "intent";
/// What was found out.
const RESULT: &str = "result";

/// The power that device and files share: counts their steps, goes in the middle of one.
#[derive(Default)]
struct Mains {
    steps: Cell<u64>,
    cut_at: Cell<Option<u64>>,
    off: Cell<bool>,
}

enum Power {
    On,
    Going,
    Off,
}

impl Mains {
    fn step(&self) -> Power {
        if self.off.get() {
            return Power::Off;
        }
        self.steps.set(self.steps.get() + 1);
        if self.cut_at.get() == Some(self.steps.get()) {
            self.off.set(true);
            return Power::Going;
        }
        Power::On
    }
}

struct PoweredPort<'a> {
    port: &'a mut SimulatedPort,
    mains: &'a Mains,
    seed: u64,
}

impl Port for PoweredPort<'_> {
    fn ask(&mut self, device: &Device, question: Question) -> std::result::Result<Vec<u8>, AskError> {
        self.port.ask(device, question)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<std::result::Result<Done, ActError>> {
        match self.mains.step() {
            Power::On => {}
            Power::Going => self.port.cut = Some(Cut { at: self.port.acts() + 1, seed: self.seed }),
            Power::Off => return Timed { took: Nanos(0), value: Err(ActError::NotAllowed("no power".to_owned())) },
        }
        self.port.act(range, act)
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> std::result::Result<(), ActError> {
        self.port.set(device, path, value)
    }

    fn now(&self) -> Nanos {
        self.port.now()
    }
}

fn dark() -> Error {
    Error::file("simulated", "use", std::io::Error::other("the power is off"))
}

struct PoweredFiles<'a> {
    files: &'a mut SimulatedDurable,
    mains: &'a Mains,
    random: Random,
}

impl PoweredFiles<'_> {
    /// Does it, or, where the power goes, does it or not; whoever called learns of neither.
    fn whole(&mut self, step: impl FnOnce(&mut SimulatedDurable) -> Result<()>) -> Result<()> {
        match self.mains.step() {
            Power::On => step(self.files),
            Power::Going if self.random.below(2) == 0 => step(self.files).and_then(|()| Err(dark())),
            Power::Going | Power::Off => Err(dark()),
        }
    }
}

impl Durable for PoweredFiles<'_> {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.files.read(name)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let part = self.random.below(bytes.len() as u64 + 1) as usize;
        match self.mains.step() {
            Power::On => self.files.append(name, bytes),
            Power::Going => {
                self.files.append(name, &bytes[..part])?;
                Err(dark())
            }
            Power::Off => Err(dark()),
        }
    }

    fn sync(&mut self, name: &str) -> Result<()> {
        self.whole(|files| files.sync(name))
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.whole(|files| files.replace(name, bytes))
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.whole(|files| files.remove(name))
    }

    fn list(&self) -> Result<Vec<String>> {
        self.files.list()
    }

    fn shown(&self, name: &str) -> PathBuf {
        self.files.shown(name)
    }
}

/// A measurement of a device, by seed.
struct Case {
    kind: u64,
    range: ScratchRange,
    plan: Plan,
    header: Header,
    before: Vec<u8>,
    port: SimulatedPort,
    files: SimulatedDurable,
    random: Random,
}

/// The phases in which the power can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Phase {
    Journal,
    Test,
    PutBack,
    Removal,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let block = if random.below(3) == 0 { 4096 } else { 512 };
        let segment = match random.below(16) {
            0 => 128 * 1024,
            n => 4096 * (1 + n % 3),
        };
        let thin = random.below(4) == 0;
        let kind = random.below(7);
        let fast = Model::steady(8_000_000, 1_000_000);
        let model = match kind {
            0 => Model::steady(8_000_000, 8_000_000),
            1 => Model { zeroing: Zeroing::LieInLastBlock, ..fast },
            2 => Model { zeroing: Zeroing::FailsAfter(9), ..fast },
            3 => Model { writing: Writing::ZeroesCheap(8), ..fast },
            4 => Model { zeroing: Zeroing::Fails(95), ..fast },
            5 => Model { noise: Noise::Uniform(5.0), ..fast },
            _ => fast,
        };
        let model = if thin { Model { writing: Writing::FirstTouch(1_000_000), ..model } } else { model };
        let start = block * random.below(5);
        let mut range = scratch::simulated(start + SEGMENTS * segment + 8192);
        range.logical_block = block;
        range.node_offset = block * random.below(1 << 20);
        let plan = sim::plan(random.next_u64(), block, start, segment);
        // Pieces that do not match the segments, so that what is put back crosses from one to the next.
        let header = sim::header(&plan, &range, 12 * 1024, thin);
        let before = sim::content(range.length, seed);
        let port = SimulatedPort::new(model, before.clone(), seed);
        Case { kind, range, plan, header, before, port, files: SimulatedDurable::default(), random }
    }

    fn powered<'a>(&'a mut self, mains: &'a Mains) -> (PoweredPort<'a>, PoweredFiles<'a>) {
        let seed = self.random.next_u64();
        let port = PoweredPort { port: &mut self.port, mains, seed };
        (port, PoweredFiles { files: &mut self.files, mains, random: Random::new(seed) })
    }

    /// The measurement in the order of the job; tells each phase as it begins.
    fn measure(&mut self, mains: &Mains, phase: &mut Phase) -> Result<()> {
        let (range, plan, header) = (self.range.clone(), self.plan.clone(), self.header.clone());
        let (mut port, mut files) = self.powered(mains);
        sim::open(&mut port, &range)?;
        files.replace(INTENT, b"begun")?;
        sim::keep(&mut files, &mut port, &range, &header)?;
        *phase = Phase::Test;
        trial::run(&mut port, &range, &plan, &mut sim::Quiet);
        if !mains.off.get() {
            *phase = Phase::PutBack;
        }
        match sim::restore(&mut port, &range, &sim::kept(&files)?, Trust::Held)? {
            Back::Back(_) => {}
            Back::Foreign { offset, .. } => panic!("foreign at {offset} in a range that was held"),
        }
        *phase = Phase::Removal;
        files.replace(RESULT, b"measured")?;
        files.remove(sim::JOURNAL)?;
        files.remove(INTENT)
    }

    /// The recovery in the order of the job.
    fn recover(&mut self, mains: &Mains) -> Result<Option<Back>> {
        let range = self.range.clone();
        let (mut port, mut files) = self.powered(mains);
        let back = match journal::read(&files, sim::JOURNAL)? {
            journal::Read::None => None,
            journal::Read::Unfinished => {
                files.remove(sim::JOURNAL)?;
                None
            }
            journal::Read::Whole(journal) => {
                sim::open(&mut port, &range)?;
                let back = sim::restore(&mut port, &range, &journal, Trust::Nobody)?;
                if let Back::Foreign { .. } = back {
                    return Ok(Some(back));
                }
                files.remove(sim::JOURNAL)?;
                Some(back)
            }
        };
        files.remove(INTENT)?;
        Ok(back)
    }

    /// The machine comes up again; what must hold of the files whenever it does.
    fn reboot(&mut self, seed: u64) {
        let random = &mut self.random;
        self.files.power_cut(|| random.next_u64() as u8);
        self.port.power_on();
        match journal::read(&self.files, sim::JOURNAL).unwrap() {
            journal::Read::Whole(_) => {
                assert!(self.files.read(INTENT).unwrap().is_some(), "{seed}: a journal that no intent points to");
            }
            _ => assert!(self.port.content == self.before, "{seed}: written to without a whole journal"),
        }
        let result = self.files.read(RESULT).unwrap();
        assert!(result.is_none_or(|r| r == b"measured"), "{seed}: half a result");
    }
}

fn cuts() -> u64 {
    match std::env::var("ZEROCAP_POWER_CUTS") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("ZEROCAP_POWER_CUTS is no number: {text}")),
        Err(_) => 200,
    }
}

#[test]
fn no_cut_loses_a_byte() {
    let (mut phases, mut again, mut restored) = (HashMap::<Phase, u64>::new(), 0, 0);
    for seed in 0..cuts() {
        let mut case = Case::new(seed);
        let steps = {
            let mut whole = Case::new(seed);
            let mains = Mains::default();
            whole.measure(&mains, &mut Phase::Journal).unwrap_or_else(|e| panic!("{seed}: {e}"));
            assert!(whole.port.content == whole.before, "{seed}: not as before after a whole measurement");
            assert_eq!(whole.files.list().unwrap(), [RESULT], "{seed}");
            mains.steps.get()
        };
        // Half of the cuts fall anywhere, half near the end, where a byte can be lost for good.
        let at = match case.random.below(2) {
            0 => 1 + case.random.below(steps),
            _ => steps - case.random.below(steps.min(60)),
        };
        let (mains, mut phase) = (Mains::default(), Phase::Journal);
        mains.cut_at.set(Some(at));
        let cut = case.measure(&mains, &mut phase);
        assert!(cut.is_err() && mains.off.get(), "{seed}: no cut at {at} of {steps}");
        *phases.entry(phase).or_default() += 1;
        case.reboot(seed);
        // Most recoveries are cut as well, some several times.
        for _ in 0..case.random.below(4) {
            let mains = Mains::default();
            mains.cut_at.set(Some(1 + case.random.below(30)));
            match case.recover(&mains) {
                Err(_) => again += 1,
                Ok(back) => restored += u64::from(matches!(back, Some(Back::Back(1..)))),
            }
            case.reboot(seed);
        }
        let back = case.recover(&Mains::default()).unwrap_or_else(|e| panic!("{seed}: {e}"));
        restored += u64::from(matches!(back, Some(Back::Back(1..))));
        assert!(!matches!(back, Some(Back::Foreign { .. })), "{seed}: own blocks taken for somebody else's: {back:?}");
        let lost = case.port.content.iter().zip(&case.before).filter(|(a, b)| a != b).count();
        assert_eq!(lost, 0, "{seed}: bytes lost after a cut in {phase:?}, step {at} of {steps}");
        let left: Vec<String> = case.files.list().unwrap().into_iter().filter(|n| n != RESULT).collect();
        assert_eq!(left, Vec::<String>::new(), "{seed}: something is left over");
    }
    println!("{} cuts: {phases:?}, {again} more during recovery, {restored} times content was put back", cuts());
    if cuts() >= 200 {
        for phase in [Phase::Journal, Phase::Test, Phase::PutBack, Phase::Removal] {
            assert!(phases.get(&phase).is_some_and(|n| *n >= 5), "{phase:?} was hardly cut: {phases:?}");
        }
        assert!(again >= 40 && restored >= 60, "{again} cut recoveries, {restored} put back");
    }
}

/// Cut in the middle of the test, with a whole journal on disk.
fn cut_in_test(seed: u64) -> Case {
    let mut case = Case::new(seed);
    let mains = Mains::default();
    // Before it: open, intent, and of the journal a removal, the head, two a piece, the digest and the sync.
    let journal = 6 + 2 * case.header.spans.len() as u64;
    // A test of a device that fails may be over after two acts.
    let acts = if matches!(case.kind, 1 | 2 | 4) { 2 } else { 60 };
    mains.cut_at.set(Some(journal + 1 + case.random.below(acts)));
    let mut phase = Phase::Journal;
    assert!(case.measure(&mains, &mut phase).is_err());
    assert_eq!(phase, Phase::Test, "{seed}");
    case.reboot(seed);
    case
}

#[test]
fn what_lies_beside_the_journalled_range_is_never_touched() {
    for seed in 0..20 {
        let mut case = cut_in_test(seed);
        let behind = (case.plan.start + case.plan.length) as usize;
        case.port.content[behind..behind + 512].fill(0x53);
        case.before[behind..behind + 512].fill(0x53);
        case.recover(&Mains::default()).unwrap();
        assert!(case.port.content == case.before, "{seed}");
    }
}

/// A thin device is left with the media it had: what held zeroes and had none has none again.
#[test]
fn thin_zeroes_are_put_back_without_media() {
    let mut tried = 0;
    for seed in 0..200 {
        let probe = Case::new(seed);
        if !probe.header.thin || probe.kind != 6 {
            continue;
        }
        tried += 1;
        let mut case = probe;
        let all = case.port.mapped(0, case.range.length).to_vec();
        case.measure(&Mains::default(), &mut Phase::Journal).unwrap();
        let block = case.range.logical_block as usize / 512;
        let zero = |i: usize| case.before[i * 512..(i + block) * 512].iter().all(|b| *b == 0);
        for i in (0..all.len() / block * block).step_by(block) {
            if zero(i) {
                let now = &case.port.mapped(0, case.range.length)[i..i + block];
                assert_eq!(now, &all[i..i + block], "{seed}: block of unit {i}");
            }
        }
    }
    assert!(tried >= 3, "{tried}");
}
