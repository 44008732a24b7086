//! The fields of a page, one row for each: the name in the specification, the place in the page, and the meaning. It reads
//! bytes only, and judges nothing.
//!
//! `probe`, the claims and JSON use the same rows as the typed facts, so each offset is written once in the program. A bit
//! field has a mask; the lowest bit of the mask becomes bit 0 of the value.

use crate::device::display;
use crate::fact::{Fact, Why};
use crate::facts::page::Page;

/// One field as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Where it was read: `nvme-id-ns`, `scsi-vpd-b2`, `queue`, `scsi_disk`, `sysfs`.
    pub source: String,
    /// The specification's or the kernel's name.
    pub field: String,
    /// The raw value as it is shown, escaped: `0x19`, `33553920`; or why there is none.
    pub raw: Fact<String>,
    /// What it says, in words.
    pub says: Option<String>,
    /// Whether it is a claim about zeroing.
    pub claim: bool,
}

impl Reading {
    /// A reading of a file, shown as it stands there.
    pub fn file<T: ToString>(source: &str, field: &str, value: &Fact<T>) -> Reading {
        let raw = value.as_ref().map(|v| display::escape_str(&v.to_string()));
        Reading { source: source.to_owned(), field: field.to_owned(), raw, says: None, claim: false }
    }

    /// The same reading, as a claim about zeroing that says this.
    pub fn claiming(mut self, says: Option<String>) -> Reading {
        self.says = says;
        self.claim = true;
        self
    }

    /// The same reading with its value in words.
    pub fn saying(mut self, says: Option<String>) -> Reading {
        self.says = says;
        self
    }
}

/// The order of a field's bytes, or that it is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first, as NVMe and ATA write.
    Little,
    /// Most significant byte first, as SCSI writes.
    Big,
    /// ASCII, padded with blanks.
    Text,
    /// Bytes that are shown as hex digits.
    Hex,
}

/// A field of a page.
#[derive(Debug)]
pub struct Field {
    /// The specification's name.
    pub spec_name: &'static str,
    /// The page: the name of its question.
    pub source: &'static str,
    /// Byte offset in the page.
    pub offset: usize,
    /// Width in bytes; at most 8 for a number.
    pub width: usize,
    /// The bits of the number that are the field; all ones for the whole.
    pub mask: u64,
    /// Byte order or form.
    pub endian: Endian,
    /// What a value says in words, where it needs words.
    pub decode: fn(u64) -> Option<String>,
    /// Whether the field is a claim about zeroing.
    pub claim: bool,
}

/// The mask of a field that is the whole number.
pub const WHOLE: u64 = u64::MAX;

/// For fields whose number needs no words.
pub fn plain(_: u64) -> Option<String> {
    None
}

impl Field {
    fn slice<'p>(&self, page: &Page<'p>) -> Fact<&'p [u8]> {
        let end = self.offset.saturating_add(self.width);
        match page.0.get(self.offset..end) {
            Some(bytes) => Fact::Known(bytes),
            None => {
                Fact::malformed(format!("it has {} bytes, but byte {} is needed", page.0.len(), end.saturating_sub(1)))
            }
        }
    }

    /// The number in the page.
    pub fn value(&self, page: &Fact<Vec<u8>>) -> Fact<u64> {
        page.as_ref().and_then(|bytes| self.slice(&Page(bytes))).and_then(|bytes| {
            if bytes.len() > 8 || matches!(self.endian, Endian::Text | Endian::Hex) || self.mask == 0 {
                return Fact::malformed("no number");
            }
            let fold = |n: u64, b: &u8| (n << 8) | u64::from(*b);
            let whole = match self.endian {
                Endian::Little => bytes.iter().rev().fold(0, fold),
                _ => bytes.iter().fold(0, fold),
            };
            Fact::Known((whole & self.mask) >> self.mask.trailing_zeros())
        })
    }

    /// The field as one bit.
    pub fn bit(&self, page: &Fact<Vec<u8>>) -> Fact<bool> {
        self.value(page).map(|v| v != 0)
    }

    /// The field as text of the device: escaped, trimmed; an empty one is absent.
    pub fn text(&self, page: &Fact<Vec<u8>>) -> Fact<String> {
        page.as_ref().and_then(|bytes| self.slice(&Page(bytes))).and_then(text_of)
    }

    /// The field as it is shown.
    pub fn reading(&self, page: &Fact<Vec<u8>>) -> Reading {
        let (raw, says) = match self.endian {
            Endian::Text => (self.text(page), None),
            Endian::Hex => (page.as_ref().and_then(|b| self.slice(&Page(b))).map(display::hex), None),
            Endian::Little | Endian::Big => {
                let value = self.value(page);
                let says = value.known().and_then(|v| (self.decode)(*v));
                // A single bit or a count of bits reads best as a number; registers read best in hex.
                let shown = |v: u64| if self.mask == WHOLE { format!("{v:#x}") } else { v.to_string() };
                (value.map(shown), says)
            }
        };
        Reading { source: self.source.to_owned(), field: self.spec_name.to_owned(), raw, says, claim: self.claim }
    }
}

