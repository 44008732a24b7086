//! The devices that a test must not be fooled by, each with its true behaviour. It is pure.
//!
//! The truth uses the words of the measurement. A pair is a write over a written segment (W2) and the zeroing of another
//! segment (Z), with one call for each segment. The speedup is the median of W2 divided by Z. W1 is a write over a zeroed
//! segment.

use crate::machine::simulated::{Deferral, Model, Noise, Pricing, Writing, Zeroing};
use crate::terms::{Class, FindingCode, Hazard};
use crate::units::MIB;

/// A millisecond a MiB, in nanoseconds: about 1 GB/s.
const MS: u64 = 1_000_000;

/// A device and what is true of it.
#[derive(Debug, Clone)]
pub struct Specimen {
    /// Its name.
    pub name: &'static str,
    /// How it behaves.
    pub model: Model,
    /// The class that a right answer names; a test may also say `unknown`, never another one.
    pub class: Class,
    /// The median of W2 over Z at the threshold of 2, where one number tells it.
    pub speedup: Option<f64>,
    /// What is to be recorded of it.
    pub hazard: Option<Hazard>,
    /// What a test is to remark, all of it.
    pub findings: &'static [FindingCode],
    /// What a long stretch costs under such noise nobody can bound: not to answer is as right as the median.
    pub open: bool,
    /// Its truth in words.
    pub says: &'static str,
}

impl Specimen {
    fn of(name: &'static str, class: Class, model: Model, says: &'static str) -> Self {
        Specimen { name, model, class, speedup: None, hazard: None, findings: &[], open: false, says }
    }

    fn or_open(self) -> Self {
        Specimen { open: true, ..self }
    }

    fn at(self, speedup: f64) -> Self {
        Specimen { speedup: Some(speedup), ..self }
    }

    fn with(self, findings: &'static [FindingCode]) -> Self {
        Specimen { findings, ..self }
    }

    fn broken(name: &'static str, hazard: Hazard, zeroing: Zeroing, says: &'static str) -> Self {
        let model = Model { zeroing, ..Model::steady(8 * MS, MS) };
        Specimen { hazard: Some(hazard), ..Specimen::of(name, Class::Broken, model, says) }
    }
}

/// All of them, for a test with segments of so many bytes: what depends on a length is scaled to it.
pub fn zoo(segment: u64) -> Vec<Specimen> {
    let mut all = noisy(segment);
    all.extend(odd(segment));
    all.extend(later(segment));
    all.extend(wrong(segment));
    all
}

/// Steady and noisy: the same truth below all the noise.
fn noisy(segment: u64) -> Vec<Specimen> {
    let base = Model::steady(8 * MS, MS);
    let fast = |name, noise, says| Specimen::of(name, Class::Fast, Model { noise, ..base }, says).at(8.0);
    // A hundred times what a segment takes to write: the total of both kinds is stalls and nothing else.
    let stall = 100 * base.write_ns_per_mib * segment / MIB;
    vec![
        fast("constant", Noise::None, "Z takes an eighth of W2, each time"),
        Specimen::of("constant, slow", Class::Slow, Model::steady(8 * MS, 8 * MS), "Z takes as long as W2").at(1.0),
        fast("uniform", Noise::Uniform(10.0), "Z takes an eighth of W2, give or take 10 % each"),
        fast("log-normal", Noise::LogNormal(0.2), "the median of W2 over Z is 8; each is log-normal"),
        fast("bimodal", Noise::Bimodal, "Z takes an eighth of W2, and one in five of either five times as long").or_open(),
        fast("heavy tail", Noise::HeavyTail, "the median of W2 over Z is 8; the variance of either is infinite").or_open(),
        Specimen::of(
            "drift",
            Class::Unknown,
            Model { noise: Noise::Drift(0.5), ..base },
            "Z takes an eighth of W2; every act is slower than the one before, so that no two parts of a stretch compare",
        )
        .at(8.0)
        .with(&[FindingCode::NotStationary]),
        Specimen::of(
            "periodic stalls",
            Class::Unknown,
            Model { noise: Noise::Stalls(stall), ..base },
            "the median of W2 over Z is 8, but all writing takes about as long as all zeroing: no class is safe",
        )
        .at(8.0)
        .with(&[FindingCode::StallDominated]),
    ]
}

