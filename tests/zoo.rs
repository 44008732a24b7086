//! Every device of the zoo through a whole test: the class, the hazard and the remarks that its truth asks for, and its
//! content back, byte for byte.

mod sim;

use zerocap::device::Device;
use zerocap::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use zerocap::machine::simulated::zoo::{zoo, Specimen};
use zerocap::machine::simulated::{Costs, Model, Noise, SimulatedPort, Writing, Zeroing};
use zerocap::measure::plan::Plan;
use zerocap::measure::scratch;
use zerocap::measure::stats::Sequential;
use zerocap::measure::trial::{self, End, Open, Outcome, Watch, SEGMENTS};
use zerocap::protocol::result;
use zerocap::terms::{Class, FindingCode, Hazard, Method};
use zerocap::units::{Nanos, KIB};
use zerocap::verdict::estimate::{zeroing, Rates};
use zerocap::verdict::measurement::Measurement;

const SEGMENT: u64 = 128 * KIB;

fn specimen(name: &str) -> Specimen {
    zoo(SEGMENT).into_iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no {name} in the zoo"))
}

/// A whole test, with the content put back and compared.
fn tested(name: &str, model: Model, seed: u64) -> (Measurement, Outcome) {
    let (stand, result, kept) = sim::measured(model, seed, SEGMENT);
    match result {
        Ok(()) => assert!(stand.is_as_before(), "{name}, {seed}: not as before"),
        Err(e) => {
            assert!(model.zeroing == Zeroing::Hangs && e.to_string().contains("still in flight"), "{name}, {seed}: {e}")
        }
    }
    let (outcome, _) = kept.unwrap_or_else(|| panic!("{name}, {seed}: nothing was kept"));
    (result::of_run(&sim::facts(), &sim::conditions(), &outcome), outcome)
}

fn has(m: &Measurement, code: FindingCode) -> bool {
    m.findings.iter().any(|f| f.code == code)
}

/// Nothing was remarked that the truth does not ask for.
fn remarks_are_right(s: &Specimen, m: &Measurement, at: &str) {
    for found in &m.findings {
        assert!(s.findings.contains(&found.code), "{at}: {}", found.text);
    }
}

#[test]
fn every_device_of_the_zoo_gets_its_true_class() {
    for s in zoo(SEGMENT) {
        // Whoever is always the same is tested once.
        let noisy = !matches!(s.model.noise, Noise::None);
        let (mut right, runs) = (0, if noisy { 6 } else { 1 });
        for seed in 0..runs {
            let (m, outcome) = tested(s.name, s.model, seed);
            let at = format!("{}, {seed}: {} ({})", s.name, m.class, s.says);
            println!(
                "{:<32} {:<8} {:>5.2} {:>3} pairs {:?}",
                s.name,
                m.class.as_str(),
                m.speedup.map_or(0.0, |s| s.median),
                m.trials,
                m.findings.iter().map(|f| f.code.as_str()).collect::<Vec<_>>()
            );
            assert!(
                m.class == s.class || m.class == Class::Unknown && (noisy || s.open),
                "{at}: {:?} {:?}",
                m.inconclusive,
                m.findings
            );
            assert_eq!(m.contradiction(), None, "{at}: what is kept can be read again");
            assert_eq!(m.hazard.as_ref().map(|h| h.hazard), s.hazard, "{at}");
            assert_eq!(m.zeroes_verified, matches!(m.class, Class::Fast | Class::Slow | Class::Unknown), "{at}");
            assert_eq!(m.inconclusive.is_some(), m.class == Class::Unknown, "{at}: {:?}", outcome.end);
            if let (Some(truth), Some(speedup)) = (s.speedup, m.speedup) {
                let holds =
                    speedup.low.is_none_or(|l| l <= truth * 1.05) && speedup.high.is_none_or(|h| h >= truth * 0.95);
                assert!(holds, "{at}: {speedup:?}");
                assert!(noisy || (speedup.median / truth - 1.0).abs() < 0.05, "{at}: {speedup:?}");
            }
            if s.findings.iter().all(|code| has(&m, *code)) {
                right += u64::from(m.class == s.class);
            }
            right += u64::from(s.open && m.class == Class::Unknown);
            if !noisy && !s.open {
                remarks_are_right(&s, &m, &at);
            }
        }
        assert!(right * 2 > runs, "{}: {right} of {runs} right", s.name);
    }
}