/// Text of a device: cut at the padding, escaped; an empty one is absent.
pub fn text_of(bytes: &[u8]) -> Fact<String> {
    let blank = |b: &u8| matches!(b, 0 | b' ' | b'\n' | b'\t' | b'\r');
    let Some(start) = bytes.iter().position(|b| !blank(b)) else { return Fact::ABSENT };
    let end = bytes.iter().rposition(|b| !blank(b)).map_or(start, |i| i + 1);
    Fact::Known(display::escape(&bytes[start..end]))
}

/// Adds every field of a page to the readings; a page that nobody asked for, or that is not there, adds nothing.
pub fn walk(fields: &[&Field], page: &Fact<Vec<u8>>, readings: &mut Vec<Reading>) {
    if matches!(page.why(), Some(Why::NotAsked | Why::Absent)) {
        return;
    }
    readings.extend(fields.iter().map(|field| field.reading(page)));
}

/// The source of readings that were made of others.
pub const DERIVED: &str = "derived";

/// The readings with those of one source together, in the order in which the sources first appear; what was made of others
/// comes last.
pub fn grouped(mut readings: Vec<Reading>) -> Vec<Reading> {
    let mut order: Vec<String> = Vec::new();
    for r in &readings {
        if r.source != DERIVED && !order.contains(&r.source) {
            order.push(r.source.clone());
        }
    }
    readings.sort_by_key(|r| order.iter().position(|s| *s == r.source).unwrap_or(order.len()));
    readings
}

/// Declares the fields of one page, each a constant, and the table of them all.
macro_rules! fields {
    ($(#[$tmeta:meta])* $table:ident $source:literal $number:ident {
        $($(#[$meta:meta])* $name:ident $spec:literal $offset:literal $width:literal $(mask $mask:expr)?
          $(, as $form:ident)? $(, says $decode:expr)? $(, claim $claim:literal)?;)+
    }) => {
        $($(#[$meta])* #[doc = concat!("`", $spec, "`, byte ", stringify!($offset), ", ", stringify!($width), " wide.")]
        pub const $name: $crate::facts::field::Field = $crate::facts::field::Field {
            spec_name: $spec,
            source: $source,
            offset: $offset,
            width: $width,
            mask: fields!(@or $($mask)?; $crate::facts::field::WHOLE),
            endian: $crate::facts::field::Endian::$number $(.to($crate::facts::field::Endian::$form))?,
            decode: fields!(@or $($decode)?; $crate::facts::field::plain),
            claim: fields!(@or $($claim)?; false),
        };)+
        $(#[$tmeta])*
        pub const $table: &[&$crate::facts::field::Field] = &[$(&$name),+];
    };
    (@or $given:expr; $default:expr) => { $given };
    (@or ; $default:expr) => { $default };
}
pub(crate) use fields;

impl Endian {
    /// The other form: the rows of a page name a form only where it is not the page's own.
    pub const fn to(self, other: Endian) -> Endian {
        let _ = self;
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: Field = Field {
        spec_name: "LBPRZ",
        source: "t",
        offset: 1,
        width: 1,
        mask: 0x1c,
        endian: Endian::Big,
        decode: plain,
        claim: true,
    };

    #[test]
    fn readings_are_grouped_by_source_and_derived_ones_come_last() {
        let readings = ["a", DERIVED, "b", "a"].map(|source| Reading::file(source, "x", &Fact::Known(1u8)));
        let sources: Vec<String> = grouped(readings.to_vec()).into_iter().map(|r| r.source).collect();
        assert_eq!(sources, ["a", "a", "b", DERIVED]);
    }

    #[test]
    fn values_masks_and_short_pages() {
        let page = Fact::Known(vec![0x12, 0x34, 0x56]);
        assert_eq!(BITS.value(&page), Fact::Known(5));
        let wide = Field { mask: WHOLE, width: 2, endian: Endian::Little, ..BITS };
        assert_eq!(wide.value(&page), Fact::Known(0x5634));
        assert_eq!(wide.reading(&page).raw, Fact::Known("0x5634".to_owned()));
        assert!(matches!(Field { offset: 2, ..wide }.value(&page).why(), Some(Why::Malformed(_))));
        assert!(matches!(
            Field { width: 9, mask: WHOLE, ..BITS }.value(&Fact::Known(vec![0; 64])).why(),
            Some(Why::Malformed(_))
        ));
        let text = Field { offset: 0, width: 4, endian: Endian::Text, mask: WHOLE, ..BITS };
        assert_eq!(text.text(&Fact::Known(b" a\x1b ".to_vec())), Fact::Known("a\\x1b".to_owned()));
        assert_eq!(text.text(&Fact::Known(b"   \0".to_vec())), Fact::ABSENT);
        let mut readings = Vec::new();
        walk(&[&BITS], &Fact::NOT_ASKED, &mut readings);
        assert!(readings.is_empty());
        walk(&[&BITS], &Fact::Unknown(Why::TimedOut), &mut readings);
        assert_eq!(readings[0].raw, Fact::Unknown(Why::TimedOut));
    }
}
