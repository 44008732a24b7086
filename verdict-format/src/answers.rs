//! The answers that are not documents: those of `check` for a path, of `estimate`, `is-zero` and `probe`.

use crate::document::{Device, Document, Finding};
use crate::{open, Class, Effect, Kind, Method, PathCode, Plan, FORMAT};
use serde::{Deserialize, Serialize};

/// One answer as JSON on one line, without a newline.
pub fn json(answer: &impl Serialize) -> String {
    // As of a document: strings, numbers and words only, so that it cannot fail.
    serde_json::to_string(answer).unwrap_or_default()
}

/// What `check` says of a path: file system, layers, the devices below with their documents, and whether
/// fallocate(FALLOC_FL_WRITE_ZEROES) works there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathAnswer {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Path`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The path, links followed.
    pub path: String,
    /// The type of the file system that holds the data.
    pub filesystem: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What was passed on the way, a sentence each.
    pub layers: Vec<String>,
    /// The class of the weakest device.
    #[serde(deserialize_with = "open::class")]
    pub class: Class,
    /// Whether fallocate(FALLOC_FL_WRITE_ZEROES) succeeds on the path; null: it cannot be told.
    pub write_zeroes: Option<bool>,
    /// Whether it is handed to the device as zeroing.
    pub offloaded: Option<bool>,
    /// Why not, or why it cannot be told; null where it works.
    pub why: Option<String>,
    /// What to do in its place, a sentence with what was measured of it; null where it works, and where nothing is known.
    #[serde(default)]
    pub instead: Option<String>,
    /// How the file lies in its file system; null for a directory.
    #[serde(default)]
    pub file: Option<FileShares>,
    /// What bears on zeroing files there ahead of use.
    #[serde(default)]
    pub findings: Vec<PathFinding>,
    /// The devices that the file system uses.
    pub devices: Vec<PathDevice>,
}

/// How the bytes of a file lie in its file system (FIEMAP). All but the size are null where that is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileShares {
    /// The size.
    pub size_bytes: u64,
    /// So many, from the first byte on, were looked at; the others are of these.
    pub looked_at_bytes: Option<u64>,
    /// Without space.
    pub hole_bytes: Option<u64>,
    /// With space that was never written.
    pub unwritten_bytes: Option<u64>,
    /// Written to the cache, and given no space yet.
    pub delayed_bytes: Option<u64>,
    /// Written.
    pub written_bytes: Option<u64>,
    /// Of those with space: shared with other files.
    pub shared_bytes: Option<u64>,
    /// Of those with space: compressed or encrypted, by the file system's own word.
    pub encoded_bytes: Option<u64>,
    /// Why it is not known.
    pub unknown: Option<String>,
}

/// Something that bears on zeroing files ahead of use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathFinding {
    /// What it is; null: of a newer zerocap.
    #[serde(deserialize_with = "open::or_none")]
    pub code: Option<PathCode>,
    /// True; null where it cannot be told whether it holds, and the text says why.
    pub holds: Option<bool>,
    /// The part of the file that it is about, 0 to 1; null where it is about all of it, or where that is not known.
    pub share: Option<f64>,
    /// What fallocate(FALLOC_FL_WRITE_ZEROES) does there; null where it cannot be told.
    #[serde(default, deserialize_with = "open::or_none")]
    pub effect: Option<Effect>,
    /// A sentence.
    pub text: String,
    /// What to do; null where nothing better is known.
    pub instead: Option<String>,
}

/// A device below a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathDevice {
    /// The kernel's names of the devices that it is made of in the end; its own where it is no stack.
    pub leaves: Vec<String>,
    /// Its document.
    pub verdict: Document,
}

/// The answer of `estimate`; times in seconds, and null where a rate is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Estimate`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The device's name, or the path.
    pub target: String,
    /// The class of the device.
    #[serde(deserialize_with = "open::class")]
    pub class: Class,
    /// The bytes asked for.
    pub bytes: u64,
    /// The method that zeroing is estimated for.
    #[serde(default, deserialize_with = "open::or_none")]
    pub method: Option<Method>,
    /// Zeroing by it.
    pub zero_seconds: Option<f64>,
    /// The ends of its interval; null where nothing bounds that end.
    pub zero_seconds_low: Option<f64>,
    /// See above.
    pub zero_seconds_high: Option<f64>,
    /// The least probability that the interval of the ratio, from which that of the time is made, covers the true median.
    pub confidence: Option<f64>,
    /// Writing zeroes.
    pub write_seconds: Option<f64>,
    /// The quicker of the two: the method, or ordinary writes.
    #[serde(default, deserialize_with = "open::or_none")]
    pub best: Option<Method>,
    /// Its time.
    pub best_seconds: Option<f64>,
    /// Which part holds data, as it was asked.
    pub data_fraction: Option<f64>,
    /// The quickest plan; null also where no data fraction was given.
    #[serde(default, deserialize_with = "open::or_none")]
    pub plan: Option<Plan>,
    /// Zeroing all, then writing the data.
    pub zero_first_seconds: Option<f64>,
    /// Zeroing what holds no data, and writing the data.
    pub zero_rest_seconds: Option<f64>,
    /// Writing all.
    pub write_all_seconds: Option<f64>,
    /// Why zeroing has no time.
    pub why: Option<String>,
    /// Of a path: what bears on zeroing files there ahead of use.
    #[serde(default)]
    pub findings: Vec<PathFinding>,
}

/// The answer of `is-zero`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsZero {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::IsZero`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The node that was read.
    pub node: String,
    /// Whether every byte is zero.
    pub zero: bool,
    /// The first logical block that is not, counted from 0; null where all are zero.
    pub first_nonzero_block: Option<u64>,
    /// The first byte that is not zero.
    pub first_nonzero_byte: Option<u64>,
    /// The logical block in bytes.
    pub block_bytes: u64,
    /// The size of the node in bytes.
    pub size_bytes: u64,
    /// What was read, in bytes.
    pub read_bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Bytes per second; null where it took no time.
    pub read_bytes_per_second: Option<u64>,
}

/// The answer of `probe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Probe`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The device.
    pub device: Device,
    /// What the claims alone let one expect.
    #[serde(deserialize_with = "open::class")]
    pub expected: Class,
    /// Every reading.
    pub readings: Vec<Reading>,
    /// Coded remarks.
    pub findings: Vec<Finding>,
}

/// Instead of an answer, where there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Error`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The exit code of the program, which says what kind of failure it is: 32 for no such device.
    pub code: u8,
    /// What went wrong, a sentence.
    pub error: String,
}

impl Failure {
    /// A failure with this exit code.
    pub fn new(code: u8, error: String) -> Failure {
        Failure { format: FORMAT, kind: Kind::Error, code, error }
    }
}

/// One reading of a device or of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Where it was read: `nvme-id-ns`, `queue`.
    pub source: String,
    /// The name in the specification or the kernel.
    pub field: String,
    /// The raw value; null where it is not known.
    pub raw: Option<String>,
    /// What it says in words.
    pub says: Option<String>,
    /// Why it is not known.
    pub unknown: Option<String>,
}
