//! What partition tables say about a range of bytes: a pure and bounded reader of MBR and GPT for the proof that a range is
//! free.
//!
//! It decides which bytes a table or one of its entries uses, but never which bytes are free to write: `scratch` does that,
//! and checks more. In doubt it takes bytes as used: it unites both copies of a GPT, and the parts of a hybrid MBR; a table
//! that is not valid uses everything. It touches no device: the caller passes a function that reads. It follows UEFI 2.10,
//! chapter 5, and for MBR the kernel's `block/partitions/msdos.c`.

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
            table.malformed(format!("its logical block of {logical_block} bytes is not supported"));
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
