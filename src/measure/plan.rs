//! What a run may use: which bytes, how many, and how much time. It is pure.

use crate::machine::port::ScratchRange;
use crate::terms::Method;
use crate::units::{Nanos, MIB};

/// The segment where nothing speaks against it. 13 pairs of it, each written three times, and a stretch of [`SUSTAINED`],
/// written six times, fit the default byte budget of 2 GiB, with fill, screening and put-back.
pub const SEGMENT: u64 = 6 * MIB;
/// Bytes of each part of the long stretch, where nothing else is asked for and the budgets allow it.
pub const SUSTAINED: u64 = 256 * MIB;
/// Segments that are filled, where the range has them: the four of the pairs, and those that only the long stretch uses.
pub const FILLED: u64 = 8;
/// Segments: a pair needs one to write, one to zero, and two that were written earlier.
pub const SEGMENTS: u64 = 4;
/// Fewer pairs than this decide nothing, whatever they say.
pub const LEAST_PAIRS: u64 = 13;

/// What the run may use.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The journalled seed.
    pub seed: u64,
    /// Offsets and lengths are multiples of this on the whole device, in bytes.
    pub unit: u64,
    /// First byte on the node, and bytes from there, that the segments fill: all of it is journalled.
    pub start: u64,
    /// See above.
    pub length: u64,
    /// Bytes from `start` on that the long stretch may use: the segments and more.
    pub area: u64,
    /// The block that the medium changes as a whole, in bytes: the least that is zeroed.
    pub block: u64,
    /// Bytes that the put-back will write: they count against `max_bytes`.
    pub put_back: u64,
    /// Bytes of each part of the long stretch that are wanted.
    pub sustained: u64,
    /// From this ratio on zeroing is fast.
    pub fast_ratio: f64,
    /// Bytes that are written in all.
    pub max_bytes: u64,
    /// Time for everything before the put-back.
    pub max_time: Nanos,
    /// The method that the class is about.
    pub deciding: Method,
    /// Methods that are not tried, and why not (`gated`, an older kernel).
    pub not_tried: Vec<(Method, String)>,
    /// Trials count from here: no pattern is written twice under one seed.
    pub first_trial: u64,
    /// The other methods that are screened, in this order.
    pub screened: &'static [Method],
}

/// Zeroing keeps this far away from the blocks of the witness, where the granularity is no larger.
pub const GUARD: u64 = MIB;

/// Where a test works: what is journalled, and what the segments fill inside of it. Bytes on the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// First byte and length of the journalled span: a block of the witness, a guard, the area, a guard, a block of the
    /// witness.
    pub span: (u64, u64),
    /// First byte of the area.
    pub start: u64,
    /// Bytes of the area that the segments fill.
    pub segments: u64,
    /// Bytes of the whole area.
    pub area: u64,
}

impl Layout {
    /// What all offsets and lengths are multiples of, where so much is deallocated at once.
    pub fn unit(range: &ScratchRange, granularity: u64) -> u64 {
        granularity.max(block(range))
    }

    /// The largest layout that the range allows with at most so many bytes of it; `long`: bytes that the area should have
    /// where there is room. `Err` says why there is none.
    pub fn of(
        range: &ScratchRange,
        (unit, guard): (u64, u64),
        at_most: u64,
        max_bytes: u64,
        long: u64,
    ) -> Result<Layout, String> {
        // Only pairs of one unit each could be paid for, and too few of them.
        if unit.saturating_mul(3 * LEAST_PAIRS) > max_bytes {
            return Err(format!(
                "the test needs {LEAST_PAIRS} pairs of at least {unit} bytes, each written three times, and that is \
                 more than the budget of {max_bytes} bytes; allow more with --max-bytes"
            ));
        }
        // Multiples of block and granularity count from the device's LBA 0, not from the node's start.
        let up = |at: u64, to: u64| (range.node_offset + at).next_multiple_of(to) - range.node_offset;
        let block = block(range);
        let first = up(range.start, block);
        let room = (range.start + range.length).saturating_sub(first).min(at_most) / block * block;
        let start = up(first + block + guard, unit);
        let inner = (first + room).saturating_sub(start + guard + block);
        let segment = SEGMENT.next_multiple_of(unit).min(inner / SEGMENTS / unit * unit);
        // Whole mebibytes, where there are any: rates and hints speak of them.
        let segment = if segment > MIB && MIB % unit == 0 { segment / MIB * MIB } else { segment };
        if segment == 0 {
            return Err(format!(
                "the test needs {SEGMENTS} segments of at least {unit} bytes, and a block and {guard} bytes at \
                 either end, and that is more than the {room} bytes that may be used"
            ));
        }
        let segments = segment * SEGMENTS;
        let area = segments.max(long.min(inner) / unit * unit);
        let end = up(start + area + guard, block) + block;
        Ok(Layout { span: (first, end - first), start, segments, area })
    }
}

