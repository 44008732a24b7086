//! Pairs: a zero-filled write of one segment and the zeroing of another segment, both over data, in random order.

use super::acts::Content;
use super::{Run, PAIRS_PART, WRITES_A_PAIR};
use crate::machine::port::ActError;
use crate::measure::order::{self, SCREENING_PAIRS};
use crate::measure::outcome::{End, MethodRun, Open};
use crate::measure::plan::part;
use crate::measure::stats::{self, Decision};
use crate::measure::trial::Watch;
use crate::terms::Method;
use crate::units::Nanos;
use verdict_format::samples::{Pair, Screened};

/// Pairs may use so many hundredths of the time: the long stretch needs the rest.
const TIME_PERCENT: u64 = 75;
/// Screening is done in this part of a segment, since it is reported only; save that of the call that is the same request as
/// the deciding one, with which it is compared.
const SCREENING_PART: u64 = 8;

fn add(total: &mut (u64, Nanos), bytes: u64, nanoseconds: u64) {
    *total = (total.0 + bytes, Nanos(total.1 .0 + nanoseconds));
}

impl Run<'_> {
    /// One pair. All segments hold data before and after. Nested as [`Run::zero`].
    fn pair(&mut self, method: Method, zero_first: bool, length: u64) -> Option<Result<Pair, ActError>> {
        // The segment to zero was last written two pairs ago, as the other half of that pair, of whatever method.
        let (to_zero, to_write) = (self.offset(self.number), self.offset(self.number + 2));
        self.number += 1;
        let at = self.port.now().since(self.start);
        let early = if zero_first { Some(self.zero(method, to_zero, length)?) } else { None };
        if let Some(Err(error)) = early {
            return self.after_failure(method, to_zero, length, error);
        }
        let write = self.write(to_write, length, Content::Zeroes)?;
        let zero = match early {
            Some(answer) => answer,
            None => self.zero(method, to_zero, length)?,
        };
        let zero = match zero {
            Ok(zero) => zero,
            Err(error) => {
                self.write(to_write, length, Content::Data)?;
                return self.after_failure(method, to_zero, length, error);
            }
        };
        let over = self.write(to_zero, length, Content::Data)?;
        let data = self.write(to_write, length, Content::Data)?;
        Some(Ok(Pair {
            at_nanoseconds: at.0,
            zero_first,
            write_nanoseconds: write.0,
            zero_nanoseconds: zero.0,
            data_over_zeroed_nanoseconds: over.0,
            data_over_written_nanoseconds: data.0,
        }))
    }

    /// Writes data again after a call that failed: what it zeroed all the same would pass for the work of the next method.
    /// After one of the deciding method the run ends in any case.
    fn after_failure(
        &mut self,
        method: Method,
        at: u64,
        length: u64,
        error: ActError,
    ) -> Option<Result<Pair, ActError>> {
        if method != self.plan.deciding {
            self.write(at, length, Content::Data)?;
        }
        Some(Err(error))
    }

    /// Pairs of the deciding method until the question is decided or their part of the budget is spent.
    pub(super) fn pairs(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let segment = self.out.segment;
        let mut coin = self.plan.seed;
        let mut zeroed = (0u64, Nanos(0));
        let whole = loop {
            let late = self.port.now().since(self.start).0 >= self.plan.max_time.0 / 100 * TIME_PERCENT;
            self.out.inconclusive = if self.out.pairs.decision() != Decision::Open {
                None
            } else if self.out.bytes_written + WRITES_A_PAIR * segment > self.budget() / PAIRS_PART {
                Some(Open::Bytes)
            } else if let Some(why) = self.spent(watch).or(late.then_some(Open::Time)) {
                Some(why)
            } else {
                // Knuth's 64-bit linear congruential generator; its top bit is the coin.
                coin = coin.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let to_zero = self.offset(self.number);
                let answer = self.pair(self.plan.deciding, coin >> 63 == 0, segment);
                let Some(pair) = answer.and_then(|a| self.or_end(to_zero, segment, a)) else { break None };
                let (zero, write) = (pair.zero_nanoseconds, pair.write_nanoseconds);
                let (over, data) = (pair.data_over_zeroed_nanoseconds, pair.data_over_written_nanoseconds);
                add(&mut zeroed, segment, zero);
                add(&mut self.out.written, segment, write);
                add(&mut self.out.overwritten, segment, over);
                add(&mut self.out.data_written, segment, data);
                self.out.pairs.push(Nanos(write), Nanos(zero));
                self.out.trace.pairs.push(pair);
                self.out.deferred.push(Nanos(zero + over), Nanos(write + data));
                watch.pair(self.out.pairs.len(), Nanos(write), Nanos(zero), &self.out.pairs);
                continue;
            };
            break Some(());
        };
        let verified = (zeroed.0 > 0 && self.end.is_none()).then_some(true);
        let error = match &self.end {
            Some(End::Wrong(wrong)) => Some(wrong.text.clone()),
            Some(End::NotSupported) => Some("it is not supported (EOPNOTSUPP)".to_owned()),
            _ => None,
        };
        let ratio = self.out.pairs.median();
        // Ordinary writes of zeroes are what all is compared with.
        let zero_writes = self.out.written;
        self.out.methods.push(MethodRun { method: self.plan.deciding, zeroed, ratio, ratios: None, error, verified });
        if zero_writes.0 > 0 && self.end.is_none() {
            let plain = MethodRun {
                method: Method::Write,
                zeroed: zero_writes,
                ratio: Some(1.0),
                ratios: None,
                error: None,
                verified: Some(true),
            };
            self.out.methods.push(plain);
        }
        whole
    }

    /// A few pairs of another method: reported, never the class.
    pub(super) fn screen(&mut self, method: Method) -> Option<()> {
        let mut done =
            MethodRun { method, zeroed: (0, Nanos(0)), ratio: None, ratios: None, error: None, verified: None };
        if let Some((_, why)) = self.plan.not_tried.iter().find(|(m, _)| *m == method) {
            done.error = Some(why.clone());
            self.out.methods.push(done);
            return Some(());
        }
        let of = if method == Method::WriteZeroes { 1 } else { SCREENING_PART };
        let length = part(self.out.segment, of, self.plan.unit).unwrap_or(self.out.segment);
        let mut pairs: Vec<Pair> = Vec::new();
        for _ in 0..SCREENING_PAIRS {
            if self.left() < (WRITES_A_PAIR + 1) * length {
                done.error = Some(Open::Bytes.to_string());
                break;
            }
            match self.pair(method, false, length) {
                Some(Ok(pair)) => {
                    add(&mut done.zeroed, length, pair.zero_nanoseconds);
                    pairs.push(pair);
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
        let mut ratios: Vec<f64> = pairs.iter().map(Pair::ratio).collect();
        done.ratio = stats::median(&mut ratios);
        // Sorted by the median.
        done.ratios = ratios.first().copied().zip(ratios.last().copied());
        self.out.methods.push(done);
        self.out.trace.screened.push(Screened { method: Some(method), bytes: length, pairs });
        if self.end.is_some() {
            None
        } else {
            Some(())
        }
    }
}
