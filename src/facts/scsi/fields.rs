//! The rows of the SCSI pages: SBC-4 (block limits, provisioning, READ CAPACITY(16)) and SPC-5, fieldguide 4.1.
//!
//! This file has only offsets and bits; [`super`] has what they mean together.

use crate::facts::field::fields;

/// Byte 14 of READ CAPACITY(16), bit 7.
pub const RC16_LBPME: u64 = 0x80;
/// Byte 14 of READ CAPACITY(16), bit 6.
pub const RC16_LBPRZ: u64 = 0x40;
/// Byte 13 of READ CAPACITY(16), bits 3:0.
pub const RC16_LBPPBE: u64 = 0x0f;
/// Byte 12 of READ CAPACITY(16), bit 0.
pub const RC16_PROT_EN: u64 = 0x01;
/// Byte 5 of VPD B2, bit 7: UNMAP.
pub const B2_LBPU: u64 = 0x80;
/// Byte 5 of VPD B2, bit 6: WRITE SAME(16) with UNMAP.
pub const B2_LBPWS: u64 = 0x40;
/// Byte 5 of VPD B2, bit 5: WRITE SAME(10) with UNMAP.
pub const B2_LBPWS10: u64 = 0x20;
/// Byte 5 of VPD B2, bits 4:2.
pub const B2_LBPRZ: u64 = 0x1c;
/// Bit 0 of the three-bit LBPRZ: xx1 = unmapped blocks read zero.
pub const B2_LBPRZ_ZEROES: u64 = 0x1;
/// Byte 5 of VPD B2, bit 1.
pub const B2_ANC_SUP: u64 = 0x02;
/// Byte 6 of VPD B2, bits 2:0.
pub const B2_PROVISIONING_TYPE: u64 = 0x07;
/// PROVISIONING TYPE: not reported, or fully provisioned.
pub const PROVISIONING_NOT_REPORTED: u64 = 0;
/// PROVISIONING TYPE: resource provisioned.
pub const PROVISIONING_RESOURCE: u64 = 1;
/// PROVISIONING TYPE: thin provisioned.
pub const PROVISIONING_THIN: u64 = 2;
/// Byte 4 of VPD B0, bit 0: a WRITE SAME of length 0 is not supported.
pub const B0_WSNZ: u64 = 0x01;
/// Byte 32 of VPD B0, bit 7 of the first byte: the alignment is valid.
pub const B0_UGAVALID: u64 = 0x8000_0000;
/// The alignment below [`B0_UGAVALID`].
pub const B0_ALIGNMENT: u64 = 0x7fff_ffff;
/// Byte 7 of VPD B1, bits 3:0.
pub const B1_FORM_FACTOR: u64 = 0x0f;
/// Byte 8 of VPD B1, bits 5:4.
pub const B1_ZONED: u64 = 0x30;
/// MEDIUM ROTATION RATE: not reported.
pub const ROTATION_NOT_REPORTED: u64 = 0;
/// MEDIUM ROTATION RATE: does not rotate.
pub const ROTATION_NONE: u64 = 1;
/// The lowest value of MEDIUM ROTATION RATE that is a rate; the values between are reserved.
pub const ROTATION_FIRST_RATE: u64 = 0x401;
/// The highest value that is a rate.
pub const ROTATION_LAST_RATE: u64 = 0xfffe;

fields! {
    /// READ CAPACITY(16).
    READ_CAPACITY_16 "scsi-read-capacity-16" Big {
        LAST_LBA "RETURNED LOGICAL BLOCK ADDRESS" 0 8;
        BLOCK_LENGTH "LOGICAL BLOCK LENGTH IN BYTES" 8 4;
        PROT_EN "PROT_EN" 12 1 mask RC16_PROT_EN;
        LBPPBE "LOGICAL BLOCKS PER PHYSICAL BLOCK EXPONENT" 13 1 mask RC16_LBPPBE;
        LBPME "LBPME" 14 1 mask RC16_LBPME, says lbpme, claim true;
        LBPRZ_RC16 "LBPRZ" 14 1 mask RC16_LBPRZ, says lbprz_bit, claim true;
    }
}

