//! Limits and modes before and after the test: what changed is put back where that was asked for and where the kernel
//! takes it. Writes tunables of the device alone, never its content.
//!
//! A target that rejects WRITE SAME without UNMAP makes sd withdraw the offload (fieldguide 1.7): the limits cannot be
//! written themselves then, but `max_write_same_blocks` can, and brings them back.

use crate::device::Device;
use crate::facts::Facts;
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, TunablePath};
use crate::terms::FindingCode;
use crate::verdict::measurement::TestFinding;

/// What may be written, in this order: what brings back others goes first.
const WRITABLE: &[&str] = &[
    "max_write_same_blocks",
    "zeroing_mode",
    "provisioning_mode",
    "queue/write_zeroes_unmap_max_bytes",
    "queue/discard_max_bytes",
];

/// The watched values at one time, by their paths below the device.
pub(crate) struct Limits(Vec<(String, String)>);

impl Limits {
    pub(crate) fn read(root: &Root, facts: &Facts) -> Limits {
        let value = |path: String| root.text(&facts.device.attr(&path)).known().cloned().map(|v| (path, v));
        Limits(facts.watched().into_iter().filter_map(value).collect())
    }

    fn value(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(p, _)| p == path).map(|(_, v)| v.as_str())
    }

    /// What is not as it was: path, value before, value now.
    fn changed<'a>(&'a self, now: &'a Limits) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.0
            .iter()
            .filter_map(|(path, was)| now.value(path).filter(|v| v != was).map(|v| (path.as_str(), was.as_str(), v)))
    }

    /// What is to be written so that all is as it was: path and value. A limit of 0 is never written: for some there is
    /// no way back from it.
    fn to_write<'a>(&'a self, now: &'a Limits) -> Vec<(&'a str, &'a str)> {
        let place = |path: &str| WRITABLE.iter().position(|w| path == *w || path.ends_with(&format!("/{w}")));
        let mut wanted: Vec<(usize, &str, &str)> = self
            .changed(now)
            .filter(|(_, was, _)| *was != "0")
            .filter_map(|(path, was, _)| place(path).map(|place| (place, path, was)))
            .collect();
        wanted.sort_unstable();
        wanted.into_iter().map(|(_, path, was)| (path, was)).collect()
    }
}

/// Puts back what changed, one value at a time, since each may bring others along. Gives what came of it.
pub(crate) fn restore(before: &Limits, root: &Root, facts: &Facts, port: &mut dyn Port) -> Vec<TestFinding> {
    if before.changed(&Limits::read(root, facts)).next().is_none() {
        return Vec::new();
    }
    let mut refused = Vec::new();
    for _ in WRITABLE {
        let now = Limits::read(root, facts);
        let next = before.to_write(&now).into_iter().find(|(path, _)| !refused.iter().any(|(p, _)| p == path));
        let Some((path, was)) = next else { break };
        if let Err(why) = set(port, &facts.device, path, was) {
            refused.push((path.to_owned(), why));
        }
    }
    let now = Limits::read(root, facts);
    let left: Vec<String> = before
        .changed(&now)
        .map(|(path, was, now)| {
            let why = refused.iter().find(|(p, _)| p == path).map(|(_, why)| format!(" ({why})")).unwrap_or_default();
            format!("{path} is {now}, was {was}{why}")
        })
        .collect();
    let text = if left.is_empty() {
        "all limits and modes that the test changed were put back".to_owned()
    } else {
        format!("could not be put back: {}", left.join("; "))
    };
    vec![TestFinding { code: FindingCode::LimitsChangedByTest, text }]
}

/// A value that the kernel takes and drops again counts as refused: it would be written for ever.
fn set(port: &mut dyn Port, device: &Device, path: &str, value: &str) -> Result<(), String> {
    port.set(device, &TunablePath(path.to_owned()), value).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(of: &[(&str, &str)]) -> Limits {
        Limits(of.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn what_brings_back_others_first_and_no_zero() {
        let mode = "device/scsi_disk/0:0:0:0/zeroing_mode";
        let blocks = "device/scsi_disk/0:0:0:0/max_write_same_blocks";
        let knob = "queue/write_zeroes_unmap_max_bytes";
        let max = "queue/write_zeroes_max_bytes";
        let before = limits(&[
            (max, "512"),
            (knob, "512"),
            (mode, "writesame"),
            (blocks, "1"),
            ("queue/discard_max_bytes", "0"),
        ]);
        let after =
            limits(&[(max, "0"), (knob, "0"), (mode, "write"), (blocks, "0"), ("queue/discard_max_bytes", "4096")]);
        assert_eq!(before.to_write(&after), [(blocks, "1"), (mode, "writesame"), (knob, "512")]);
        assert_eq!(before.to_write(&before), []);
        assert_eq!(before.changed(&limits(&[])).count(), 0, "what cannot be read has not changed");
    }
}
