//! What a fleet collects in one place: a document as one line, with what distinguishes it from the documents of other
//! machines.

use crate::{open, Class, Document, Kind};
use serde::{Deserialize, Serialize};

/// One line of `zerocap show --jsonl --fleet`: a [`Document`] with a few fields more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetLine {
    /// Which machine it is of: 32 hex digits that tell neither its name nor its machine-id; null where it has no machine-id.
    pub machine: Option<String>,
    /// When the line was made, RFC 3339 in UTC.
    pub collected: String,
    /// Under which name udev looks the device up in hwdb; null where udev gives it none.
    pub hwdb: Option<HwdbName>,
    /// What stands behind the device, where that may be exchanged unseen ("a virtual disk"): then what was measured is no
    /// property of its model. Null for a medium of its own.
    pub backend: Option<String>,
    /// The document, its fields beside these.
    #[serde(flatten)]
    pub document: Document,
}

/// What the rule looks up in hwdb.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HwdbName {
    /// udev's ID_MODEL.
    pub model: String,
    /// udev's ID_REVISION; empty where there is none.
    pub revision: String,
}

/// What the lines of many machines say together: `zerocap fleet summarize --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// Always [`Kind::Fleet`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The lines read.
    pub lines: u64,
    /// Those that are no document.
    pub bad: u64,
    /// The first of them.
    pub bad_lines: Vec<BadLine>,
    /// Devices on machines that there is an answer of: the newest document of each is the one that counts.
    pub answers: u64,
    /// Machines that have a number.
    pub machines: u64,
    /// When the last line was made; null where there is none.
    pub latest: Option<String>,
    /// How far below the true quantile a quantile here may be, as a part of it.
    pub quantile_error: f64,
    /// A row for each model, firmware and command path.
    pub models: Vec<ModelRow>,
    /// The models whose measured devices are of different classes.
    pub disagreements: Vec<Disagreement>,
}

/// A line that is no document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct BadLine {
    pub file: String,
    pub line: u64,
    pub why: String,
}

/// One model with one firmware and one command path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRow {
    /// What drives it.
    pub kind: String,
    /// As the device says it; null where it does not.
    pub vendor: Option<String>,
    /// See `vendor`.
    pub model: Option<String>,
    /// See `vendor`.
    pub firmware: Option<String>,
    /// What the kernel sends.
    pub command_path: Option<String>,
    /// What udev looks it up by.
    pub hwdb: Option<HwdbName>,
    /// What stands behind it, where that may be exchanged.
    pub backend: Option<String>,
    /// Machines that have a number.
    pub machines: u64,
    /// Devices that are known to be different ones, by their identity.
    pub devices: u64,
    /// Devices on machines: one that two machines see has two.
    pub answers: u64,
    /// The answers of each class.
    pub classes: Classes,
    /// Those whose class rests on a test of the device.
    pub measured: Counts,
    /// The class that all measured answers have; null where there are none or they differ.
    #[serde(default, deserialize_with = "open::class_or_none")]
    pub agreed: Option<Class>,
    /// Of measured answers that are not broken.
    pub zero_bytes_per_second: Option<Quantiles<u64>>,
    /// See above.
    pub write_bytes_per_second: Option<Quantiles<u64>>,
    /// Write time over zero time.
    pub ratio: Option<Quantiles<f64>>,
    /// Answers that were last collected more than 30 days before the last line of all.
    pub silent: u64,
    /// Answers with the finding `measurement-stale`.
    pub stale: u64,
    /// The first and the last measurement that counts.
    pub measured_first: Option<String>,
    /// See above.
    pub measured_last: Option<String>,
    /// When the newest answer was collected.
    pub collected_last: String,
}

/// So many of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Classes {
    pub fast: u64,
    pub slow: u64,
    pub none: u64,
    pub unknown: u64,
    pub broken: u64,
}

/// Different machines, different devices, and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub machines: u64,
    pub devices: u64,
    pub answers: u64,
}

/// What a tenth, a half and nine tenths do not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Quantiles<T> {
    pub p10: T,
    pub p50: T,
    pub p90: T,
}

/// A model whose measured devices are of different classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    /// What drives it.
    pub kind: String,
    /// As the device says it.
    pub vendor: Option<String>,
    /// As the device says it.
    pub model: Option<String>,
    /// The measured answers of each class.
    pub classes: Classes,
    /// What tells the classes apart.
    #[serde(deserialize_with = "open::cause")]
    pub cause: Cause,
    /// The classes at each value of the cause, where it has values; the first twenty.
    pub values: Vec<Value>,
}

/// What was measured at one value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Value {
    pub value: Option<String>,
    pub classes: Classes,
}

crate::words! {
    /// What the devices of a model differ in, where that goes with their class.
    Cause {
        /// The firmware.
        Firmware = "firmware",
        /// How they are attached.
        Transport = "transport",
        /// The kernel they were measured under.
        Kernel = "kernel",
        /// The command that the kernel sends.
        CommandPath = "command-path",
        /// The machine, or what went on beside the test.
        Surroundings = "surroundings",
        /// None of these: units of the same kind differ.
        Unexplained = "unexplained",
    }
}
