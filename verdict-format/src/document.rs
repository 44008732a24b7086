//! The document of one device, field by field as in zerocap-verdict(5). This file has the form only, and does no I/O.

use crate::{open, Basis, Class, Code, Kind, Method, Severity, State};
use serde::{Deserialize, Serialize};

/// One device's verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Verdict`].
    #[serde(rename = "type", default = "open::verdict")]
    pub kind: Kind,
    /// Which program published the document and when; null where it was made for the one who asked.
    pub published: Option<Published>,
    /// The device.
    pub device: Device,
    /// What zeroing is like.
    #[serde(deserialize_with = "open::class")]
    pub class: Class,
    /// What the class rests on.
    #[serde(default, deserialize_with = "open::basis")]
    pub basis: Option<Basis>,
    /// What the claims alone let one expect.
    #[serde(deserialize_with = "open::class")]
    pub expected: Class,
    /// Why, in one clause.
    pub reason: String,
    /// The method that the class is about.
    #[serde(default, deserialize_with = "open::or_none")]
    pub method: Option<Method>,
    /// Whether every byte that was zeroed was read back as zero; null where nothing was measured. Of a derived class:
    /// whether that holds for every member.
    pub zeroes_verified: Option<bool>,
    /// Bytes per second.
    pub zero_bytes_per_second: Option<u64>,
    /// Bytes per second of writing zeroes, which zeroing is compared with.
    pub write_bytes_per_second: Option<u64>,
    /// Bytes per second of writing data; null where that was not measured apart from zeroes.
    pub data_write_bytes_per_second: Option<u64>,
    /// Bytes per second.
    pub overwrite_after_zero_bytes_per_second: Option<u64>,
    /// Write time over zero time.
    pub speedup: Option<Speedup>,
    /// The same over one long uninterrupted run; null where that was not measured.
    pub sustained: Option<Sustained>,
    /// Each method that was tried.
    #[serde(default)]
    pub methods: Vec<MethodResult>,
    /// Each `zeroing_mode` that was tried; the best is among the tunables.
    #[serde(default)]
    pub modes: Vec<ModeResult>,
    /// What callers should do.
    #[serde(default)]
    pub hints: Hints,
    /// What device and kernel claim.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// Coded remarks.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What the tunables should be.
    #[serde(default)]
    pub tunables: Vec<Tunable>,
    /// Synchronous writes into space of files on the device; null where that was not measured.
    pub overwrite: Option<Overwrite>,
    /// What zeroing does to reads and writes meanwhile; null where that was not measured.
    pub interference: Option<Interference>,
    /// One long span; null where that was not measured.
    pub deep: Option<Deep>,
    /// The measurement that the class rests on.
    pub measured: Option<Measured>,
    /// What the device holds, as far as it is known without reading it; says nothing of speed.
    #[serde(default)]
    pub initial_state: Initial,
}

impl Document {
    /// The codes of the findings, in their order.
    pub fn codes(&self) -> Vec<&str> {
        self.findings.iter().map(|f| f.code.as_str()).collect()
    }

    /// JSON on one line, without a newline.
    pub fn json(&self) -> String {
        // A document holds only strings, numbers and words; the one failure that serde_json knows here is a number that is
        // not finite, which it writes as null.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Which program published a document, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// When it was written, RFC 3339 in UTC. An event that changes nothing leaves the file as it is.
    pub at: String,
    /// The kernel's identity of the boot; null where it could not be read.
    pub boot_id: Option<String>,
    /// The program and its version.
    pub program: String,
}

/// What a device holds at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Initial {
    /// What.
    #[serde(deserialize_with = "open::state")]
    pub state: State,
    /// How it is known; null where it is not.
    pub how: Option<String>,
}

impl Default for Initial {
    fn default() -> Self {
        Initial { state: State::Unknown, how: None }
    }
}

/// The device of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names say it, and zerocap-verdict(5) documents each
pub struct Device {
    pub name: String,
    pub node: String,
    pub devnum: Option<String>,
    pub diskseq: Option<u64>,
    pub kind: String,
    pub transport: Option<String>,
    pub driver: Option<String>,
    pub command_path: Option<String>,
    pub identity: Option<String>,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub firmware: Option<String>,
    pub size_bytes: Option<u64>,
    pub allocated_bytes: Option<u64>,
    pub logical_block_bytes: Option<u64>,
    pub physical_block_bytes: Option<u64>,
    #[serde(default)]
    pub members: Vec<Member>,
    /// What people call it: volume group and LV, device-mapper's name, links; only in `show --json`, as `mounts`: a name comes
    /// and goes without an event of the device.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub names: Option<Vec<String>>,
    /// Where its file systems, and those of its partitions, are mounted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mounts: Option<Vec<String>>,
}

/// A device that a stack is made of: a whole device, or a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The kernel's name.
    pub name: String,
    /// Its number as `MAJOR:MINOR`.
    pub devnum: Option<String>,
    /// The sequence number of the disk that it is or lies on.
    pub diskseq: Option<u64>,
}

/// What one field of the device or of the kernel claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Claim {
    pub source: String,
    pub field: String,
    pub value: String,
    pub says: String,
}

/// A coded remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Finding {
    pub code: Code,
    #[serde(deserialize_with = "open::severity")]
    pub severity: Severity,
    pub text: String,
}

/// What a tunable of the kernel should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Tunable {
    pub name: String,
    pub path: String,
    pub wanted: String,
    pub why: String,
    /// What it is now; only in `show --json`, not in the published file, where it would be stale.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub now: Option<String>,
}

/// When and how it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Measured {
    pub at: String,
    pub kernel: String,
    pub fingerprint: String,
    pub trials: u32,
    pub segment_bytes: u64,
    pub bytes_written: u64,
    pub seconds: f64,
    pub baseline: String,
    pub scratch: String,
    #[serde(default)]
    pub proof: Vec<String>,
    pub inconclusive: Option<String>,
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

/// The ratio over one long run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// How many bytes were zeroed in it.
    pub bytes: u64,
    /// How many times as fast as writing; null where the cost of zeroing was not clear of 0.
    pub speedup: Option<f64>,
}

/// One method's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// The method; null for one that the reader does not know.
    #[serde(deserialize_with = "open::or_none")]
    pub method: Option<Method>,
    /// Its own class; null where it was only screened.
    #[serde(default, deserialize_with = "open::class_or_none")]
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
    #[serde(default, deserialize_with = "open::class_or_none")]
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
    /// What the device claims as the unit in which it deallocates; a claim, not a measurement.
    pub claimed_granularity_bytes: Option<u64>,
    /// Offsets, counted from the start of the disk, and lengths should be multiples of this.
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
    /// Where it was mounted; null where that was not kept.
    pub mount_point: Option<String>,
    /// Bytes per second into space that fallocate made.
    pub unwritten: Option<u64>,
    /// Into space that FALLOC_FL_WRITE_ZEROES made.
    pub write_zeroes: Option<u64>,
    /// Into space that was written before.
    pub written: Option<u64>,
    /// How many times as fast `write_zeroes` is as `unwritten`.
    pub gain: Option<f64>,
    /// The interval of that, with confidence 0.999.
    pub gain_low: Option<f64>,
    /// See above.
    pub gain_high: Option<f64>,
    /// How many times as fast `written` is as `unwritten`.
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
    pub incomplete: Option<String>,
}
