//! The result of a test of one device, as it is kept in `/etc/zerocap/devices/<identity>.json`. This file has the form only,
//! and does no I/O.

use crate::device::Instance;
use crate::terms::{Class, FindingCode, Hazard, Method};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The form's number; a file of another number is not read.
pub const FORMAT: u32 = 1;

/// A kept measurement or hazard of one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// [`FORMAT`].
    pub format: u32,
    /// The identity's text (not its file name); null for a device without one.
    pub identity: Option<String>,
    /// All that tells a device without an identity from the next one of its number.
    #[serde(flatten)]
    pub instance: Instance,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The kernel release it was measured under.
    pub kernel: String,
    /// SHA-256, hex, over the sorted `key=value` lines of [`Measurement::fingerprint_of`].
    pub fingerprint: String,
    /// What the fingerprint is made of, so that staleness names what changed.
    pub fingerprint_of: BTreeMap<String, String>,
    /// The class of the numbers.
    pub class: Class,
    /// The method that the class is about.
    pub method: Option<Method>,
    /// Whether every byte that was zeroed was read back as zero.
    pub zeroes_verified: bool,
    /// Rates in bytes per second.
    pub zero_bytes_per_second: Option<u64>,
    /// See above.
    pub write_bytes_per_second: Option<u64>,
    /// Writes of incompressible data.
    #[serde(default)]
    pub data_write_bytes_per_second: Option<u64>,
    /// A write over a zeroed range.
    pub overwrite_after_zero_bytes_per_second: Option<u64>,
    /// How many times as fast as writing, median of the pairs.
    pub speedup: Option<Speedup>,
    /// What one long stretch showed; not kept by older programs.
    #[serde(default)]
    pub sustained: Option<Sustained>,
    /// The ratio that the class was decided against.
    #[serde(default = "usual_ratio")]
    pub fast_ratio: f64,
    /// Each method that was tried.
    pub methods: Vec<MethodResult>,
    /// What callers should do.
    pub hints: Hints,
    /// The `zeroing_mode` under which it was measured and is wanted, where `measure --tune` chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zeroing_mode: Option<String>,
    /// Each mode that `measure --tune` tried.
    #[serde(default)]
    pub modes: Vec<ModeResult>,
    /// A recorded hazard.
    pub hazard: Option<RecordedHazard>,
    /// Findings that arose in the test.
    pub findings: Vec<TestFinding>,
    /// Limits before the test, by their file names, to compare with later.
    pub limits: BTreeMap<String, String>,
    /// Pairs that decided.
    pub trials: u32,
    /// Segment size.
    pub segment_bytes: u64,
    /// Everything that was written to the device, ladder, filling and put-back included.
    pub bytes_written: u64,
    /// Wall-clock seconds of the test.
    pub seconds: f64,
    /// `incompressible` or `zeroes`.
    pub baseline: String,
    /// `partition`, `range`, `gap`, `label`, `dir` (no test of the device), `directory /srv (ext4)`.
    pub scratch: String,
    /// The proof, a line a check.
    pub proof: Vec<String>,
    /// What zeroed space in files gains for databases (`--scratch DIR`).
    #[serde(default)]
    pub overwrite: Option<Overwrite>,
    /// What zeroing does to others meanwhile (`--interference`).
    #[serde(default)]
    pub interference: Option<Interference>,
    /// What long spans show (`--deep`).
    #[serde(default)]
    pub deep: Option<Deep>,
    /// Why the class is unknown, where it is: "time budget spent", …
    pub inconclusive: Option<String>,
}

/// [`Measurement::scratch`] of what was measured in files alone.
pub const DIR: &str = "dir";

impl Measurement {
    /// Whether no test of the device was made: this says only what its files gain, or why there could be no test.
    pub fn is_without_test(&self) -> bool {
        self.scratch == DIR || self.bytes_written == 0 && self.inconclusive.is_some()
    }

    /// Where it contradicts itself, as no test writes it: then nothing of it can be believed.
    pub fn contradiction(&self) -> Option<String> {
        let ratio = self.fast_ratio;
        let numbers = self.speedup.map_or_else(Vec::new, |s| {
            [Some(s.median), s.low, s.high, Some(s.confidence)].into_iter().flatten().collect()
        });
        if let Some(bad) = numbers.into_iter().chain([ratio]).find(|n| !n.is_finite() || *n < 0.0) {
            return Some(format!("{bad} is not a ratio of times"));
        }
        let (low, high) = self.speedup.map_or((None, None), |s| (s.low, s.high));
        let only_bursts = self.findings.iter().any(|f| f.code == FindingCode::NotSustained);
        match self.class {
            Class::Fast if !self.zeroes_verified => Some("it is fast, but its zeroes were not verified".to_owned()),
            Class::Fast if high.is_some_and(|high| high < ratio) => {
                Some(format!("it is fast, but the speedup is surely below {ratio}"))
            }
            // Single calls may be surely fast where a long stretch of them is not.
            Class::Slow if low.is_some_and(|low| low > ratio) && !only_bursts => {
                Some(format!("it is slow, but the speedup is surely above {ratio}"))
            }
            _ => None,
        }
    }
}

