//! The fingerprint: what a measurement depends on besides the device itself (DESIGN 2). It is pure.
//!
//! It has identity, firmware, transport, driver, LBA format, claims and the command path, but not the capacity (a LUN may
//! grow) and not the kernel release by itself. Only known values make a line: a udev rule sees less than a test, and what is
//! not seen has not changed. So staleness is decided line by line, and the digest only protects the kept lines.

use crate::device::{display, Kind};
use crate::fact::Fact;
use crate::facts::{Bus, Facts};
use crate::verdict::Measurement;
use hmac_sha256::Hash as Sha256;
use std::collections::BTreeMap;

/// Limits and modes that zerocap itself sets: their change says nothing of the device.
pub const SET_BY_US: &[&str] = &["write_zeroes_unmap_max_bytes", "zeroing_mode"];

/// The lines of a device as it is now.
pub fn lines(facts: &Facts) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.insert(key.to_owned(), value);
        }
    };
    let text = |fact: &Fact<String>| fact.known().cloned();
    let bit = |fact: &Fact<bool>| fact.get().map(|b| u8::from(b).to_string());
    put("identity", facts.names.identity.as_ref().map(|i| i.as_str().to_owned()));
    put("firmware", text(&facts.names.firmware));
    put("transport", text(&facts.names.transport));
    put("driver", text(&facts.names.driver));
    put("logical_block", facts.queue.logical_block.get().map(|n| n.to_string()));
    put("unmap_hw", facts.queue.unmap_hw.get().map(|n| u8::from(n > 0).to_string()));
    match &facts.bus {
        Bus::Nvme(n) => {
            put("metadata_bytes", n.metadata_bytes.get().map(|n| n.to_string()));
            put("DLFEAT", n.dlfeat.get().map(|v| format!("{v:#04x}")));
            put("ONCS_write_zeroes", bit(&n.write_zeroes()));
        }
        Bus::Scsi(s) => {
            put("LBPME", bit(&s.lbpme));
            put("LBPRZ", bit(&s.lbprz));
            put("LBPWS", bit(&s.lbpws));
            put("LBPWS10", bit(&s.lbpws10));
        }
        Bus::Other => {}
    }
    if facts.is_stack() {
        put("target", text(&facts.stack.target));
    }
    // Where no sequence number tells one attached file from the next; its path is nobody's to read here.
    if let (None, Some(file)) = (facts.names.diskseq.get(), facts.stack.backing_file.known()) {
        put("backing_file", Some(display::hex(&Sha256::hash(file.as_bytes()))));
    }
    put("command_path", command_path(facts));
    lines
}

/// What the driver would send for a zeroing request that may unmap; `None` where that is not known.
pub fn command_path(facts: &Facts) -> Option<String> {
    let limit = facts.queue.write_zeroes_max.get()?;
    if limit == 0 {
        return Some("none".to_owned());
    }
    let path = match &facts.bus {
        Bus::Nvme(_) if facts.deallocate_zeroes() => "DSM",
        Bus::Nvme(_) if facts.sends_unmap()? => "WZ+DEAC",
        Bus::Nvme(_) => "WZ",
        Bus::Scsi(s) => match s.zeroing_mode.known().map(String::as_str)? {
            "writesame_16_unmap" => "WS16+UNMAP",
            "writesame_10_unmap" => "WS10+UNMAP",
            // Another path than any that is known, so that no measurement of those holds for it.
            mode if s.is_in_unknown_mode() => return Some(format!("zeroing_mode {}", display::escape_str(mode))),
            // With mode "write" sd still sends WRITE SAME without UNMAP while its limit stands (fieldguide 4.3).
            _ => "WS16",
        },
        Bus::Other => match facts.device.kind {
            Kind::Virtio => "VIRTIO_BLK_T_WRITE_ZEROES",
            Kind::Loop => "FALLOC_FL_PUNCH_HOLE",
            kind => return Some(format!("{} REQ_OP_WRITE_ZEROES", kind.as_str())),
        },
    };
    Some(path.to_owned())
}

/// SHA-256, hex, over the sorted `key=value` lines.
pub fn digest(lines: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    for (key, value) in lines {
        hash.update(format!("{key}={value}\n").as_bytes());
    }
    display::hex(&hash.finalize())
}

/// What of a kept measurement's fingerprint no longer holds, in words; empty where it holds.
pub fn changes(measurement: &Measurement, facts: &Facts) -> Vec<String> {
    if measurement.fingerprint_of.is_empty() || digest(&measurement.fingerprint_of) != measurement.fingerprint {
        return vec!["its fingerprint does not match its own lines".to_owned()];
    }
    let now = with_mode_to_come(measurement, facts).map_or_else(|| lines(facts), |later| lines(&later));
    let changed = |(key, then): (&String, &String)| {
        let now = now.get(key)?;
        let shown = display::escape_str;
        (now != then).then(|| format!("{} was {} and is {}", shown(key), shown(then), shown(now)))
    };
    measurement.fingerprint_of.iter().filter_map(changed).collect()
}

/// The facts as they are once the next event has put back the `zeroing_mode` that was measured: the kernel goes back to
/// its own at every close after writing. A mode of somebody else stays as it is, and makes the measurement stale.
fn with_mode_to_come(measurement: &Measurement, facts: &Facts) -> Option<Facts> {
    let mode = measurement.zeroing_mode.as_ref()?;
    let now = facts.scsi()?.zeroing_mode.known()?;
    if now == mode || Some(now.as_str()) != facts.kernel_zeroing_mode() {
        return None;
    }
    Some(in_mode(facts, mode))
}

/// The facts as they are in another `zeroing_mode`: no limit follows it (fieldguide 4.4).
pub fn in_mode(facts: &Facts, mode: &str) -> Facts {
    let mut facts = facts.clone();
    if let Bus::Scsi(s) = &mut facts.bus {
        s.zeroing_mode = Fact::Known(mode.to_owned());
    }
    facts
}

/// The limits and modes that are kept with a measurement, by their file names.
pub fn limits(facts: &Facts) -> BTreeMap<String, String> {
    let q = &facts.queue;
    let mut limits = BTreeMap::new();
    for (name, value) in [
        ("write_zeroes_max_bytes", &q.write_zeroes_max),
        ("write_zeroes_unmap_max_hw_bytes", &q.unmap_hw),
        ("write_zeroes_unmap_max_bytes", &q.unmap),
        ("discard_max_bytes", &q.discard_max),
        ("discard_granularity", &q.discard_granularity),
    ] {
        limits.extend(value.get().map(|v| (name.to_owned(), v.to_string())));
    }
    if let Some(s) = facts.scsi() {
        limits.extend(s.max_write_same_blocks.get().map(|v| ("max_write_same_blocks".to_owned(), v.to_string())));
        for (name, value) in [("zeroing_mode", &s.zeroing_mode), ("provisioning_mode", &s.provisioning_mode)] {
            limits.extend(value.known().map(|v| (name.to_owned(), v.clone())));
        }
    }
    limits
}
