//! Writes and zeroes long spans, besides the pairs of a run: every write has the pattern of the run, and every zeroing is
//! read back. A mistake of the device ends it with the same words as a run.

use crate::machine::port::{Act, ActError, Done, Fill, Port, ScratchRange};
use crate::measure::outcome::{End, Seen, Wrong};
use crate::terms::{Hazard, Method};
use crate::units::{Nanos, MIB};

/// The longest write of one act: what is put together in memory.
const STEP: u64 = 16 * MIB;

/// Why a span was not done to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// What ends the whole test.
    End(End),
    /// Its time is over.
    Late,
}

impl From<End> for Stop {
    fn from(end: End) -> Stop {
        Stop::End(end)
    }
}

/// A range that is open on a port, and the run's pattern.
pub struct Spans<'a> {
    /// The port.
    pub port: &'a mut dyn Port,
    /// The range.
    pub range: &'a ScratchRange,
    /// The run's seed.
    pub seed: u64,
    /// The last trial that was written.
    pub trial: u64,
    /// Bytes written so far.
    pub written: u64,
    /// No further step of a span begins from then on, by the port's clock.
    pub until: Option<Nanos>,
}

impl Spans<'_> {
    /// One act; what it answers.
    pub fn act(&mut self, operation: &str, method: Method, act: &Act) -> Result<(Nanos, Done), End> {
        let timed = self.port.act(self.range, act);
        let zeroing = matches!(act, Act::Zero { .. } | Act::Load(_));
        timed.value.map(|done| (timed.took, done)).map_err(|error| match error {
            ActError::NoAnswer(_) if zeroing => {
                let text = format!("{operation}: {error}");
                End::Wrong(Wrong { hazard: Hazard::NoAnswer, method, text, seen: None })
            }
            error => End::Failed(operation.to_owned(), error),
        })
    }

    fn in_time(&self) -> Result<(), Stop> {
        match self.until {
            Some(until) if self.port.now() >= until => Err(Stop::Late),
            _ => Ok(()),
        }
    }

    /// Writes the pattern over a span. Gives the time.
    pub fn write(&mut self, offset: u64, length: u64, method: Method) -> Result<Nanos, Stop> {
        self.trial += 1;
        let fill = Fill::Pattern { seed: self.seed, trial: self.trial };
        let mut took = 0;
        for (offset, length) in steps(offset, length) {
            self.in_time()?;
            let operation = format!("write at byte {offset}");
            took += self.act(&operation, method, &Act::Write { offset, length, fill })?.0 .0;
            self.written += length;
        }
        Ok(Nanos(took))
    }

    /// Zeroes a span, one call for each piece, and reads it back. Gives the time of the zeroing.
    pub fn zero(&mut self, method: Method, offset: u64, length: u64, piece: u64) -> Result<Nanos, Stop> {
        let mut took = 0;
        for (offset, length) in pieces(offset, length, piece) {
            self.in_time()?;
            let act = Act::Zero { method, offset, length };
            let operation = format!("{method} of {length} bytes at byte {offset}");
            let timed = self.act(&operation, method, &act);
            took += match timed {
                Ok((took, _)) => took.0,
                // It was answered before by smaller ones: an error now is the device's, and not a limit's.
                Err(End::Failed(_, error)) => {
                    self.trial += 1;
                    let fill = Fill::Pattern { seed: self.seed, trial: self.trial };
                    return Err(failure(self.port, self.range, method, (offset, length), fill, error).into());
                }
                Err(end) => return Err(end.into()),
            };
        }
        self.verify(method, offset, length)?;
        Ok(Nanos(took))
    }

    /// Reads zeroes back.
    pub fn verify(&mut self, method: Method, offset: u64, length: u64) -> Result<(), Stop> {
        for (offset, length) in steps(offset, length) {
            self.in_time()?;
            let act = Act::Verify { offset, length, fill: Fill::Zeroes };
            if let (_, Done::Mismatch(at)) = self.act(&format!("read back at byte {offset}"), method, &act)? {
                let (seen, what) = read_instead(self.port, self.range, at);
                let text = format!("{method} reported success, but {what} is read at byte {at}");
                return Err(End::Wrong(Wrong { hazard: Hazard::OldDataLeft, method, text, seen }).into());
            }
        }
        Ok(())
    }
}

/// What is read at the byte where zeroes should be, and in words: some devices read 0xff where they deallocated.
pub fn read_instead(port: &mut dyn Port, range: &ScratchRange, at: u64) -> (Option<Seen>, &'static str) {
    match port.act(range, &Act::Read { offset: at, length: range.logical_block }).value {
        Ok(Done::Bytes(bytes)) if !bytes.is_empty() => {
            let what = if bytes.iter().all(|b| *b == 0xff) { "0xff" } else { "old data" };
            (Some(Seen { offset: at, bytes }), what)
        }
        _ => (None, "old data"),
    }
}

/// The end of a run whose zeroing call failed. The device is to blame only where the call fails again while a plain write
/// and read of the same blocks succeed: else the failure is not one of zeroing. Leaves the span filled or zeroed.
pub fn failure(
    port: &mut dyn Port,
    range: &ScratchRange,
    method: Method,
    (offset, length): (u64, u64),
    fill: Fill,
    error: ActError,
) -> End {
    let operation = format!("{method} of {length} bytes from byte {offset}");
    if !error.may_accuse() {
        return End::Failed(operation, error);
    }
    let plain = |port: &mut dyn Port, act: &Act| match port.act(range, act).value {
        Ok(Done::Mismatch(at)) => Err(ActError::Protocol(format!("byte {at} does not read back as it was written"))),
        other => other.map(drop),
    };
    let written = plain(port, &Act::Write { offset, length, fill })
        .and_then(|()| plain(port, &Act::Verify { offset, length, fill }));
    if let Err(plain) = written {
        return End::Failed(format!("{operation}: {error}; then a plain write of the same blocks"), plain);
    }
    match port.act(range, &Act::Zero { method, offset, length }).value {
        Err(again) if again.may_accuse() => {
            let text = format!("{operation}: {error}");
            End::Wrong(Wrong { hazard: Hazard::ZeroingError, method, text, seen: None })
        }
        Err(ActError::NoAnswer(pid)) => {
            let text = format!("{operation}: {error}, then {}", ActError::NoAnswer(pid));
            End::Wrong(Wrong { hazard: Hazard::NoAnswer, method, text, seen: None })
        }
        Err(other) => End::Failed(operation, other),
        Ok(_) => End::Failed(format!("{operation} (it succeeded when it was tried again)"), error),
    }
}

fn steps(offset: u64, length: u64) -> impl Iterator<Item = (u64, u64)> {
    pieces(offset, length, STEP)
}

fn pieces(offset: u64, length: u64, piece: u64) -> impl Iterator<Item = (u64, u64)> {
    let piece = piece.max(1);
    (0..length.div_ceil(piece)).map(move |i| (offset + i * piece, piece.min(length - i * piece)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_span() {
        assert_eq!(pieces(5, 10, 4).collect::<Vec<_>>(), [(5, 4), (9, 4), (13, 2)]);
        assert_eq!(pieces(5, 0, 4).count(), 0);
        assert_eq!(pieces(5, 3, 0).count(), 3);
    }
}
