#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use super::*;
use crc32fast::hash as crc32;

/// A GPT about which nothing is odd.
fn intact_gpt(table: &Table) -> bool {
    table.kind == TableKind::Gpt && table.intact()
}

/// A device in memory with what is needed to build tables on it.
struct Disk {
    bytes: Vec<u8>,
    block: usize,
}

impl Disk {
    fn new(blocks: usize, block: usize) -> Self {
        Disk { bytes: vec![0; blocks * block], block }
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes)
    }

    fn mbr(&mut self, block: usize, slots: &[(u8, u32, u32)]) -> &mut Self {
        let at = block * self.block;
        self.put(at + 510, &[0x55, 0xaa]);
        for (i, &(kind, start, count)) in slots.iter().enumerate() {
            let slot = at + 446 + 16 * i;
            self.put(slot + 4, &[kind]);
            self.put(slot + 8, &start.to_le_bytes());
            self.put(slot + 12, &count.to_le_bytes());
        }
        self
    }

    /// One copy: header in `header`, entries at `array`, entry size and count as given, the entries (first, last,
    /// name).
    fn copy(
        &mut self,
        (header, other, array): (u64, u64, u64),
        (count, size): (u32, u32),
        entries: &[(u64, u64, &str)],
    ) -> &mut Self {
        let mut raw = vec![0u8; (count as usize * size as usize).min(1 << 16)];
        for (i, &(first, last, name)) in entries.iter().enumerate() {
            let e = &mut raw[i * size as usize..][..128];
            e[0] = 0xaf;
            e[32..40].copy_from_slice(&first.to_le_bytes());
            e[40..48].copy_from_slice(&last.to_le_bytes());
            name.encode_utf16().enumerate().for_each(|(j, u)| e[56 + 2 * j..][..2].copy_from_slice(&u.to_le_bytes()));
        }
        let last = (self.bytes.len() / self.block - 1) as u64;
        let array_blocks = raw.len().div_ceil(self.block) as u64;
        let mut h = vec![0u8; 92];
        h[..8].copy_from_slice(b"EFI PART");
        for (at, v) in [(24, header), (32, other), (40, 2 + array_blocks), (48, last - 1 - array_blocks), (72, array)] {
            h[at..at + 8].copy_from_slice(&v.to_le_bytes());
        }
        for (at, v) in [(12, 92), (80, count), (84, size), (88, crc32(&raw))] {
            h[at..at + 4].copy_from_slice(&v.to_le_bytes());
        }
        let crc = crc32(&h);
        h[16..20].copy_from_slice(&crc.to_le_bytes());
        self.put(header as usize * self.block, &h);
        let at = array as usize * self.block;
        if at + raw.len() <= self.bytes.len() {
            self.put(at, &raw);
        }
        self
    }

    fn gpt(blocks: usize, block: usize, shape: (u32, u32), entries: &[(u64, u64, &str)]) -> Self {
        let mut disk = Disk::new(blocks, block);
        let last = blocks as u64 - 1;
        let array_blocks = (shape.0 as usize * shape.1 as usize).div_ceil(block) as u64;
        disk.mbr(0, &[(0xee, 1, last as u32)]);
        disk.copy((1, last, 2), shape, entries).copy((last, 1, last - array_blocks), shape, entries);
        disk
    }

    fn table(&self) -> Table {
        let read = &mut |at: u64, n: usize| self.bytes.get(at as usize..at as usize + n).map(<[u8]>::to_vec);
        Table::read(self.bytes.len() as u64, self.block as u64, read)
    }

    fn malformed(&self) -> String {
        let table = self.table();
        assert!(
            table.conflict(0, 512).is_some() && table.conflict(table.size / 2, 512).is_some() && !intact_gpt(&table)
        );
        match table.kind {
            TableKind::Malformed(why) => why,
            other => panic!("{other:?}"),
        }
    }
}

const SHAPE: (u32, u32) = (128, 128);

