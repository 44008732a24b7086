//! The calls that write, read and zero bytes of an open node, and nothing more: other code has decided what may be written.

use crate::machine::io;
use crate::machine::port::act_error::ActError;
use crate::machine::port::pattern;
use crate::machine::port::range::{Fill, ScratchRange};
use crate::machine::sys;
use crate::terms::Method;
use nvme_cli_sys as b;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::sync::Barrier;

/// Bytes of one O_DIRECT read or write.
pub(super) const CHUNK: usize = 1 << 20;
/// Writes in flight.
const DEPTH: usize = 8;

pub(super) fn act_os(e: Errno) -> ActError {
    ActError::Os(e.raw_os_error())
}

/// Writes the whole buffer at the offset, [`DEPTH`] chunks in flight; `started` is called when all writers are ready.
pub(super) fn write_parallel(
    fd: BorrowedFd<'_>,
    buffer: &[u8],
    offset: u64,
    started: impl FnOnce(),
) -> Result<(), ActError> {
    let chunks: Vec<(u64, &[u8])> =
        buffer.chunks(CHUNK).enumerate().map(|(i, c)| (offset + (i * CHUNK) as u64, c)).collect();
    let writers = DEPTH.min(chunks.len()).max(1);
    let gate = Barrier::new(writers + 1);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..writers)
            .map(|w| {
                let (gate, chunks) = (&gate, &chunks);
                scope.spawn(move || {
                    gate.wait();
                    gate.wait();
                    chunks.iter().skip(w).step_by(writers).try_for_each(|(at, chunk)| write_all(fd, chunk, *at))
                })
            })
            .collect();
        // Twice: at the first all writers are ready, at the second they start.
        gate.wait();
        started();
        gate.wait();
        handles.into_iter().try_for_each(|h| h.join().unwrap_or(Err(act_os(Errno::IO))))
    })
}

pub(super) fn write_all(fd: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> Result<(), ActError> {
    io::write_all(fd, bytes, offset).map_err(act_os)
}

pub(super) fn read_all(fd: BorrowedFd<'_>, bytes: &mut [u8], offset: u64) -> Result<(), ActError> {
    io::read_all(fd, bytes, offset).map_err(act_os)
}

/// Fills a buffer with what an act of this fill writes at `offset` of the range's node.
pub fn fill_buffer(buffer: &mut [u8], fill: Fill, range: &ScratchRange, offset: u64) {
    match fill {
        Fill::Zeroes => buffer.fill(0),
        Fill::Pattern { seed, trial } => pattern::fill(buffer, seed, trial, range.node_offset + offset),
        Fill::Witness(run) => pattern::fill_witness(buffer, run, range.node_offset + offset),
    }
}

/// One zeroing call over the span.
pub(super) fn zero(fd: BorrowedFd<'_>, method: Method, offset: u64, length: u64) -> Result<(), ActError> {
    let fallocate = |mode: u32| rustix::fs::fallocate(fd, FallocateFlags::from_bits_retain(mode), offset, length);
    match method {
        Method::PunchHole => fallocate(b::FALLOC_FL_PUNCH_HOLE | b::FALLOC_FL_KEEP_SIZE),
        Method::WriteZeroes => fallocate(b::FALLOC_FL_WRITE_ZEROES),
        Method::ZeroRange => fallocate(b::FALLOC_FL_ZERO_RANGE),
        Method::BlkZeroOut => sys::zero_out(fd, offset, length),
        Method::BlkDiscard => sys::discard(fd, offset, length),
        Method::Write => Err(Errno::INVAL),
    }
    .map_err(act_os)
}
