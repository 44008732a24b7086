//! Puts journalled content back, block by block. What the test wrote is restored; what somebody else wrote is left and named.
//! A block that cannot be restored does not keep the others from being restored.
//!
//! These blocks are restored: blocks with this run's pattern; zeroes, if the intent names their segment and the medium is
//! proved ([`Rules`]); and blocks that cannot be read. A block that holds its old content is left. Any other block is
//! somebody else's: it is never overwritten, and it is not a fault of the device. The witness is restored last, and only when
//! nothing else remains. The range comes from `scratch`, with a proof of its own; this file writes only journalled content to
//! it.

use crate::error::Error;
use crate::machine::port::pattern::{self, UNIT};
use crate::machine::port::{Act, ActError, Done, Fill, Port, ScratchRange};
use crate::measure::journal::{Header, Journal};
use crate::terms::Method;

/// Bytes looked at in one read.
const CHUNK: u64 = 1 << 20;

/// Which zeroes may be the test's.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The segments (offset on the node, length) of which the intent said, before it was done, that they would be zeroed.
    pub zeroed: &'a [(u64, u64)],
    /// The medium is that of the test, and no partition, signature or claimer has come to lie over the range since: zeroes
    /// in a segment that was named are the test's.
    pub medium_is_proved: bool,
    /// This very run has seen the device read ones where it zeroed, without anything in between: ones in a segment that was
    /// named are the test's, too.
    pub reads_ones: bool,
}

/// What came of it. Spans are offset on the node and length, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Bytes that were written.
    pub restored: u64,
    /// What somebody else wrote: left as it is.
    pub foreign: Vec<(u64, u64)>,
    /// So many bytes of it read 0xff throughout: some devices read that after zeroing, and nobody can tell that from what
    /// somebody wrote.
    pub ones: u64,
    /// What could not be written or does not read as it was written: the device's answer.
    pub failed: Vec<(u64, u64, ActError)>,
    /// What the journal has lost.
    pub damaged: Vec<(u64, u64)>,
}

impl Report {
    /// Whether the whole span holds its old content.
    pub fn is_whole(&self) -> bool {
        self.foreign.is_empty() && self.failed.is_empty() && self.damaged.is_empty()
    }
}

/// Why it could not go on; the journal must be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The operation.
    pub operation: String,
    /// What came back.
    pub error: ActError,
}

/// Puts the content back. `range` must be open on the port.
pub fn put_back(
    port: &mut dyn Port,
    range: &ScratchRange,
    journal: &Journal<'_>,
    rules: &Rules<'_>,
) -> Result<Report, Failed> {
    let mut work = Work { port, range, journal, rules, report: Report::default() };
    let block = journal.header.witness_block();
    let [first, last] = journal.header.witnesses();
    for (start, length) in chunks(&journal.header) {
        // The witness is no part of this pass.
        let from = if start == first { start + block } else { start };
        let to = if start + length > last { last } else { start + length };
        if from < to {
            work.chunk(from, to - from)?;
        }
    }
    if work.report.is_whole() {
        work.chunk(first, block)?;
        if last != first {
            work.chunk(last, block)?;
        }
    }
    Ok(work.report)
}

/// The first place where a device does not hold its journalled content, `None` where all is as it was. All of the span is
/// read; nothing is changed.
pub fn differences(
    journal: &Journal<'_>,
    mut read: impl FnMut(u64, u64) -> Option<Vec<u8>>,
) -> Result<Option<u64>, Error> {
    let mut first = None;
    for (start, length) in chunks(&journal.header) {
        let (old, now) = (journal.content(start, length)?, read(start, length));
        match (old, now) {
            (Some(old), Some(now)) if old == now => {}
            _ => {
                first.get_or_insert(start);
            }
        }
    }
    Ok(first)
}

/// The journalled span in parts of at most [`CHUNK`], none over the end of a piece.
fn chunks(header: &Header) -> impl Iterator<Item = (u64, u64)> + '_ {
    header.pieces().flat_map(|(start, length)| {
        (0..length.div_ceil(CHUNK)).map(move |n| (start + n * CHUNK, CHUNK.min(length - n * CHUNK)))
    })
}

struct Work<'a> {
    port: &'a mut dyn Port,
    range: &'a ScratchRange,
    journal: &'a Journal<'a>,
    rules: &'a Rules<'a>,
    report: Report,
}

/// What is done with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It holds its old content.
    Keep,
    /// It is the test's; `true`: by a punch, since it held zeroes of a device that provisions thinly.
    Restore(bool),
    /// It is somebody's.
    Leave,
}

