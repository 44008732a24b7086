//! The document of format 1: what other programs read (zerocap-verdict(5)). Fields are added, never renamed or removed.
//!
//! A value that is not known is null, and the reason stands among findings or claims; never 0 or a guess.

use crate::device::display::escape_str;
use crate::facts::initial::Initial;
use crate::facts::Facts;
use crate::terms::{Basis, Class, FindingCode, Method, Severity};
use crate::verdict::measurement::{
    Deep, Hints, Interference, Measurement, MethodResult, ModeResult, Overwrite, Speedup,
};
use crate::verdict::{Claim, Finding, Verdict, Want};
use serde::{Deserialize, Serialize};

/// The number of the form.
pub const FORMAT: u32 = 1;

/// One device's verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: u32,
    /// The device.
    pub device: DeviceDoc,
    /// What zeroing is like.
    pub class: Class,
    /// What the class rests on.
    pub basis: Option<Basis>,
    /// What the claims alone let one expect.
    pub expected: Class,
    /// Why, in one clause.
    pub reason: String,
    /// The method that the class is about.
    pub method: Option<Method>,
    /// Whether every byte that was zeroed was read back as zero; null where nothing was measured.
    pub zeroes_verified: Option<bool>,
    /// Bytes per second.
    pub zero_bytes_per_second: Option<u64>,
    /// Bytes per second.
    pub write_bytes_per_second: Option<u64>,
    /// Bytes per second.
    pub overwrite_after_zero_bytes_per_second: Option<u64>,
    /// Write time over zero time.
    pub speedup: Option<Speedup>,
    /// Each method that was tried.
    pub methods: Vec<MethodResult>,
    /// Each `zeroing_mode` that was tried; the best is among the tunables.
    #[serde(default)]
    pub modes: Vec<ModeResult>,
    /// What callers should do.
    pub hints: Hints,
    /// What device and kernel claim.
    pub claims: Vec<ClaimDoc>,
    /// Coded remarks.
    pub findings: Vec<FindingDoc>,
    /// What the tunables should be.
    pub tunables: Vec<TunableDoc>,
    /// Synchronous writes into space of files on the device; null where that was not measured.
    pub overwrite: Option<Overwrite>,
    /// What zeroing does to reads and writes meanwhile; null where that was not measured.
    pub interference: Option<Interference>,
    /// One long span; null where that was not measured.
    pub deep: Option<Deep>,
    /// The measurement that the class rests on.
    pub measured: Option<MeasuredDoc>,
    /// What the device holds, as far as it is known without reading it; says nothing of speed.
    #[serde(default)]
    pub initial_state: InitialDoc,
}

/// See [`Initial`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct InitialDoc {
    pub state: String,
    pub how: Option<String>,
}

impl Default for InitialDoc {
    fn default() -> Self {
        // A document of an older program has no such field.
        Initial::UNKNOWN.into()
    }
}

impl From<Initial> for InitialDoc {
    fn from(initial: Initial) -> Self {
        InitialDoc { state: initial.state.as_str().to_owned(), how: initial.how.map(str::to_owned) }
    }
}

/// The device of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names say it, and zerocap-verdict(5) documents each
pub struct DeviceDoc {
    pub name: String,
    pub node: String,
    pub devnum: Option<String>,
    pub diskseq: Option<u64>,
    pub kind: String,
    pub transport: Option<String>,
    pub driver: Option<String>,
    pub identity: Option<String>,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub firmware: Option<String>,
    pub size_bytes: Option<u64>,
    pub logical_block_bytes: Option<u64>,
    pub physical_block_bytes: Option<u64>,
    pub members: Vec<String>,
}

/// See [`Claim`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ClaimDoc {
    pub source: String,
    pub field: String,
    pub value: String,
    pub says: String,
}

/// See [`Finding`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct FindingDoc {
    pub code: FindingCode,
    pub severity: Severity,
    pub text: String,
}

/// See [`Want`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TunableDoc {
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
pub struct MeasuredDoc {
    pub at: String,
    pub kernel: String,
    pub fingerprint: String,
    pub trials: u32,
    pub segment_bytes: u64,
    pub bytes_written: u64,
    pub seconds: f64,
    pub baseline: String,
    pub scratch: String,
    pub proof: Vec<String>,
    pub inconclusive: Option<String>,
}