/// Honest, but not what one write and one zeroing would make of them.
fn odd(segment: u64) -> Vec<Specimen> {
    let base = Model::steady(8 * MS, MS);
    let cache = |bytes| Model { writing: Writing::Cache { bytes, gain: 8, idle_ns: 1000 * MS }, ..base };
    let with = |base: Model, writing| Model { writing, ..base };
    vec![
        Specimen::of("cache that fills early", Class::Fast, cache(6 * segment), "once the cache is full, W2 is 8 Z")
            .at(8.0),
        Specimen::of("cache that holds all", Class::Slow, cache(u64::MAX), "no W2 of the test takes longer than Z")
            .at(1.0),
        Specimen::of(
            "cache that fills midway",
            Class::Fast,
            cache(28 * segment),
            "the first W2 take as long as Z, the later ones, and all of a long stretch, 8 times as long",
        )
        .with(&[FindingCode::ShortScratch]),
        Specimen::of(
            "deferred cost",
            Class::Slow,
            with(base, Writing::PaysForZeroing(16 * MS)),
            "Z takes an eighth of W2, and W1 three times W2: Z and W1 take longer than two W2",
        )
        .at(8.0)
        .with(&[FindingCode::DeferredCost, FindingCode::NotSustained]),
        Specimen::of(
            "fast small, slow large",
            Class::Slow,
            Model { pricing: Pricing::Above(segment / 4, 16 * MS), ..base },
            "a zeroing call of a quarter of a segment is 8 times as fast as a write, one of a segment half as fast",
        )
        .at(0.5),
        Specimen::of(
            "slow small, fast large",
            Class::Fast,
            Model { pricing: Pricing::UpTo(segment / 4, 16 * MS), ..base },
            "a zeroing call of a quarter of a segment is half as fast as a write, one of a segment 8 times as fast",
        )
        .at(8.0),
        Specimen::of(
            "dedupe",
            Class::Slow,
            with(base, Writing::ZeroesCheap(8)),
            "incompressible W2 is 8 Z, but zero-filled W2 takes as long as Z: zeroing gains nothing over writing zeroes",
        )
        .at(1.0)
        .with(&[FindingCode::ZeroWritesElided]),
        Specimen::of(
            "dedupe, faster still by zeroing",
            Class::Fast,
            with(Model::steady(32 * MS, MS), Writing::ZeroesCheap(8)),
            "zero-filled W2 is an eighth of an incompressible one and still 4 times Z; W1 costs nothing extra",
        )
        .at(4.0)
        .with(&[FindingCode::ZeroWritesElided]),
        Specimen::of(
            "thin, dear at first touch",
            Class::Slow,
            with(Model::steady(3 * MS, 2 * MS), Writing::FirstTouch(30 * MS)),
            "W2 is 1.5 Z; only a write to what has no media yet takes 16 times Z",
        )
        .at(1.5),
        Specimen::of(
            "fast every second call",
            Class::Unknown,
            Model { pricing: Pricing::EverySecond(16 * MS), ..base },
            "one Z is an eighth of W2, the next twice W2: no one median is true of all",
        ),
        Specimen::of(
            "fast until the pool is used up",
            Class::Slow,
            Model { pricing: Pricing::OnceZeroed(4 * segment, 16 * MS), ..base },
            "Z is an eighth of W2 until four segments were zeroed, then twice W2 for ever",
        ),
        Specimen::of(
            "cache of two segments, all but free",
            Class::Fast,
            with(base, Writing::Cache { bytes: 2 * segment, gain: 1000, idle_ns: 1000 * MS }),
            "the first two segments cost nothing to write; after that W2 is 8 Z",
        )
        .at(8.0),
        Specimen::of(
            "rates that swap midway",
            Class::Slow,
            Model { pricing: Pricing::SwappedAfter(64), ..base },
            "after some pairs Z takes 8 times W2 for ever, where it took an eighth before",
        ),
        Specimen::of(
            "methods disagree",
            Class::Fast,
            Model { write_zeroes_percent: 400, ..base },
            "PUNCH_HOLE is 8 times as fast as W2, WRITE_ZEROES only twice",
        )
        .at(8.0)
        .with(&[FindingCode::MethodsDisagree]),
    ]
}

