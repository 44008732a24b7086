//! GET LBA STATUS: which blocks of a disk are mapped (SBC-4 5.10.2). It only parses bytes and sends nothing.

use crate::facts::page::Page;

/// Length of the header: PARAMETER DATA LENGTH and reserved bytes.
const HEADER: usize = 8;
/// Length of one LBA status descriptor.
const DESCRIPTOR: usize = 16;

/// PROVISIONING STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Mapped, or the disk does not know.
    Mapped,
    /// Deallocated.
    Deallocated,
    /// Anchored, or a value of a later version: not mapped, and not known to be deallocated.
    Other,
}

/// One descriptor: blocks of one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first block.
    pub first: u64,
    /// The block after the last one.
    pub end: u64,
    /// What they are.
    pub status: Status,
}

/// The descriptors of a reply, up to the first that makes no sense. Less than the whole list may have been transferred.
pub fn extents(reply: &[u8]) -> Vec<Extent> {
    let page = Page(reply);
    let listed = page.be32(0).get().and_then(|n| usize::try_from(n).ok()).map_or(0, |n| n.saturating_add(4));
    let end = reply.len().min(listed);
    let one = |at: usize| {
        let (first, blocks) = (page.be64(at).get()?, u64::from(page.be32(at + 8).get()?));
        let status = match page.u8(at + 12).get()? & 0x0f {
            0 => Status::Mapped,
            1 => Status::Deallocated,
            _ => Status::Other,
        };
        Some(Extent { first, end: first.checked_add(blocks).filter(|_| blocks > 0)?, status })
    };
    (HEADER..).step_by(DESCRIPTOR).take_while(|at| at + DESCRIPTOR <= end).map_while(one).collect()
}

/// A reply with these descriptors (first block, blocks, status), for tests.
#[cfg(test)]
pub fn reply(descriptors: &[(u64, u32, u8)]) -> Vec<u8> {
    let mut bytes = vec![0u8; HEADER];
    bytes[..4].copy_from_slice(&(4 + 16 * descriptors.len() as u32).to_be_bytes());
    for (lba, blocks, status) in descriptors {
        bytes.extend(lba.to_be_bytes());
        bytes.extend(blocks.to_be_bytes());
        bytes.extend([*status, 0, 0, 0]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_read_as_far_as_they_make_sense() {
        let extent = |first, end, status| Extent { first, end, status };
        let bytes = reply(&[(8, 8, 0), (16, 1, 1), (17, 1, 2), (18, 0, 0), (18, 4, 0)]);
        let whole = [extent(8, 16, Status::Mapped), extent(16, 17, Status::Deallocated), extent(17, 18, Status::Other)];
        assert_eq!(extents(&bytes), whole);
        assert_eq!(extents(&bytes[..40]), whole[..2], "cut off");
        assert_eq!(extents(&reply(&[(u64::MAX, 8, 0)])), []);
        assert_eq!(extents(&[0; 23]), []);
        assert_eq!(extents(&[]), []);
    }
}