fields! {
    /// Block limits, VPD B0.
    VPD_B0 "scsi-vpd-b0" Big {
        WSNZ "WSNZ" 4 1 mask B0_WSNZ;
        OPTIMAL_TRANSFER_GRANULARITY "OPTIMAL TRANSFER LENGTH GRANULARITY" 6 2;
        MAX_TRANSFER "MAXIMUM TRANSFER LENGTH" 8 4;
        OPTIMAL_TRANSFER "OPTIMAL TRANSFER LENGTH" 12 4;
        MAX_UNMAP_LBAS "MAXIMUM UNMAP LBA COUNT" 20 4;
        MAX_UNMAP_DESCRIPTORS "MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT" 24 4;
        OPTIMAL_UNMAP_GRANULARITY "OPTIMAL UNMAP GRANULARITY" 28 4;
        UGAVALID "UGAVALID" 32 4 mask B0_UGAVALID;
        UNMAP_ALIGNMENT "UNMAP GRANULARITY ALIGNMENT" 32 4 mask B0_ALIGNMENT;
        MAX_WRITE_SAME "MAXIMUM WRITE SAME LENGTH" 36 8;
    }
}

fields! {
    /// Block device characteristics, VPD B1.
    VPD_B1 "scsi-vpd-b1" Big {
        ROTATION_RATE "MEDIUM ROTATION RATE" 4 2, says rotation;
        FORM_FACTOR "NOMINAL FORM FACTOR" 7 1 mask B1_FORM_FACTOR;
        ZONED "ZONED" 8 1 mask B1_ZONED;
    }
}

fields! {
    /// Logical block provisioning, VPD B2.
    VPD_B2 "scsi-vpd-b2" Big {
        THRESHOLD_EXPONENT "THRESHOLD EXPONENT" 4 1;
        LBPU "LBPU" 5 1 mask B2_LBPU, says lbpu, claim true;
        LBPWS "LBPWS" 5 1 mask B2_LBPWS, says lbpws, claim true;
        LBPWS10 "LBPWS10" 5 1 mask B2_LBPWS10, says lbpws10, claim true;
        LBPRZ_B2 "LBPRZ" 5 1 mask B2_LBPRZ, says lbprz_three, claim true;
        ANC_SUP "ANC_SUP" 5 1 mask B2_ANC_SUP;
        PROVISIONING_TYPE "PROVISIONING TYPE" 6 1 mask B2_PROVISIONING_TYPE, says provisioning;
        THRESHOLD_PERCENTAGE "THRESHOLD PERCENTAGE" 7 1;
    }
}

fields! {
    /// Standard INQUIRY.
    INQUIRY "scsi-inquiry" Big {
        INQUIRY_VERSION "VERSION" 2 1;
        VENDOR "T10 VENDOR IDENTIFICATION" 8 8, as Text;
        PRODUCT "PRODUCT IDENTIFICATION" 16 16, as Text;
        REVISION "PRODUCT REVISION LEVEL" 32 4, as Text;
    }
}

fn lbpu(v: u64) -> Option<String> {
    Some(if v == 1 { "UNMAP" } else { "no UNMAP" }.to_owned())
}

fn lbpws(v: u64) -> Option<String> {
    Some(if v == 1 { "WRITE SAME(16) unmaps" } else { "WRITE SAME(16) does not unmap" }.to_owned())
}

fn lbpws10(v: u64) -> Option<String> {
    Some(if v == 1 { "WRITE SAME(10) unmaps" } else { "WRITE SAME(10) does not unmap" }.to_owned())
}

fn lbpme(v: u64) -> Option<String> {
    Some(if v == 1 { "logical block provisioning is on" } else { "no logical block provisioning" }.to_owned())
}

fn lbprz_bit(v: u64) -> Option<String> {
    Some(if v == 1 { "unmapped blocks read as zero" } else { "it is not said what unmapped blocks read as" }.to_owned())
}

fn lbprz_three(v: u64) -> Option<String> {
    let says = match v {
        0 => "it is not said what unmapped blocks read as",
        v if v & B2_LBPRZ_ZEROES != 0 => "unmapped blocks read as zero",
        2 => "unmapped blocks read as a provisioning pattern",
        _ => "reserved value",
    };
    Some(says.to_owned())
}

fn rotation(v: u64) -> Option<String> {
    let says = match v {
        ROTATION_NOT_REPORTED => "not reported".to_owned(),
        ROTATION_NONE => "does not rotate".to_owned(),
        ROTATION_FIRST_RATE..=ROTATION_LAST_RATE => format!("{v} rpm"),
        _ => "reserved value".to_owned(),
    };
    Some(says)
}

fn provisioning(v: u64) -> Option<String> {
    let says = match v {
        PROVISIONING_NOT_REPORTED => "not reported, or full",
        PROVISIONING_RESOURCE => "resource provisioned",
        PROVISIONING_THIN => "thin provisioned",
        _ => "reserved value",
    };
    Some(says.to_owned())
}