#[test]
fn the_checksum_is_that_of_the_gpt() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn empty_and_tiny_devices_have_no_table() {
    let table = Disk::new(100, 512).table();
    assert_eq!((&table.kind, table.conflict(0, 51_200)), (&TableKind::None, None));
    assert_eq!(table.conflict(0, 51_201).as_deref(), Some("the end of the device"));
    assert_eq!(table.conflict(u64::MAX, 2).as_deref(), Some("the end of the device"));
    assert_eq!(table.conflict(512, 0).as_deref(), Some("no byte at all"));
    for blocks in 0..4 {
        assert_eq!(Disk::new(blocks, 512).table().kind, TableKind::None);
    }
    assert!(matches!(Table::read(1 << 20, 0, &mut |_, _| None).kind, TableKind::Malformed(_)));
    assert!(matches!(Table::read(1 << 20, 512, &mut |_, _| None).kind, TableKind::Malformed(_)));
    assert!(matches!(Table::read(1 << 20, 512, &mut |_, _| Some(vec![0; 3])).kind, TableKind::Malformed(_)));
}

#[test]
fn gpt_of_both_block_sizes() {
    for block in [512usize, 4096] {
        let table = Disk::gpt(1000, block, SHAPE, &[(100, 199, "root"), (300, 399, "a\n\u{202e}")]).table();
        assert!(intact_gpt(&table), "{table:?}");
        let b = block as u64;
        assert_eq!(table.entries.len(), 2);
        assert_eq!(table.conflict(200 * b, 100 * b), None);
        let root = table.conflict(199 * b, b).unwrap();
        assert_eq!(root, format!("partition 1 \"root\" (bytes {} to {})", 100 * b, 200 * b));
        assert!(table.conflict(0, 1000 * b).unwrap().contains("MBR"));
        assert!(table.conflict(b, b).unwrap().contains("the primary GPT header"));
        assert!(table.conflict(2 * b, b).unwrap().contains("the primary GPT entries"));
        assert!(table.conflict(999 * b, b).unwrap().contains("the backup GPT header"));
        assert!(table.conflict(998 * b, b).unwrap().contains("the backup GPT entries"));
        assert!(table.conflict(300 * b, 1).unwrap().contains("a\\x0a\\xe2\\x80\\xae"));
        assert_eq!(table.conflict_besides(100 * b, 100 * b, Some((100 * b, 200 * b))), None);
        assert!(table.conflict_besides(100 * b, 201 * b, Some((100 * b, 200 * b))).is_some());
    }
}

#[test]
fn a_gpt_with_wide_entries_is_read() {
    let table = Disk::gpt(1000, 512, (64, 256), &[(100, 199, "one"), (300, 399, "two")]).table();
    assert!(intact_gpt(&table), "{table:?}");
    assert_eq!(table.entries.iter().map(|e| (e.name.as_str(), e.index)).collect::<Vec<_>>(), [("one", 1), ("two", 2)]);
}

#[test]
fn a_bad_copy_of_the_gpt_is_reported() {
    for (at, what) in [
        (512 + 40, "the primary GPT is bad: the checksum of the header"),
        (999 * 512 + 16, "the backup GPT is bad"),
        (1024, "checksum of the entries"),
    ] {
        let mut disk = Disk::gpt(1000, 512, SHAPE, &[(100, 199, "root")]);
        disk.bytes[at] ^= 1;
        let table = disk.table();
        assert_eq!((&table.kind, table.entries.len(), intact_gpt(&table)), (&TableKind::Gpt, 1, false));
        assert!(table.notes.iter().any(|n| n.contains(what)), "{:?}", table.notes);
        for place in [0, 512, 2 * 512, 20 * 512, 970 * 512, 999 * 512, 150 * 512] {
            assert!(table.conflict(place, 512).is_some(), "{place}");
        }
        assert_eq!(table.conflict(500 * 512, 512), None);
    }
}

#[test]
fn a_gpt_without_a_good_copy_uses_every_byte() {
    let mut disk = Disk::gpt(1000, 512, SHAPE, &[(100, 199, "root")]);
    disk.bytes[512 + 40] ^= 1;
    disk.bytes[999 * 512 + 40] ^= 1;
    assert!(disk.malformed().contains("checksum of the header in block 1 is wrong"));
    assert!(Disk::new(1000, 512).mbr(0, &[(0xee, 1, 999)]).malformed().contains("protective MBR but no GPT"));
    // A table for blocks of 512 bytes, seen through blocks of 4096, and the reverse.
    let mut disk = Disk::gpt(1000, 512, SHAPE, &[]);
    disk.bytes[510] = 0;
    disk.block = 4096;
    assert!(disk.malformed().contains("logical blocks of 512"));
    let mut disk = Disk::gpt(100, 4096, SHAPE, &[]);
    disk.bytes[510] = 0;
    disk.block = 512;
    assert!(disk.malformed().contains("logical blocks of 4096"));
}

