//! What a zeroing call must not do besides zeroing: change the blocks around its range, or return the old data later. Either
//! is the device's fault and ends the run.

use super::acts::Content;
use super::Run;
use crate::machine::port::{Act, Done};
use crate::measure::outcome::{End, Seen, Wrong};
use crate::measure::plan::part;
use crate::measure::trial::{Watch, SEGMENTS};
use crate::terms::{Hazard, Method};

/// The blocks in front of a span and behind it, as far as the range has them: offset and content.
pub(super) type Around = Vec<(u64, Vec<u8>)>;

impl Run<'_> {
    /// Reads the blocks around a span. The first calls of a run are short, and lie where the range begins: one that goes
    /// too far is found out while what it hits is journalled.
    pub(super) fn around(&mut self, offset: u64, length: u64) -> Option<Around> {
        let block = self.range.logical_block;
        let places = [offset.checked_sub(block), offset.checked_add(length)];
        let mut around = Vec::new();
        for at in places.into_iter().flatten().filter(|at| self.range.holds(*at, block)) {
            match self.port.act(self.range, &Act::Read { offset: at, length: block }).value {
                Ok(Done::Bytes(bytes)) => around.push((at, bytes)),
                Err(error) if !error.may_accuse() => {
                    self.end = Some(End::Failed(format!("read at byte {at}"), error));
                    return None;
                }
                // What cannot be read cannot be compared: no fault of zeroing, and nothing the test needs.
                _ => {}
            }
        }
        Some(around)
    }

    /// Ends the run where a block around a span that was zeroed is not as it was.
    pub(super) fn still_around(&mut self, method: Method, (offset, length): (u64, u64), was: &Around) -> Option<()> {
        let now = self.around(offset, length)?;
        let differs = |(at, bytes): &&(u64, Vec<u8>)| now.iter().any(|(there, now)| there == at && now != bytes);
        let Some((at, _)) = was.iter().find(differs) else { return Some(()) };
        let seen = now.into_iter().find(|(there, _)| there == at).map(|(offset, bytes)| Seen { offset, bytes });
        let text = format!(
            "{method} of {length} bytes at byte {offset} changed byte {at}, which lies outside of \
                            that range"
        );
        self.end = Some(End::Wrong(Wrong { hazard: Hazard::ZeroingError, method, text, seen }));
        None
    }

    /// Zeroes a segment, writes all the others, and reads the zeroes a second time.
    pub(super) fn zeroes_last(&mut self, watch: &mut dyn Watch) -> Option<()> {
        if watch.stop() {
            return Some(());
        }
        let length = part(self.out.segment, 4, self.plan.unit).unwrap_or(self.out.segment);
        let (offset, first) = (self.offset(self.number), self.number);
        self.number += 1;
        let answer = self.zero(self.plan.deciding, offset, length)?;
        self.or_end(offset, length, answer)?;
        for other in 1..SEGMENTS {
            self.write(self.offset(first + other), length, Content::Data)?;
        }
        // The write looks at what is there first.
        self.write(offset, length, Content::Data).map(|_| ())
    }
}
