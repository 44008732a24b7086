//! `zerocap is-zero`: reads a whole device or partition, and names the first block that is not zero.

use crate::device::display::escape_str;
use crate::error::{exit, Error, Result};
use crate::machine::block::named;
use crate::machine::block::read_zero;
use crate::machine::Roots;
use crate::units::rate;
use verdict_format::answers::IsZero;
use verdict_format::{Kind, FORMAT};

/// The exit code: 0 where all is zero, 7 where not: nothing failed, but what was asked for does not hold.
pub fn code(answer: &IsZero) -> u8 {
    if answer.zero {
        exit::OK
    } else {
        exit::REQUIREMENT
    }
}

/// Reads the node that was named: a partition is read itself. `tell`: bytes read so far, and the size.
pub fn run(roots: &Roots, typed: &str, tell: &mut dyn FnMut(u64, u64)) -> Result<IsZero> {
    let target = named::resolve(&roots.system, typed)?.target;
    if !roots.is_live() {
        return Err(Error::Usage(format!(
            "{}: a recorded machine has no content to read; leave out --root",
            escape_str(typed)
        )));
    }
    let node = target.partition.map_or_else(|| target.device.node(), |p| p.node());
    let scan = read_zero::scan(&node, tell)?;
    Ok(IsZero {
        format: FORMAT,
        kind: Kind::IsZero,
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
