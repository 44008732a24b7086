//! Makes the document of a device from its facts and its verdict. `verdict-format` has the form of the document.
//!
//! A value that is not known is null, and the findings or claims say why; it is never 0 or a guess. A kept measurement has a
//! form of its own (`verdict::measurement`), so each part of it is copied here.

use crate::device::display::escape_str;
use crate::facts::field::Reading;
use crate::facts::initial::Initial;
use crate::facts::Facts;
use crate::machine::block::devices;
use crate::machine::fs::root::Root;
use crate::terms::Method;
use crate::verdict::fingerprint::command_path;
use crate::verdict::limit_rules::granularity;
use crate::verdict::measurement as kept;
use crate::verdict::{self, Figures, Verdict, Want};
use verdict_format as public;
use verdict_format::{Document, FORMAT};

/// The document of one device.
pub fn compose(root: &Root, facts: &Facts, verdict: &Verdict) -> Document {
    let names = &facts.names;
    let device = public::Device {
        name: escape_str(&facts.device.name),
        node: escape_str(&facts.device.node()),
        devnum: facts.device.devnum.map(|d| d.to_string()),
        diskseq: names.diskseq.get(),
        kind: facts.device.kind.as_str().to_owned(),
        transport: names.transport.known().cloned(),
        driver: names.driver.known().cloned(),
        command_path: command_path(facts).map(|path| spelled(&path)),
        identity: names.identity.as_ref().map(ToString::to_string),
        vendor: names.vendor.known().cloned(),
        model: names.model.known().cloned(),
        firmware: names.firmware.known().cloned(),
        size_bytes: names.size_bytes.get(),
        allocated_bytes: facts.allocated_bytes(),
        logical_block_bytes: facts.queue.logical_block.get(),
        physical_block_bytes: facts.queue.physical_block.get(),
        members: facts.stack.members.known().into_iter().flatten().map(|name| member(root, name)).collect(),
        names: None,
        mounts: None,
    };
    let (m, figures) = (verdict.measurement.as_ref(), verdict.figures);
    Document {
        format: FORMAT,
        kind: public::Kind::Verdict,
        published: None,
        device,
        class: verdict.class,
        basis: verdict.basis,
        expected: verdict.expected,
        reason: verdict.reason.clone(),
        method: figures.method,
        zeroes_verified: figures.zeroes_verified,
        zero_bytes_per_second: m.and_then(|m| m.zero_bytes_per_second),
        write_bytes_per_second: m.and_then(|m| m.write_bytes_per_second),
        data_write_bytes_per_second: m.and_then(|m| m.data_write_bytes_per_second),
        overwrite_after_zero_bytes_per_second: m.and_then(|m| m.overwrite_after_zero_bytes_per_second),
        speedup: m.and_then(|m| m.speedup).map(Into::into),
        sustained: m.and_then(|m| m.sustained).map(Into::into),
        methods: m.map(|m| m.methods.iter().map(Into::into).collect()).unwrap_or_default(),
        modes: m.map(|m| m.modes.iter().map(Into::into).collect()).unwrap_or_default(),
        hints: hints(facts, m, figures),
        claims: verdict.claims.iter().map(Into::into).collect(),
        findings: verdict.findings.iter().map(Into::into).collect(),
        tunables: verdict.wants.iter().map(Into::into).collect(),
        overwrite: overwrite(facts, verdict),
        interference: m.and_then(|m| m.interference).map(Into::into),
        deep: m.and_then(|m| m.deep.as_ref()).map(Into::into),
        measured: m.map(Into::into),
        initial_state: facts.initial.into(),
    }
}

/// A member with its number, and the sequence number of its disk: so that a reader can tell whether the stack is still
/// made of what it was.
fn member(root: &Root, name: &str) -> public::Member {
    let target = devices::target(root, name);
    let devnum = target.as_ref().and_then(|t| t.partition.as_ref().map_or(t.device.devnum, |p| p.devnum));
    public::Member {
        name: escape_str(name),
        devnum: devnum.map(|d| d.to_string()),
        diskseq: target.and_then(|t| root.number(&t.device.attr("diskseq")).get()),
    }
}

/// A command path of the fingerprint in the words of the document.
fn spelled(path: &str) -> String {
    match path {
        "none" => "none",
        "WZ" => "write-zeroes",
        "WZ+DEAC" => "write-zeroes+deac",
        "DSM" => "dataset-management",
        "WS16" => "write-same-16",
        "WS16+UNMAP" => "write-same-16+unmap",
        "WS10+UNMAP" => "write-same-10+unmap",
        "VIRTIO_BLK_T_WRITE_ZEROES" => "virtio-write-zeroes",
        "FALLOC_FL_PUNCH_HOLE" => Method::PunchHole.as_str(),
        _ => "request",
    }
    .to_owned()
}

fn hints(facts: &Facts, measurement: Option<&kept::Measurement>, figures: Figures) -> public::Hints {
    public::Hints {
        claimed_granularity_bytes: granularity(facts).filter(|g| *g > 0),
        alignment_bytes: figures.alignment_bytes,
        chunk_bytes: figures.chunk_bytes,
        break_even_bytes: measurement.and_then(|m| m.hints.break_even_bytes),
    }
}

