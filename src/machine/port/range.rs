//! Where an act may write, and what: a range that was proved to be scratch, and the contents that a test gives to blocks.

use crate::machine::port::pattern;
use serde::{Deserialize, Serialize};

/// A byte range of a device that may be overwritten. **Made only in `measure/scratch.rs`**, from a proof; `tests/layers.rs`
/// holds that, since the fields must be plain for the range to cross a process border.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScratchRange {
    /// The node that is opened for writing: a partition that bounds the range, else the whole device.
    pub node: String,
    /// Its device number, checked after open.
    pub devnum: (u32, u32),
    /// The diskseq of the whole disk, checked after open where the kernel has it.
    pub diskseq: Option<u64>,
    /// Where the range starts on the node, in bytes.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The logical block size in bytes.
    pub logical_block: u64,
    /// The physical block size in bytes: what the medium changes as a whole.
    pub physical_block: u64,
    /// Where the node itself starts on the whole device, in bytes; patterns are numbered from the device's LBA 0.
    pub node_offset: u64,
}

impl ScratchRange {
    /// Whether the span lies in the range and on logical blocks.
    pub fn holds(&self, offset: u64, length: u64) -> bool {
        let block = self.logical_block.max(1);
        offset % block == 0
            && length % block == 0
            && length > 0
            && offset >= self.start
            && offset.checked_add(length).is_some_and(|end| end <= self.start.saturating_add(self.length))
    }
}

/// What filled the blocks of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fill {
    /// Incompressible bytes, unique for run, LBA and trial; never all zero in any 512 bytes.
    Pattern {
        /// The journalled seed of the run.
        seed: u64,
        /// The trial.
        trial: u64,
    },
    /// Zeroes, by ordinary writes.
    Zeroes,
    /// The witness of a run: the proof of the medium at recovery.
    Witness(pattern::RunId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_outside_the_range_are_not_held() {
        let r = ScratchRange {
            node: String::new(),
            devnum: (0, 0),
            diskseq: None,
            start: 4096,
            length: 8192,
            logical_block: 512,
            physical_block: 512,
            node_offset: 0,
        };
        assert!(r.holds(4096, 8192) && r.holds(11776, 512));
        for (offset, length) in
            [(0, 512), (4096, 8704), (4097, 512), (4096, 100), (4096, 0), (u64::MAX - 511, 512), (8192, u64::MAX)]
        {
            assert!(!r.holds(offset, length), "{offset} {length}");
        }
    }
}
