//! Which blocks of the device are mapped, before the test and after the put-back, if the device says so: NVMe by NUSE, SCSI
//! by GET LBA STATUS of a unit with logical block provisioning. It only asks.

use crate::fact::Fact;
use crate::facts::nvme::fields::{NSZE, NUSE};
use crate::facts::scsi::lba_status::{self, Status};
use crate::facts::Facts;
use crate::machine::port::{Port, Question};
use crate::protocol::plan::Prepared;
use crate::protocol::Subject;
use crate::terms::FindingCode;
use crate::units::human_bytes;
use crate::verdict::measurement::TestFinding;

/// Questions at most: a range in more pieces is not compared.
const MOST_ASKED: usize = 1024;
/// What is mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// The device does not tell.
    Untold,
    /// Blocks in use of the whole namespace, and the bytes of one.
    Used(u64, u64),
    /// Of the range: first byte and length of each mapped piece, in order, joined.
    Pieces(Vec<(u64, u64)>),
}

/// Asks for what a test uses. A file system maps and unmaps blocks all the time: of a file nothing is told.
pub(crate) fn ask(port: &mut dyn Port, on: &Subject<'_>, prepared: &Prepared) -> Allocation {
    let range = &on.proof.range;
    let span = (range.node_offset + prepared.layout.span.0, prepared.layout.span.1);
    match on.proof.file {
        Some(_) => Allocation::Untold,
        None => of(port, on.facts, range.logical_block, span),
    }
}

/// Asks for the bytes `start+length` of the whole device.
pub(crate) fn of(port: &mut dyn Port, facts: &Facts, block: u64, (start, length): (u64, u64)) -> Allocation {
    let told = if facts.nvme().is_some() {
        used(port, facts).map(|blocks| Allocation::Used(blocks, block))
    } else if facts.scsi().is_some_and(|s| s.lbpme.is(true)) {
        pieces(port, facts, block.max(1), start, length).map(Allocation::Pieces)
    } else {
        None
    };
    told.unwrap_or(Allocation::Untold)
}

fn used(port: &mut dyn Port, facts: &Facts) -> Option<u64> {
    in_use(port.ask(&facts.device, Question::NvmeIdNs).ok()?)
}

/// NUSE of a page, the blocks in use; `None` for one that makes no sense. A controller that does not count them says the same
/// at all times (NCAP, where it is not made for thin provisioning), so a change tells by itself.
fn in_use(page: Vec<u8>) -> Option<u64> {
    let page = Fact::Known(page);
    NUSE.value(&page).get().filter(|used| NSZE.value(&page).get().is_some_and(|all| *used <= all))
}

fn pieces(port: &mut dyn Port, facts: &Facts, block: u64, start: u64, length: u64) -> Option<Vec<(u64, u64)>> {
    let (mut at, end) = (start / block, (start + length) / block);
    let mut found: Vec<(u64, u64)> = Vec::new();
    for _ in 0..MOST_ASKED {
        if at >= end {
            return Some(found);
        }
        let page = port.ask(&facts.device, Question::ScsiLbaStatus(at)).ok()?;
        let (next, mapped) = first_extent(&page, at)?;
        let next = next.min(end);
        if mapped {
            match found.last_mut() {
                Some((from, bytes)) if *from + *bytes == at * block => *bytes += (next - at) * block,
                _ => found.push((at * block, (next - at) * block)),
            }
        }
        at = next;
    }
    None
}

/// The LBA after the first extent, and whether it is mapped; `None` for a page that leads nowhere.
fn first_extent(page: &[u8], at: u64) -> Option<(u64, bool)> {
    let first = lba_status::extents(page).into_iter().next().filter(|e| e.first <= at && e.end > at)?;
    Some((first.end, first.status == Status::Mapped))
}

/// The finding, where both are told and differ.
pub(crate) fn changed(before: &Allocation, after: &Allocation) -> Option<TestFinding> {
    let text = match (before, after) {
        (Allocation::Used(before, block), Allocation::Used(after, _)) if before != after => {
            format!(
                "the namespace used {before} blocks of {block} bytes before the test and {after} after it (NUSE, \
                 which also counts other users of the namespace)"
            )
        }
        (Allocation::Pieces(before), Allocation::Pieces(after)) if before != after => {
            let sum = |pieces: &[(u64, u64)]| human_bytes(pieces.iter().map(|(_, n)| n).sum());
            format!(
                "{} of the tested range were mapped before the test in {} pieces, {} after it in {} (GET LBA STATUS)",
                sum(before),
                before.len(),
                sum(after),
                after.len()
            )
        }
        _ => return None,
    };
    Some(TestFinding { code: FindingCode::AllocationChanged, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_of_get_lba_status_are_parsed() {
        let page = |first, blocks, status| lba_status::reply(&[(first, blocks, status)]);
        assert_eq!(first_extent(&page(8, 8, 0), 10), Some((16, true)));
        assert_eq!(first_extent(&page(8, 8, 1), 8), Some((16, false)));
        for bad in [page(8, 0, 0), page(11, 8, 0), page(2, 8, 0), page(u64::MAX, 8, 0), vec![0; 23], Vec::new()] {
            assert_eq!(first_extent(&bad, 10), None);
        }
    }

    #[test]
    fn blocks_in_use_are_counted_by_nuse() {
        let page = |size: u64, used: u64| [size.to_le_bytes(), size.to_le_bytes(), used.to_le_bytes()].concat();
        assert_eq!(in_use(page(100, 40)), Some(40));
        assert_eq!(in_use(page(100, 100)), Some(100));
        assert_eq!(in_use(page(100, 101)), None, "more than there are");
        assert_eq!(in_use(page(100, 40)[..23].to_vec()), None);
    }

    #[test]
    fn allocation_is_compared_only_if_known_before_and_after() {
        let pieces = |n| Allocation::Pieces(vec![(0, n)]);
        assert!(changed(&pieces(4096), &pieces(4096)).is_none());
        assert!(changed(&pieces(4096), &Allocation::Untold).is_none());
        assert!(changed(&pieces(4096), &pieces(8192)).is_some_and(|f| f.text.contains("8 KiB after it")));
        assert!(changed(&Allocation::Used(1, 512), &Allocation::Used(2, 512)).is_some());
    }
}
