//! One run of the test on a proved range: ladder, fill, edges, pairs of the deciding method, the long stretch, calls of
//! several lengths, and short tries of the other methods. Each step is in a file of its own.
//!
//! It decides the order of the acts and when to stop. `stats` says what the figures mean, and the caller turns them into a
//! class. It writes only through the port and only to the given range. Nothing is overwritten before it was read and found as
//! it should be. It does not put the content back: the caller does, however the run ends.

mod acts;
mod edges;
mod guard;
mod ladder;
mod pairs;
mod stretch;

use crate::machine::port::{Port, ScratchRange};
use crate::measure::holding::Holding;
pub use crate::measure::outcome::{End, MethodRun, Open, Outcome, Wrong};
use crate::measure::plan::{part, Plan};
pub use crate::measure::plan::{LEAST_PAIRS, SEGMENT, SEGMENTS};
use crate::measure::stats::{Decision, Sequential};
use crate::units::Nanos;

/// Bytes that one pair writes, in segments: zeroes to one, data to both.
const WRITES_A_PAIR: u64 = 3;
/// The part of the byte budget that pairs may use.
const PAIRS_PART: u64 = 2;
/// What of the range is used is at most this part of the byte budget: it is filled, and checked again and again.
const AREA_PART: u64 = 4;

/// What the caller lends the run.
pub trait Watch {
    /// Limits and modes as text lines `name=value`, read anew.
    fn limits(&mut self) -> Vec<String>;
    /// A pair is done: number, write and zero time, the decision so far.
    fn pair(&mut self, number: usize, write: Nanos, zero: Nanos, so_far: &Sequential);
    /// Whether to stop now (an interrupt).
    fn stop(&mut self) -> bool;
}

struct Run<'a> {
    port: &'a mut dyn Port,
    range: &'a ScratchRange,
    plan: &'a Plan,
    trial: u64,
    /// Pairs so far, of whatever method.
    number: u64,
    start: Nanos,
    out: Outcome,
    /// What lies where.
    holding: Holding,
    /// Bytes from the plan's first one on that are used.
    area: u64,
    /// What makes the run end early.
    end: Option<End>,
}

/// Runs the test. The range is open on the port, and its content is journalled; it stays open for the put-back.
pub fn run(port: &mut dyn Port, range: &ScratchRange, plan: &Plan, watch: &mut dyn Watch) -> Outcome {
    let start = port.now();
    let (out, holding, area) = (Outcome::new(plan), Holding::default(), plan.area);
    let (trial, number, end) = (plan.first_trial, 0, None);
    let mut run = Run { port, range, plan, trial, number, start, out, holding, area, end };
    let mut limits = watch.limits();
    // `None` from a step means that the run has ended; what ended it is in `run.end`.
    let _ = run.steps(watch, &mut limits);
    run.note_limits(watch, &mut limits, "the test");
    run.out.took = run.port.now().since(start);
    run.out.end = run.end.take().unwrap_or(End::Complete);
    run.out
}

impl Run<'_> {
    fn steps(&mut self, watch: &mut dyn Watch, limits: &mut Vec<String>) -> Option<()> {
        self.fit_the_budget()?;
        self.write_ladder(watch)?;
        self.fill(watch)?;
        self.zero_ladder(watch)?;
        self.edges(watch)?;
        self.pairs(watch)?;
        self.note_limits(watch, limits, self.plan.deciding.as_str());
        // Where the pairs do not decide, the stretch may still say no: stalls that every other pair meets.
        if self.out.pairs.decision() != Decision::Open
            || matches!(self.out.inconclusive, Some(Open::Bytes | Open::Time))
        {
            self.stretch(watch)?;
        }
        self.zeroes_last(watch)?;
        self.lengths(watch)?;
        for method in self.plan.screened {
            if self.spent(watch).is_some() {
                return self.all_as_it_should_be();
            }
            self.screen(*method)?;
            self.note_limits(watch, limits, method.as_str());
        }
        self.all_as_it_should_be()
    }

    /// Makes area and segments as small as the byte budget asks for.
    fn fit_the_budget(&mut self) -> Option<()> {
        let budget = self.budget();
        let unit = self.plan.unit;
        let least = |segment: u64| SEGMENTS * segment + LEAST_PAIRS * WRITES_A_PAIR * segment;
        while let Some(half) = self.half().filter(|_| least(self.out.segment) > budget / PAIRS_PART) {
            self.out.segment = half;
        }
        if least(self.out.segment) > budget {
            self.out.inconclusive = Some(Open::Granularity);
            return None;
        }
        self.area = self.area.min(budget / AREA_PART / unit * unit).max(SEGMENTS * self.out.segment);
        Some(())
    }

    /// Bytes that the run may write, what the put-back will need left out.
    fn budget(&self) -> u64 {
        self.plan.max_bytes.saturating_sub(self.plan.put_back)
    }

    /// Bytes that it may still write.
    fn left(&self) -> u64 {
        self.budget().saturating_sub(self.out.bytes_written)
    }

    /// Half a segment, where it is no less than the granularity.
    fn half(&self) -> Option<u64> {
        part(self.out.segment, 2, self.plan.unit)
    }

    /// Why nothing more is to be begun.
    fn spent(&self, watch: &mut dyn Watch) -> Option<Open> {
        if self.port.now().since(self.start) >= self.plan.max_time {
            Some(Open::Time)
        } else if watch.stop() {
            Some(Open::Interrupted)
        } else {
            None
        }
    }

    /// Ends the run before its pairs are done.
    fn go_on(&mut self, watch: &mut dyn Watch) -> Option<()> {
        self.out.inconclusive = self.spent(watch);
        if self.out.inconclusive.is_some() {
            None
        } else {
            Some(())
        }
    }

    fn offset(&self, segment: u64) -> u64 {
        // Four, however small they became.
        self.plan.start + segment % SEGMENTS * self.out.segment
    }

    fn note_limits(&mut self, watch: &mut dyn Watch, before: &mut Vec<String>, after: &str) {
        let now = watch.limits();
        for line in &now {
            let name = line.split('=').next().unwrap_or(line);
            let was = before.iter().find(|l| l.split('=').next() == Some(name));
            if let Some(was) = was.filter(|w| *w != line) {
                self.out
                    .changed_limits
                    .push(format!("after {after}: {line}, before it {}", was.split('=').nth(1).unwrap_or("")));
            }
        }
        *before = now;
    }
}
