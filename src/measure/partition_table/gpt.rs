//! Both copies of a GPT: header, entry array, and their checksums. One good copy is used, and the bad one is reported. If no
//! copy is good but there is a trace of one, the table is malformed.

use super::purpose;
use super::table::{le, Blocks, Entry, Table, TableKind, MAX_ENTRY_ARRAY};
use crate::device::display::escape_str;
use std::collections::BTreeSet;

const SIGNATURE: &[u8] = b"EFI PART";

/// What stands where a header should.
enum Copy {
    /// No trace of a header.
    Absent,
    /// A header that cannot be trusted, and why.
    Bad(String),
    /// A header and its entries.
    Good(Good),
}

struct Good {
    header: u64,
    other: u64,
    /// The blocks where partitions may lie, both ends included.
    usable: (u64, u64),
    /// The entry array in bytes, its end excluded.
    array: (u64, u64),
    entries: Vec<Entry>,
    /// Entries whose numbers make no sense.
    odd: usize,
}

/// Reads the GPT into the table. `protective`: block 0 says that there is one.
pub(super) fn read(table: &mut Table, device: &mut Blocks<'_>, protective: bool) {
    let last = device.last();
    let (primary, mut backup) =
        if last >= 2 { (copy(device, 1), copy(device, last)) } else { (Copy::Absent, Copy::Absent) };
    if let Copy::Good(p) = &primary {
        if p.other != last && p.other > 1 && p.other < last {
            // The device has grown since: the copy that belongs to this one stands where its old end was.
            table.notes.push("the backup GPT is not at the end of the device".to_owned());
            if let Copy::Good(stray) = std::mem::replace(&mut backup, copy(device, p.other)) {
                adopt(table, device, &stray, BACKUP);
            }
        }
    }
    if !matches!((&primary, &backup), (Copy::Good(_), _) | (_, Copy::Good(_))) {
        if let (Copy::Bad(why), _) | (_, Copy::Bad(why)) = (&primary, &backup) {
            table.malformed(format!("GPT: {why}"));
        } else if protective {
            table.malformed("it has a protective MBR but no GPT");
        } else if let Some(block) = other_block_size(device) {
            table.malformed(format!("its GPT was made for logical blocks of {block} bytes"));
        }
        return;
    }
    if !matches!(table.kind, TableKind::Malformed(_)) {
        table.kind = TableKind::Gpt;
    }
    if !protective {
        table.notes.push("it has a GPT but no protective MBR".to_owned());
    }
    if let (Copy::Good(p), Copy::Good(b)) = (&primary, &backup) {
        if (&p.entries, p.usable) != (&b.entries, b.usable) {
            table.notes.push("the two copies of the GPT differ".to_owned());
        }
    }
    for (copy, names) in [(&primary, PRIMARY), (&backup, BACKUP)] {
        match copy {
            Copy::Absent => table.notes.push(format!("it has no {} GPT", names[0])),
            Copy::Bad(why) => table.notes.push(format!("the {} GPT is bad: {why}", names[0])),
            Copy::Good(good) => adopt(table, device, good, names),
        }
    }
}

/// How a copy, its header and its entries are called.
const PRIMARY: [&str; 3] = ["primary", "the primary GPT header", "the primary GPT entries"];
const BACKUP: [&str; 3] = ["backup", "the backup GPT header", "the backup GPT entries"];

/// Takes over what a good copy claims.
fn adopt(table: &mut Table, device: &Blocks<'_>, good: &Good, names: [&'static str; 3]) {
    let block = device.block;
    table.reserve(good.header * block, (good.header + 1) * block, names[1]);
    table.reserve(good.array.0, good.array.1, names[2]);
    // Also covers where a bad copy keeps its entries.
    table.reserve(0, good.usable.0 * block, "the area before the first usable block of the GPT");
    table.reserve((good.usable.1 + 1) * block, device.size, "the area behind the last usable block of the GPT");
    if good.odd > 0 {
        table.notes.push(format!("{} entries of the {} GPT lie where no partition may be", good.odd, names[0]));
    }
    let known: BTreeSet<Entry> = table.entries.iter().cloned().collect();
    table.entries.extend(good.entries.iter().filter(|e| !known.contains(e)).cloned());
}

