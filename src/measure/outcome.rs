//! The result of one run of the test. This file has the forms only.

use crate::machine::port::ActError;
use crate::measure::plan::{Plan, SEGMENTS};
use crate::measure::stats::sustained::Sustained;
use crate::measure::stats::{self, Decision, Rung, Sequential};
use crate::measure::trace::Trace;
use crate::terms::{Hazard, Method};
use crate::units::Nanos;

/// What happened while zeroing by one method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRun {
    /// The method.
    pub method: Method,
    /// Bytes zeroed and the time they took.
    pub zeroed: (u64, Nanos),
    /// Median of write time over zero time, of its own pairs.
    pub ratio: Option<f64>,
    /// The least and the greatest of those ratios.
    pub ratios: Option<(f64, f64)>,
    /// What failed, in the kernel's words, or why it was not tried.
    pub error: Option<String>,
    /// Whether all was read back as zero; `None` where none is promised or it failed.
    pub verified: Option<bool>,
}

/// Something the device did wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// What.
    pub hazard: Hazard,
    /// By which method.
    pub method: Method,
    /// In words, with the offset.
    pub text: String,
    /// What was read where something else should be; `None` where nothing was read.
    pub seen: Option<Seen>,
}

/// A block that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its place on the node, in bytes.
    pub offset: u64,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// How the run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The deciding test and the screening are done.
    Complete,
    /// The device did something wrong; nothing was tried after it.
    Wrong(Wrong),
    /// PUNCH_HOLE is not supported although the limit is above 0.
    NotSupported,
    /// An act other than zeroing failed: the operation, and the answer.
    Failed(String, ActError),
}

/// Why pairs stopped although nothing is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// The time budget is spent.
    Time,
    /// The byte budget is spent.
    Bytes,
    /// Somebody stopped it.
    Interrupted,
    /// The byte budget is too small for segments of the deallocation granularity.
    Granularity,
}

impl std::fmt::Display for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Open::Time => "the time budget is used up",
            Open::Bytes => "the byte budget is used up",
            Open::Interrupted => "interrupted",
            Open::Granularity => "the byte budget is too small for segments of the deallocation granularity",
        })
    }
}

/// Everything a run gave.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// The method that the class is about.
    pub deciding: Method,
    /// The pairs: a zero-filled write against the zeroing of as much.
    pub pairs: Sequential,
    /// Segment size that was used.
    pub segment: u64,
    /// Zero-filled writes of the pairs: bytes and time.
    pub written: (u64, Nanos),
    /// Writes of data over written segments: bytes and time.
    pub data_written: (u64, Nanos),
    /// Writes of data over zeroed segments: bytes and time.
    pub overwritten: (u64, Nanos),
    /// Of each pair, zeroing and then writing data over it against writing zeroes and then data, decided at 1.
    pub deferred: Sequential,
    /// The long stretch; `None` where there was none.
    pub sustained: Option<Sustained>,
    /// Why there was none, or a shorter one than was wanted.
    pub sustained_short: Option<Open>,
    /// Bytes of one that were wanted.
    pub sustained_wanted: u64,
    /// Whether ragged spans were zeroed to the block, and nothing else.
    pub edges: bool,
    /// Calls of several lengths.
    pub rungs: Vec<Rung>,
    /// Each method in the order it was tried.
    pub methods: Vec<MethodRun>,
    /// Everything written so far, in bytes.
    pub bytes_written: u64,
    /// Limits that changed during the test: one line each.
    pub changed_limits: Vec<String>,
    /// Why the pairs stopped without a decision.
    pub inconclusive: Option<Open>,
    /// Time of the whole run.
    pub took: Nanos,
    /// Every single time.
    pub trace: Trace,
}

impl Outcome {
    /// Of a run that has not begun.
    pub fn new(plan: &Plan) -> Outcome {
        Outcome {
            end: End::Complete,
            deciding: plan.deciding,
            pairs: Sequential::new(plan.fast_ratio, stats::ALPHA),
            segment: plan.length / SEGMENTS,
            written: (0, Nanos(0)),
            data_written: (0, Nanos(0)),
            overwritten: (0, Nanos(0)),
            deferred: Sequential::new(1.0, stats::ALPHA),
            sustained: None,
            sustained_short: None,
            sustained_wanted: plan.sustained,
            edges: false,
            rungs: Vec::new(),
            methods: Vec::new(),
            bytes_written: 0,
            changed_limits: Vec::new(),
            inconclusive: None,
            took: Nanos(0),
            trace: Trace::default(),
        }
    }

    /// How many times as long zeroing and then writing data takes as writing zeroes and then data, where it is decided that
    /// it takes longer although zeroing is fast: what zeroing saves, the next write pays.
    pub fn deferred_cost(&self) -> Option<f64> {
        let longer = (self.pairs.decision(), self.deferred.decision()) == (Decision::Above, Decision::Above);
        self.deferred.median().filter(|_| longer)
    }

    /// The calls beside PUNCH_HOLE whose zeroing is no faster than the threshold where its own is, and how fast they are:
    /// ZERO_RANGE and BLKZEROOUT ask not to unmap, which may take as long as writing.
    pub fn slower_calls(&self, threshold: f64) -> Vec<(Method, f64)> {
        // They are screened in short calls: where these cost PUNCH_HOLE its speed too, nothing can be said.
        let short = stats::fast_at_every_length(&self.rungs, threshold);
        let punch = short && self.pairs.decision() == Decision::Above;
        let slow = |r: &&MethodRun| matches!(r.method, Method::ZeroRange | Method::BlkZeroOut) && r.error.is_none();
        let runs = self.methods.iter().filter(slow).filter(|_| punch);
        runs.filter_map(|r| r.ratios.filter(|(_, most)| *most < threshold).and(r.ratio).map(|ratio| (r.method, ratio)))
            .collect()
    }

    /// The ratios of PUNCH_HOLE and WRITE_ZEROES, the same request, where they differ by more than 25 % and by more than
    /// noise explains: every pair of the one lies outside the interval of the other.
    pub fn disagreement(&self) -> Option<(f64, f64)> {
        let (punch, interval) = (self.pairs.median()?, self.pairs.interval());
        let run = self.methods.iter().find(|r| r.method == Method::WriteZeroes && r.error.is_none())?;
        let (zeroes, (least, greatest)) = (run.ratio?, run.ratios?);
        let outside = greatest < interval.low? || least > interval.high?;
        (outside && (punch / zeroes - 1.0).abs() > 0.25).then_some((punch, zeroes))
    }
}