impl Work<'_> {
    /// One chunk: looked at, restored, read back.
    fn chunk(&mut self, start: u64, length: u64) -> Result<(), Failed> {
        let content = self.journal.content(start, length).map_err(|e| Failed {
            operation: "read the journal".to_owned(),
            error: ActError::Refused(e.to_string()),
        })?;
        let Some(old) = content else {
            self.report.damaged.push((start, length));
            return Ok(());
        };
        let fates = self.fates(start, &old)?;
        let block = self.block();
        let mut at = 0;
        while at < fates.len() {
            let run = fates[at..].iter().take_while(|fate| **fate == fates[at]).count();
            let (offset, span) = (start + at as u64 * block, at * block as usize..(at + run) * block as usize);
            match fates[at] {
                Fate::Keep => {}
                Fate::Leave => join(&mut self.report.foreign, offset, run as u64 * block),
                Fate::Restore(punch) => self.restore(offset, &old[span], punch)?,
            }
            at += run;
        }
        Ok(())
    }

    /// What the medium writes as a whole, and never less than a unit of the pattern.
    fn block(&self) -> u64 {
        self.range.logical_block.max(UNIT as u64)
    }

    /// The fate of each block of a chunk.
    fn fates(&mut self, start: u64, old: &[u8]) -> Result<Vec<Fate>, Failed> {
        let block = self.block();
        let whole = self.read(start, old.len() as u64)?;
        let mut fates = Vec::new();
        for (i, want) in old.chunks(block as usize).enumerate() {
            let offset = start + i as u64 * block;
            let from = i * block as usize;
            let have = match &whole {
                Some(whole) => Some(whole[from..from + want.len()].to_vec()),
                // The chunk could not be read as a whole: perhaps only some blocks of it cannot.
                None => self.read(offset, want.len() as u64)?,
            };
            let punch = self.journal.header.thin && want.iter().all(|b| *b == 0);
            fates.push(match have {
                // What a torn write leaves can be read again once it is written.
                None => Fate::Restore(punch),
                Some(have) if have == want => Fate::Keep,
                Some(have) if self.is_ours(offset, &have, want) => Fate::Restore(punch),
                Some(have) => {
                    if have.iter().all(|b| *b == 0xff) {
                        self.report.ones += have.len() as u64;
                    }
                    Fate::Leave
                }
            });
        }
        Ok(fates)
    }

    /// Whether every unit of a block is the old content, this run's pattern, its witness, or zeroes that the run made.
    fn is_ours(&self, offset: u64, have: &[u8], want: &[u8]) -> bool {
        let run = self.journal.header.run;
        have.chunks(UNIT).zip(want.chunks(UNIT)).enumerate().all(|(i, (have, want))| {
            let at = offset + (i * UNIT) as u64;
            let place = self.range.node_offset + at;
            have == want
                || pattern::is_ours(have, run.seed(), place)
                || pattern::is_witness(have, run, place)
                || self.reads_as_zeroed(have) && self.zeroed_by_us(at, have.len() as u64)
        })
    }

    fn reads_as_zeroed(&self, have: &[u8]) -> bool {
        have.iter().all(|b| *b == 0) || self.rules.reads_ones && have.iter().all(|b| *b == 0xff)
    }

    fn zeroed_by_us(&self, at: u64, length: u64) -> bool {
        let inside = |(start, n): &(u64, u64)| at >= *start && at + length <= start + n;
        self.rules.medium_is_proved && self.rules.zeroed.iter().any(inside)
    }

    /// Reads; `None` where the device says that it cannot.
    fn read(&mut self, offset: u64, length: u64) -> Result<Option<Vec<u8>>, Failed> {
        match self.port.act(self.range, &Act::Read { offset, length }).value {
            Ok(Done::Bytes(bytes)) if bytes.len() as u64 == length => Ok(Some(bytes)),
            Ok(_) => Err(failed("read", offset, ActError::Protocol("no bytes were returned".to_owned()))),
            Err(error) if error.may_accuse() => Ok(None),
            Err(e) => Err(failed("read", offset, e)),
        }
    }

    /// Restores a run of blocks; where that fails as a whole, each block for itself.
    fn restore(&mut self, offset: u64, bytes: &[u8], punch: bool) -> Result<(), Failed> {
        match self.write(offset, bytes, punch)? {
            Ok(()) => {
                self.report.restored += bytes.len() as u64;
                return Ok(());
            }
            Err(error) if bytes.len() as u64 <= self.block() => {
                self.report.failed.push((offset, bytes.len() as u64, error));
                return Ok(());
            }
            Err(_) => {}
        }
        let block = self.block();
        for (i, part) in bytes.chunks(block as usize).enumerate() {
            self.restore(offset + i as u64 * block, part, punch)?;
        }
        Ok(())
    }

    /// Writes and reads back. The outer error ends the work; the inner one is the device's answer.
    fn write(&mut self, offset: u64, bytes: &[u8], punch: bool) -> Result<Result<(), ActError>, Failed> {
        let length = bytes.len() as u64;
        if punch && self.punched(offset, length) {
            return Ok(Ok(()));
        }
        match self.port.act(self.range, &Act::PutBack { offset, bytes: bytes.to_vec() }).value {
            Ok(_) => {}
            Err(error) if error.may_accuse() => return Ok(Err(error)),
            Err(e) => return Err(failed("write back", offset, e)),
        }
        Ok(match self.read(offset, length)? {
            Some(now) if now == bytes => Ok(()),
            Some(_) => Err(ActError::Protocol("it does not read back as it was written".to_owned())),
            None => Err(ActError::Protocol("it was written back, but cannot be read".to_owned())),
        })
    }

    /// Zeroes of a device that provisions thinly are put back by a punch that is checked by reading, so that they do not
    /// stay mapped; a device that does not punch gets them written.
    fn punched(&mut self, offset: u64, length: u64) -> bool {
        let punched = self.port.act(self.range, &Act::Zero { method: Method::PunchHole, offset, length }).value.is_ok();
        let check = Act::Verify { offset, length, fill: Fill::Zeroes };
        punched && matches!(self.port.act(self.range, &check).value, Ok(Done::Ok))
    }
}

fn failed(what: &str, offset: u64, error: ActError) -> Failed {
    Failed { operation: format!("{what} at byte {offset}"), error }
}

/// Adds a span to a list in order, joined with the last where they touch.
fn join(spans: &mut Vec<(u64, u64)>, offset: u64, length: u64) {
    match spans.last_mut() {
        Some((start, n)) if *start + *n == offset => *n += length,
        _ => spans.push((offset, length)),
    }
}
