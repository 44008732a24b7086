//! One run of the test on a proved range: ladder (its own file), fill, pairs of the deciding method, screening of the
//! others.
//!
//! Decides the order of acts and when to stop; what the numbers mean is `stats`, what they are called is the caller's.
//! Writes only through the port and only to the range it was given. It does not put back: the caller does, on every way out.

mod guard;
mod ladder;

use crate::machine::port::{Act, ActError, Done, Fill, Port, ScratchRange};
use crate::measure::order::{self, DECIDING, SCREENING_PAIRS};
pub use crate::measure::outcome::{End, MethodRun, Open, Outcome, Wrong};
use crate::measure::plan::{part, Plan};
pub use crate::measure::plan::{LEAST_PAIRS, SEGMENT, SEGMENTS};
use crate::measure::range_io::{failure, read_instead};
use crate::measure::stats::{self, Decision, Sequential};
use crate::terms::{Hazard, Method};
use crate::units::Nanos;

/// The byte budget pays for the writes (W2) of so many pairs: in segments of 16 MiB the 512 MiB of the default.
const BUDGET_PAIRS: u64 = 32;

/// The times of one pair.
struct Pair {
    write: Nanos,
    zero: Nanos,
    over: Nanos,
}

fn add(total: &mut (u64, Nanos), bytes: u64, took: Nanos) {
    *total = (total.0 + bytes, Nanos(total.1 .0 + took.0));
}

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
    /// What makes the run end early.
    end: Option<End>,
}

