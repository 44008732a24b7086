//! The times of the single calls of a test, as they are kept beside its figures: a report is drawn from them. They have
//! nothing that was not measured, and at most as much as a file may have; they say what was left out or put together.

use crate::{open, Kind, Method, FORMAT};
use serde::{Deserialize, Serialize};

/// Of more pairs than this only the first and the last are kept, half of it each.
pub const MOST_PAIRS: usize = 500;
/// A list of more calls than this is kept as sums of as many consecutive calls as it takes.
pub const MOST_CALLS: usize = 240;
/// A file is no longer than this, whatever the test was.
pub const MOST_BYTES: usize = 256 * 1024;

/// What a test of one device timed, call by call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Samples`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The identity of the device; null for one without.
    pub identity: Option<String>,
    /// The disk's sequence number at the time.
    pub diskseq: Option<u64>,
    /// When the test began: `measured.at` of the document that it led to.
    pub at: String,
    /// Pairs that were timed; `measured.trials` of that document.
    pub trials: u32,
    /// The ratio that the pairs were decided against: from it on zeroing is fast.
    pub fast_ratio: f64,
    /// Bytes of one call of a pair, and of one call of a stretch.
    pub segment_bytes: u64,
    /// The pairs that decided, in the order of time: all, or where there were more than [`MOST_PAIRS`] the first and the last.
    pub pairs: Vec<Pair>,
    /// How many pairs in the middle are left out.
    pub pairs_left_out: u64,
    /// The other methods, in the order in which they were tried.
    pub screened: Vec<Screened>,
    /// The first writes of data, from small to large.
    pub first_writes: Vec<Call>,
    /// The first zeroing calls, from small to large.
    pub first_zeroings: Vec<Call>,
    /// Calls of the lengths below a segment, by the method that decides.
    pub lengths: Vec<Length>,
    /// Spans with ragged ends that were zeroed.
    pub edges: Vec<Edge>,
    /// The long stretches; the last one counts.
    pub stretches: Vec<Stretch>,
}

impl Samples {
    /// None yet, of a test that began at this time.
    pub fn none(at: &str) -> Samples {
        Samples {
            format: FORMAT,
            kind: Kind::Samples,
            identity: None,
            diskseq: None,
            at: at.to_owned(),
            trials: 0,
            fast_ratio: 2.0,
            segment_bytes: 0,
            pairs: Vec::new(),
            pairs_left_out: 0,
            screened: Vec::new(),
            first_writes: Vec::new(),
            first_zeroings: Vec::new(),
            lengths: Vec::new(),
            edges: Vec::new(),
            stretches: Vec::new(),
        }
    }

    /// Whether these are the samples of the test that a document rests on.
    pub fn are_of(&self, measured: &crate::Measured) -> bool {
        self.at == measured.at && self.trials == measured.trials && self.segment_bytes == measured.segment_bytes
    }
}

/// A pair: a zero-filled write of one segment and the zeroing of another, both over data, then data over both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// When it began, from the beginning of the run.
    pub at_nanoseconds: u64,
    /// Whether the coin let the zeroing go first.
    pub zero_first: bool,
    /// The zero-filled write.
    pub write_nanoseconds: u64,
    /// The zeroing.
    pub zero_nanoseconds: u64,
    /// Data over what was zeroed.
    pub data_over_zeroed_nanoseconds: u64,
    /// Data over the written zeroes.
    pub data_over_written_nanoseconds: u64,
}

impl Pair {
    /// Write time over zero time; a clock that did not see a span has bounded it by its unit.
    pub fn ratio(&self) -> f64 {
        self.write_nanoseconds.max(1) as f64 / self.zero_nanoseconds.max(1) as f64
    }
}

/// The pairs of one method that is only reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Screened {
    /// The method; null for one that the reader does not know.
    #[serde(deserialize_with = "open::or_none")]
    pub method: Option<Method>,
    /// Bytes of one call.
    pub bytes: u64,
    /// Its pairs, in the order of time.
    pub pairs: Vec<Pair>,
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its bytes.
    pub bytes: u64,
    /// Its time.
    pub nanoseconds: u64,
}

/// The calls of one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// Bytes of a call.
    pub bytes: u64,
    /// Zeroing calls.
    pub zero_nanoseconds: Vec<u64>,
    /// Zero-filled writes.
    pub write_nanoseconds: Vec<u64>,
}

/// A span that begins and ends beside a multiple of the alignment, and its zeroing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Its first byte, counted from the beginning of its segment.
    pub offset_bytes: u64,
    /// Its bytes.
    pub length_bytes: u64,
    /// The zeroing; null where that failed.
    pub zero_nanoseconds: Option<u64>,
    /// Whether what was asked for was zero afterwards, and nothing else; false where the test ended before that was known.
    pub held: bool,
}

/// One uninterrupted sequence D1 W D2 Z R.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Bytes of each part.
    pub bytes: u64,
    /// Passes over the range that a part took.
    pub passes: u64,
    /// Data.
    pub d1: Part,
    /// Data, then zeroes by ordinary writes.
    pub w: Part,
    /// Data again.
    pub d2: Part,
    /// Data, then its zeroing.
    pub z: Part,
    /// Data over what was zeroed.
    pub r: Part,
}

impl Stretch {
    /// The parts in the order of time, with their names.
    pub fn parts(&self) -> [(&'static str, &Part); 5] {
        [("D1", &self.d1), ("W", &self.w), ("D2", &self.d2), ("Z", &self.z), ("R", &self.r)]
    }
}

/// One part of a stretch. In each pass all its data is written, then all its zeroes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Writes of data.
    pub data: Calls,
    /// Zero-filled writes (W), zeroing calls (Z), or none.
    pub zeroes: Calls,
    /// The flushes that end the passes: after the data, and after the zeroes.
    pub flushes: Calls,
}

/// The times of calls in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// How many consecutive calls one number is the time of; the last one may be of fewer.
    pub calls_each: u64,
    /// The times.
    pub nanoseconds: Vec<u64>,
}

impl Calls {
    /// The times of these calls, put together where there are more than [`MOST_CALLS`].
    pub fn of(times: &[u64]) -> Calls {
        let each = times.len().div_ceil(MOST_CALLS).max(1);
        let nanoseconds = times.chunks(each).map(|chunk| chunk.iter().sum()).collect();
        Calls { calls_each: each as u64, nanoseconds }
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.nanoseconds.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_calls_are_put_together_and_none_is_lost() {
        let few: Vec<u64> = (0..240).collect();
        assert_eq!(Calls::of(&few), Calls { calls_each: 1, nanoseconds: few.clone() });
        let many: Vec<u64> = (1..=601).collect();
        let calls = Calls::of(&many);
        assert_eq!((calls.calls_each, calls.nanoseconds.len()), (3, 201));
        assert_eq!((calls.nanoseconds[0], calls.nanoseconds[200]), (1 + 2 + 3, 601));
        assert_eq!(calls.total(), many.iter().sum::<u64>());
        assert_eq!(Calls::of(&[]).calls_each, 1);
    }
}
