//! The queue limits (`queue/*`), fieldguide 1.2. It reads files only; a limit that is absent is not 0.

use crate::device::Device;
use crate::fact::{Fact, Why};
use crate::facts::field::Reading;
use crate::facts::Depth;
use crate::machine::fs::attribute;
use crate::machine::fs::root::Root;
use crate::units::human_bytes;
use std::collections::BTreeMap;

/// What `write_zeroes_max_bytes` and the unmap limits show for "no limit": UINT_MAX sectors of 512 bytes.
pub const UINT_MAX_SECTORS: u64 = (u32::MAX as u64) << 9;

/// Limits of the request queue; bytes unless said.
#[derive(Debug, Clone)]
pub struct Queue {
    /// `write_zeroes_max_bytes`.
    pub write_zeroes_max: Fact<u64>,
    /// `write_zeroes_unmap_max_hw_bytes` (6.17).
    pub unmap_hw: Fact<u64>,
    /// `write_zeroes_unmap_max_bytes` (6.17): the knob.
    pub unmap: Fact<u64>,
    /// `discard_max_bytes`.
    pub discard_max: Fact<u64>,
    /// `discard_max_hw_bytes`.
    pub discard_max_hw: Fact<u64>,
    /// `discard_granularity`.
    pub discard_granularity: Fact<u64>,
    /// `logical_block_size`.
    pub logical_block: Fact<u64>,
    /// `physical_block_size`.
    pub physical_block: Fact<u64>,
    /// `rotational`: writable by root, and only meaningful for SCSI, ATA and MMC disks.
    pub rotational: Fact<bool>,
    /// `zoned`.
    pub zoned: Fact<String>,
    /// `io_timeout`, in milliseconds.
    pub io_timeout_ms: Fact<u64>,
}

/// Whether a depth reads a file.
type Reads = fn(Depth) -> bool;

/// The files of the limits, and the depths that read each.
const FILES: [(&str, Reads); 11] = [
    ("write_zeroes_max_bytes", |_| true),
    ("write_zeroes_unmap_max_hw_bytes", |_| true),
    ("write_zeroes_unmap_max_bytes", |_| true),
    ("discard_max_bytes", |_| true),
    ("discard_max_hw_bytes", |depth| !depth.lean()),
    ("discard_granularity", |_| true),
    ("logical_block_size", |_| true),
    ("physical_block_size", |_| true),
    ("rotational", |_| true),
    ("zoned", Depth::more_than_the_answer),
    ("io_timeout", Depth::more_than_the_answer),
];

/// Reads the limits of a device.
pub fn gather(root: &Root, device: &Device, depth: Depth, readings: &mut Vec<Reading>) -> Queue {
    if depth == Depth::Quiet {
        return Queue::not_asked();
    }
    let files = || FILES.iter().filter(|(_, read)| read(depth)).map(|(name, _)| *name);
    let paths: Vec<String> = files().map(|name| device.attr(&format!("queue/{name}"))).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut read: BTreeMap<&str, Fact<Vec<u8>>> = files().zip(root.read_each(&paths)).collect();
    let mut file = |name: &str| read.remove(name).unwrap_or(Fact::NOT_ASKED);
    let (rotational, zoned, io_timeout) = (file("rotational"), file("zoned"), file("io_timeout"));
    let mut bytes = |name: &str, claim: Option<fn(u64) -> String>| {
        let value = attribute::number(file(name));
        if value.why() == Some(&Why::NotAsked) {
            return value;
        }
        let reading = Reading::file("queue", name, &value);
        readings.push(match claim {
            Some(says) => reading.claiming(value.get().map(says)),
            None => reading.saying(value.get().map(human_bytes)),
        });
        value
    };
    let queue = Queue {
        write_zeroes_max: bytes(
            "write_zeroes_max_bytes",
            Some(|n| {
                if n == 0 {
                    "no zeroing offload".to_owned()
                } else {
                    format!("zeroing offload, {} per command", human_bytes(n))
                }
            }),
        ),
        unmap_hw: bytes(
            "write_zeroes_unmap_max_hw_bytes",
            Some(|n| {
                if n == 0 {
                    "zeroing does not unmap".to_owned()
                } else {
                    format!("zeroing by unmap, {} per command", human_bytes(n))
                }
            }),
        ),
        unmap: bytes(
            "write_zeroes_unmap_max_bytes",
            Some(|n| {
                if n == 0 {
                    "FALLOC_FL_WRITE_ZEROES is refused".to_owned()
                } else {
                    "FALLOC_FL_WRITE_ZEROES is allowed".to_owned()
                }
            }),
        ),
        discard_max: bytes("discard_max_bytes", None),
        discard_max_hw: bytes("discard_max_hw_bytes", None),
        discard_granularity: bytes("discard_granularity", None),
        logical_block: bytes("logical_block_size", None),
        physical_block: bytes("physical_block_size", None),
        rotational: attribute::flag(rotational),
        zoned: attribute::text(zoned),
        io_timeout_ms: attribute::number(io_timeout),
    };
    readings.push(Reading::file("queue", "rotational", &queue.rotational.as_ref().map(|r| u8::from(*r))));
    readings.push(Reading::file("queue", "zoned", &queue.zoned));
    readings.push(Reading::file("queue", "io_timeout", &queue.io_timeout_ms));
    queue
}

impl Queue {
    /// Limits that nobody looked at.
    fn not_asked() -> Queue {
        Queue {
            write_zeroes_max: Fact::NOT_ASKED,
            unmap_hw: Fact::NOT_ASKED,
            unmap: Fact::NOT_ASKED,
            discard_max: Fact::NOT_ASKED,
            discard_max_hw: Fact::NOT_ASKED,
            discard_granularity: Fact::NOT_ASKED,
            logical_block: Fact::NOT_ASKED,
            physical_block: Fact::NOT_ASKED,
            rotational: Fact::NOT_ASKED,
            zoned: Fact::NOT_ASKED,
            io_timeout_ms: Fact::NOT_ASKED,
        }
    }

    /// The effective discard limit, else the hardware's.
    pub fn discard(&self) -> Fact<u64> {
        self.discard_max.clone().or(|| self.discard_max_hw.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_limit_is_not_zero() {
        let dir = tempfile::tempdir().unwrap();
        let queue = dir.path().join("sys/block/sda/queue");
        std::fs::create_dir_all(&queue).unwrap();
        std::fs::write(queue.join("write_zeroes_max_bytes"), "0\n").unwrap();
        std::fs::write(queue.join("discard_max_bytes"), "many\n").unwrap();
        std::fs::write(queue.join("rotational"), "2\n").unwrap();
        let mut readings = Vec::new();
        let root = Root::open(dir.path()).unwrap();
        let quiet = gather(&root, &Device::new("sda", None), Depth::Quiet, &mut readings);
        assert_eq!((quiet.write_zeroes_max, readings.len()), (Fact::NOT_ASKED, 0));
        let q = gather(&root, &Device::new("sda", None), Depth::Claims, &mut readings);
        assert_eq!(q.write_zeroes_max, Fact::Known(0));
        assert_eq!(q.unmap_hw, Fact::ABSENT);
        assert!(matches!(q.discard_max.why(), Some(Why::Malformed(_))));
        assert!(matches!(q.rotational.why(), Some(Why::Malformed(_))));
        assert!(readings.iter().any(|r| r.field == "write_zeroes_max_bytes" && r.claim && r.says.is_some()));
    }
}
