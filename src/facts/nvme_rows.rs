//! The rows of the NVMe identify pages: NVM Express base and NVM command set specifications, fieldguide 3.1 and 3.2.
//!
//! Offsets and bits only; what they mean together is read in [`super::nvme`].

use crate::facts::field::fields;

/// ONCS bit 3: Write Zeroes.
pub const ONCS_WRITE_ZEROES: u64 = 1 << 3;
/// ONCS bit 2: Dataset Management.
pub const ONCS_DSM: u64 = 1 << 2;
/// ONCS bit 11: Write Zeroes with deallocation has its own size limit (WZDSL).
pub const ONCS_MAXWZD: u64 = 1 << 11;
/// DLFEAT bits 2:0: what a deallocated block reads as.
pub const DLFEAT_READ_MASK: u64 = 0x7;
/// DLFEAT bits 2:0: not reported.
pub const DLFEAT_READ_NOT_REPORTED: u64 = 0;
/// DLFEAT bits 2:0: all bytes 00h.
pub const DLFEAT_READ_00: u64 = 1;
/// DLFEAT bits 2:0: all bytes FFh.
pub const DLFEAT_READ_FF: u64 = 2;
/// DLFEAT bit 3: the DEAC bit of Write Zeroes is supported.
pub const DLFEAT_DEAC: u64 = 1 << 3;
/// DLFEAT bit 4: the guard is the CRC of the read value.
pub const DLFEAT_GUARD_CRC: u64 = 1 << 4;
/// NSFEAT bit 4: NPWG, NPWA, NPDG, NPDA and NOWS are defined (OPTPERF, low bit).
pub const NSFEAT_OPTPERF: u64 = 1 << 4;
/// NSFEAT bit 5: NPDGL and NPDAL are defined (OPTPERF, high bit, from 2.1).
pub const NSFEAT_OPTPERF_LARGE: u64 = 1 << 5;
/// NSFEAT bit 0: thin provisioning.
pub const NSFEAT_THIN: u64 = 1;
/// VWC bit 0: there is a volatile write cache.
pub const VWC_PRESENT: u64 = 1;
/// FLBAS bits 3:0: the low part of the format's index.
pub const FLBAS_LOW: u64 = 0xf;
/// FLBAS bits 6:5: the high part of the format's index.
pub const FLBAS_HIGH: u64 = 0x60;
/// VER of NVM Express 1.3, from where DLFEAT is defined.
pub const VER_1_3: u64 = 0x1_0300;
/// VER of NVM Express 2.1, from where OPTPERF has two bits.
pub const VER_2_1: u64 = 0x2_0100;
/// NSFEAT of CNS 08h, bit 4: rotational media.
pub const NSFEAT_INDEPENDENT_ROTATIONAL: u64 = 1 << 4;

fields! {
    /// Identify Controller, CNS 01h.
    ID_CTRL "nvme-id-ctrl" Little {
        VID "VID" 0 2;
        SN "SN" 4 20, as Text;
        MN "MN" 24 40, as Text;
        FR "FR" 64 8, as Text;
        CMIC "CMIC" 76 1;
        MDTS "MDTS" 77 1, says pages;
        VER "VER" 80 4, says |v| Some(format!("{}.{}", v >> 16, (v >> 8) & 0xff));
        OACS "OACS" 256 2;
        ONCS "ONCS" 520 2, says oncs, claim true;
        VWC "VWC" 525 1, says vwc;
    }
}

fields! {
    /// Identify Namespace, CNS 00h.
    ID_NS "nvme-id-ns" Little {
        NSZE "NSZE" 0 8;
        NCAP "NCAP" 8 8;
        NUSE "NUSE" 16 8;
        NSFEAT "NSFEAT" 24 1, says |v| (v & NSFEAT_THIN != 0).then(|| "thin provisioning".to_owned());
        NLBAF "NLBAF" 25 1;
        FLBAS "FLBAS" 26 1;
        DPS "DPS" 29 1;
        NMIC "NMIC" 30 1;
        DLFEAT "DLFEAT" 33 1, says dlfeat, claim true;
        NOIOB "NOIOB" 46 2;
        NPWG "NPWG" 64 2;
        NPWA "NPWA" 66 2;
        NPDG "NPDG" 68 2;
        NPDA "NPDA" 70 2;
        NOWS "NOWS" 72 2;
        NGUID "NGUID" 104 16, as Hex;
        EUI64 "EUI64" 120 8, as Hex;
    }
}

fields! {
    /// Identify Controller of the NVM command set, CNS 06h.
    ID_CTRL_NVM "nvme-id-ctrl-nvm" Little {
        WZSL "WZSL" 1 1, says pages;
        DMRL "DMRL" 3 1;
        DMRSL "DMRSL" 4 4;
        DMSL "DMSL" 8 8;
        WZDSL "WZDSL" 17 1;
    }
}

fields! {
    /// Identify Namespace of the NVM command set, CNS 05h.
    ID_NS_NVM "nvme-id-ns-nvm" Little {
        NPDGL "NPDGL" 268 4;
        NPDAL "NPDAL" 284 4;
    }
}

fields! {
    /// Identify Namespace independent of the command set, CNS 08h; its NSFEAT is not that of CNS 00h.
    ID_NS_INDEPENDENT "nvme-id-ns-independent" Little {
        NSFEAT_INDEPENDENT "NSFEAT" 0 1, says rotational;
        NSATTR "NSATTR" 8 1;
    }
}

fn pages(n: u64) -> Option<String> {
    Some(if n == 0 { "no limit given".to_owned() } else { format!("2^{n} memory pages") })
}

fn vwc(v: u64) -> Option<String> {
    Some(if v & VWC_PRESENT != 0 { "volatile write cache" } else { "no volatile write cache" }.to_owned())
}

fn rotational(v: u64) -> Option<String> {
    (v & NSFEAT_INDEPENDENT_ROTATIONAL != 0).then(|| "rotational media".to_owned())
}

fn oncs(v: u64) -> Option<String> {
    let on = |bit: u64, yes: &str, no: &str| if v & bit != 0 { yes.to_owned() } else { no.to_owned() };
    Some(format!(
        "{}; {}",
        on(ONCS_WRITE_ZEROES, "Write Zeroes", "no Write Zeroes"),
        on(ONCS_DSM, "Dataset Management", "no Dataset Management")
    ))
}

fn dlfeat(v: u64) -> Option<String> {
    let read = match v & DLFEAT_READ_MASK {
        DLFEAT_READ_NOT_REPORTED => "what deallocated blocks read is not reported",
        DLFEAT_READ_00 => "deallocated blocks read zero",
        DLFEAT_READ_FF => "deallocated blocks read FFh",
        _ => "what deallocated blocks read is a reserved value",
    };
    let deac = if v & DLFEAT_DEAC != 0 { "DEAC supported" } else { "DEAC not supported" };
    Some(format!("{read}; {deac}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_dlfeat_and_oncs() {
        assert_eq!(dlfeat(0x19).as_deref(), Some("deallocated blocks read zero; DEAC supported"));
        assert_eq!(
            dlfeat(0x05).as_deref(),
            Some("what deallocated blocks read is a reserved value; DEAC not supported")
        );
        assert_eq!(oncs(0x8).as_deref(), Some("Write Zeroes; no Dataset Management"));
        assert!(ID_NS.iter().all(|f| f.source == "nvme-id-ns"));
    }
}
