//! What partition tables say about a byte range: a pure, bounded reader of MBR and GPT for the proof that a range is
//! free.
//!
//! Decides which bytes a table or one of its entries lays claim to, never which are free to write: `scratch` does, and
//! asks more than this. Errs to the side of "taken": the union of both GPT copies and of a hybrid MBR; a table that
//! makes no sense takes everything. Touches no device: the caller hands in a function that reads. Follows UEFI 2.10,
//! chapter 5, and for MBR what `block/partitions/msdos.c` of the kernel takes for a partition.

mod gpt;
mod mbr;
mod purpose;
mod table;

pub use table::{Entry, Read, Span, Table, TableKind, MAX_CHAIN, MAX_ENTRY_ARRAY};

use table::Blocks;

impl Table {
    /// Reads the table of a device of `size` bytes with this logical block size (a power of two from 512 on).
    pub fn read(size: u64, logical_block: u64, read: Read<'_>) -> Table {
        let mut table =
            Table { kind: TableKind::None, entries: Vec::new(), reserved: Vec::new(), notes: Vec::new(), size };
        if !(512..=65536).contains(&logical_block) || !logical_block.is_power_of_two() {
            table.malformed(format!("a logical block of {logical_block} bytes"));
            return table;
        }
        let block = logical_block;
        if size < block {
            return table;
        }
        let mut device = Blocks { size, block, read };
        let Some(first) = device.block(0) else {
            table.malformed("block 0 cannot be read");
            return table;
        };
        let protective = mbr::read(&mut table, &mut device, &first);
        gpt::read(&mut table, &mut device, protective);
        table.note_overlaps();
        // A message names the first span that is hit: let it be the most telling one. Both copies give some spans twice.
        table.reserved.sort_by_key(|s| (s.end_byte - s.first_byte, s.first_byte));
        table.reserved.dedup();
        table
    }
}

#[cfg(test)]
mod tests;