/// Runs the test. The range is open on the port, and its content is journalled; it stays open for the put-back.
pub fn run(port: &mut dyn Port, range: &ScratchRange, plan: &Plan, watch: &mut dyn Watch) -> Outcome {
    let start = port.now();
    let out = Outcome::new(plan);
    let mut run = Run { port, range, plan, trial: plan.first_trial, number: 0, start, out, end: None };
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
        while let Some(half) = self.half().filter(|_| self.out.segment * BUDGET_PAIRS > self.plan.max_bytes) {
            self.out.segment = half;
        }
        if self.out.segment * LEAST_PAIRS > self.plan.max_bytes {
            self.out.inconclusive = Some(Open::Granularity);
            return None;
        }
        self.ladder(watch)?;
        for segment in 0..SEGMENTS {
            self.go_on(watch)?;
            self.fill(segment)?;
        }
        self.compare_fills(watch)?;
        self.pairs(watch)?;
        self.note_limits(watch, limits, DECIDING.as_str());
        self.zeroes_last(watch)?;
        for method in self.plan.screened {
            if self.spent(watch).is_some() {
                return None;
            }
            self.screen(*method)?;
            self.note_limits(watch, limits, method.as_str());
        }
        Some(())
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

    /// An act whose failure ends the run.
    fn act(&mut self, operation: &str, act: &Act) -> Option<(Nanos, Done)> {
        let timed = self.port.act(self.range, act);
        match timed.value {
            Ok(done) => Some((timed.took, done)),
            Err(error) => {
                self.end = Some(End::Failed(operation.to_owned(), error));
                None
            }
        }
    }

    fn offset(&self, segment: u64) -> u64 {
        // Four, however small they became: only those were filled, and a write over anything else is no W2.
        self.plan.start + segment % SEGMENTS * self.out.segment
    }

    fn write(&mut self, offset: u64, length: u64, zeroes: bool) -> Option<Nanos> {
        self.trial += 1;
        let fill = if zeroes { Fill::Zeroes } else { Fill::Pattern { seed: self.plan.seed, trial: self.trial } };
        let (took, _) = self.act(&format!("write at byte {offset}"), &Act::Write { offset, length, fill })?;
        self.out.bytes_written += length;
        Some(took)
    }

    /// Fills a segment with the pattern and reads it back: a device that does not keep what is written proves nothing by
    /// reading zeroes later.
    fn fill(&mut self, segment: u64) -> Option<()> {
        let (offset, length) = (self.offset(segment), self.out.segment);
        self.write(offset, length, false)?;
        let fill = Fill::Pattern { seed: self.plan.seed, trial: self.trial };
        match self.act(&format!("read back at byte {offset}"), &Act::Verify { offset, length, fill })?.1 {
            Done::Mismatch(at) => {
                let what = "the device does not read what was written; nothing can be proved on it".to_owned();
                self.end = Some(End::Failed(format!("read back at byte {at}"), ActError::Protocol(what)));
                None
            }
            _ => Some(()),
        }
    }

    /// One zeroing call. The outer `None`: the run has ended. The inner `Err`: the method's answer, the run goes on.
    fn zero(&mut self, method: Method, offset: u64, length: u64) -> Option<Result<Nanos, ActError>> {
        let around = self.around(offset, length)?;
        let timed = if method == Method::Write {
            self.out.bytes_written += length;
            self.port.act(self.range, &Act::Write { offset, length, fill: Fill::Zeroes })
        } else {
            self.port.act(self.range, &Act::Zero { method, offset, length })
        };
        if let Err(error) = timed.value {
            if let ActError::NoAnswer(_) = error {
                let text = format!("{method} of {length} bytes at byte {offset}: {error}");
                self.end = Some(End::Wrong(Wrong { hazard: Hazard::NoAnswer, method, text, seen: None }));
                return None;
            }
            if !matches!(error, ActError::Os(_)) {
                self.end = Some(End::Failed(format!("{method} of {length} bytes at byte {offset}"), error));
                return None;
            }
            return Some(Err(error));
        }
        self.still_around(method, (offset, length), &around)?;
        if !order::promises_zeroes(method) {
            return Some(Ok(timed.took));
        }
        let verify = Act::Verify { offset, length, fill: Fill::Zeroes };
        match self.act(&format!("read back at byte {offset}"), &verify)?.1 {
            Done::Mismatch(at) => {
                let (seen, what) = read_instead(self.port, self.range, at);
                let text = format!(
                    "{method} of {length} bytes at byte {offset} reported success, {what} is read at byte {at}"
                );
                self.end = Some(End::Wrong(Wrong { hazard: Hazard::OldDataLeft, method, text, seen }));
                None
            }
            _ => Some(Ok(timed.took)),
        }
    }

    /// The answer of the deciding method: any failure of it ends the run.
    fn or_end<T>(&mut self, offset: u64, length: u64, answer: Result<T, ActError>) -> Option<T> {
        match answer {
            Ok(value) => Some(value),
            Err(ActError::Os(errno)) if errno == rustix::io::Errno::OPNOTSUPP.raw_os_error() => {
                self.end = Some(End::NotSupported);
                None
            }
            Err(error) => {
                let span = (offset, length);
                self.trial += 1;
                let fill = Fill::Pattern { seed: self.plan.seed, trial: self.trial };
                self.out.bytes_written += length;
                self.end = Some(failure(self.port, self.range, DECIDING, span, fill, error));
                None
            }
        }
    }

    /// Whether zero-filled writes are over 1.5 times as fast as incompressible ones (dedupe, zero detection): then they
    /// are the fair baseline.
    fn compare_fills(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let mut ratios = Vec::new();
        for pair in 0..u64::from(SCREENING_PAIRS) {
            self.go_on(watch)?;
            let offset = self.offset(pair);
            let pattern = self.write(offset, self.out.segment, false)?;
            let zeroes = self.write(offset, self.out.segment, true)?;
            ratios.push(pattern.0.max(1) as f64 / zeroes.0.max(1) as f64);
            self.write(offset, self.out.segment, false)?;
        }
        self.out.zero_baseline = stats::median(&mut ratios).is_some_and(|m| m > 1.5);
        Some(())
    }

    /// One pair: a write over a written segment and the zeroing of another one, in the order of the coin, then a write
    /// over the zeroed one. All segments hold a pattern before and after. Nested as [`Run::zero`].
    fn pair(&mut self, method: Method, zero_first: bool) -> Option<Result<Pair, ActError>> {
        let segment = self.out.segment;
        // The segment to zero was last written two pairs ago, as the other half of that pair, of whatever method.
        let (to_zero, to_write) = (self.offset(self.number), self.offset(self.number + 2));
        self.number += 1;
        let early = if zero_first { Some(self.zero(method, to_zero, segment)?) } else { None };
        if let Some(Err(error)) = early {
            return Some(Err(error));
        }
        let write = self.write(to_write, segment, self.out.zero_baseline)?;
        let zero = match early {
            Some(answer) => answer,
            None => self.zero(method, to_zero, segment)?,
        };
        // Timed with the fill of the baseline, since it is compared with it.
        let over = match &zero {
            Ok(_) => Some(self.write(to_zero, segment, self.out.zero_baseline)?),
            Err(_) => None,
        };
        if self.out.zero_baseline {
            self.write(to_write, segment, false)?;
        }
        // Also after a call that failed: what it zeroed all the same would pass for the work of the next method.
        if self.out.zero_baseline || over.is_none() && method != DECIDING {
            self.write(to_zero, segment, false)?;
        }
        Some(zero.map(|zero| Pair { write, zero, over: over.unwrap_or_default() }))
    }

    /// Pairs of the deciding method until the question is decided or the budget is spent.
    fn pairs(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let segment = self.out.segment;
        let mut coin = self.plan.seed;
        let mut zeroed = (0u64, Nanos(0));
        let whole = loop {
            self.out.inconclusive = if self.out.pairs.decision() != Decision::Open {
                None
            } else if (self.out.pairs.len() as u64 + 1) * segment > self.plan.max_bytes {
                Some(Open::Bytes)
            } else if let Some(why) = self.spent(watch) {
                Some(why)
            } else {
                // Knuth's 64-bit linear congruential generator; its top bit is the coin.
                coin = coin.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let to_zero = self.offset(self.number);
                let answer = self.pair(DECIDING, coin >> 63 == 0);
                let Some(pair) = answer.and_then(|a| self.or_end(to_zero, segment, a)) else { break None };
                add(&mut zeroed, segment, pair.zero);
                add(&mut self.out.written, segment, pair.write);
                add(&mut self.out.overwritten, segment, pair.over);
                self.out.pairs.push(pair.write, pair.zero);
                for (calls, took) in self.out.calls.iter_mut().zip([pair.write, pair.zero, pair.over]) {
                    calls.push(took.0);
                }
                self.out.deferred.push(Nanos(pair.zero.0 + pair.over.0), Nanos(2 * pair.write.0));
                watch.pair(self.out.pairs.len(), pair.write, pair.zero, &self.out.pairs);
                continue;
            };
            break Some(());
        };
        let verified = (zeroed.0 > 0 && self.end.is_none()).then_some(true);
        let error = match &self.end {
            Some(End::Wrong(wrong)) => Some(wrong.text.clone()),
            Some(End::NotSupported) => Some("not supported (EOPNOTSUPP)".to_owned()),
            _ => None,
        };
        let ratio = self.out.pairs.median();
        self.out.methods.push(MethodRun { method: DECIDING, zeroed, ratio, ratios: None, error, verified });
        whole
    }

    /// A few pairs of another method: reported, never the class.
    fn screen(&mut self, method: Method) -> Option<()> {
        let mut done =
            MethodRun { method, zeroed: (0, Nanos(0)), ratio: None, ratios: None, error: None, verified: None };
        if let Some((_, why)) = self.plan.not_tried.iter().find(|(m, _)| *m == method) {
            done.error = Some(why.clone());
            self.out.methods.push(done);
            return Some(());
        }
        let mut ratios = Vec::new();
        for _ in 0..SCREENING_PAIRS {
            match self.pair(method, false) {
                Some(Ok(pair)) => {
                    add(&mut done.zeroed, self.out.segment, pair.zero);
                    ratios.push(pair.write.0.max(1) as f64 / pair.zero.0.max(1) as f64);
                }
                Some(Err(error)) => {
                    done.error = Some(error.to_string());
                    break;
                }
                None => {
                    done.error = Some("the test ended here".to_owned());
                    break;
                }
            }
        }
        done.verified = (order::promises_zeroes(method) && done.error.is_none()).then_some(true);
        done.ratio = stats::median(&mut ratios);
        // Sorted by the median.
        done.ratios = ratios.first().copied().zip(ratios.last().copied());
        self.out.methods.push(done);
        if self.end.is_some() {
            None
        } else {
            Some(())
        }
    }

    fn note_limits(&mut self, watch: &mut dyn Watch, before: &mut Vec<String>, after: &str) {
        let now = watch.limits();
        for line in &now {
            let name = line.split('=').next().unwrap_or(line);
            let was = before.iter().find(|l| l.split('=').next() == Some(name));
            if let Some(was) = was.filter(|w| *w != line) {
                self.out
                    .changed_limits
                    .push(format!("after {after}: {line}, was {}", was.split('=').nth(1).unwrap_or("")));
            }
        }
        *before = now;
    }
}
