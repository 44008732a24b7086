//! `zerocap is-zero`: reads a device or partition whole, and names the first block that is not zero.

use crate::device::display::escape_str;
use crate::error::{exit, Error, Result};
use crate::machine::block::devices;
use crate::machine::block::read_zero;
use crate::machine::Roots;
use crate::units::rate;
use serde::Serialize;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IsZero {
    /// The node that was read.
    pub node: String,
    /// Whether every byte is zero.
    pub zero: bool,
    /// The first logical block that is not, counted from 0; null where all are zero.
    pub first_nonzero_block: Option<u64>,
    /// The first byte that is not zero.
    pub first_nonzero_byte: Option<u64>,
    /// The logical block in bytes.
    pub block_bytes: u64,
    /// The size of the node in bytes.
    pub size_bytes: u64,
    /// What was read, in bytes.
    pub read_bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Bytes per second; null where it took no time.
    pub read_bytes_per_second: Option<u64>,
}

impl IsZero {
    /// 0 where all is zero, 7 where not: nothing failed, but what was asked for does not hold.
    pub fn code(&self) -> u8 {
        if self.zero {
            exit::OK
        } else {
            exit::REQUIREMENT
        }
    }
}

/// Reads the node that was named: a partition is read itself. `tell`: bytes read so far, and the size.
pub fn run(roots: &Roots, typed: &str, tell: &mut dyn FnMut(u64, u64)) -> Result<IsZero> {
    let target = devices::resolve(&roots.system, typed)?;
    if !roots.is_live() {
        return Err(Error::Usage(format!(
            "{}: a recorded machine has no content to read; leave --root out",
            escape_str(typed)
        )));
    }
    let node = target.partition.map_or_else(|| target.device.node(), |p| p.node());
    let scan = read_zero::scan(&node, tell)?;
    Ok(IsZero {
        node: escape_str(&node),
        zero: scan.first.is_none(),
        first_nonzero_block: scan.first.map(|byte| byte / scan.block),
        first_nonzero_byte: scan.first,
        block_bytes: scan.block,
        size_bytes: scan.size,
        read_bytes: scan.read,
        seconds: scan.took.as_secs_f64(),
        read_bytes_per_second: rate(scan.read, scan.took),
    })
}
