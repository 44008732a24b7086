//! Decides whose fault it is: a run reports what looks like a mistake of the device, and this file says whether the device
//! made it. It only reads. If somebody else may have caused it, nobody is blamed, and the test ends without a verdict.
//!
//! A block that holds neither zeroes nor anything that this test or the range ever held was written by somebody else. Zeroes
//! where no zeroing call was made are the device's fault only if it wrote for nobody else meanwhile. A call that is not
//! answered is the device's fault only while the device has it in flight.

use crate::facts::Facts;
use crate::machine::block::stack;
use crate::machine::fs::root::Root;
use crate::machine::port::pattern::{self, RunId, UNIT};
use crate::machine::port::{ActError, ScratchRange};
use crate::measure::journal::Journal;
use crate::measure::outcome::{End, Seen, Wrong};
use crate::terms::Hazard;
use crate::units::human_bytes;

/// What is asked.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Files of the system.
    pub root: &'a Root,
    /// The device.
    pub facts: &'a Facts,
    /// The run, whose pattern a block may hold.
    pub run: RunId,
    /// The range's old content; `None` where that was nobody's and is not known.
    pub journal: Option<&'a Journal<'a>>,
    /// The range is one of a file: its file system stands in between.
    pub in_file: bool,
    /// Bytes that the disk wrote, zeroed or discarded for others during the run; `None` where it does not count.
    pub others_wrote: Option<u64>,
}

/// The end of a run, once it is known whose fault it is.
pub fn settle(end: End, asked: &Asked<'_>, range: &ScratchRange) -> End {
    match end {
        End::Wrong(wrong) => match innocent(&wrong, asked, range) {
            Some(why) => End::Failed(wrong.text, ActError::Refused(why)),
            None => End::Wrong(wrong),
        },
        end => end,
    }
}

/// Why the device is not to blame, where it is not.
fn innocent(wrong: &Wrong, asked: &Asked<'_>, range: &ScratchRange) -> Option<String> {
    if wrong.hazard == Hazard::NoAnswer {
        if asked.in_file {
            return Some("a call on a file may wait for the file system, which may be frozen".to_owned());
        }
        return not_in_flight(asked.root, asked.facts, range);
    }
    let seen = wrong.seen.as_ref()?;
    let at = range.node_offset + seen.offset;
    if foreign(seen, asked, range) {
        return Some(format!(
            "somebody else wrote byte {at} during the test; find out who uses this range before you test it again"
        ));
    }
    let elsewhere = wrong.hazard == Hazard::ZeroingError;
    let others = match asked.others_wrote {
        Some(0) => return None,
        Some(bytes) => format!("others wrote {} to the disk during the test", human_bytes(bytes)),
        None => "the kernel does not count what others write to the disk".to_owned(),
    };
    elsewhere.then(|| {
        format!("another program may have written byte {at}: {others}; test again when nobody else uses the disk")
    })
}

/// Whether a block holds nothing that this test could have put there and nothing that was there before.
fn foreign(seen: &Seen, asked: &Asked<'_>, range: &ScratchRange) -> bool {
    let run = asked.run;
    let old = asked.journal.and_then(|j| j.content(seen.offset, seen.bytes.len() as u64).ok().flatten());
    !seen.bytes.chunks(UNIT).enumerate().all(|(i, unit)| {
        let at = i * UNIT;
        let place = range.node_offset + seen.offset + at as u64;
        // Some devices read ones where they deallocated; nobody writes them for a purpose that could be known here.
        unit.iter().all(|b| *b == 0)
            || unit.iter().all(|b| *b == 0xff)
            || pattern::is_ours(unit, run.seed(), place)
            || old.as_ref().is_some_and(|old| old.get(at..at + unit.len()) == Some(unit))
    })
}

/// Why a call that was not answered is not the device's fault: nothing is in flight on any disk below it, or something
/// holds it up on purpose. What cannot be read accuses nobody.
fn not_in_flight(root: &Root, facts: &Facts, range: &ScratchRange) -> Option<String> {
    // The node may be a logical volume above the device.
    let (major, minor) = range.devnum;
    if root.flag(&format!("sys/dev/block/{major}:{minor}/dm/suspended")).is(true) {
        return Some(format!("{} is suspended; resume it with dmsetup resume", range.node));
    }
    let disks = stack::with_members(root, &facts.device);
    let suspended = disks.iter().find(|d| root.flag(&d.attr("dm/suspended")).is(true));
    if let Some(d) = suspended {
        return Some(format!("{} is suspended; resume it with dmsetup resume", d.node()));
    }
    let in_flight = disks.iter().filter(|d| !d.kind.is_stack()).any(|d| {
        let text = root.text(&d.attr("inflight"));
        text.known().is_some_and(|t| t.split_whitespace().filter_map(|n| n.parse::<u64>().ok()).any(|n| n > 0))
    });
    (!in_flight).then(|| "no disk below it has a command in flight, so something else blocks the call".to_owned())
}