#[test]
fn old_data_is_named_with_its_place() {
    // The first call that is long enough for the lie: a rung of the ladder, from the byte the plan begins at.
    for (name, place) in [
        ("lie", "at byte 8192"),
        ("lie in the last block", "at byte 40448"),
        ("lie in long calls", "at byte 73728"),
        ("ones", "at byte 8192"),
        ("stale reads", "at byte 8192"),
    ] {
        let (m, _) = tested(name, specimen(name).model, 1);
        let hazard = m.hazard.unwrap();
        assert_eq!((hazard.hazard, hazard.method), (Hazard::OldDataLeft, Some(Method::PunchHole)), "{name}");
        assert!(hazard.text.ends_with(place), "{name}: {}", hazard.text);
        let what = if name == "ones" { "0xff is read" } else { "old data is read" };
        assert!(hazard.text.contains(what), "{name}: {}", hazard.text);
    }
}

#[test]
fn after_an_unanswered_call_nothing_more_is_sent() {
    let plan = sim::plan(1, 4096, 0, SEGMENT);
    let (outcome, did) = noted(specimen("hangs").model, &plan, false, &mut sim::Quiet);
    let End::Wrong(wrong) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(wrong.hazard, Hazard::NoAnswer);
    let zeroing = did.iter().filter(|d| matches!(d, Did::Zero(..))).count();
    assert!(zeroing == 1 && matches!(did.last(), Some(Did::Zero(..))), "{did:?}");
}

#[test]
fn a_failure_during_the_run_keeps_earlier_results() {
    let (m, _) = tested("fails midway", specimen("fails midway").model, 1);
    assert_eq!(m.class, Class::Broken);
    assert!(m.hazard.unwrap().text.contains("EIO"));
    // Two rungs of the ladder, three ragged spans, two pairs, then the eighth call.
    assert_eq!((m.trials, m.zeroes_verified), (2, false));
}

#[test]
fn methods_with_a_fallback_work_without_an_offload() {
    let (m, _) = tested("no offload after all", specimen("no offload after all").model, 1);
    assert_eq!(m.class, Class::None);
    assert!(m.hazard.is_none());
}

/// What was done, with the test's own bookkeeping left out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Did {
    Write(u64, u64),
    Zero(Method, u64, u64),
}

/// Notes what is done; may make ZERO_RANGE fail after it worked, and BLKZEROOUT do nothing.
struct Noted {
    port: SimulatedPort,
    did: Vec<Did>,
    treacherous: bool,
    /// Reads of single blocks fail.
    unreadable: bool,
}

impl Port for Noted {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        self.port.ask(device, question)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        match act {
            Act::Write { offset, length, .. } => self.did.push(Did::Write(*offset, *length)),
            Act::Zero { method, offset, length } => self.did.push(Did::Zero(*method, *offset, *length)),
            _ => {}
        }
        match act {
            Act::Read { length: ..=4096, .. } if self.unreadable => {
                Timed { took: Nanos(1), value: Err(ActError::Os(5)) }
            }
            Act::Zero { method: Method::ZeroRange, .. } if self.treacherous => {
                Timed { value: Err(ActError::Os(5)), ..self.port.act(range, act) }
            }
            Act::Zero { method: Method::BlkZeroOut, .. } if self.treacherous => {
                Timed { took: Nanos(1), value: Ok(Done::Ok) }
            }
            _ => self.port.act(range, act),
        }
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError> {
        self.port.set(device, path, value)
    }

    fn now(&self) -> Nanos {
        self.port.now()
    }
}

/// A test of a device with this plan.
fn noted(model: Model, plan: &Plan, treacherous: bool, watch: &mut dyn Watch) -> (Outcome, Vec<Did>) {
    let range = scratch::simulated(plan.start + plan.area + 4096);
    let content = sim::content(range.length, 1);
    let mut port =
        Noted { port: SimulatedPort::new(model, content.clone(), 1), did: Vec::new(), treacherous, unreadable: false };
    let outcome = trial::run(&mut port, &range, plan, watch);
    let used = plan.start as usize..(plan.start + plan.area) as usize;
    assert!(port.port.content[..used.start] == content[..used.start], "written to in front of the plan");
    assert!(port.port.content[used.end..] == content[used.end..], "written to behind the plan");
    (outcome, port.did)
}