/// What the medium changes as a whole, in bytes.
pub fn block(range: &ScratchRange) -> u64 {
    range.physical_block.max(range.logical_block).max(512)
}

/// A part of a length in whole units; `None` where that is none.
pub(crate) fn part(length: u64, divisor: u64, unit: u64) -> Option<u64> {
    Some(length / divisor / unit * unit).filter(|part| *part > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::scratch::simulated;
    use proptest::prelude::*;

    fn layout(length: u64, granularity: u64, at_most: u64, max_bytes: u64) -> Result<Layout, String> {
        let range = simulated(length);
        let unit = Layout::unit(&range, granularity);
        Layout::of(&range, (unit, GUARD.max(granularity)), at_most, max_bytes, 0)
    }

    #[test]
    fn segments_are_whole_granules_that_fit_four_times_between_the_guards() {
        let budget = 2048 * MIB;
        let roomy = layout(1024 * MIB, 4096, u64::MAX, budget).unwrap();
        assert_eq!(roomy.segments, 24 * MIB);
        assert_eq!((roomy.span.0, roomy.start), (0, MIB + 4096));
        assert_eq!(layout(16 * MIB, 4096, u64::MAX, budget).unwrap().segments, 12 * MIB);
        assert_eq!(layout(1024 * MIB, 4096, 16 * MIB, budget).unwrap().segments, 12 * MIB);
        assert_eq!(layout(4 * MIB, 0, u64::MAX, budget).unwrap().segments, 2_095_104);
        assert!(layout(2 * MIB, 0, u64::MAX, budget).is_err_and(|why| why.contains("more than the 2097152")));
        assert!(layout(1024 * MIB, 24 * MIB, 64 * MIB, budget).is_err_and(|why| why.contains("4 segments of at least")));
        // A segment of a large granule is longer than the usual one.
        assert_eq!(layout(1024 * MIB, 24 * MIB, u64::MAX, budget).unwrap().segments, 96 * MIB);
        assert!(layout(1024 * MIB, 8 * MIB, u64::MAX, 39 * 8 * MIB).is_ok());
        assert!(layout(1024 * MIB, 8 * MIB, u64::MAX, 39 * 8 * MIB - 1).is_err_and(|why| why.contains("13 pairs")));
    }

    proptest! {
        #[test]
        fn zeroing_stays_away_from_the_witness_and_all_inside_the_range(
            node_offset in 0u64..1 << 40,
            start in 0u64..1 << 20,
            length in 0u64..512 * MIB,
            shift in 9u32..13,
            granularity in proptest::sample::select(vec![0u64, 4096, 1 << 20, 3 << 20, 24 << 20]),
            long in 0u64..512 * MIB,
        ) {
            let physical_block = 1u64 << shift;
            let (node_offset, start) = (node_offset / 512 * 512, start / 512 * 512);
            let range = ScratchRange { node_offset, start, length, physical_block, ..simulated(0) };
            let (unit, guard) = (Layout::unit(&range, granularity), GUARD.max(granularity));
            if let Ok(l) = Layout::of(&range, (unit, guard), u64::MAX, u64::MAX, long) {
                let (first, span) = l.span;
                prop_assert!(first >= start && first + span <= start + length);
                prop_assert!((node_offset + first) % physical_block == 0 && span % physical_block == 0);
                prop_assert!((node_offset + l.start) % unit == 0 && l.segments % unit == 0 && l.area % unit == 0);
                prop_assert!(l.start >= first + physical_block + guard);
                prop_assert!(l.start + l.area + guard + physical_block <= first + span);
                prop_assert!(l.segments <= l.area && l.segments >= SEGMENTS * unit);
            }
        }
    }
}
