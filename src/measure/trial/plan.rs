//! What a run may use: which bytes, how many, how long. Pure.

use super::{SEGMENT, SEGMENTS};
use crate::machine::port::ScratchRange;
use crate::units::Nanos;
use crate::words::Method;

/// What the run may use.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The journalled seed.
    pub seed: u64,
    /// Offsets and lengths are multiples of this on the whole device, in bytes.
    pub unit: u64,
    /// First byte on the node, and bytes from there, that are journalled and may be used.
    pub start: u64,
    /// See above.
    pub length: u64,
    /// From this ratio on zeroing is fast.
    pub fast_ratio: f64,
    /// Bytes of the pairs that decide.
    pub max_bytes: u64,
    /// Time for everything before the put-back.
    pub max_time: Nanos,
    /// Methods that are not tried, and why not (`gated`, an older kernel).
    pub not_tried: Vec<(Method, String)>,
    /// Trials count from here: no pattern is written twice under one seed.
    pub first_trial: u64,
    /// The other methods that are screened, in this order.
    pub screened: &'static [Method],
}

impl Plan {
    /// The largest span of the range that the test will use; `Err` says why there is none.
    pub fn span(range: &ScratchRange, granularity: u64, at_most: u64) -> Result<(u64, u64, u64), String> {
        let unit = granularity.max(range.logical_block).max(512);
        // Multiples of the granularity count from the device's LBA 0, not from the node's start.
        let first = (range.node_offset + range.start).next_multiple_of(unit) - range.node_offset;
        let room = (range.start + range.length).saturating_sub(first).min(at_most);
        let mut segment = SEGMENT.next_multiple_of(unit);
        while let Some(half) = part(segment, 2, unit).filter(|_| segment * SEGMENTS > room) {
            segment = half;
        }
        if segment * SEGMENTS > room {
            return Err(format!(
                "{SEGMENTS} segments of at least {unit} bytes do not fit the {room} bytes that may be used"
            ));
        }
        Ok((unit, first, segment * SEGMENTS))
    }
}

/// A part of a length in whole units; `None` where that is none.
pub(super) fn part(length: u64, divisor: u64, unit: u64) -> Option<u64> {
    Some(length / divisor / unit * unit).filter(|part| *part > 0)
}