#[test]
fn two_different_copies_of_the_gpt_are_united() {
    let mut disk = Disk::gpt(1000, 512, SHAPE, &[(100, 199, "root")]);
    disk.copy((999, 1, 967), SHAPE, &[(500, 599, "old")]);
    let table = disk.table();
    assert_eq!(table.notes, ["the two copies of the GPT differ"]);
    assert!(table.conflict(150 * 512, 512).is_some() && table.conflict(550 * 512, 512).is_some());
}

#[test]
fn a_device_that_grew_keeps_the_old_backup_gpt_reserved() {
    let mut disk = Disk::gpt(1000, 512, SHAPE, &[(100, 199, "root")]);
    disk.bytes.resize(2000 * 512, 0);
    let table = disk.table();
    assert_eq!(table.notes, ["the backup GPT is not at the end of the device"]);
    assert!(table.conflict(999 * 512, 512).unwrap().contains("backup GPT header"));
    assert!(table.conflict(1500 * 512, 512).unwrap().contains("behind the last usable block"));
}

#[test]
fn invalid_numbers_in_a_gpt_make_it_malformed() {
    let absurd = [(u32::MAX, 128), (128, u32::MAX), (1 << 14, 128), (4, 96), (4, 384), (4, 0), (u32::MAX, u32::MAX)];
    for shape in absurd {
        let mut disk = Disk::new(1000, 512);
        let write = |d: &mut Disk| {
            d.mbr(0, &[(0xee, 1, 999)]);
            d.copy((1, 999, 2), (4, 128), &[]);
            for (at, v) in [(80, shape.0), (84, shape.1), (16, 0)] {
                d.put(512 + at, &v.to_le_bytes());
            }
            let crc = crc32(&d.bytes[512..512 + 92]);
            d.put(512 + 16, &crc.to_le_bytes());
        };
        write(&mut disk);
        assert!(disk.malformed().contains("entries"), "{shape:?}");
    }
    // The array beyond the device, or at an offset that overflows.
    for array in [0, 990, 1 << 55, u64::MAX] {
        let mut disk = Disk::new(1000, 512);
        disk.mbr(0, &[(0xee, 1, 999)]);
        let mut other = Disk::new(1000, 512);
        other.copy((1, 999, 2), SHAPE, &[]);
        other.put(512 + 72, &u64::to_le_bytes(array));
        other.put(512 + 16, &[0; 4]);
        let crc = crc32(&other.bytes[512..512 + 92]);
        other.put(512 + 16, &crc.to_le_bytes());
        disk.put(512, &other.bytes[512..1024]);
        assert!(disk.malformed().contains("entries"), "{array}");
    }
    // Partitions beyond the device, the wrong way round, and over each other.
    let table = Disk::gpt(1000, 512, SHAPE, &[(100, u64::MAX, "far"), (300, 200, "back"), (350, 399, "over")]).table();
    assert!(table.conflict(900 * 512, 512).unwrap().contains("far"));
    assert!(
        table.notes.iter().any(|n| n.starts_with("2 entries")) && table.notes.iter().any(|n| n.contains("overlap")),
        "{:?}",
        table.notes
    );
    let table = Disk::gpt(1000, 512, SHAPE, &[(100, 300, "a"), (300, 399, "b")]).table();
    assert_eq!(table.notes, ["partitions 1 and 2 overlap"]);
}