#[test]
fn unreadable_blocks_around_a_zeroing_do_not_end_the_test() {
    let plan = sim::plan(1, 4096, 4096, 64 * KIB);
    let range = scratch::simulated(plan.area + 8192);
    let port = SimulatedPort::new(specimen("constant").model, sim::content(range.length, 1), 1);
    let mut port = Noted { port, did: Vec::new(), treacherous: false, unreadable: true };
    let outcome = trial::run(&mut port, &range, &plan, &mut sim::Quiet);
    assert_eq!((outcome.end, outcome.pairs.len()), (End::Complete, 13));
}

#[test]
fn what_is_zeroed_was_written_two_pairs_before() {
    for model in [specimen("constant").model, specimen("dedupe").model] {
        let plan = sim::plan(1, 4096, 8192, 64 * KIB);
        let (outcome, did) = noted(model, &plan, false, &mut sim::Quiet);
        let (mut pairs, mut places) = (0, std::collections::BTreeSet::new());
        // The first zeroing is the ladder's.
        let whole = |d: &Did| matches!(d, Did::Zero(Method::PunchHole, _, length) if *length == outcome.segment);
        // The first of this length is the ladder's.
        for i in (0..did.len()).filter(|i| whole(&did[*i])).skip(1) {
            let Did::Zero(_, at, length) = did[i] else { continue };
            // Since it was written there were at least the two writes of the pair in between.
            let since = did[..i].iter().rev().take_while(|d| **d != Did::Write(at, length)).count();
            assert!(since >= 2, "{i}: {:?}", &did[i.saturating_sub(6)..=i]);
            places.insert(at);
            pairs += 1;
        }
        assert_eq!(pairs, outcome.pairs.len());
        assert_eq!(places.len() as u64, SEGMENTS);
    }
}

#[test]
fn a_method_is_not_credited_with_what_a_failed_one_did() {
    let plan = sim::plan(1, 4096, 0, 64 * KIB);
    let (outcome, did) = noted(specimen("constant").model, &plan, true, &mut sim::Quiet);
    let failed = did.iter().position(|d| matches!(d, Did::Zero(Method::ZeroRange, ..))).unwrap();
    let Did::Zero(_, at, length) = did[failed] else { unreachable!() };
    let after: Vec<&Did> = did[failed + 1..].iter().take_while(|d| matches!(d, Did::Write(..))).collect();
    assert!(
        after.contains(&&Did::Write(at, length)),
        "what it may have zeroed all the same is written again: {after:?}"
    );
    let End::Wrong(wrong) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!((wrong.hazard, wrong.method), (Hazard::OldDataLeft, Method::BlkZeroOut));
}

/// What a test of a device of these rates gives, in segments of 128 KiB to begin with.
fn of_rates(model: Model, seed: u64) -> (Class, Outcome) {
    let (m, outcome) = tested("a slow one", model, seed);
    (m.class, outcome)
}

#[test]
fn segments_become_smaller_only_for_what_takes_long() {
    const S: u64 = 1_000_000_000;
    // A call of 128 KiB takes more than a hundredth of the budget of 60 s, one of 64 KiB less.
    let slow = Model::steady(5 * S, 5 * S);
    // What is dear is the call, not the byte.
    let dear_calls = Model { call_ns: S / 2, ..Model::steady(S / 100, S / 100) };
    // Every eighth act takes two seconds more.
    let stalls = Model { noise: Noise::Stalls(2 * S), ..Model::steady(S / 100, S / 1000) };
    let slow_zeroing = Model::steady(S / 10, 40 * S);
    for (name, model, segment) in [
        ("slow", slow, 64 * KIB),
        ("dear calls", dear_calls, 128 * KIB),
        ("stalls", stalls, 128 * KIB),
        ("slow zeroing", slow_zeroing, 32 * KIB),
    ] {
        // The stall strikes at another act of the ladder with each seed.
        for seed in 0..if name == "stalls" { 8 } else { 1 } {
            assert_eq!(of_rates(model, seed).1.segment, segment, "{name}, {seed}");
        }
    }
}

