//! What the fields of the NVMe Identify pages mean, in words (NVM Express base and NVM command set specifications). It is
//! pure.

use crate::facts::nvme::bits::*;
use crate::units::human_bytes;

/// The memory page that nearly every controller has as its smallest (CAP.MPSMIN 0). CAP is a register that no file and no
/// Identify shows, so that bytes are named with this reservation.
const USUAL_PAGE: u64 = 4096;

/// The bits of ONCS beside those that have their own words.
const ONCS_OTHERS: &[(u32, &str)] = &[
    (0, "Compare"),
    (1, "Write Uncorrectable"),
    (4, "Save and Select"),
    (5, "Reservations"),
    (6, "Timestamp"),
    (7, "Verify"),
    (8, "Copy"),
    (9, "Copy single atomicity"),
    (10, "all fast copy"),
];

/// The names of the bits that are set, in words; `None` where none of them is.
fn set_bits(value: u64, names: &[(u32, &str)]) -> Option<String> {
    let set: Vec<&str> = names.iter().filter(|(bit, _)| value >> bit & 1 != 0).map(|(_, name)| *name).collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// A size of 2 to this power memory pages, 0 for no limit given.
pub fn pages(n: u64) -> Option<String> {
    let bytes = u32::try_from(n).ok().and_then(|n| USUAL_PAGE.checked_shl(n)).filter(|b| b >> n == USUAL_PAGE);
    Some(match (n, bytes) {
        (0, _) => "no limit given".to_owned(),
        (n, Some(bytes)) => format!("2^{n} memory pages, {} where MPSMIN is 4 KiB", human_bytes(bytes)),
        (n, None) => format!("2^{n} memory pages"),
    })
}

/// VER: the version of the specification.
pub fn version(v: u64) -> Option<String> {
    let (major, minor, tertiary) = (v >> 16, (v >> 8) & 0xff, v & 0xff);
    Some(match (v, tertiary) {
        (0, _) => "not reported".to_owned(),
        (_, 0) => format!("{major}.{minor}"),
        _ => format!("{major}.{minor}.{tertiary}"),
    })
}

/// A count that is one more than the field holds.
pub fn zeroes_based(v: u64) -> Option<String> {
    Some(format!("{}, 0's based", v.saturating_add(1)))
}

/// CMIC: what the subsystem has more than one of.
pub fn cmic(v: u64) -> Option<String> {
    set_bits(v, &[(0, "more than one port"), (1, "more than one controller"), (2, "SR-IOV"), (3, "ANA")])
}

/// CNTRLTYPE.
pub fn controller_type(v: u64) -> Option<String> {
    let words = match v {
        0 => "not reported",
        1 => "I/O controller",
        2 => "discovery controller",
        3 => "administrative controller",
        _ => "reserved value",
    };
    Some(words.to_owned())
}

/// OACS: the optional admin commands.
pub fn oacs(v: u64) -> Option<String> {
    const NAMES: &[(u32, &str)] = &[
        (0, "Security"),
        (1, "Format NVM"),
        (2, "Firmware"),
        (3, "Namespace Management"),
        (4, "Self-test"),
        (5, "Directives"),
        (6, "NVMe-MI"),
        (7, "Virtualization Management"),
        (8, "Doorbell Buffer Config"),
        (9, "Get LBA Status"),
    ];
    set_bits(v, NAMES)
}

/// LPA: the logs; unprivileged passthrough rests on bit 1.
pub fn lpa(v: u64) -> Option<String> {
    set_bits(v, &[(0, "SMART log a namespace"), (1, "Commands Supported and Effects log"), (2, "extended data")])
}

/// SANICAP: the sanitize operations.
pub fn sanicap(v: u64) -> Option<String> {
    set_bits(v, &[(0, "crypto erase"), (1, "block erase"), (2, "overwrite"), (29, "no deallocate inhibited")])
}

/// FNA: what a format touches.
pub fn fna(v: u64) -> Option<String> {
    set_bits(
        v,
        &[(0, "a format concerns all namespaces"), (1, "an erase concerns all namespaces"), (2, "crypto erase")],
    )
}

/// VWC: the volatile write cache, and how a flush of all namespaces is taken.
pub fn vwc(v: u64) -> Option<String> {
    let cache = if v & VWC_PRESENT != 0 { "volatile write cache" } else { "no volatile write cache" };
    let flush = match (v >> 1) & 3 {
        2 => "; no flush of all namespaces at once",
        3 => "; flush of all namespaces at once",
        _ => "",
    };
    Some(format!("{cache}{flush}"))
}

/// ONCS: the optional commands.
pub fn oncs(v: u64) -> Option<String> {
    let on = |bit: u64, yes: &str, no: &str| if v & bit != 0 { yes.to_owned() } else { no.to_owned() };
    let mut words = format!(
        "{}; {}",
        on(ONCS_WRITE_ZEROES, "Write Zeroes", "no Write Zeroes"),
        on(ONCS_DSM, "Dataset Management", "no Dataset Management")
    );
    if v & ONCS_MAXWZD != 0 {
        words.push_str("; MAXWZD: with deallocation Write Zeroes has a size limit of its own (WZDSL)");
    }
    if v & ONCS_NSZS != 0 {
        words.push_str("; NSZS: one command zeroes the namespace");
    }
    if let Some(others) = set_bits(v, ONCS_OTHERS) {
        words = format!("{words}; also {others}");
    }
    Some(words)
}

/// NSFEAT of CNS 00h. OPTPERF has one bit before 2.1 and two from then on: both are named as they stand.
pub fn nsfeat(v: u64) -> Option<String> {
    const NAMES: &[(u32, &str)] = &[
        (0, "THIN: thin provisioning"),
        (1, "NATOMIC"),
        (2, "DULBE: reading a deallocated block may be an error"),
        (3, "UIDREUSE"),
        (4, "OPTPERF bit 0: NPWG, NPWA, NPDG, NPDA, NOWS are defined"),
        (5, "OPTPERF bit 1 (from 2.1): NPDGL, NPDAL are defined"),
    ];
    set_bits(v, NAMES)
}

/// DPS: protection information.
pub fn dps(v: u64) -> Option<String> {
    Some(match v & 7 {
        0 => "no protection information".to_owned(),
        n @ 1..=3 => format!("protection information type {n}"),
        _ => "reserved value".to_owned(),
    })
}

/// NMIC: whether the namespace may be shared.
pub fn nmic(v: u64) -> Option<String> {
    set_bits(v, &[(0, "may be attached to more than one controller")])
}

/// FPI: how far a format is.
pub fn fpi(v: u64) -> Option<String> {
    (v & 0x80 != 0).then(|| match v & 0x7f {
        0 => "no format runs".to_owned(),
        left => format!("a format runs, {left} % are left"),
    })
}

/// NSATTR.
pub fn nsattr(v: u64) -> Option<String> {
    set_bits(v, &[(0, "write protected")])
}

/// NSTAT.
pub fn nstat(v: u64) -> Option<String> {
    Some(if v & 1 != 0 { "ready" } else { "not ready" }.to_owned())
}

/// NSFEAT of CNS 08h.
pub fn nsfeat_independent(v: u64) -> Option<String> {
    const NAMES: &[(u64, &str)] =
        &[(NSFEAT_INDEPENDENT_ROTATIONAL, "rotational media"), (NSFEAT_INDEPENDENT_NO_VWC, "no volatile write cache")];
    let set: Vec<&str> = NAMES.iter().filter(|(bit, _)| v & bit != 0).map(|(_, name)| *name).collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// DLFEAT: what a deallocated block reads, and whether Write Zeroes may deallocate.
pub fn dlfeat(v: u64) -> Option<String> {
    let read = match v & DLFEAT_READ_MASK {
        DLFEAT_READ_NOT_REPORTED => "it is not reported what deallocated blocks read as",
        DLFEAT_READ_00 => "deallocated blocks read as zero",
        DLFEAT_READ_FF => "deallocated blocks read as FFh",
        _ => "the value for what deallocated blocks read as is reserved",
    };
    let deac = if v & DLFEAT_DEAC != 0 { "DEAC is supported" } else { "DEAC is not supported" };
    Some(format!("{read}; {deac}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::nvme::fields::ID_NS;

    #[test]
    fn words_of_dlfeat_and_oncs() {
        assert_eq!(dlfeat(0x19).as_deref(), Some("deallocated blocks read as zero; DEAC is supported"));
        assert_eq!(
            dlfeat(0x05).as_deref(),
            Some("the value for what deallocated blocks read as is reserved; DEAC is not supported")
        );
        assert_eq!(oncs(0x8).as_deref(), Some("Write Zeroes; no Dataset Management"));
        let all = oncs(0x1fff).unwrap_or_default();
        assert!(
            all.contains("MAXWZD") && all.contains("NSZS") && all.ends_with("Copy single atomicity, all fast copy")
        );
        assert!(ID_NS.iter().all(|f| f.source == "nvme-id-ns"));
    }

    #[test]
    fn sizes_and_versions() {
        assert_eq!(pages(0).as_deref(), Some("no limit given"));
        assert_eq!(pages(7).as_deref(), Some("2^7 memory pages, 512 KiB where MPSMIN is 4 KiB"));
        assert_eq!(pages(255).as_deref(), Some("2^255 memory pages"));
        assert_eq!(pages(52).as_deref(), Some("2^52 memory pages"));
        assert_eq!((version(0x1_0400).as_deref(), version(0).as_deref()), (Some("1.4"), Some("not reported")));
        assert_eq!(version(0x1_0201).as_deref(), Some("1.2.1"));
    }

    #[test]
    fn no_value_panics() {
        for v in (0..=16).map(|n| (1u64 << n) - 1).chain([u64::from(u32::MAX), u64::MAX >> 1]) {
            for words in [pages, version, oncs, nsfeat, dps, fpi, oacs, sanicap, vwc, dlfeat, zeroes_based] {
                words(v);
            }
        }
    }
}
