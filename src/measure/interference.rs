//! The effect of zeroing on other users of the device: the latency of single reads and writes at random places of the scratch
//! range, one at a time, without and with zeroing of the other half of the range. It gives figures and no class.
//!
//! The load uses the same node as the zeroing, like another user of the same disk or partition. So the cost of the kernel's
//! own locks of the node is included.

use crate::machine::port::load::{Background, Load, Loaded};
use crate::machine::port::{Act, ActError, Done};
use crate::measure::order::DECIDING;
use crate::measure::outcome::End;
use crate::measure::range_io::{Spans, Stop};
use crate::units::{Nanos, MIB};

/// Bytes of one read or write, where the device's block is no larger.
const BLOCK: u64 = 4096;
/// Bytes of one zeroing call, where the granularity is no larger.
const CHUNK: u64 = MIB;
/// Rounds at most, for reads and for writes each,
const ROUNDS: u64 = 16;
/// and latencies that are enough for a p99.
const ENOUGH: usize = 2000;
/// A round ends after this, with or without zeroing.
const LONGEST: Nanos = Nanos::from_secs(2);
/// A round without zeroing runs at least this long.
const SHORTEST: Nanos = Nanos(20_000_000);

/// What it may use: bytes that are journalled.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// First byte on the node.
    pub start: u64,
    /// Bytes; the load goes to the first half, zeroing to the second.
    pub length: u64,
    /// Offsets and lengths of zeroing are multiples of this.
    pub unit: u64,
    /// For all of it.
    pub max_time: Nanos,
}

/// Latencies of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latencies {
    /// How many.
    pub count: u64,
    /// Half took no longer.
    pub p50: Nanos,
    /// 99 of 100 took no longer.
    pub p99: Nanos,
    /// The longest.
    pub max: Nanos,
    /// Bytes moved, and the time.
    pub moved: (u64, Nanos),
}

/// What came of it: without and with zeroing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Reads.
    pub read: (Latencies, Latencies),
    /// Writes.
    pub write: (Latencies, Latencies),
    /// Bytes zeroed and the time that took beside the load.
    pub zeroed: (u64, Nanos),
}

/// Runs it. The load's half holds data.
pub fn run(spans: &mut Spans<'_>, plan: &Plan) -> Result<Outcome, Stop> {
    let mut out = Outcome::default();
    let start = spans.port.now();
    out.read = kind(spans, plan, false, start, &mut out.zeroed)?;
    out.write = kind(spans, plan, true, start, &mut out.zeroed)?;
    Ok(out)
}

fn kind(
    spans: &mut Spans<'_>,
    plan: &Plan,
    write: bool,
    start: Nanos,
    zeroed: &mut (u64, Nanos),
) -> Result<(Latencies, Latencies), Stop> {
    let half = plan.length / 2 / plan.unit * plan.unit;
    let block = BLOCK.max(spans.range.logical_block);
    let (mut without, mut with) = (Gathered::default(), Gathered::default());
    // Reads get half of the time, so that writes get theirs.
    let most = if write { plan.max_time.0 } else { plan.max_time.0 / 2 };
    for round in 0..ROUNDS {
        if round > 0 && (spans.port.now().since(start).0 >= most || with.latencies.len() >= ENOUGH) {
            break;
        }
        let zero_at = plan.start + half;
        spans.write(zero_at, half, DECIDING)?;
        let chunk = CHUNK.next_multiple_of(plan.unit);
        let zeroing = Some(Background { method: DECIDING, offset: zero_at, length: half, chunk });
        let load = Load { offset: plan.start, length: half, write, block, seed: spans.seed, time: LONGEST, zeroing };
        let beside = loaded(spans, load)?;
        spans.verify(DECIDING, zero_at, beside.zeroed)?;
        *zeroed = (zeroed.0 + beside.zeroed, Nanos(zeroed.1 .0 + beside.zeroing.0));
        let time = beside.elapsed.max(SHORTEST);
        with.add(beside, block);
        without.add(loaded(spans, Load { zeroing: None, time, ..load })?, block);
    }
    if write {
        spans.written += (without.latencies.len() + with.latencies.len()) as u64 * block;
    }
    Ok((without.summed_up(), with.summed_up()))
}

fn loaded(spans: &mut Spans<'_>, load: Load) -> Result<Loaded, End> {
    let operation = "a load beside zeroing";
    let no_answer =
        || End::Failed(operation.to_owned(), ActError::Protocol("the acting process gave no figures".to_owned()));
    match spans.act(operation, DECIDING, &Act::Load(load))?.1 {
        Done::Bytes(bytes) => Loaded::decode(&bytes).ok_or_else(no_answer),
        _ => Err(no_answer()),
    }
}

#[derive(Default)]
struct Gathered {
    latencies: Vec<u64>,
    moved: (u64, Nanos),
}

impl Gathered {
    fn add(&mut self, loaded: Loaded, block: u64) {
        self.moved.0 += loaded.latencies.len() as u64 * block;
        self.moved.1 .0 += loaded.elapsed.0;
        self.latencies.extend(loaded.latencies);
    }

    fn summed_up(mut self) -> Latencies {
        self.latencies.sort_unstable();
        let count = self.latencies.len();
        // Nearest rank: the least latency that so many per cent do not exceed.
        let rank = |percent: usize| {
            let at = (count * percent).div_ceil(100).saturating_sub(1);
            Nanos(self.latencies.get(at).copied().unwrap_or(0))
        };
        Latencies { count: count as u64, p50: rank(50), p99: rank(99), max: rank(100), moved: self.moved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut gathered = Gathered::default();
        gathered.add(Loaded { elapsed: Nanos(9), latencies: (1..=100).rev().collect(), ..Loaded::default() }, 4096);
        let l = gathered.summed_up();
        assert_eq!((l.count, l.p50, l.p99, l.max), (100, Nanos(50), Nanos(99), Nanos(100)));
        assert_eq!(l.moved, (409_600, Nanos(9)));
        assert_eq!(Gathered::default().summed_up(), Latencies::default());
    }
}