#[test]
fn a_slow_device_is_decided_within_the_time_budget() {
    const S: u64 = 1_000_000_000;
    // In segments of 64 KiB a write takes half a second: as 16 MiB would at 32 MiB a second.
    for (model, class) in [
        (Model::steady(8 * S, 8 * S), Class::Slow),
        (Model::steady(8 * S, S), Class::Fast),
        (Model::steady(S, 8 * S), Class::Slow),
        // The segments that became smaller are the four that were filled: the rest of the range has no media yet.
        (Model { writing: Writing::FirstTouch(8 * S), ..Model::steady(3 * S, 2 * S) }, Class::Slow),
    ] {
        let (found, outcome) = of_rates(model, 1);
        assert_eq!(found, class, "{model:?}: {:?} after {:?}", outcome.inconclusive, outcome.took);
        assert!(outcome.took < Nanos::from_secs(75), "{:?}", outcome.took);
    }
}

#[test]
fn the_byte_budget_makes_segments_smaller_or_says_that_it_cannot() {
    let whole = sim::plan(1, 4096, 0, 256 * KIB);
    let model = specimen("constant").model;
    let small = Plan { max_bytes: whole.max_bytes / 8, ..whole.clone() };
    let (outcome, _) = noted(model, &small, false, &mut sim::Quiet);
    assert_eq!((outcome.segment, outcome.pairs.len()), (64 * KIB, 13));
    let coarse = Plan { unit: 256 * KIB, max_bytes: whole.max_bytes / 12, ..small };
    let (outcome, did) = noted(model, &coarse, false, &mut sim::Quiet);
    assert!(outcome.inconclusive == Some(Open::Granularity) && did.is_empty());
}

/// Interrupts after so many questions.
struct Impatient(u32);

impl Watch for Impatient {
    fn limits(&mut self) -> Vec<String> {
        Vec::new()
    }
    fn pair(&mut self, _: usize, _: Nanos, _: Nanos, _: &Sequential) {}
    fn stop(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 == 0
    }
}

#[test]
fn an_interrupt_ends_every_phase() {
    let plan = sim::plan(1, 4096, 0, 64 * KIB);
    let mut acts = 0;
    for patience in 1..=20 {
        let (outcome, did) = noted(specimen("constant").model, &plan, false, &mut Impatient(patience));
        assert_eq!((outcome.end, outcome.inconclusive), (End::Complete, Some(Open::Interrupted)), "{patience}");
        assert!(patience == 1 || did.len() > acts, "{patience}: {acts}, then {}", did.len());
        acts = did.len();
    }
}

/// What zeroing so much takes on a device that nothing was done to before: calls of a segment each, and one flush.
fn truth(model: Model, bytes: u64) -> f64 {
    let mut costs = Costs::new(model, 99);
    let calls: u64 = (0..bytes / SEGMENT).map(|_| costs.zero(Method::PunchHole, SEGMENT).0).sum();
    (calls + costs.flush().0) as f64 / 1e9
}

/// What `estimate` says holds the truth, or has no upper end.
#[test]
fn estimates_contain_the_true_value_or_have_no_upper_end() {
    let mut bounded = 0;
    for s in zoo(SEGMENT).iter().filter(|s| matches!(s.class, Class::Fast | Class::Slow)) {
        let (m, _) = tested(s.name, s.model, 1);
        let Some(stretch) = m.sustained else { continue };
        let rates = Rates {
            zero: m.zero_bytes_per_second,
            write: m.write_bytes_per_second,
            data: m.data_write_bytes_per_second,
            overwrite: m.overwrite_after_zero_bytes_per_second,
            stretch: Some((stretch.bytes, stretch.speedup)),
            speedup: m.speedup.map(Into::into),
        };
        for parts in [1, 4, 8, 32] {
            let bytes = stretch.bytes / 8 / SEGMENT * SEGMENT * parts;
            let (said, truth) = (zeroing(bytes, &rates).unwrap(), truth(s.model, bytes));
            println!(
                "{:<32} {:>9} {truth:>9.4} s, said {:.4} s, {:?} to {:?}",
                s.name, bytes, said.value, said.low, said.high
            );
            assert!(bytes <= stretch.bytes || said.high.is_none(), "{}: an upper end beyond what was seen", s.name);
            if let Some(high) = said.high {
                assert!(truth <= high * 1.02, "{}: {truth} s, said at most {high} s", s.name);
                bounded += 1;
            }
        }
    }
    assert!(bounded >= 20, "{bounded}");
}
