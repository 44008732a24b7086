//! How often the stopping rule is right: devices of known truth under many kinds of noise, and the naive way beside it.
//!
//! Two tables: the rule alone, and whole tests of simulated devices, content and all, a fortieth as often.
//! `ZEROCAP_ACCURACY_RUNS` sets the runs a cell (200 without it). `cargo test --test accuracy -- --nocapture` shows the
//! tables. The numbers are drawn from fixed seeds: a run gives the same tables each time.

#![allow(clippy::unwrap_used)] // A test may panic.

mod sim;

use sim::{allowed, runs};
use zerocap::facts::Facts;
use zerocap::machine::simulated::{Costs, Model, Noise as Disturbance, Writing, Zeroing};
use zerocap::measure::stats::{Decision, Sequential, ALPHA};
use zerocap::protocol::result;
use zerocap::terms::{Class, Method};
use zerocap::units::{Nanos, GIB, MIB};

/// The default threshold, and the pairs that the default byte budget pays for.
const THRESHOLD: f64 = 2.0;
const BUDGET: usize = 32;
/// What an undisturbed zeroing of a segment takes.
const ZERO_NS: f64 = 1e6;

/// True medians; the threshold itself is the hardest case, where every decision is an error of one side or the other.
const TRUTHS: [f64; 7] = [0.5, 1.0, 1.5, 2.0, 3.0, 6.0, 100.0];

struct Random(u64);

impl Random {
    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0, at most 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn log_normal(&mut self, sigma: f64) -> f64 {
        (sigma * self.normal()).exp()
    }
}

/// What disturbs an operation. Each treats writes and zeroing alike, so that the true median of the ratio stays known.
#[derive(Clone, Copy)]
enum Noise {
    Constant,
    LogNormal(f64),
    /// One operation in five takes five times as long (a cache that flushes).
    Bimodal,
    /// Pareto with an exponent of 1.1: the variance is infinite, the mean nearly so.
    HeavyTail,
    /// Every eighth operation waits for a hundred segments' time, whichever it is.
    PeriodicStalls,
    /// Each operation is 3 % slower than the one before.
    Drift,
}

const NOISES: [(&str, Noise); 7] = [
    ("constant", Noise::Constant),
    ("log-normal 0.1", Noise::LogNormal(0.1)),
    ("log-normal 0.5", Noise::LogNormal(0.5)),
    ("bimodal", Noise::Bimodal),
    ("heavy tail", Noise::HeavyTail),
    ("periodic stalls", Noise::PeriodicStalls),
    ("drift", Noise::Drift),
];

struct Device {
    noise: Noise,
    speedup: f64,
    operations: u64,
    random: Random,
}

impl Device {
    fn new(noise: Noise, speedup: f64, seed: u64) -> Self {
        let mut random = Random(seed);
        // A test starts at any point of the device's own rhythm.
        let operations = random.next() % 8;
        Device { noise, speedup, operations, random }
    }

    fn operation(&mut self, ns: f64) -> f64 {
        self.operations += 1;
        let r = &mut self.random;
        match self.noise {
            Noise::Constant => ns,
            Noise::LogNormal(sigma) => ns * r.log_normal(sigma),
            Noise::Bimodal => ns * r.log_normal(0.02) * if r.unit() < 0.2 { 5.0 } else { 1.0 },
            Noise::HeavyTail => ns * r.unit().powf(-1.0 / 1.1),
            Noise::PeriodicStalls => {
                let stall = if self.operations % 8 == 0 { 100.0 * ZERO_NS * self.speedup.max(1.0) } else { 0.0 };
                ns * r.log_normal(0.05) + stall
            }
            Noise::Drift => ns * r.log_normal(0.05) * 1.03f64.powf(self.operations as f64),
        }
    }

    /// One pair in the order of a coin: (write, zero).
    fn pair(&mut self) -> (Nanos, Nanos) {
        let (write, zero) = (ZERO_NS * self.speedup, ZERO_NS);
        let (w, z) = if self.random.next() % 2 == 0 {
            let w = self.operation(write);
            (w, self.operation(zero))
        } else {
            let z = self.operation(zero);
            (self.operation(write), z)
        };
        (Nanos(w.round() as u64), Nanos(z.round() as u64))
    }
}

