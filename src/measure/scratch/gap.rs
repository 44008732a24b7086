//! `gap`: unused space between the partitions of a GPT or an MBR. It decides which bytes are used; it makes no range, and the
//! caller proves the bytes like any others.
//!
//! Bytes count as used if any of these says so: the kernel's partitions, the entries and reserved areas of both copies of the
//! table, and 16 MiB at each end of the device, where boot loaders and RAID metadata lie outside of any table. What was once
//! used and is now in no table may still be needed by somebody, so the bytes of a test must read as zero.

use super::checks::Checks;
use super::proof::Asked;
use crate::error::Result;
use crate::machine::block::devices::Partition;
use crate::measure::partition_table::{Table, TableKind};
use crate::measure::plan::GUARD;
use crate::measure::plan::{FILLED, SEGMENT};
use crate::measure::trial::SEGMENTS;
use crate::units::{human_bytes, MIB};

/// Left alone at each end of the device.
const MARGIN: u64 = 16 * MIB;
/// Gaps that are read before it gives up.
const MOST_READ: usize = 8;

/// First byte and length of the bytes to use.
pub(super) fn find(
    checks: &mut Checks,
    on: &Asked<'_>,
    partitions: &[Partition],
    granularity: u64,
    most: u64,
) -> Result<(u64, u64)> {
    let disk = on.opened;
    let table = Table::read(disk.size, disk.logical_block, &mut |at, n| on.hold.read_at(at, n));
    checks.require(table.intact(), "the partition table is intact", || {
        let why = match (&table.kind, table.notes.first()) {
            (TableKind::Gpt | TableKind::Mbr, Some(note)) => note.clone(),
            (kind, _) => format!("it has {}", kind.noun()),
        };
        format!("`gap` needs an intact GPT or MBR: {why}; name OFFSET+LENGTH instead")
    })?;
    let kernel = partitions.iter().map(|p| (p.start, p.start.saturating_add(p.length)));
    let entries = table.entries.iter().map(|e| (e.first_byte, e.end_byte));
    let reserved = table.reserved.iter().map(|s| (s.first_byte, s.end_byte));
    let unit = granularity.max(disk.physical_block).max(disk.logical_block).max(512);
    let gaps = usable(free(disk.size, kernel.chain(entries).chain(reserved).collect()), unit, most);
    checks.require(!gaps.is_empty(), "there is a gap that no partition, entry or table uses", || {
        format!(
            "no gap between its partitions is long enough for {SEGMENTS} segments of {unit} bytes (the first and the \
             last 16 MiB of the device are not used)"
        )
    })?;
    for (start, length) in gaps.into_iter().take(MOST_READ) {
        match on.hold.first_not_zero(start, length)? {
            None => {
                checks.lines.push(format!("the gap at byte {start} reads as zero for {}", human_bytes(length)));
                return Ok((start, length));
            }
            Some(at) => {
                checks.lines.push(format!("the gap at byte {start} is not used, because byte {at} is not zero"))
            }
        }
    }
    checks.refuse("every gap between its partitions holds data; give OFFSET+LENGTH if that data is not needed")
}

/// What a test uses where there is room.
pub(super) fn wanted(unit: u64) -> u64 {
    (FILLED * SEGMENT.next_multiple_of(unit) + 4 * MIB).max(least(unit))
}

/// The least that a test can use: segments of one unit each, and at either end a guard and a block of the witness.
pub(super) fn least(unit: u64) -> u64 {
    SEGMENTS * unit + 2 * (GUARD.max(unit) + unit)
}

/// What nothing lays claim to between the margins, as first byte and byte after the last.
fn free(size: u64, mut taken: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let end = size.saturating_sub(MARGIN);
    taken.push((end, u64::MAX));
    taken.sort_unstable();
    let mut gaps = Vec::new();
    let mut at = MARGIN;
    for (first, after) in taken {
        if first > at {
            gaps.push((at, first));
        }
        at = at.max(after);
    }
    gaps
}

/// The part of each gap that a test would use, as first byte and length; the largest gap first.
fn usable(gaps: Vec<(u64, u64)>, unit: u64, most: u64) -> Vec<(u64, u64)> {
    let step = MIB.next_multiple_of(unit);
    let wanted = wanted(unit).min(most / unit * unit);
    let mut found: Vec<(u64, u64, u64)> = gaps
        .into_iter()
        .filter_map(|(first, after)| {
            let start = first.checked_next_multiple_of(step)?;
            let room = after.checked_sub(start)? / unit * unit;
            let length = wanted.min(room);
            (length >= least(unit)).then_some((room, start, length))
        })
        .collect();
    found.sort_by_key(|(room, start, _)| (std::cmp::Reverse(*room), *start));
    found.into_iter().map(|(_, start, length)| (start, length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_largest_gap_comes_first_and_no_used_byte_is_in_it() {
        let taken = vec![(0, 17408), (MIB, 100 * MIB), (50 * MIB, 60 * MIB), (300 * MIB, 400 * MIB)];
        let gaps = free(GIB, taken);
        assert_eq!(gaps, [(100 * MIB, 300 * MIB), (400 * MIB, GIB - MARGIN)]);
        assert_eq!(usable(gaps.clone(), 4096, u64::MAX), [(400 * MIB, 52 * MIB), (100 * MIB, 52 * MIB)]);
        assert_eq!(usable(gaps.clone(), 4096, 10 * MIB)[0], (400 * MIB, 10 * MIB));
        assert_eq!(usable(gaps, 64 * MIB, u64::MAX), [(448 * MIB, 512 * MIB)]);
        assert!(free(2 * MARGIN, Vec::new()).is_empty());
        assert!(free(MIB, Vec::new()).is_empty());
    }

    proptest! {
        #[test]
        fn no_claimed_byte_is_ever_used(
            size in 0u64..4 * GIB,
            taken in proptest::collection::vec((0u64..4 * GIB, 0u64..GIB), 0..12),
            unit in proptest::sample::select(vec![512u64, 4096, 1 << 20, 3 << 20]),
        ) {
            let taken: Vec<(u64, u64)> = taken.into_iter().map(|(start, n)| (start, start + n)).collect();
            for (start, length) in usable(free(size, taken.clone()), unit, u64::MAX) {
                prop_assert!(start >= MARGIN && start + length + MARGIN <= size);
                prop_assert!(start % unit == 0 && length >= least(unit));
                for (first, after) in &taken {
                    prop_assert!(start + length <= *first || start >= *after || first == after);
                }
            }
        }
    }
}
