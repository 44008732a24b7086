//! A scratch range that does not touch the system.

use crate::machine::port::ScratchRange;

/// A range of a simulated device, all of it: no system is touched. Used by tests and by `selftest` without loop devices.
pub fn simulated(bytes: u64) -> ScratchRange {
    ScratchRange {
        node: "simulated".to_owned(),
        devnum: (0, 0),
        diskseq: None,
        start: 0,
        length: bytes,
        logical_block: 512,
        physical_block: 512,
        node_offset: 0,
    }
}