/// What a cell of the table gave.
#[derive(Default)]
struct Cell {
    wrong: usize,
    unknown: usize,
    missed: usize,
    naive_wrong: usize,
    pairs: Vec<usize>,
}

fn run_cell(noise: Noise, truth: f64, runs: usize) -> Cell {
    let mut cell = Cell::default();
    for run in 0..runs as u64 {
        let mut device = Device::new(noise, truth, run.wrapping_mul(0x1000_0001).wrapping_add(truth.to_bits()));
        let mut pairs = Sequential::new(THRESHOLD, ALPHA);
        while pairs.decision() == Decision::Open && pairs.len() < BUDGET {
            let (write, zero) = device.pair();
            pairs.push(write, zero);
            if pairs.len() == 1 {
                // The naive way: one write, one zeroing, done.
                let above = write.0 as f64 > THRESHOLD * zero.0 as f64;
                cell.naive_wrong += usize::from(truth != THRESHOLD && above != (truth > THRESHOLD));
            }
        }
        match pairs.decision() {
            Decision::Open => cell.unknown += 1,
            Decision::Above => cell.wrong += usize::from(truth <= THRESHOLD),
            Decision::Below => cell.wrong += usize::from(truth >= THRESHOLD),
        }
        let interval = pairs.interval();
        // A nanosecond's rounding is no miss.
        let misses = |end: Option<f64>, sign: f64| end.is_some_and(|e| (e - truth) * sign > truth * 1e-5);
        cell.missed += usize::from(misses(interval.low, 1.0) || misses(interval.high, -1.0));
        cell.pairs.push(pairs.len());
    }
    cell.pairs.sort_unstable();
    cell
}

/// The share of single pairs on the right side of the threshold.
fn right_side(noise: Noise, truth: f64) -> f64 {
    let mut right = 0;
    for run in 0..500 {
        let mut device = Device::new(noise, truth, run);
        for _ in 0..16 {
            let (write, zero) = device.pair();
            right += u32::from((write.0 as f64 > THRESHOLD * zero.0 as f64) == (truth > THRESHOLD));
        }
    }
    f64::from(right) / 8000.0
}

#[test]
fn errors_are_as_rare_as_promised() {
    let runs = runs();
    let percent = |n: usize| 100.0 * n as f64 / runs as f64;
    let (mut faults, mut wrong, mut missed, mut cells) = (Vec::new(), 0, 0, 0);
    println!("threshold {THRESHOLD}, error {ALPHA}, {BUDGET} pairs at most, {runs} runs a cell");
    println!(
        "{:<16} {:>6} {:>6} {:>6} {:>9} {:>6} {:>8} {:>13}",
        "noise", "truth", "clear", "wrong", "unknown", "pairs", "covered", "one pair errs"
    );
    for (name, noise) in NOISES {
        for truth in TRUTHS {
            let cell = run_cell(noise, truth, runs);
            let clear = right_side(noise, truth);
            let median = cell.pairs.get(runs / 2).copied().unwrap_or(0);
            println!(
                "{name:<16} {truth:>6} {clear:>6.3} {:>6} {:>8.1}% {median:>6} {:>7.2}% {:>12.1}%",
                cell.wrong,
                percent(cell.unknown),
                percent(runs - cell.missed),
                percent(cell.naive_wrong),
            );
            if cell.wrong > allowed(runs, ALPHA) {
                faults.push(format!("{name} at {truth}: {} wrong of {runs}", cell.wrong));
            }
            if cell.missed > allowed(runs, ALPHA) {
                faults.push(format!("{name} at {truth}: the interval missed {} times of {runs}", cell.missed));
            }
            if (truth >= 4.0 || truth <= 1.2) && clear >= 0.95 && median > 16 {
                faults.push(format!("{name} at {truth}: a clear case took {median} pairs at the median"));
            }
            if truth != THRESHOLD {
                wrong += cell.wrong;
            }
            missed += cell.missed;
            cells += 1;
        }
    }
    println!("all: {wrong} wrong answers, {missed} intervals that miss, of {} runs", cells * runs);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Across the table there is less room for luck than in a cell.
    assert!(wrong <= allowed(cells * runs, ALPHA) && missed <= allowed(cells * runs, ALPHA));
}

