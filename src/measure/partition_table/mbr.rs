//! Block 0 as an MBR, and the chain of logical partitions. As in the kernel, every entry with a length over 0 is a partition,
//! whatever its type is.

use super::purpose;
use super::table::{le, Blocks, Entry, Table, TableKind, CHAIN, MAX_CHAIN};

/// One of the four slots of an MBR or EBR, in blocks.
struct Slot {
    boot: u8,
    kind: u8,
    start: u64,
    count: u64,
}

impl Slot {
    fn is_extended(&self) -> bool {
        matches!(self.kind, 0x05 | 0x0f | 0x85) && self.count > 0
    }
}

/// The four slots, where the block bears the boot signature.
fn slots(block: &[u8]) -> Option<[Slot; 4]> {
    if block.get(510..512) != Some(&[0x55, 0xaa]) {
        return None;
    }
    let slot = |i: usize| {
        let at = 446 + 16 * i;
        let byte = |o: usize| block.get(at + o).copied().unwrap_or(0);
        Slot { boot: byte(0), kind: byte(4), start: le(block, at + 8, 4), count: le(block, at + 12, 4) }
    };
    Some([slot(0), slot(1), slot(2), slot(3)])
}

/// Reads block 0 into the table; says whether it is a protective MBR.
pub(super) fn read(table: &mut Table, device: &mut Blocks<'_>, first: &[u8]) -> bool {
    let Some(slots) = slots(first) else { return false };
    table.reserve(0, device.block, "block 0 with the MBR");
    if slots.iter().any(|s| !matches!(s.boot, 0 | 0x80)) {
        // The boot sector of a filesystem looks like this too: in either case nothing here is free.
        table.malformed("block 0 has a boot signature, but no valid table");
        return false;
    }
    table.kind = TableKind::Mbr;
    let mut logical = 5;
    let (mut protective, mut others) = (false, false);
    for (slot, index) in slots.iter().zip(1..).filter(|(s, _)| s.count > 0) {
        if slot.kind == 0xee {
            protective = true;
            continue;
        }
        others = true;
        push(table, device, (slot.start, slot.count), index, slot.kind);
        if slot.is_extended() {
            walk(table, device, slot, &mut logical);
        }
    }
    if protective && others {
        table.notes.push("it has a hybrid MBR".to_owned());
    }
    protective
}

fn push(table: &mut Table, device: &Blocks<'_>, (start, count): (u64, u64), index: u32, kind: u8) {
    let (first_byte, end_byte) =
        (start.saturating_mul(device.block), start.saturating_add(count).saturating_mul(device.block));
    if end_byte > device.size {
        table.notes.push(format!("partition {index} ends beyond the end of the device"));
    }
    let (name, purpose, swap) = (String::new(), purpose::of_mbr(kind), kind == purpose::MBR_SWAP);
    table.entries.push(Entry { first_byte, end_byte, name, index, purpose, swap });
}

/// Follows the chain: data partitions count from the block at hand, the next block from the start of the extended
/// partition.
fn walk(table: &mut Table, device: &mut Blocks<'_>, extended: &Slot, logical: &mut u32) {
    let mut here = extended.start;
    let mut seen = Vec::new();
    loop {
        if seen.contains(&here) {
            return table.malformed("the chain of logical partitions is a loop");
        }
        if seen.len() >= MAX_CHAIN {
            return table.malformed(format!("it has more than {MAX_CHAIN} logical partitions"));
        }
        seen.push(here);
        let at = here.saturating_mul(device.block);
        table.reserve(at, at.saturating_add(device.block), CHAIN);
        let Some(block) = device.block(here) else {
            return table.malformed(format!("the chain of logical partitions cannot be read at byte {at}"));
        };
        let Some(slots) = slots(&block) else {
            // The kernel ends the chain here, as tools leave it in an extended partition that was never filled.
            return table.notes.push(format!("there is no chain of logical partitions at byte {at}"));
        };
        for (i, slot) in slots.iter().enumerate().filter(|(_, s)| s.count > 0 && !s.is_extended()) {
            let start = here.saturating_add(slot.start);
            // The kernel takes the last two slots only where they stay inside: they often hold leftovers.
            let inside = start >= extended.start && start + slot.count <= extended.start + extended.count;
            if i < 2 || inside {
                push(table, device, (start, slot.count), *logical, slot.kind);
                *logical += 1;
            }
        }
        match slots.iter().find(|s| s.is_extended()) {
            Some(next) => here = extended.start.saturating_add(next.start),
            None => return,
        }
    }
}
