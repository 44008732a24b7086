//! Files of single drivers that explain their zeroing limit, as readings of `probe`. It judges nothing.

use crate::device::{Device, Kind};
use crate::fact::Why;
use crate::facts::field::{text_of, Reading};
use crate::machine::fs::root::Root;

/// VIRTIO_BLK_F_DISCARD.
const VIRTIO_DISCARD: usize = 13;
/// VIRTIO_BLK_F_WRITE_ZEROES.
const VIRTIO_WRITE_ZEROES: usize = 14;

/// The files of a kind, below the device.
fn files(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Virtio => &["device/features"],
        Kind::Mmc => &["device/type", "device/erase_size", "device/preferred_erase_size"],
        Kind::Zram => &["backing_dev", "comp_algorithm"],
        Kind::Loop => &["loop/dio", "loop/partscan"],
        Kind::Bcache => &["bcache/state", "bcache/cache_mode"],
        Kind::Md => &["md/chunk_size", "md/array_state"],
        Kind::Dasd => &["device/discipline"],
        _ => &[],
    }
}

/// Adds the files of the device's kind that are there.
pub fn gather(root: &Root, device: &Device, readings: &mut Vec<Reading>) {
    for name in files(device.kind) {
        let value = root.read(&device.attr(name)).and_then(|b| text_of(&b));
        if matches!(value.why(), Some(Why::Absent)) {
            continue;
        }
        let says = value.known().and_then(|v| words(name, v));
        readings.push(Reading {
            source: "sysfs".to_owned(),
            field: (*name).to_owned(),
            raw: value,
            says,
            claim: false,
        });
    }
}

fn words(name: &str, value: &str) -> Option<String> {
    match (name, value) {
        // One character a feature, the lowest bit first.
        ("device/features", bits) => {
            let word = |bit: usize, name: &str| match bits.as_bytes().get(bit)? {
                b'1' => Some(name.to_owned()),
                b'0' => Some(format!("no {name}")),
                _ => None,
            };
            let (discard, zeroes) = (word(VIRTIO_DISCARD, "DISCARD")?, word(VIRTIO_WRITE_ZEROES, "WRITE_ZEROES")?);
            Some(format!("{discard}, {zeroes}"))
        }
        ("device/type", "SD") => Some("an SD card: an erased block may read as FFh".to_owned()),
        ("device/type", "MMC") => {
            Some("zeroing is sent as TRIM where EXT_CSD says that erased memory reads as 00h".to_owned())
        }
        ("device/discipline", "FBA") => Some("may discard".to_owned()),
        ("device/discipline", _) => Some("only FBA disks may discard".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::testing::with;

    #[test]
    fn features_of_virtio() {
        let says = |bits: &str| {
            let f = with("vda", &[("device/features", bits)]);
            f.readings.iter().find(|r| r.field == "device/features").and_then(|r| r.says.clone())
        };
        assert_eq!(says("000000000000011\n").as_deref(), Some("DISCARD, WRITE_ZEROES"));
        assert_eq!(says("000000000000010\n").as_deref(), Some("DISCARD, no WRITE_ZEROES"));
        assert_eq!(says("01\n"), None);
        assert_eq!(says("0000000000000xx\n"), None);
    }
}
