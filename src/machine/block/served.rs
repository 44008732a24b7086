//! How much I/O a disk and its partitions have done since the disk was added: `stat` in sysfs (Documentation/block/stat.rst).
//! It only reads.

use crate::device::Device;
use crate::fact::Fact;
use crate::machine::fs::root::Root;
use crate::units::SECTOR;

/// Bytes that were read, and bytes that were written, zeroed or discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    /// Read.
    pub read: u64,
    /// Written, zeroed or discarded: which of the three a zeroing call is counted as depends on what the kernel sends.
    pub written: u64,
}

impl Served {
    /// Both.
    pub fn plus(self, other: Served) -> Served {
        Served { read: self.read.saturating_add(other.read), written: self.written.saturating_add(other.written) }
    }

    /// What came since, less what is known to be somebody's own.
    pub fn since(self, earlier: Served, own: Served) -> Served {
        let rest = |now: u64, before: u64, own: u64| now.saturating_sub(before).saturating_sub(own);
        Served {
            read: rest(self.read, earlier.read, own.read),
            written: rest(self.written, earlier.written, own.written),
        }
    }
}

/// All that was served so far. Not known where the device does not count (`queue/iostats`, which an administrator may set to 0).
pub fn so_far(root: &Root, device: &Device) -> Fact<Served> {
    if root.flag(&device.attr("queue/iostats")).is(false) {
        return Fact::malformed("queue/iostats is 0, so the kernel does not count the I/O of the device");
    }
    root.text(&device.attr("stat")).and_then(|text| match parse(&text) {
        Some(served) => Fact::Known(served),
        None => Fact::malformed("stat does not have the fields that are expected"),
    })
}

/// Fields 3 and 7 are sectors that were read and written; 14 are those that were discarded, since 4.19.
fn parse(text: &str) -> Option<Served> {
    let fields: Vec<u64> = text.split_ascii_whitespace().map(|f| f.parse().ok()).collect::<Option<_>>()?;
    let bytes = |field: usize| fields.get(field).map(|sectors| sectors.saturating_mul(SECTOR));
    Some(Served { read: bytes(2)?, written: bytes(6)?.saturating_add(bytes(13).unwrap_or(0)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_reads_writes_and_discards() {
        let text = "     120   0   2400    31     7   0   16    2   0   40   33   3   0   2048   0   1   1";
        assert_eq!(parse(text), Some(Served { read: 2400 * 512, written: (16 + 2048) * 512 }));
        let before_4_19 = "120 0 2400 31 7 0 16 2 0 40 33";
        assert_eq!(parse(before_4_19), Some(Served { read: 2400 * 512, written: 16 * 512 }));
        for cut in ["", "120 0 2400 31 7 0", "120 0 x 31 7 0 16"] {
            assert_eq!(parse(cut), None, "{cut}");
        }
    }

    #[test]
    fn io_of_others_is_counted_without_the_own_io() {
        let at = |read, written| Served { read, written };
        assert_eq!(at(100, 50).since(at(10, 10), at(60, 40)), at(30, 0));
        // Counting may be off (queue/iostats): then nothing is seen, and nothing is said.
        assert_eq!(at(10, 10).since(at(10, 10), at(60, 40)), at(0, 0));
    }
}
