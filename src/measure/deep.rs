//! What only long spans show: a command of more blocks than its length field holds, whose tail must be zero too, and whether
//! zeroing is still faster on a span larger than a volatile cache. It gives figures and no class.
//!
//! NVMe Write Zeroes has 16 bits for a block count, 0's based: 65536 blocks (NVM Command Set 1.1, 3.3.8). A larger limit is a
//! mistake of the kernel or the device, and a device that cuts the count leaves old data in the tail.

use crate::measure::order::DECIDING;
use crate::measure::range_io::{Spans, Stop};
use crate::units::{Nanos, MIB};

/// Blocks that a 16-bit length holds.
const MOST_BLOCKS: u64 = 65536;
/// Behind them, so that there is a tail: a cut count leaves this.
const TAIL: u64 = 16 * MIB;
/// Past the cache of most devices without being long.
const PAST_CACHE: u64 = 256 * MIB;
/// Bytes of one call, as in the pairs.
const PIECE: u64 = 16 * MIB;

/// What it may use: bytes that are journalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// First byte on the node.
    pub start: u64,
    /// Bytes.
    pub length: u64,
    /// Of the long command; `None` where limit or range do not allow one.
    pub command: Option<u64>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes of the span.
    pub bytes: u64,
    /// Writing it over, written before.
    pub write: Nanos,
    /// Zeroing it.
    pub zero: Nanos,
    /// Of the long command, whose every byte was read back as zero.
    pub command: Option<u64>,
}

impl Plan {
    /// Bytes that it wants of a device whose commands have at most `limit` bytes.
    pub fn wanted(logical_block: u64, unit: u64, limit: u64) -> u64 {
        PAST_CACHE.max(long_command(logical_block, unit, limit).unwrap_or(0)).next_multiple_of(unit)
    }

    /// From the first byte of an area, as much as it wants and the area has; `limit`: bytes of one command.
    pub fn of(start: u64, area: u64, logical_block: u64, unit: u64, limit: u64) -> Plan {
        let length = Plan::wanted(logical_block, unit, limit).min(area / unit * unit);
        let beyond = MOST_BLOCKS * logical_block;
        let command = long_command(logical_block, unit, limit).map(|c| c.min(length)).filter(|c| *c > beyond);
        Plan { start, length, command }
    }
}

/// Bytes of one command over more blocks than a 16-bit length holds, and a tail behind them; `None` where the limit, at
/// which the kernel cuts a call, allows none.
fn long_command(logical_block: u64, unit: u64, limit: u64) -> Option<u64> {
    let beyond = MOST_BLOCKS * logical_block;
    let command = (beyond + TAIL).next_multiple_of(unit).min(limit / unit * unit);
    Some(command).filter(|c| *c > beyond)
}

/// Runs it; late where it does not come to its end by the time that the spans have.
pub fn run(spans: &mut Spans<'_>, plan: &Plan, unit: u64) -> Result<Outcome, Stop> {
    let piece = PIECE.next_multiple_of(unit);
    // Written once before, as the writes of the pairs are.
    spans.write(plan.start, plan.length, DECIDING)?;
    let write = spans.write(plan.start, plan.length, DECIDING)?;
    let zero = spans.zero(DECIDING, plan.start, plan.length, piece)?;
    if let Some(command) = plan.command {
        spans.write(plan.start, command, DECIDING)?;
        spans.zero(DECIDING, plan.start, command, command)?;
    }
    Ok(Outcome { bytes: plan.length, write, zero, command: plan.command })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::simulated::{Model, SimulatedPort, Zeroing};
    use crate::measure::outcome::{End, Wrong};
    use crate::measure::scratch::simulated;
    use crate::terms::Hazard;

    /// On a device that writes a MiB in a millisecond and zeroes it in a tenth; with so much time.
    fn deep(zeroing: Zeroing, until: Option<Nanos>) -> Result<Outcome, Stop> {
        let model = Model { zeroing, ..Model::steady(1_000_000, 100_000) };
        let mut port = SimulatedPort::new(model, vec![7; 64 << 20], 1);
        let range = simulated(64 << 20);
        let plan = Plan::of(0, 64 << 20, 512, 4096, u64::MAX);
        run(&mut Spans { port: &mut port, range: &range, seed: 7, trial: 0, written: 0, until }, &plan, 4096)
    }

    #[test]
    fn a_command_whose_count_is_cut_leaves_its_tail() {
        let good = deep(Zeroing::Real, None).unwrap();
        assert_eq!((good.bytes, good.command), (64 << 20, Some(48 << 20)));
        assert!(good.write > good.zero);
        let wrong = |zeroing| match deep(zeroing, None) {
            Err(Stop::End(End::Wrong(wrong))) => wrong,
            other => panic!("{other:?}"),
        };
        let Wrong { hazard, text, .. } = wrong(Zeroing::LieBeyond(MOST_BLOCKS));
        assert!(hazard == Hazard::OldDataLeft && text.contains("33554432"), "{text}");
        assert_eq!(wrong(Zeroing::FailsAfter(2)).hazard, Hazard::ZeroingError);
        assert_eq!(wrong(Zeroing::Hangs).hazard, Hazard::NoAnswer);
    }

    #[test]
    fn a_deep_run_is_incomplete_if_any_phase_is_late() {
        // Two writes of 64 ms, zeroing of 6.4 ms, reading of 32 ms, then the long command.
        for ms in [0, 40, 100, 130, 150, 200] {
            assert_eq!(deep(Zeroing::Real, Some(Nanos(ms * 1_000_000))), Err(Stop::Late), "{ms}");
        }
        assert!(deep(Zeroing::Real, Some(Nanos(1_000_000_000))).is_ok());
    }

    #[test]
    fn the_long_command_is_as_long_as_limit_and_range_allow() {
        let of = |room, limit| {
            let plan = Plan::of(0, room, 512, 4096, limit);
            (plan.length, plan.command)
        };
        assert_eq!(of(1 << 30, u32::MAX.into()), (256 * MIB, Some(48 * MIB)));
        assert_eq!(of(1 << 30, 32 * MIB), (256 * MIB, None), "a limit of 65536 blocks");
        assert_eq!(of(1 << 30, 33 * MIB), (256 * MIB, Some(33 * MIB)));
        assert_eq!(of(64 * MIB, u32::MAX.into()), (64 * MIB, Some(48 * MIB)));
        assert_eq!(of(32 * MIB, u32::MAX.into()), (32 * MIB, None));
    }
}