/// What files gained when it was measured holds only while the kernel lets FALLOC_FL_WRITE_ZEROES through.
fn overwrite(facts: &Facts, verdict: &Verdict) -> Option<public::Overwrite> {
    verdict.overwrite.as_ref().filter(|_| !facts.queue.unmap.is(0)).map(Into::into)
}

/// The answer of `probe`: every reading of the device beside the document's findings.
pub fn probe(facts: &Facts, document: &Document) -> public::answers::Probe {
    public::answers::Probe {
        format: document.format,
        kind: public::Kind::Probe,
        device: document.device.clone(),
        expected: document.expected,
        readings: facts.readings.iter().map(Into::into).collect(),
        findings: document.findings.clone(),
    }
}

impl From<Initial> for public::Initial {
    fn from(from: Initial) -> Self {
        public::Initial { state: from.state, how: from.how.map(str::to_owned) }
    }
}

impl From<&kept::Measurement> for public::Measured {
    fn from(from: &kept::Measurement) -> Self {
        public::Measured {
            at: from.at.clone(),
            kernel: from.kernel.clone(),
            fingerprint: from.fingerprint.clone(),
            trials: from.trials,
            segment_bytes: from.segment_bytes,
            bytes_written: from.bytes_written,
            seconds: from.seconds,
            baseline: from.baseline.clone(),
            scratch: from.scratch.clone(),
            proof: from.proof.clone(),
            inconclusive: from.inconclusive.clone(),
        }
    }
}

impl From<&verdict::Finding> for public::Finding {
    fn from(from: &verdict::Finding) -> Self {
        public::Finding { code: from.code.into(), severity: from.severity, text: from.text.clone() }
    }
}

impl From<&verdict::Claim> for public::Claim {
    fn from(from: &verdict::Claim) -> Self {
        public::Claim {
            source: from.source.clone(),
            field: from.field.clone(),
            value: from.value.clone(),
            says: from.says.clone(),
        }
    }
}

impl From<&Want> for public::Tunable {
    fn from(from: &Want) -> Self {
        public::Tunable {
            name: from.name.clone(),
            path: from.path.clone(),
            wanted: from.wanted.clone(),
            why: from.why.clone(),
            now: None,
        }
    }
}

impl From<kept::Speedup> for public::Speedup {
    fn from(from: kept::Speedup) -> Self {
        public::Speedup { median: from.median, low: from.low, high: from.high, confidence: from.confidence }
    }
}

impl From<kept::Sustained> for public::Sustained {
    fn from(from: kept::Sustained) -> Self {
        public::Sustained { bytes: from.bytes, speedup: from.speedup }
    }
}

impl From<&kept::MethodResult> for public::MethodResult {
    fn from(from: &kept::MethodResult) -> Self {
        public::MethodResult {
            method: Some(from.method),
            class: from.class,
            zero_bytes_per_second: from.zero_bytes_per_second,
            error: from.error.clone(),
            verified: from.verified,
        }
    }
}

impl From<&kept::ModeResult> for public::ModeResult {
    fn from(from: &kept::ModeResult) -> Self {
        public::ModeResult {
            mode: from.mode.clone(),
            class: from.class,
            zero_bytes_per_second: from.zero_bytes_per_second,
            ratio: from.ratio,
            verified: from.verified,
            error: from.error.clone(),
        }
    }
}

impl From<&kept::Overwrite> for public::Overwrite {
    fn from(from: &kept::Overwrite) -> Self {
        public::Overwrite {
            at: from.at.clone(),
            filesystem: from.filesystem.clone(),
            mount_point: from.mount_point.clone(),
            unwritten: from.unwritten,
            write_zeroes: from.write_zeroes,
            written: from.written,
            gain: from.gain,
            gain_low: from.gain_low,
            gain_high: from.gain_high,
            gain_written: from.gain_written,
            zero_bytes_per_second: from.zero_bytes_per_second,
            verified: from.verified,
            lacks: from.lacks.clone(),
        }
    }
}

impl From<kept::Interference> for public::Interference {
    fn from(from: kept::Interference) -> Self {
        public::Interference {
            read: from.read.into(),
            write: from.write.into(),
            zero_bytes_per_second: from.zero_bytes_per_second,
        }
    }
}

impl From<kept::Beside> for public::Beside {
    fn from(from: kept::Beside) -> Self {
        public::Beside { without: from.without.into(), with: from.with.into() }
    }
}

impl From<kept::Latencies> for public::Latencies {
    fn from(from: kept::Latencies) -> Self {
        public::Latencies {
            count: from.count,
            p50_nanoseconds: from.p50_nanoseconds,
            p99_nanoseconds: from.p99_nanoseconds,
            max_nanoseconds: from.max_nanoseconds,
            bytes_per_second: from.bytes_per_second,
        }
    }
}

impl From<&kept::Deep> for public::Deep {
    fn from(from: &kept::Deep) -> Self {
        public::Deep {
            bytes: from.bytes,
            write_bytes_per_second: from.write_bytes_per_second,
            zero_bytes_per_second: from.zero_bytes_per_second,
            ratio: from.ratio,
            command_bytes: from.command_bytes,
            incomplete: from.incomplete.clone(),
        }
    }
}

impl From<&Reading> for public::answers::Reading {
    fn from(from: &Reading) -> Self {
        public::answers::Reading {
            source: from.source.clone(),
            field: from.field.clone(),
            raw: from.raw.known().cloned(),
            says: from.says.clone(),
            unknown: from.raw.why().map(ToString::to_string),
        }
    }
}