/// Fast in bursts: what zeroing costs comes later, or seldom.
fn later(segment: u64) -> Vec<Specimen> {
    let base = Model::steady(8 * MS, MS / 4);
    let rest = |ns_per_mib, room| Model { deferral: Deferral::UntilRest { ns_per_mib, room }, ..base };
    const NOT_SUSTAINED: &[FindingCode] = &[FindingCode::NotSustained];
    // A MiB of zeroing costs 15.7 ms at this rate, twice what writing costs.
    let stall = 4 * 15 * MS * segment / MIB;
    vec![
        Specimen::of(
            "queue of three segments",
            Class::Slow,
            rest(7 * MS + MS / 2, 3 * segment),
            "zeroing is queued and done while the device is read or idle; a long stretch takes as long as writing",
        )
        .with(NOT_SUSTAINED),
        Specimen::of(
            "queue of sixteen segments",
            Class::Slow,
            rest(7 * MS + MS / 2, 16 * segment),
            "the same, and the queue takes more than the pairs ever give it, and a third of the long stretch",
        )
        .or_open(),
        Specimen::of(
            "queue that takes all",
            Class::Fast,
            rest(7 * MS + MS / 2, u64::MAX),
            "the same without an end: as far as anybody saw, and no further, it is fast",
        ),
        Specimen::of(
            "the next write pays",
            Class::Slow,
            Model { deferral: Deferral::UntilWrite(11 * MS), ..base },
            "zeroing is free, and the next write, wherever it goes, waits for it: longer than writing zeroes",
        )
        .or_open(),
        Specimen::of(
            "the next flush pays",
            Class::Slow,
            Model { deferral: Deferral::UntilFlush(11 * MS), ..base },
            "zeroing is free, and the flush waits for it: longer than writing zeroes",
        ),
        Specimen::of(
            "a stall every four segments",
            Class::Slow,
            Model { pricing: Pricing::StallEvery(4 * segment, stall), ..base },
            "three of four zeroing calls take next to nothing, the fourth more than writing all four",
        )
        .or_open(),
        Specimen::of(
            "one call in five takes fifty times as long",
            Class::Slow,
            Model { pricing: Pricing::Spikes(200, 50), ..Model::steady(8 * MS, MS) },
            "four of five zeroing calls take an eighth of a write, the fifth six times as long as one",
        )
        .or_open(),
        Specimen::of(
            "zeroes are a little cheaper to write",
            Class::Slow,
            Model { writing: Writing::ZeroesCost(71), ..Model::steady(8 * MS, 13 * MS / 4) },
            "zeroing is 2.46 times as fast as writing data, and 1.75 times as fast as writing zeroes",
        )
        .at(1.75),
        Specimen::of(
            "writes in phases",
            Class::Unknown,
            Model { noise: Noise::Phases(40), ..Model::steady(MS, MS) },
            "writing takes as long as zeroing, and in every second phase ten times as long",
        )
        .or_open(),
    ]
}

/// What does not do as it says.
fn wrong(segment: u64) -> Vec<Specimen> {
    let old = Hazard::OldDataLeft;
    // In blocks of 512 bytes; in a test of full size this is the 65536 of the NVMe command's length field.
    let beyond = segment / 512 / 2;
    vec![
        Specimen::of(
            "no offload after all",
            Class::None,
            Model { zeroing: Zeroing::Fails(95), ..Model::steady(8 * MS, 8 * MS) },
            "PUNCH_HOLE answers EOPNOTSUPP; what may fall back to writing works",
        ),
        Specimen::broken("lie", old, Zeroing::Lie, "zeroing reports success and does nothing"),
        Specimen::broken("lie in the last block", old, Zeroing::LieInLastBlock, "the last block of a call stays"),
        Specimen::broken(
            "lie in long calls",
            old,
            Zeroing::LieBeyond(beyond),
            "beyond so many blocks of a call all stays",
        ),
        Specimen::broken("ones", old, Zeroing::Ones, "what was zeroed reads 0xff"),
        Specimen::broken(
            "stale reads",
            old,
            Zeroing::Stale(3),
            "what was zeroed is read as it was for three reads more",
        ),
        Specimen::broken("late", old, Zeroing::Late(MS), "what was zeroed is read as it was for a millisecond"),
        Specimen::broken("reverts", old, Zeroing::Reverts(MS), "what was zeroed is there again after a millisecond"),
        Specimen::broken(
            "overshoots",
            Hazard::ZeroingError,
            Zeroing::Overshoots,
            "the block behind what is zeroed is zeroed as well",
        ),
        Specimen::broken(
            "rounds outward",
            Hazard::ZeroingError,
            Zeroing::RoundsOut(segment / 4),
            "all of the granules that a call touches is zeroed",
        ),
        Specimen::broken(
            "wipes elsewhere",
            Hazard::ZeroingError,
            Zeroing::WipesElsewhere(segment + segment / 2),
            "4 KiB far behind what is zeroed are zeroed as well",
        ),
        Specimen::broken(
            "whole granules only",
            old,
            Zeroing::WholeGranules(16 * 1024),
            "what of a call fills no whole granule stays, and success is reported",
        ),
        Specimen::broken(
            "reverts after more writes",
            old,
            Zeroing::RevertsAfter(segment / 2),
            "what was zeroed is there again once as much was written elsewhere",
        ),
        Specimen::broken("fails", Hazard::ZeroingError, Zeroing::Fails(121), "zeroing answers EREMOTEIO"),
        Specimen::broken("fails midway", Hazard::ZeroingError, Zeroing::FailsAfter(7), "from the 8th call on EIO"),
        Specimen::broken("hangs", Hazard::NoAnswer, Zeroing::Hangs, "zeroing never answers"),
    ]
}
