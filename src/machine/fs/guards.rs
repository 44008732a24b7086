//! What a root hands files to that may never come. The trait alone: which files these are, [`guard`](super::guard) decides.

use crate::fact::Fact;

/// Reads those files of the running system that may never come, with a deadline.
pub trait Guards: std::fmt::Debug {
    /// Reads files of one device; `None` where they can be read directly. `inflight` reads the counters of I/O in flight.
    fn read(&mut self, paths: &[&str], inflight: &dyn Fn(&str) -> Fact<Vec<u8>>) -> Option<Vec<Fact<Vec<u8>>>>;

    /// Whether a file is one that may not come. `inflight` as above.
    fn needs_child(&mut self, path: &str, inflight: &dyn Fn(&str) -> Fact<Vec<u8>>) -> bool;

    /// Whether a file of any device did not come.
    fn timed_out(&self) -> bool;
}
