//! Calls one after another over a part of a long stretch, each timed, with one fdatasync at the end of a pass. A program that
//! zeroes much does this, instead of bursts with a flush each. This file has the form and the live act.

use crate::machine::io::Aligned;
use crate::machine::port::act_error::ActError;
use crate::machine::port::calls::{act_os, fill_buffer, write_parallel, zero};
use crate::machine::port::range::{Fill, ScratchRange};
use crate::terms::Method;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::os::fd::BorrowedFd;

/// What each call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Does {
    /// Ordinary O_DIRECT writes.
    Write(Fill),
    /// A zeroing call.
    Zero(Method),
}

impl Does {
    /// Whether zeroes are what is left.
    pub fn leaves_zeroes(self) -> bool {
        matches!(self, Does::Zero(_) | Does::Write(Fill::Zeroes))
    }
}

/// The act: see [`Act::Stretch`](crate::machine::port::Act::Stretch).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Where, in bytes on the range's node.
    pub offset: u64,
    /// How much.
    pub length: u64,
    /// Bytes of a call.
    pub call: u64,
    /// What a call does.
    pub does: Does,
    /// Whether this is the end of a pass: fdatasync, in the time of the act and of no call.
    pub flush: bool,
}

impl Stretch {
    /// The calls: offset and length.
    pub fn calls(self) -> impl Iterator<Item = (u64, u64)> {
        let call = self.call.max(1);
        (0..self.length.div_ceil(call)).map(move |i| (self.offset + i * call, call.min(self.length - i * call)))
    }
}

/// Does it; gives the times of the calls in nanoseconds and the time of all, the filling of buffers left out.
pub(super) fn run(
    fd: BorrowedFd<'_>,
    range: &ScratchRange,
    stretch: &Stretch,
    now: impl Fn() -> Nanos,
) -> Result<(Vec<u64>, Nanos), ActError> {
    let mut times = Vec::new();
    let mut all = 0;
    for (offset, length) in stretch.calls() {
        let took = match stretch.does {
            Does::Write(fill) => {
                let mut buffer = Aligned::zeroed(length as usize);
                fill_buffer(&mut buffer, fill, range, offset);
                let mut from = now();
                write_parallel(fd, &buffer, offset, || from = now())?;
                now().since(from)
            }
            Does::Zero(method) => {
                let from = now();
                zero(fd, method, offset, length)?;
                now().since(from)
            }
        };
        all += took.0;
        times.push(took.0);
    }
    if stretch.flush {
        let from = now();
        rustix::fs::fdatasync(fd).map_err(act_os)?;
        all += now().since(from).0;
    }
    Ok((times, Nanos(all)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_a_pass_cover_the_whole_stretch() {
        let stretch =
            |length, call| Stretch { offset: 5, length, call, does: Does::Zero(Method::PunchHole), flush: true };
        assert_eq!(stretch(10, 4).calls().collect::<Vec<_>>(), [(5, 4), (9, 4), (13, 2)]);
        assert_eq!(stretch(0, 4).calls().count(), 0);
        assert_eq!(stretch(3, 0).calls().count(), 3);
        assert!(Does::Zero(Method::PunchHole).leaves_zeroes() && Does::Write(Fill::Zeroes).leaves_zeroes());
        assert!(!Does::Write(Fill::Pattern { seed: 1, trial: 1 }).leaves_zeroes());
    }
}