#[test]
fn the_allowance_is_the_one_that_was_agreed() {
    assert_eq!(allowed(20_000, ALPHA), 35);
}

/// Bytes of a segment of a whole test; what stands for 6 MiB of a device of full size.
const SEGMENT: u64 = 16 * 1024;
/// Nanoseconds a MiB of zeroing.
const ZERO: u64 = 10_000_000;

/// A device whose true speedup can be chosen.
type Make = fn(Model, u64) -> Model;

/// What a long region costs to write against what it costs to zero, all that zeroing leaves to others charged to it, where the
/// pairs have this median.
type Total = fn(f64) -> f64;

/// The devices of the second table. The last value: whether a clear truth is to be decided within 16 pairs.
const WHOLE: [(&str, Make, Total, bool); 10] = [
    ("constant", |m, _| m, |t| t, true),
    ("log-normal 0.5", |m, _| Model { noise: Disturbance::LogNormal(0.5), ..m }, |t| t, false),
    ("bimodal", |m, _| Model { noise: Disturbance::Bimodal, ..m }, |t| t, false),
    ("heavy tail", |m, _| Model { noise: Disturbance::HeavyTail, ..m }, |t| t, false),
    (
        "periodic stalls",
        |m, write| Model { noise: Disturbance::Stalls(write * SEGMENT / MIB * 100), ..m },
        |_| 1.0,
        false,
    ),
    ("drift", |m, _| Model { noise: Disturbance::Drift(3.0), ..m }, |t| t, false),
    ("filling cache", |m, _| with(m, Writing::Cache { bytes: 8 * SEGMENT, gain: 8, idle_ns: u64::MAX }), |t| t, true),
    ("deferred cost", |m, write| with(m, Writing::PaysForZeroing(2 * write)), |t| t / (1.0 + 2.0 * t), true),
    ("dedupe", |m, write| Model { write_ns_per_mib: 8 * write, ..with(m, Writing::ZeroesCheap(8)) }, |t| t, true),
    ("thin first touch", |m, write| with(m, Writing::FirstTouch(10 * write)), |t| t / (1.0 + 10.0 * t), true),
];

fn with(model: Model, writing: Writing) -> Model {
    Model { writing, ..model }
}

/// What a cell of the second table gave.
#[derive(Default)]
struct Whole {
    wrong: usize,
    unknown: usize,
    missed: usize,
    naive_wrong: usize,
    pairs: Vec<usize>,
    segments: Vec<u64>,
}

/// One timed write of 1 GiB and one timed zeroing of it, on a device nobody wrote to before: is it fast?
fn naive(model: Model, seed: u64) -> bool {
    let mut costs = Costs::new(model, seed);
    let calls = GIB / (6 * MIB);
    let fresh = if matches!(model.writing, Writing::FirstTouch(_)) { SEGMENT } else { 0 };
    let write: u64 = (0..calls).map(|_| costs.write(SEGMENT, false, fresh).0).sum();
    let zero: u64 = (0..calls).map(|_| costs.zero(Method::PunchHole, SEGMENT).0).sum();
    write as f64 > THRESHOLD * zero as f64
}

/// A whole test: the class, the pairs, the segments written, whether the interval holds the truth.
fn whole(model: Model, truth: f64, seed: u64, facts: &Facts) -> (Class, usize, u64, bool) {
    let (stand, result, kept) = sim::measured(model, seed, SEGMENT);
    assert!(result.is_ok() && stand.is_as_before(), "{model:?}, {seed}: {result:?}");
    let Some((outcome, _)) = kept else { panic!("{model:?}, {seed}: nothing was kept") };
    let interval = outcome.pairs.interval();
    let covered = interval.low.is_none_or(|l| l <= truth * 1.001) && interval.high.is_none_or(|h| h >= truth * 0.999);
    let kept = result::of_run(facts, &sim::conditions(), &outcome);
    (kept.class, outcome.pairs.len(), outcome.bytes_written / SEGMENT, covered)
}

