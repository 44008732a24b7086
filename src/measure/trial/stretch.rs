//! The long stretch: D1 W D2 Z R without a break and without reads (`stats::sustained` says what it decides).

use super::acts::Content;
use super::Run;
use crate::machine::port::stretch::{Does, Stretch};
use crate::machine::port::{Act, ActError, Done, Fill};
use crate::measure::outcome::{End, Open, Wrong};
use crate::measure::range_io::failure;
use crate::measure::stats::sustained::{Answer, Part, Sustained};
use crate::measure::trial::Watch;
use crate::terms::Hazard;

/// Writes of the sequence, in bytes of one part: D1, the two of W, D2, the data of Z, R.
const WRITES: u64 = 6;
/// What of the rest of the time may be planned for it, in per cent: its calls may take longer than those before.
const TIME_PERCENT: u64 = 80;
/// What is left of the byte budget for what comes after it, in segments.
const RESERVE: u64 = 15;

/// How much of it fits.
struct Room {
    /// Bytes of a pass.
    area: u64,
    /// Passes over them.
    passes: u64,
    /// Why it is no longer.
    short: Option<Open>,
}

impl Run<'_> {
    pub(super) fn stretch(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let Some(room) = self.room() else { return Some(()) };
        let first = self.sequence(watch, &room)?;
        // A device that was not the same all the time is asked once more, where there is room for that.
        let again = first.as_ref().is_some_and(|s| s.answer(self.plan.fast_ratio) == Answer::NotStationary);
        let second = match again.then(|| self.room()).flatten().filter(|again| again.area * again.passes >= room.area) {
            Some(room) => self.sequence(watch, &room)?,
            None => None,
        };
        self.out.sustained = second.or(first);
        Some(())
    }

    /// How long a stretch the budgets leave; `None` for none.
    fn room(&mut self) -> Option<Room> {
        let (segment, wanted) = (self.out.segment, self.plan.sustained);
        let bytes = self.left().saturating_sub(RESERVE * segment) / WRITES;
        let left = self.plan.max_time.0.saturating_sub(self.port.now().since(self.start).0) / 100 * TIME_PERCENT;
        // A byte of each part costs five writes of data, one of zeroes, and a zeroing with what it may leave to be paid.
        let per_byte = |(bytes, took): (u64, crate::units::Nanos)| took.0 as f64 / bytes.max(1) as f64;
        let data = per_byte(self.out.data_written).max(per_byte(self.out.overwritten));
        let zeroed = self
            .out
            .methods
            .iter()
            .find(|m| m.method == self.plan.deciding)
            .map_or((0, Default::default()), |m| m.zeroed);
        let cost = 5.0 * data + per_byte(self.out.written) + per_byte(zeroed);
        let time = (left as f64 / cost.max(1e-9)) as u64;
        let (most, why) = if bytes < time { (bytes, Open::Bytes) } else { (time, Open::Time) };
        // Passes of equal length over as much of the area as that takes.
        let length = most.min(wanted);
        let passes = length.div_ceil(self.area.max(1)).max(1);
        let longer = (length / passes).next_multiple_of(segment).min(self.area);
        let area = if longer * passes <= most { longer } else { length / passes / segment * segment };
        let short = (area * passes < wanted).then_some(why);
        self.out.sustained_short = short;
        (area > 0).then_some(Room { area, passes, short })
    }

    /// The sequence; `None` in the outer: the run has ended. In the inner: it was stopped in between.
    fn sequence(&mut self, watch: &mut dyn Watch, room: &Room) -> Option<Option<Sustained>> {
        self.check(self.plan.start, room.area)?;
        let mut parts: [Part; 5] = Default::default();
        // No other clock than the calls': what is left out is what makes the order of the parts.
        let then = [None, Some(Does::Write(Fill::Zeroes)), None, Some(Does::Zero(self.plan.deciding)), None];
        for (part, then) in parts.iter_mut().zip(then) {
            for _ in 0..room.passes {
                if watch.stop() {
                    return Some(None);
                }
                let data = Does::Write(self.next(Content::Data).fill(self.plan.seed));
                let (calls, flush) = self.pass(room.area, data)?;
                part.data.0.extend(calls);
                part.flushes.0.push(flush);
                if let Some(then) = then {
                    let (calls, flush) = self.pass(room.area, then)?;
                    part.zeroes.0.extend(calls);
                    part.flushes.0.push(flush);
                }
            }
        }
        // The last part wrote data everywhere.
        self.holding.set(self.plan.start, room.area, crate::measure::holding::Held::Pattern(self.trial));
        self.check(self.plan.start, room.area)?;
        let [d1, w, d2, z, r] = parts;
        self.out.sustained_short = room.short;
        let stretch = Sustained { bytes: room.area * room.passes, d1, w, d2, z, r };
        self.out.trace.stretches.push(stretch.clone());
        Some(Some(stretch))
    }

    /// One pass over the area: the times of its calls, and of the flush that ends it.
    fn pass(&mut self, area: u64, does: Does) -> Option<(Vec<u64>, u64)> {
        let (offset, call) = (self.plan.start, self.out.segment);
        self.holding.clear(offset, area);
        let stretch = Stretch { offset, length: area, call, does, flush: true };
        let timed = self.port.act(self.range, &Act::Stretch(stretch));
        if matches!(does, Does::Write(_)) {
            self.out.bytes_written += area;
        }
        match timed.value {
            Ok(Done::Times(calls)) => {
                let inside: u64 = calls.iter().sum();
                Some((calls, timed.took.0.saturating_sub(inside)))
            }
            Ok(_) => self.ended(End::Failed(
                "a long stretch".to_owned(),
                ActError::Protocol("the acting process gave no times".to_owned()),
            )),
            Err(error) => match (does, error) {
                (Does::Zero(method), ActError::NoAnswer(pid)) => {
                    let text = format!("{method} over a long stretch: {}", ActError::NoAnswer(pid));
                    self.ended(End::Wrong(Wrong { hazard: Hazard::NoAnswer, method, text, seen: None }))
                }
                (Does::Zero(method), error) if error.may_accuse() => {
                    self.trial += 1;
                    let fill = Fill::Pattern { seed: self.plan.seed, trial: self.trial };
                    self.out.bytes_written += call;
                    let end = failure(self.port, self.range, method, (offset, call.min(area)), fill, error);
                    self.ended(end)
                }
                (_, error) => self.ended(End::Failed(format!("a long stretch from byte {offset}"), error)),
            },
        }
    }

    fn ended<T>(&mut self, end: End) -> Option<T> {
        self.end = Some(end);
        None
    }
}
