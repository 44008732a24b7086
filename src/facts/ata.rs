//! ATA devices behind a SCSI translation: the ACS IDENTIFY DEVICE words inside VPD page 89h (SAT, fieldguide 4.5). It judges
//! nothing.
//!
//! DRAT and RZAT are promises about TRIM and not claims about zeroing; a comment in the kernel calls them unreliable.

use crate::fact::Fact;
use crate::facts::field::{fields, walk, Reading};

/// Word 69 bit 14: DRAT, deterministic read after TRIM.
pub const WORD69_DRAT: u64 = 1 << 14;
/// Word 69 bit 5: RZAT, zeroes are read after TRIM.
pub const WORD69_RZAT: u64 = 1 << 5;
/// Word 169 bit 0: TRIM of DATA SET MANAGEMENT.
pub const WORD169_TRIM: u64 = 1;
/// Word 217: the medium does not rotate.
pub const WORD217_SOLID: u64 = 1;

// IDENTIFY DEVICE starts at byte 60 of page 89h: word n lies at 60 + 2n. The vendor text of the page is the translation's.
fields! {
    /// ATA Information, VPD 89h.
    VPD_89 "scsi-vpd-89" Little {
        SAT_VENDOR "SAT VENDOR IDENTIFICATION" 8 8, as Text;
        SAT_PRODUCT "SAT PRODUCT IDENTIFICATION" 16 16, as Text;
        COMMAND_CODE "COMMAND CODE" 56 1;
        DRAT "DRAT (word 69 bit 14)" 198 2 mask WORD69_DRAT, says drat;
        RZAT "RZAT (word 69 bit 5)" 198 2 mask WORD69_RZAT, says rzat;
        TRIM_BLOCKS "word 105" 270 2, says |v| Some(format!("at most {v} blocks of TRIM ranges a command"));
        TRIM "TRIM (word 169 bit 0)" 398 2 mask WORD169_TRIM, says |v| (v == 1).then(|| "TRIM".to_owned());
        ROTATION "word 217" 494 2, says |v| (v == WORD217_SOLID).then(|| "does not rotate".to_owned());
    }
}

fn drat(v: u64) -> Option<String> {
    (v == 1).then(|| "deterministic read after TRIM".to_owned())
}

fn rzat(v: u64) -> Option<String> {
    (v == 1).then(|| "reads zeroes after TRIM".to_owned())
}

/// What ATA says behind the translation.
#[derive(Debug, Clone)]
pub struct Ata {
    /// DRAT.
    pub drat: Fact<bool>,
    /// RZAT.
    pub rzat: Fact<bool>,
    /// TRIM.
    pub trim: Fact<bool>,
    /// Word 105: blocks of 512 bytes of TRIM ranges a command.
    pub trim_blocks: Fact<u64>,
    /// Word 217: 1 for no rotation, else a rate.
    pub rotation_rate: Fact<u64>,
}

/// Reads page 89h.
pub fn parse(page: &Fact<Vec<u8>>, readings: &mut Vec<Reading>) -> Ata {
    walk(VPD_89, page, readings);
    Ata {
        drat: DRAT.bit(page),
        rzat: RZAT.bit(page),
        trim: TRIM.bit(page),
        trim_blocks: TRIM_BLOCKS.value(page),
        rotation_rate: ROTATION.value(page),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identify_words_at_their_offsets() {
        let mut page = vec![0u8; 572];
        page[1] = 0x89;
        page[60 + 2 * 69 + 1] = 0x40;
        page[60 + 2 * 69] = 0x20;
        page[60 + 2 * 105] = 8;
        page[60 + 2 * 169] = 1;
        page[60 + 2 * 217] = 1;
        let ata = parse(&Fact::Known(page), &mut Vec::new());
        assert_eq!((ata.drat, ata.rzat, ata.trim), (Fact::Known(true), Fact::Known(true), Fact::Known(true)));
        assert_eq!((ata.trim_blocks, ata.rotation_rate), (Fact::Known(8), Fact::Known(1)));
    }
}
