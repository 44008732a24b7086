//! What a run may use: which bytes, how many, how long. Pure.

use crate::machine::port::ScratchRange;
use crate::measure::trial::{LEAST_PAIRS, SEGMENT, SEGMENTS};
use crate::terms::Method;
use crate::units::Nanos;

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
    /// What all offsets and lengths are multiples of, where so much is deallocated at once.
    pub fn unit(range: &ScratchRange, granularity: u64) -> u64 {
        granularity.max(range.logical_block).max(512)
    }

    /// First byte and length of the largest span of the range that the test will use; `Err` says why there is none.
    pub fn span(range: &ScratchRange, unit: u64, at_most: u64, max_bytes: u64) -> Result<(u64, u64), String> {
        // Only pairs of one unit each could be paid for, and too few of them.
        if unit.saturating_mul(LEAST_PAIRS) > max_bytes {
            return Err(format!(
                "{LEAST_PAIRS} pairs of at least {unit} bytes do not fit the {max_bytes} bytes of the budget (--max-bytes)"
            ));
        }
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
        Ok((first, segment * SEGMENTS))
    }
}

/// A part of a length in whole units; `None` where that is none.
pub(crate) fn part(length: u64, divisor: u64, unit: u64) -> Option<u64> {
    Some(length / divisor / unit * unit).filter(|part| *part > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::scratch::simulated;
    use crate::units::MIB;

    #[test]
    fn segments_of_whole_granules_where_four_fit_and_the_budget_pays_for_enough_pairs() {
        let span = |length, granularity, at_most, max_bytes| {
            let range = simulated(length);
            Plan::span(&range, Plan::unit(&range, granularity), at_most, max_bytes)
        };
        let budget = 512 * MIB;
        assert_eq!(span(1024 * MIB, 4096, u64::MAX, budget), Ok((0, 64 * MIB)));
        assert_eq!(span(32 * MIB, 0, u64::MAX, budget), Ok((0, 32 * MIB)));
        // 32 MiB are four segments of 8 MiB; a byte less are not.
        assert_eq!(span(32 * MIB, 8 * MIB, u64::MAX, budget), Ok((0, 32 * MIB)));
        assert!(
            span(32 * MIB - 512, 8 * MIB, u64::MAX, budget).is_err_and(|why| why.contains("do not fit the 33553920"))
        );
        assert!(span(1024 * MIB, 24 * MIB, 64 * MIB, budget).is_err_and(|why| why.contains("4 segments of at least")));
        // A segment of a large granule is longer than the usual one.
        assert_eq!(span(1024 * MIB, 24 * MIB, u64::MAX, budget), Ok((0, 96 * MIB)));
        assert_eq!(span(1024 * MIB, 8 * MIB, u64::MAX, 13 * 8 * MIB), Ok((0, 64 * MIB)));
        assert!(span(1024 * MIB, 8 * MIB, u64::MAX, 13 * 8 * MIB - 1).is_err_and(|why| why.contains("13 pairs")));
    }
}