#[test]
fn mbr_with_logical_partitions() {
    let mut disk = Disk::new(1000, 512);
    disk.mbr(0, &[(0x83, 10, 90), (0x05, 200, 400), (0, 0, 0), (0, 700, 10)]);
    disk.mbr(200, &[(0x83, 10, 50), (0x05, 100, 100)]).mbr(300, &[(0x83, 10, 50)]);
    let table = disk.table();
    assert_eq!((&table.kind, &table.notes), (&TableKind::Mbr, &vec![]));
    let found: Vec<_> = table.entries.iter().map(|e| (e.index, e.first_byte / 512, e.end_byte / 512)).collect();
    assert_eq!(found, [(1, 10, 100), (2, 200, 600), (5, 210, 260), (6, 310, 360), (4, 700, 710)]);
    assert!(table.conflict(300 * 512, 512).unwrap().contains("chain"));
    assert!(table.conflict(400 * 512, 512).unwrap().contains("partition 2"));
    assert_eq!(table.conflict(800 * 512, 512), None);
    assert_eq!(table.conflict_besides(310 * 512, 50 * 512, Some((310 * 512, 360 * 512))), None);
    assert!(table.conflict_besides(300 * 512, 60 * 512, Some((310 * 512, 360 * 512))).is_some());
}

#[test]
fn endless_chains_of_logical_partitions_are_malformed() {
    let mut disk = Disk::new(1000, 512);
    disk.mbr(0, &[(0x0f, 200, 400)])
        .mbr(200, &[(0x83, 10, 10), (0x05, 100, 10)])
        .mbr(300, &[(0x83, 10, 10), (0x05, 0, 10)]);
    assert!(disk.malformed().contains("is a loop"));
    let mut disk = Disk::new(1000, 512);
    disk.mbr(0, &[(0x85, 200, 400)]);
    (0..300).for_each(|i| {
        disk.mbr(200 + i, &[(0x83, 1, 1), (0x05, i as u32 + 1, 1)]);
    });
    assert!(disk.malformed().contains("more than 128"));
    let mut disk = Disk::new(1000, 512);
    disk.mbr(0, &[(0x85, 5000, 400)]);
    assert!(disk.malformed().contains("cannot be read"));
    let mut disk = Disk::new(1000, 512);
    disk.mbr(0, &[(0x83, 10, 10)]);
    disk.bytes[446] = 0x13;
    assert!(disk.malformed().contains("no valid table"));
}

#[test]
fn a_hybrid_mbr_and_a_missing_protective_mbr_are_reported() {
    let mut disk = Disk::gpt(1000, 512, SHAPE, &[(100, 199, "root")]);
    disk.mbr(0, &[(0xee, 1, 99), (0x83, 500, 100)]);
    let table = disk.table();
    assert_eq!((&table.kind, &table.notes), (&TableKind::Gpt, &vec!["it has a hybrid MBR".to_owned()]));
    assert!(table.conflict(550 * 512, 512).is_some());
    disk.mbr(0, &[(0x83, 500, 100), (0, 0, 0)]);
    assert_eq!(disk.table().notes, ["it has a GPT but no protective MBR"]);
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(seed in proptest::collection::vec((0usize..40 * 512, proptest::num::u8::ANY), 0..400), which in 0u8..4, fix in proptest::bool::ANY) {
        let mut disk = match which {
            0 => Disk::new(40, 512),
            1 => Disk::gpt(40, 512, (4, 128), &[(4, 9, "x")]),
            2 => { let mut d = Disk::new(40, 512); d.mbr(0, &[(0x05, 3, 30)]).mbr(3, &[(0x83, 1, 2), (0x05, 4, 4)]); d }
            _ => Disk::gpt(40, 512, (8, 256), &[(6, 9, "x"), (12, 30, "y")]),
        };
        // Few bytes hit the tables where any do; a right checksum lets the rest of a damaged header be read.
        for (i, &(at, byte)) in seed.iter().enumerate() {
            let at = if i % 2 == 0 { at } else { [446, 512, 2 * 512, 39 * 512][at % 4] + at % 64 };
            disk.bytes[at] = byte;
        }
        if fix {
            disk.put(512, b"EFI PART\0\0\x01\0\x5c\0\0\0\0\0\0\0");
            let crc = crc32(&disk.bytes[512..512 + 92]);
            disk.put(512 + 16, &crc.to_le_bytes());
        }
        let table = disk.table();
        proptest::prop_assert!(table.reserved.iter().all(|s| s.first_byte < s.end_byte));
        for at in 0..40 {
            let _ = table.conflict(at * 512, 512);
        }
        if table.kind == TableKind::Gpt {
            proptest::prop_assert!(table.conflict(0, 512).is_some());
        }
    }
}
