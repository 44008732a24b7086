//! A steady load beside zeroing, inside a scratch range: one reader or writer of single blocks at random places, and one
//! zeroing call after another, until the zeroing is done or the time is up.

use crate::machine::io::Aligned;
use crate::machine::port::act_error::ActError;
use crate::machine::port::calls::zero;
use crate::machine::port::pattern;
use crate::machine::port::range::ScratchRange;
use crate::terms::Method;
use crate::units::Nanos;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is to run. Offsets are bytes on the range's node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Where the load goes.
    pub offset: u64,
    /// How much of it.
    pub length: u64,
    /// Writes instead of reads.
    pub write: bool,
    /// Bytes of one of them.
    pub block: u64,
    /// Of places and pattern.
    pub seed: u64,
    /// Without zeroing: how long; with: at most.
    pub time: Nanos,
    /// What is zeroed meanwhile.
    pub zeroing: Option<Background>,
}

/// Zeroing in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// By which call.
    pub method: Method,
    /// Where.
    pub offset: u64,
    /// How much.
    pub length: u64,
    /// Bytes of one call.
    pub chunk: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    /// How long the load ran.
    pub elapsed: Nanos,
    /// Bytes zeroed, from the start of the span on.
    pub zeroed: u64,
    /// How long that took.
    pub zeroing: Nanos,
    /// The latency of each read or write, in nanoseconds, in order.
    pub latencies: Vec<u64>,
}

impl Loaded {
    /// For the way across a process border.
    pub fn encode(&self) -> Vec<u8> {
        let head = [self.elapsed.0, self.zeroed, self.zeroing.0];
        head.iter().chain(&self.latencies).flat_map(|n| n.to_le_bytes()).collect()
    }

    /// The inverse.
    pub fn decode(bytes: &[u8]) -> Option<Loaded> {
        let mut words = bytes.chunks_exact(8).filter_map(|c| c.first_chunk::<8>()).map(|c| u64::from_le_bytes(*c));
        let (elapsed, zeroed, zeroing) = (Nanos(words.next()?), words.next()?, Nanos(words.next()?));
        Some(Loaded { elapsed, zeroed, zeroing, latencies: words.collect() })
    }
}

fn since(from: Instant) -> u64 {
    u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Runs it.
pub(super) fn run(fd: BorrowedFd<'_>, range: &ScratchRange, load: &Load) -> Result<Loaded, ActError> {
    let over = AtomicBool::new(false);
    let until = Instant::now() + Duration::from_nanos(load.time.0);
    std::thread::scope(|scope| {
        let background = load.zeroing.map(|work| {
            let over = &over;
            scope.spawn(move || {
                let done = background(fd, work, until);
                over.store(true, Ordering::Relaxed);
                done
            })
        });
        let from = Instant::now();
        let latencies = foreground(fd, range, load, until, &over);
        let elapsed = Nanos(since(from));
        // The load has ended, by time or by an error: so does the zeroing, after its call.
        over.store(true, Ordering::Relaxed);
        let (zeroed, zeroing) = match background.map(|b| b.join().unwrap_or(Err(ActError::Os(5)))) {
            Some(done) => done?,
            None => (0, Nanos(0)),
        };
        Ok(Loaded { elapsed, zeroed, zeroing, latencies: latencies? })
    })
}

fn background(fd: BorrowedFd<'_>, work: Background, until: Instant) -> Result<(u64, Nanos), ActError> {
    let from = Instant::now();
    let mut done = 0;
    while done < work.length && Instant::now() < until {
        let n = work.chunk.min(work.length - done);
        zero(fd, work.method, work.offset + done, n)?;
        // A chunk of nothing would never end.
        done += n.max(1);
    }
    rustix::fs::fdatasync(fd).map_err(|e| ActError::Os(e.raw_os_error()))?;
    Ok((done, Nanos(since(from))))
}

fn foreground(
    fd: BorrowedFd<'_>,
    range: &ScratchRange,
    load: &Load,
    until: Instant,
    over: &AtomicBool,
) -> Result<Vec<u64>, ActError> {
    let os = |e: Errno| ActError::Os(e.raw_os_error());
    let mut buffer = Aligned::zeroed(load.block as usize);
    let mut latencies = Vec::new();
    let mut dice = load.seed;
    // At least one: a zeroing that is over at once leaves a latency all the same.
    while latencies.is_empty() || Instant::now() < until && !over.load(Ordering::Relaxed) {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = load.offset + (dice >> 33) % (load.length / load.block).max(1) * load.block;
        // A block larger than the span would reach over its end, so each place is held against the range itself.
        if !range.holds(at, load.block) {
            return Err(ActError::Refused("outside the scratch range".to_owned()));
        }
        if load.write {
            // At its place and under the run's seed, so that recovery knows it for the test's own.
            pattern::fill(&mut buffer, load.seed, dice, range.node_offset + at);
        }
        let from = Instant::now();
        let n =
            if load.write { rustix::io::pwrite(fd, &buffer, at) } else { rustix::io::pread(fd, &mut buffer[..], at) };
        if n.map_err(os)? != buffer.len() {
            return Err(os(Errno::IO));
        }
        latencies.push(since(from));
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_encoded_and_decoded_between_processes() {
        let loaded = Loaded { elapsed: Nanos(1), zeroed: 2, zeroing: Nanos(3), latencies: vec![4, u64::MAX] };
        assert_eq!(Loaded::decode(&loaded.encode()), Some(loaded));
        assert_eq!(Loaded::decode(&[0; 23]), None);
    }
}
