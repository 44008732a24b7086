//! The forms of a partition table, the bytes that it uses, and the blocks that it is read from. It is pure.

/// Bytes that a partition table itself occupies: entries of GPT beyond this are not read, the table counts as
/// malformed.
pub const MAX_ENTRY_ARRAY: u64 = 1 << 20;
/// Logical partitions that are followed.
pub const MAX_CHAIN: usize = 128;

/// What a block of the chain is called among the reserved spans.
pub(super) const CHAIN: &str = "a block of the chain of logical partitions";

/// Overlaps that are told one by one.
const MAX_NOTES: usize = 8;

/// Reads so many bytes at this offset of the whole device; `None` where that fails. A shorter answer counts as a
/// failure.
pub type Read<'a> = &'a mut dyn FnMut(u64, usize) -> Option<Vec<u8>>;

/// What kind of table there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableKind {
    /// No partition table.
    None,
    /// An MBR.
    Mbr,
    /// A GPT with at least one good copy.
    Gpt,
    /// A table is there, or may be, and cannot be trusted; the text says why.
    Malformed(String),
}

impl TableKind {
    /// What there is, as a noun.
    pub fn noun(&self) -> String {
        match self {
            TableKind::None => "no partition table".to_owned(),
            TableKind::Mbr => "an MBR".to_owned(),
            TableKind::Gpt => "a GPT".to_owned(),
            TableKind::Malformed(why) => format!("a partition table that cannot be trusted ({why})"),
        }
    }
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its first byte on the whole device.
    pub first_byte: u64,
    /// The byte after its last one.
    pub end_byte: u64,
    /// Its name, escaped; empty for MBR.
    pub name: String,
    /// Its number as the kernel counts, from 1.
    pub index: u32,
    /// What it is for by its type, where no test may use it.
    pub purpose: Option<&'static str>,
    /// Whether it is swap space by its type.
    pub swap: bool,
}

/// Bytes that belong to the table itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub first_byte: u64,
    /// The byte after the last one.
    pub end_byte: u64,
    /// What is there, as a noun.
    pub what: &'static str,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What kind of table.
    pub kind: TableKind,
    /// The partitions, of both copies and of a hybrid MBR too; an extended partition is one of them.
    pub entries: Vec<Entry>,
    /// What the table itself occupies.
    pub reserved: Vec<Span>,
    /// What is odd about it though it can be read: a bad copy, copies that differ, entries that overlap.
    pub notes: Vec<String>,
    /// The size of the device in bytes.
    pub size: u64,
}

impl Table {
    /// Whether it is an MBR, or a GPT of two good copies that agree, and nothing about it is odd.
    pub fn intact(&self) -> bool {
        matches!(self.kind, TableKind::Gpt | TableKind::Mbr) && self.notes.is_empty()
    }

    /// What a byte range would hit, as a noun; `None` if nothing. A malformed table is in the way of every range.
    pub fn conflict(&self, start: u64, length: u64) -> Option<String> {
        self.conflict_besides(start, length, None)
    }

    /// The same for a range inside the partition `own` (first byte, byte after the last): that one, and an extended
    /// partition around it, are no conflict; every other claim to its bytes is.
    pub fn conflict_besides(&self, start: u64, length: u64, own: Option<(u64, u64)>) -> Option<String> {
        if let TableKind::Malformed(why) = &self.kind {
            return Some(format!("a partition table that cannot be trusted ({why})"));
        }
        let Some(end) = start.checked_add(length).filter(|&e| e <= self.size) else {
            return Some("the end of the device".to_owned());
        };
        if length == 0 {
            return Some("no byte at all".to_owned());
        }
        let hits = |first: u64, last: u64| start < last && first < end;
        if let Some(span) = self.reserved.iter().find(|s| hits(s.first_byte, s.end_byte)) {
            return Some(format!("{} (bytes {} to {})", span.what, span.first_byte, span.end_byte));
        }
        let is_own = |e: &Entry| {
            own.is_some_and(|(first, last)| {
                (e.first_byte, e.end_byte) == (first, last)
                    || (e.first_byte < first && last <= e.end_byte && self.is_extended(e))
            })
        };
        let entry = self.entries.iter().find(|e| hits(e.first_byte, e.end_byte) && !is_own(e))?;
        let name = if entry.name.is_empty() { String::new() } else { format!(" \"{}\"", entry.name) };
        Some(format!("partition {}{name} (bytes {} to {})", entry.index, entry.first_byte, entry.end_byte))
    }

    /// An extended partition starts with a block of the chain; no other entry does.
    fn is_extended(&self, e: &Entry) -> bool {
        self.reserved.iter().any(|s| s.what == CHAIN && s.first_byte == e.first_byte)
    }

    pub(super) fn malformed(&mut self, why: impl Into<String>) {
        // The first reason is the one nearest to the cause.
        if !matches!(self.kind, TableKind::Malformed(_)) {
            self.kind = TableKind::Malformed(why.into());
        }
    }

    pub(super) fn reserve(&mut self, first_byte: u64, end_byte: u64, what: &'static str) {
        if first_byte < end_byte {
            self.reserved.push(Span { first_byte, end_byte, what });
        }
    }

    pub(super) fn note_overlaps(&mut self) {
        let mut sorted: Vec<&Entry> = self.entries.iter().filter(|e| !self.is_extended(e)).collect();
        sorted.sort_by_key(|e| (e.first_byte, e.end_byte));
        let mut notes = Vec::new();
        let mut before: Option<&Entry> = None;
        for entry in sorted {
            if let Some(b) = before.filter(|b| entry.first_byte < b.end_byte) {
                // The same partition in a hybrid MBR is no overlap.
                if (b.first_byte, b.end_byte) != (entry.first_byte, entry.end_byte) && notes.len() < MAX_NOTES {
                    notes.push(format!("partitions {} and {} overlap", b.index, entry.index));
                }
            }
            if before.is_none_or(|b| b.end_byte < entry.end_byte) {
                before = Some(entry);
            }
        }
        self.notes.extend(notes);
    }
}

/// The device in blocks; nothing beyond its end is ever asked for.
pub(super) struct Blocks<'a> {
    pub(super) size: u64,
    pub(super) block: u64,
    pub(super) read: Read<'a>,
}

impl Blocks<'_> {
    /// The number of the last whole block.
    pub(super) fn last(&self) -> u64 {
        (self.size / self.block).saturating_sub(1)
    }

    pub(super) fn block(&mut self, number: u64) -> Option<Vec<u8>> {
        self.bytes(number.checked_mul(self.block)?, self.block)
    }

    /// So many bytes from a block boundary on; reads whole blocks, since the device may be open for direct I/O.
    pub(super) fn bytes(&mut self, offset: u64, length: u64) -> Option<Vec<u8>> {
        let whole = length.checked_next_multiple_of(self.block)?;
        offset.checked_add(whole).filter(|&end| end <= self.size)?;
        let mut bytes = (self.read)(offset, usize::try_from(whole).ok()?)?;
        if u64::try_from(bytes.len()) != Ok(whole) {
            return None;
        }
        bytes.truncate(usize::try_from(length).ok()?);
        Some(bytes)
    }
}

/// Little-endian numbers; 0 beyond the end, which no caller reaches: lengths are checked before.
pub(super) fn le(bytes: &[u8], at: usize, length: usize) -> u64 {
    let field = bytes.get(at..at + length).unwrap_or(&[]);
    field.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}