fn usual_ratio() -> f64 {
    2.0
}

/// A ratio of times: writing over zeroing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// Median of the pair ratios.
    pub median: f64,
    /// Lower end of the interval; null when nothing bounds it.
    pub low: Option<f64>,
    /// Upper end of the interval; null when nothing bounds it.
    pub high: Option<f64>,
    /// The probability that the interval covers the true median, at least.
    pub confidence: f64,
}

/// One long stretch of zeroing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Its bytes.
    pub bytes: u64,
    /// How many times as fast as writing zeroes it was, all that followed charged to it; null where that is not clear.
    pub speedup: Option<f64>,
}

/// One method's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// The method.
    pub method: Method,
    /// Its own class; null where it was only screened.
    pub class: Option<Class>,
    /// Its rate.
    pub zero_bytes_per_second: Option<u64>,
    /// What the system answered, where it failed; `gated` where the kernel's knob forbids it.
    pub error: Option<String>,
    /// Whether all was read back as zero; null for a method that promises no zeroes.
    pub verified: Option<bool>,
}

/// What one `zeroing_mode` gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModeResult {
    /// The mode, as the kernel spells it.
    pub mode: String,
    /// The class in this mode; null where it could not be set or did not stay.
    pub class: Option<Class>,
    /// Bytes per second.
    pub zero_bytes_per_second: Option<u64>,
    /// Write time over zero time, median of the pairs.
    pub ratio: Option<f64>,
    /// Whether every byte that was zeroed was read back as zero; null where nothing was.
    pub verified: Option<bool>,
    /// What failed, or why nothing was decided.
    pub error: Option<String>,
}

/// What callers should do.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Hints {
    /// Offsets and lengths should be multiples of this.
    pub alignment_bytes: Option<u64>,
    /// Bytes a call.
    pub chunk_bytes: Option<u64>,
    /// From this length on zeroing is quicker than writing.
    pub break_even_bytes: Option<u64>,
}

/// Synchronous 4 KiB writes into a file's space, by what the space was before. Says nothing of the class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overwrite {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The type of the file system: `ext4`.
    pub filesystem: String,
    /// Where it was mounted; not kept by older programs.
    #[serde(default)]
    pub mount_point: Option<String>,
    /// Bytes per second into space that fallocate made.
    pub unwritten: Option<u64>,
    /// Into space that FALLOC_FL_WRITE_ZEROES made.
    pub write_zeroes: Option<u64>,
    /// Into space that was written before.
    pub written: Option<u64>,
    /// How many times as fast `write_zeroes` is as `unwritten`.
    pub gain: Option<f64>,
    /// The interval of the gain, of the median turn; null where nothing bounds it, and not kept by older programs.
    #[serde(default)]
    pub gain_low: Option<f64>,
    /// See above.
    #[serde(default)]
    pub gain_high: Option<f64>,
    /// How many times as fast `written` is as `unwritten`: what writing zeroes once and keeping the file gains, on any kernel.
    #[serde(default)]
    pub gain_written: Option<f64>,
    /// Bytes per second of FALLOC_FL_WRITE_ZEROES itself.
    pub zero_bytes_per_second: Option<u64>,
    /// Whether zeroes were read where old data had been; null where the file system does not keep the place.
    pub verified: Option<bool>,
    /// What the file system lacks, or why its files are unfit.
    pub lacks: Option<String>,
}

/// Single 4 KiB reads and writes at random places, without and with zeroing beside them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interference {
    /// Reads.
    pub read: Beside,
    /// Writes.
    pub write: Beside,
    /// Bytes per second of the zeroing beside them.
    pub zero_bytes_per_second: Option<u64>,
}

/// See [`Interference`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Without zeroing.
    pub without: Latencies,
    /// With it.
    pub with: Latencies,
}

/// Latencies of single calls, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// How many calls.
    pub count: u64,
    /// Half took no longer.
    pub p50_nanoseconds: u64,
    /// 99 of 100 took no longer.
    pub p99_nanoseconds: u64,
    /// The longest.
    pub max_nanoseconds: u64,
    /// Bytes per second, one call at a time.
    pub bytes_per_second: Option<u64>,
}

/// One long span, written and zeroed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Deep {
    /// Its bytes.
    pub bytes: u64,
    /// Bytes per second; this and what follows is null where the span was not done to its end.
    pub write_bytes_per_second: Option<u64>,
    /// Bytes per second.
    pub zero_bytes_per_second: Option<u64>,
    /// Write time over zero time.
    pub ratio: Option<f64>,
    /// Of one command over more than 65536 blocks, read back as zero to its end; null where the limit allows none.
    pub command_bytes: Option<u64>,
    /// Why the span was not done to its end; null where it was.
    #[serde(default)]
    pub incomplete: Option<String>,
}

/// A hazard and where it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedHazard {
    /// Which.
    pub hazard: Hazard,
    /// By which method.
    pub method: Option<Method>,
    /// In words, with the offset.
    pub text: String,
}

/// A finding that arose in a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFinding {
    /// The code.
    pub code: FindingCode,
    /// In words.
    pub text: String,
}