impl From<&Measurement> for MeasuredDoc {
    fn from(m: &Measurement) -> Self {
        MeasuredDoc {
            at: m.at.clone(),
            kernel: m.kernel.clone(),
            fingerprint: m.fingerprint.clone(),
            trials: m.trials,
            segment_bytes: m.segment_bytes,
            bytes_written: m.bytes_written,
            seconds: m.seconds,
            baseline: m.baseline.clone(),
            scratch: m.scratch.clone(),
            proof: m.proof.clone(),
            inconclusive: m.inconclusive.clone(),
        }
    }
}

impl From<&Finding> for FindingDoc {
    fn from(f: &Finding) -> Self {
        FindingDoc { code: f.code, severity: f.severity, text: f.text.clone() }
    }
}

impl From<&Claim> for ClaimDoc {
    fn from(c: &Claim) -> Self {
        ClaimDoc { source: c.source.clone(), field: c.field.clone(), value: c.value.clone(), says: c.says.clone() }
    }
}

impl From<&Want> for TunableDoc {
    fn from(w: &Want) -> Self {
        TunableDoc {
            name: w.name.clone(),
            path: w.path.clone(),
            wanted: w.wanted.clone(),
            why: w.why.clone(),
            now: None,
        }
    }
}

impl Document {
    /// The document of one device.
    pub fn new(facts: &Facts, verdict: &Verdict) -> Document {
        let names = &facts.names;
        let device = DeviceDoc {
            name: escape_str(&facts.device.name),
            node: escape_str(&facts.device.node()),
            devnum: facts.device.devnum.map(|d| d.to_string()),
            diskseq: names.diskseq.get(),
            kind: facts.device.kind.as_str().to_owned(),
            transport: names.transport.known().cloned(),
            driver: names.driver.known().cloned(),
            identity: names.identity.as_ref().map(ToString::to_string),
            vendor: names.vendor.known().cloned(),
            model: names.model.known().cloned(),
            firmware: names.firmware.known().cloned(),
            size_bytes: names.size_bytes.get(),
            logical_block_bytes: facts.queue.logical_block.get(),
            physical_block_bytes: facts.queue.physical_block.get(),
            members: facts.stack.members.known().cloned().unwrap_or_default(),
        };
        let m = verdict.measurement.as_ref();
        Document {
            format: FORMAT,
            device,
            class: verdict.class,
            basis: verdict.basis,
            expected: verdict.expected,
            reason: verdict.reason.clone(),
            method: verdict.method(),
            zeroes_verified: m.filter(|m| !m.is_without_test()).map(|m| m.zeroes_verified),
            zero_bytes_per_second: m.and_then(|m| m.zero_bytes_per_second),
            write_bytes_per_second: m.and_then(|m| m.write_bytes_per_second),
            overwrite_after_zero_bytes_per_second: m.and_then(|m| m.overwrite_after_zero_bytes_per_second),
            speedup: m.and_then(|m| m.speedup),
            methods: m.map(|m| m.methods.clone()).unwrap_or_default(),
            modes: m.map(|m| m.modes.clone()).unwrap_or_default(),
            hints: m.map(|m| m.hints).unwrap_or_default(),
            claims: verdict.claims.iter().map(Into::into).collect(),
            findings: verdict.findings.iter().map(Into::into).collect(),
            tunables: verdict.wants.iter().map(Into::into).collect(),
            overwrite: verdict.overwrite.clone(),
            interference: m.and_then(|m| m.interference),
            deep: m.and_then(|m| m.deep.clone()),
            measured: m.map(Into::into),
            initial_state: facts.initial.into(),
        }
    }

    /// The codes of the findings, in their order.
    pub fn codes(&self) -> Vec<&'static str> {
        self.findings.iter().map(|f| f.code.as_str()).collect()
    }

    /// JSON on one line, without a newline.
    pub fn json(&self) -> String {
        // A document holds only strings, numbers and words; the one failure serde_json knows here is a non-finite number,
        // which it writes as null.
        serde_json::to_string(self).unwrap_or_default()
    }
}
