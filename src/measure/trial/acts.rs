//! The single acts of a run: everything is read before it is overwritten, and everything that was zeroed is read back, with
//! the blocks around it. A block that is not as it should be ends the run.

use super::Run;
use crate::machine::port::{Act, ActError, Done, Fill};
use crate::measure::holding::Held;
use crate::measure::order;
use crate::measure::outcome::{End, Wrong};
use crate::measure::range_io::{failure, read_instead};
use crate::terms::{Hazard, Method};
use crate::units::Nanos;

/// What a write leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Data,
    Zeroes,
}

impl Run<'_> {
    /// An act whose failure ends the run.
    pub(super) fn act(&mut self, operation: &str, act: &Act) -> Option<(Nanos, Done)> {
        let timed = self.port.act(self.range, act);
        match timed.value {
            Ok(done) => Some((timed.took, done)),
            Err(error) => {
                self.end = Some(End::Failed(operation.to_owned(), error));
                None
            }
        }
    }

    /// What the next write of this kind leaves.
    pub(super) fn next(&mut self, content: Content) -> Held {
        match content {
            Content::Zeroes => Held::WrittenZeroes,
            Content::Data => {
                self.trial += 1;
                Held::Pattern(self.trial)
            }
        }
    }

    /// Writes over a span that was read and found as it should be. Gives the time of the write.
    pub(super) fn write(&mut self, offset: u64, length: u64, content: Content) -> Option<Nanos> {
        self.check(offset, length)?;
        let held = self.next(content);
        self.write_held(offset, length, held)
    }

    /// Writes what is to be held, without a look at what was.
    pub(super) fn write_held(&mut self, offset: u64, length: u64, held: Held) -> Option<Nanos> {
        self.holding.clear(offset, length);
        let fill = held.fill(self.plan.seed);
        let (took, _) = self.act(&format!("write at byte {offset}"), &Act::Write { offset, length, fill })?;
        self.holding.set(offset, length, held);
        self.out.bytes_written += length;
        Some(took)
    }

    /// Reads a span, as far as it is known what it holds, and ends the run where it holds anything else.
    pub(super) fn check(&mut self, offset: u64, length: u64) -> Option<()> {
        for (offset, length, held) in self.holding.within(offset, length) {
            let verify = Act::Verify { offset, length, fill: held.fill(self.plan.seed) };
            if let Done::Mismatch(at) = self.act(&format!("read back at byte {offset}"), &verify)?.1 {
                self.end = Some(self.not_as_it_should_be(held, at));
                return None;
            }
        }
        Some(())
    }

    /// Everything that is used is read once more.
    pub(super) fn all_as_it_should_be(&mut self) -> Option<()> {
        self.check(self.plan.start, self.area)
    }

    /// A block does not hold what was put there; nothing was done to it since.
    fn not_as_it_should_be(&mut self, held: Held, at: u64) -> End {
        let (seen, what) = read_instead(self.port, self.range, at);
        let cleared =
            seen.as_ref().is_some_and(|s| s.bytes.iter().all(|b| *b == 0) || s.bytes.iter().all(|b| *b == 0xff));
        let method = self.plan.deciding;
        match held {
            Held::Zeroed => {
                let text = format!("after {method} byte {at} read as zero at first, but later {what} was read there");
                if let Some(deciding) = self.out.methods.iter_mut().find(|m| m.method == method) {
                    (deciding.verified, deciding.error) = (None, Some(text.clone()));
                }
                End::Wrong(Wrong { hazard: Hazard::OldDataLeft, method, text, seen })
            }
            Held::Pattern(_) if cleared => {
                let text = format!(
                    "a zeroing call changed byte {at}, which lies outside of the range that it was \
                                    asked to zero"
                );
                End::Wrong(Wrong { hazard: Hazard::ZeroingError, method, text, seen })
            }
            Held::Pattern(_) | Held::WrittenZeroes => {
                let what =
                    "it does not read back as it was written: another program wrote there, or the device does not \
                     keep what is written; nothing can be proved on it";
                End::Failed(format!("read back at byte {at}"), ActError::Protocol(what.to_owned()))
            }
        }
    }

    /// One zeroing call. The outer `None`: the run has ended. The inner `Err`: the method's answer, the run goes on.
    pub(super) fn zero(&mut self, method: Method, offset: u64, length: u64) -> Option<Result<Nanos, ActError>> {
        self.check(offset, length)?;
        let around = self.around(offset, length)?;
        // What lies there after a call that fails nobody knows.
        self.holding.clear(offset, length);
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
                    "{method} of {length} bytes at byte {offset} reported success, but {what} is read at byte {at}"
                );
                self.end = Some(End::Wrong(Wrong { hazard: Hazard::OldDataLeft, method, text, seen }));
                None
            }
            _ => {
                self.holding.set(
                    offset,
                    length,
                    if method == Method::Write { Held::WrittenZeroes } else { Held::Zeroed },
                );
                Some(Ok(timed.took))
            }
        }
    }

    /// The answer of the deciding method: any failure of it ends the run.
    pub(super) fn or_end<T>(&mut self, offset: u64, length: u64, answer: Result<T, ActError>) -> Option<T> {
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
                self.end = Some(failure(self.port, self.range, self.plan.deciding, span, fill, error));
                None
            }
        }
    }
}
