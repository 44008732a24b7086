//! The first calls of a run, from small to large: they show how long a segment may be, and fill the scratch range. Once the
//! question is decided, it also makes calls of several lengths for the hints.
//!
//! It decides the length of a segment, and only makes it shorter; these calls say nothing about the class of the device.

use super::acts::Content;
use super::Run;
use crate::measure::plan::{part, FILLED};
use crate::measure::stats::{Rung, LEAST_CALLS};
use crate::measure::trial::{Watch, SEGMENTS};
use crate::units::{Nanos, MIB};
use verdict_format::samples::Call;

/// A write or zeroing of one segment takes at most this,
const SEGMENT_TIME: Nanos = Nanos::from_secs(1);
/// and at most this part of the time budget: about 100 of them, reading included, are made before the question is decided.
const BUDGET_PARTS: u64 = 120;
/// The ladder begins with calls of at most this, where the granularity lets it.
const FIRST_RUNG: u64 = 64 * 1024;
/// The longest call of the hints beside those of the pairs.
const LAST_LENGTH: u64 = MIB / 2;

/// What a call of so many bytes would take, by the last two rungs of a ladder: a part a call and a part a byte.
fn expected(ladder: &[(u64, u64)], bytes: u64) -> Nanos {
    let Some(last) = ladder.last() else { return Nanos(0) };
    // Of the first rung nobody knows which part it is; so it counts as a part a call.
    let before = ladder.iter().rev().nth(1).unwrap_or(last);
    let slope = last.1.saturating_sub(before.1) as f64 / (last.0 - before.0).max(1) as f64;
    Nanos((last.1 as f64 + slope * (bytes as f64 - last.0 as f64)).max(0.0) as u64)
}

impl Run<'_> {
    /// The least length of a ladder.
    fn least(&self) -> u64 {
        let mut size = self.out.segment;
        while let Some(quarter) = part(size, 4, self.plan.unit).filter(|_| size > FIRST_RUNG) {
            size = quarter;
        }
        size
    }

    /// Single calls of growing size: nothing larger is sent before something smaller was answered. The segment is halved until one call over it takes no more than [`SEGMENT_TIME`].
    fn climb(&mut self, watch: &mut dyn Watch, rung: impl Fn(&mut Self, u64) -> Option<Nanos>) -> Option<()> {
        let most = Nanos(SEGMENT_TIME.0.min(self.plan.max_time.0 / BUDGET_PARTS));
        let least = self.least();
        let (mut ladder, mut size) = (Vec::new(), least);
        while size <= self.out.segment {
            let mut best = Nanos(u64::MAX);
            // A rung that takes too long is tried again: one stall must not make the segments small.
            for attempt in 0..3 {
                self.go_on(watch)?;
                best = best.min(rung(self, size)?);
                if attempt > 0 {
                    ladder.pop();
                }
                ladder.push((size, best.0));
                if expected(&ladder, self.out.segment) <= most {
                    break;
                }
            }
            while let Some(half) = self.half().filter(|h| *h >= least && expected(&ladder, self.out.segment) > most) {
                // Where it is the call that is dear, a shorter one is no better.
                if expected(&ladder, half).0 > expected(&ladder, self.out.segment).0 / 4 * 3 {
                    break;
                }
                self.out.segment = half;
            }
            size *= 4;
        }
        Some(())
    }

    /// Writes of growing size. The first bytes of the range are written, so nothing is zeroed that does not hold data.
    pub(super) fn write_ladder(&mut self, watch: &mut dyn Watch) -> Option<()> {
        self.climb(watch, |run, size| {
            let took = run.write(run.plan.start, size, Content::Data)?;
            run.out.trace.first_writes.push(Call { bytes: size, nanoseconds: took.0 });
            Some(took)
        })
    }

    /// Fills all that is used with data, before anything is zeroed: a check whose power depends on what happened to lie
    /// there is none. Reads it back: a device that does not keep what is written proves nothing by reading zeroes later.
    pub(super) fn fill(&mut self, watch: &mut dyn Watch) -> Option<()> {
        // Segments that became small are slow to write, or the budget is small: then no more is used than a few of them.
        self.area = self.area.min(self.out.segment * FILLED).max(self.out.segment * SEGMENTS);
        let held = self.next(Content::Data);
        let end = self.plan.start + self.area;
        let mut at = self.plan.start;
        while at < end {
            self.go_on(watch)?;
            let length = self.out.segment.min(end - at);
            self.write_held(at, length, held)?;
            self.check(at, length)?;
            at += length;
        }
        Some(())
    }

    /// Zeroing calls of growing size, each over data; what they zeroed is written again.
    pub(super) fn zero_ladder(&mut self, watch: &mut dyn Watch) -> Option<()> {
        self.climb(watch, |run, size| {
            let offset = run.plan.start;
            let answer = run.zero(run.plan.deciding, offset, size)?;
            let took = run.or_end(offset, size, answer)?;
            run.out.trace.first_zeroings.push(Call { bytes: size, nanoseconds: took.0 });
            // A device may make whoever writes next pay: each pair does so, too.
            let over = run.write(offset, size, Content::Data)?;
            Some(took.max(over))
        })
    }

    /// Calls of several lengths, each often enough, for the hints: zeroing and zero-filled writes, both over data.
    pub(super) fn lengths(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let mut size = self.least();
        while size <= LAST_LENGTH && size * 4 <= self.out.segment {
            let mut rung = Rung { bytes: size, ..Rung::default() };
            for _ in 0..LEAST_CALLS {
                if self.spent(watch).is_some() || self.left() < 3 * size {
                    return Some(());
                }
                let (zeroed, written) = (self.offset(0), self.offset(1));
                let answer = self.zero(self.plan.deciding, zeroed, size)?;
                rung.zero.push(self.or_end(zeroed, size, answer)?.0);
                rung.write.push(self.write(written, size, Content::Zeroes)?.0);
                self.write(zeroed, size, Content::Data)?;
                self.write(written, size, Content::Data)?;
            }
            self.out.rungs.push(rung);
            size *= 4;
        }
        let pairs = &self.out.trace.pairs;
        let zero = pairs.iter().map(|p| p.zero_nanoseconds).collect();
        let write = pairs.iter().map(|p| p.write_nanoseconds).collect();
        self.out.rungs.push(Rung { bytes: self.out.segment, zero, write });
        Some(())
    }
}