/// The header in this block and its entries.
fn copy(device: &mut Blocks<'_>, number: u64) -> Copy {
    let Some(header) = device.block(number) else {
        return Copy::Bad(format!("block {number} cannot be read"));
    };
    if !header.starts_with(SIGNATURE) {
        return Copy::Absent;
    }
    good(device, number, &header).map_or_else(Copy::Bad, Copy::Good)
}

fn good(device: &mut Blocks<'_>, number: u64, header: &[u8]) -> Result<Good, String> {
    let n4 = |at| le(header, at, 4);
    let n8 = |at| le(header, at, 8);
    let length = usize::try_from(n4(12)).unwrap_or(usize::MAX);
    if length < 92 {
        return Err(format!("the header has {length} bytes"));
    }
    let mut summed = header.get(..length).ok_or_else(|| format!("the header has {length} bytes"))?.to_vec();
    summed.get_mut(16..20).into_iter().for_each(|crc| crc.fill(0));
    if u64::from(crc32fast::hash(&summed)) != n4(16) {
        return Err(format!("the checksum of the header in block {number} is wrong"));
    }
    if n8(24) != number {
        return Err(format!("the header in block {number} says it is in block {}", n8(24)));
    }
    let usable = (n8(40), n8(48));
    if usable.0 > usable.1 || usable.1 > device.last() {
        return Err(format!(
            "the usable blocks are {} to {}, but the device has {}",
            usable.0,
            usable.1,
            device.last() + 1
        ));
    }
    let (count, size) = (n4(80), n4(84));
    // UEFI: 128 times a power of two.
    if size < 128 || !size.is_power_of_two() {
        return Err(format!("its entries have {size} bytes"));
    }
    let bytes = count * size;
    if bytes > MAX_ENTRY_ARRAY {
        return Err(format!("it has {count} entries of {size} bytes"));
    }
    let start = n8(72).checked_mul(device.block).filter(|&s| s > 0).ok_or("its entries do not lie on the device")?;
    let array = device.bytes(start, bytes).ok_or_else(|| format!("the entries at byte {start} cannot be read"))?;
    if u64::from(crc32fast::hash(&array)) != n4(88) {
        return Err(format!("the checksum of the entries at byte {start} is wrong"));
    }
    let mut good =
        Good { header: number, other: n8(32), usable, array: (start, start + bytes), entries: Vec::new(), odd: 0 };
    for (raw, index) in array.chunks_exact(usize::try_from(size).unwrap_or(128)).zip(1..) {
        entry(device, raw, index, &mut good);
    }
    Ok(good)
}

fn entry(device: &Blocks<'_>, raw: &[u8], index: u32, good: &mut Good) {
    // An unused entry has a type of all zero.
    if raw.iter().take(16).all(|&b| b == 0) {
        return;
    }
    let (first, last) = (le(raw, 32, 8), le(raw, 40, 8));
    if first > last || first < good.usable.0 || last > good.usable.1 {
        good.odd += 1;
    }
    let units = raw.get(56..128).unwrap_or(&[]).chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]]));
    let name: String = char::decode_utf16(units.take_while(|&u| u != 0)).map(|c| c.unwrap_or('\u{fffd}')).collect();
    good.entries.push(Entry {
        first_byte: first.min(last).saturating_mul(device.block),
        end_byte: first.max(last).saturating_add(1).saturating_mul(device.block),
        name: escape_str(&name),
        index,
        purpose: purpose::of_gpt(raw),
        swap: purpose::is_gpt_swap(raw),
    });
}

/// The other common block size, where a header stands as if the device had it: a copied image, or a translating bridge.
fn other_block_size(device: &mut Blocks<'_>) -> Option<u64> {
    let (own, size) = (device.block, device.size);
    let others = [512u64, 4096].into_iter().filter(|&o| o != own && size >= 3 * o);
    let mut places = others.flat_map(|o| [(o, o), (o, (size / o - 1) * o)]);
    places.find_map(|(other, at)| {
        let within = usize::try_from(at % own).ok()?;
        let bytes = device.bytes(at - at % own, own)?;
        bytes.get(within..)?.starts_with(SIGNATURE).then_some(other)
    })
}
