//! The devices that a test must not be fooled by, each with what is true of it. Pure.
//!
//! The truth is stated in the words of the measurement: a pair is a write over a written segment (W2) and the zeroing of
//! another one (Z), one call a segment; the speedup is the median of W2 over Z; W1 is a write over a zeroed segment.

use crate::machine::simulated::{Model, Noise, Pricing, Writing, Zeroing};
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
    /// What a test is to remark.
    pub finding: Option<FindingCode>,
    /// Its truth in words.
    pub says: &'static str,
}

impl Specimen {
    fn of(name: &'static str, class: Class, model: Model, says: &'static str) -> Self {
        Specimen { name, model, class, speedup: None, hazard: None, finding: None, says }
    }

    fn at(self, speedup: f64) -> Self {
        Specimen { speedup: Some(speedup), ..self }
    }

    fn with(self, finding: FindingCode) -> Self {
        Specimen { finding: Some(finding), ..self }
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
        fast("log-normal", Noise::LogNormal(0.5), "the median of W2 over Z is 8; each is log-normal"),
        fast("bimodal", Noise::Bimodal, "Z takes an eighth of W2, and one in five of either five times as long"),
        fast("heavy tail", Noise::HeavyTail, "the median of W2 over Z is 8; the variance of either is infinite"),
        fast("drift", Noise::Drift(3.0), "Z takes an eighth of W2; every act is 3 % slower than the one before"),
        Specimen::of(
            "periodic stalls",
            Class::Unknown,
            Model { noise: Noise::Stalls(stall), ..base },
            "the median of W2 over Z is 8, but all writing takes about as long as all zeroing: no class is safe",
        )
        .at(8.0)
        .with(FindingCode::StallDominated),
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
            Class::Unknown,
            cache(28 * segment),
            "a fifth of the W2 take as long as Z, the later ones 8 times as long: no one median is true of all",
        ),
        Specimen::of(
            "deferred cost",
            Class::Fast,
            with(base, Writing::PaysForZeroing(16 * MS)),
            "Z takes an eighth of W2, and W1 three times W2: Z and W1 take longer than two W2",
        )
        .at(8.0)
        .with(FindingCode::DeferredCost),
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
        .at(1.0),
        Specimen::of(
            "dedupe, faster still by zeroing",
            Class::Fast,
            with(Model::steady(32 * MS, MS), Writing::ZeroesCheap(8)),
            "zero-filled W2 is an eighth of an incompressible one and still 4 times Z; W1 costs nothing extra",
        )
        .at(4.0),
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
            Class::Unknown,
            Model { pricing: Pricing::SwappedAfter(52), ..base },
            "after about ten pairs Z takes 8 times W2, where it took an eighth: no one median is true of all",
        ),
        Specimen::of(
            "methods disagree",
            Class::Fast,
            Model { write_zeroes_percent: 400, ..base },
            "PUNCH_HOLE is 8 times as fast as W2, WRITE_ZEROES only twice",
        )
        .at(8.0)
        .with(FindingCode::MethodsDisagree),
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
        Specimen::broken("fails", Hazard::ZeroingError, Zeroing::Fails(121), "zeroing answers EREMOTEIO"),
        Specimen::broken("fails midway", Hazard::ZeroingError, Zeroing::FailsAfter(7), "from the 8th call on EIO"),
        Specimen::broken("hangs", Hazard::NoAnswer, Zeroing::Hangs, "zeroing never answers"),
    ]
}