fn whole_cell(make: Make, (truth, total): (f64, f64), runs: usize, facts: &Facts) -> Whole {
    let write = (ZERO as f64 * truth) as u64;
    let model = make(Model { call_ns: 0, ..Model::steady(write, ZERO) }, write);
    let mut cell = Whole::default();
    for seed in 0..runs as u64 {
        let (class, pairs, segments, covered) = whole(model, truth, seed, facts);
        match class {
            Class::Unknown => cell.unknown += 1,
            Class::Fast => cell.wrong += usize::from(total <= THRESHOLD),
            Class::Slow => cell.wrong += usize::from(total >= THRESHOLD),
            Class::None | Class::Broken => cell.wrong += 1,
        }
        cell.missed += usize::from(!covered);
        cell.naive_wrong += usize::from(truth != THRESHOLD && naive(model, seed) != (total > THRESHOLD));
        cell.pairs.push(pairs);
        cell.segments.push(segments);
    }
    cell.pairs.sort_unstable();
    cell.segments.sort_unstable();
    cell
}

#[test]
fn whole_tests_are_as_right_as_the_rule() {
    let runs = (runs() / 40).max(1);
    let facts = sim::facts();
    let percent = |n: usize| 100.0 * n as f64 / runs as f64;
    let (mut faults, mut wrong, mut missed, mut naive_wrong, mut cells) = (Vec::new(), 0, 0, 0, 0);
    println!(
        "whole tests, {runs} runs a cell; written: in segments of 6 MiB, all of it; naive: 1 GiB written, 1 GiB zeroed"
    );
    println!(
        "{:<17} {:>6} {:>6} {:>9} {:>6} {:>10} {:>8} {:>11}",
        "device", "truth", "wrong", "unknown", "pairs", "written", "covered", "naive errs"
    );
    for (name, make, total, clear) in WHOLE {
        for truth in TRUTHS {
            let cell = whole_cell(make, (truth, total(truth)), runs, &facts);
            let median = |v: &[u64]| v.get(runs / 2).copied().unwrap_or(0);
            let pairs = cell.pairs.get(runs / 2).copied().unwrap_or(0);
            println!(
                "{name:<17} {truth:>6} {:>6} {:>8.1}% {pairs:>6} {:>6} MiB {:>7.1}% {:>10.1}%",
                cell.wrong,
                percent(cell.unknown),
                median(&cell.segments) * 6,
                percent(runs - cell.missed),
                percent(cell.naive_wrong),
            );
            if cell.wrong > allowed(runs, ALPHA) || cell.missed > allowed(runs, ALPHA) {
                faults.push(format!("{name} at {truth}: {} wrong, {} missed of {runs}", cell.wrong, cell.missed));
            }
            if clear && (truth >= 4.0 || truth <= 1.2) && (pairs > 16 || cell.unknown > 0) {
                faults.push(format!("{name} at {truth}: {pairs} pairs at the median, {} unknown", cell.unknown));
            }
            if truth != THRESHOLD {
                wrong += cell.wrong;
                naive_wrong += cell.naive_wrong;
            }
            missed += cell.missed;
            cells += 1;
        }
    }
    println!(
        "all: {wrong} wrong answers, {missed} intervals that miss, the naive way {naive_wrong}, of {} runs",
        cells * runs
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(wrong <= allowed(cells * runs, ALPHA) && missed <= allowed(cells * runs, ALPHA));
}

#[test]
fn what_lies_or_fails_is_never_given_a_class() {
    let facts = sim::facts();
    for zeroing in [
        Zeroing::Lie,
        Zeroing::LieInLastBlock,
        Zeroing::LieBeyond(SEGMENT / 1024),
        Zeroing::Ones,
        Zeroing::Stale(3),
        Zeroing::Fails(5),
        Zeroing::FailsAfter(10),
    ] {
        for truth in TRUTHS {
            let noise = Disturbance::LogNormal(0.5);
            let model = Model { zeroing, noise, ..Model::steady((ZERO as f64 * truth) as u64, ZERO) };
            assert_eq!(whole(model, truth, 1, &facts).0, Class::Broken, "{zeroing:?} at {truth}");
        }
    }
}
