//! The first calls of a run: from small to large, to learn what a call costs and how long a segment may be.
//!
//! Decides the segment's length, downwards only; nothing is concluded about the device's class from these calls.

use super::Run;
use crate::measure::order::DECIDING;
use crate::measure::plan::part;
use crate::measure::trial::Watch;
use crate::units::Nanos;

/// A write or zeroing of one segment takes at most this,
const SEGMENT_TIME: Nanos = Nanos::from_secs(1);
/// and at most this part of the time budget: about 75 of them, reading included, are made before the question is decided.
const BUDGET_PARTS: u64 = 100;
/// The ladder begins with calls of at most this, where the granularity lets it.
const FIRST_RUNG: u64 = 64 * 1024;

/// What a call of so many bytes would take, by the last two rungs of a ladder: a part a call and a part a byte.
fn expected(ladder: &[(u64, u64)], bytes: u64) -> Nanos {
    let Some(last) = ladder.last() else { return Nanos(0) };
    // Of the first rung nobody knows which part it is; so it counts as a part a call.
    let before = ladder.iter().rev().nth(1).unwrap_or(last);
    let slope = last.1.saturating_sub(before.1) as f64 / (last.0 - before.0).max(1) as f64;
    Nanos((last.1 as f64 + slope * (bytes as f64 - last.0 as f64)).max(0.0) as u64)
}

impl Run<'_> {
    /// Single calls of growing size: nothing larger is sent before something smaller was answered. The segment is halved
    /// until neither a write nor a zeroing of it takes more than [`SEGMENT_TIME`].
    pub(super) fn ladder(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let most = Nanos(SEGMENT_TIME.0.min(self.plan.max_time.0 / BUDGET_PARTS));
        let mut size = self.out.segment;
        while let Some(quarter) = part(size, 4, self.plan.unit).filter(|_| size > FIRST_RUNG) {
            size = quarter;
        }
        let least = size;
        while size <= self.out.segment {
            let mut best = (Nanos(u64::MAX), Nanos(u64::MAX));
            // A rung that takes too long is tried again: one stall must not make the segments small.
            for attempt in 0..3 {
                self.go_on(watch)?;
                let (wrote, zeroed) = self.rung(size)?;
                best = (best.0.min(wrote), best.1.min(zeroed));
                if attempt > 0 {
                    self.out.write_ladder.pop();
                    self.out.zero_ladder.pop();
                }
                self.out.write_ladder.push((size, best.0 .0));
                self.out.zero_ladder.push((size, best.1 .0));
                if self.takes(self.out.segment) <= most {
                    break;
                }
            }
            while let Some(half) = self.half().filter(|h| *h >= least && self.takes(self.out.segment) > most) {
                self.out.segment = half;
            }
            size *= 4;
        }
        Some(())
    }

    /// What a write or a zeroing of so many bytes would take, by the ladder so far.
    fn takes(&self, bytes: u64) -> Nanos {
        expected(&self.out.write_ladder, bytes).max(expected(&self.out.zero_ladder, bytes))
    }

    fn rung(&mut self, size: u64) -> Option<(Nanos, Nanos)> {
        let offset = self.plan.start;
        let wrote = self.write(offset, size, false)?;
        let answer = self.zero(DECIDING, offset, size)?;
        Some((wrote, self.or_end(offset, size, answer)?))
    }
}
