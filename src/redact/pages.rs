//! Where secrets are in the pages of devices, and how a page is rewritten without them: NVMe Identify, INQUIRY, VPD 80h, 83h
//! and 89h. Lengths do not change; the integrity word of ATA identify data is computed again. It is pure.

use super::secrets::{Reach, Secrets};

/// A page that can hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Identify Controller.
    IdCtrl,
    /// Identify Namespace.
    IdNs,
    /// Standard INQUIRY.
    Inquiry,
    /// Unit serial number.
    Vpd80,
    /// Device identification.
    Vpd83,
    /// ATA information.
    Vpd89,
}

/// IDENTIFY DEVICE inside VPD 89h (SAT).
const ATA: std::ops::Range<usize> = 60..572;
/// Vendor-specific bytes, which may hold anything: Identify Controller.
const ID_CTRL_VENDOR: std::ops::Range<usize> = 3072..4096;
/// The same of Identify Namespace.
const ID_NS_VENDOR: std::ops::Range<usize> = 384..4096;
/// The same of INQUIRY.
const INQUIRY_VENDOR: [std::ops::Range<usize>; 2] = [36..56, 96..usize::MAX];
/// Words of IDENTIFY DEVICE that are vendor specific or name a medium.
const ATA_VENDOR: [std::ops::Range<usize>; 2] = [2 * 129..2 * 160, 2 * 176..2 * 206];
/// The first byte of ATA's integrity word says that the second is a checksum.
const ATA_SIGNED: u8 = 0xa5;

impl Page {
    /// The page in a file of a recorded machine.
    pub fn of_file(path: &str) -> Option<Page> {
        match path.rsplit('/').next()? {
            "nvme-id-ctrl.bin" => Some(Page::IdCtrl),
            "nvme-id-ns.bin" => Some(Page::IdNs),
            "inquiry" | "scsi-inquiry.bin" => Some(Page::Inquiry),
            "vpd_pg80" | "scsi-vpd-80.bin" => Some(Page::Vpd80),
            "vpd_pg83" | "scsi-vpd-83.bin" => Some(Page::Vpd83),
            "vpd_pg89" | "scsi-vpd-89.bin" => Some(Page::Vpd89),
            _ => None,
        }
    }

    /// Adds the secrets of a page.
    pub fn collect(self, bytes: &[u8], secrets: &mut Secrets) {
        let at = |range: std::ops::Range<usize>| bytes.get(range).unwrap_or_default();
        match self {
            Page::IdCtrl => {
                secrets.text(at(4..24), b'S');
                secrets.id(at(112..128), false);
                nqn(&String::from_utf8_lossy(at(768..1024)), secrets);
            }
            Page::IdNs => {
                secrets.id(at(104..120), false);
                secrets.id(at(120..128), false);
            }
            Page::Inquiry => {}
            Page::Vpd80 => secrets.text(bytes.get(4..).unwrap_or_default(), b'S'),
            Page::Vpd83 => designators(bytes).for_each(|(set, kind, body)| match (kind, set) {
                (3, 1) => secrets.id(body, true),
                (2, 1) => secrets.id(body, false),
                // A vendor's own designator is mostly the serial number; of binary ones nothing is known.
                (0, 1) => secrets.id(body, false),
                (0, _) => secrets.text(body, b'S'),
                (1, _) => t10(body, secrets),
                (8, _) => name(body, secrets),
                // A UUID stands after two bytes of its own header (SPC-5 7.8.6.12).
                (10, _) => secrets.id(body.get(2..).unwrap_or_default(), false),
                _ => {}
            }),
            Page::Vpd89 => {
                let words = swapped(at(ATA));
                secrets.text(words.get(20..40).unwrap_or_default(), b'S');
                secrets.id(words.get(216..224).unwrap_or_default(), true);
            }
        }
    }

    /// The page without secrets.
    pub fn hide(self, bytes: &[u8], secrets: &Secrets) -> Vec<u8> {
        let mut page = secrets.hide(bytes, Reach::Long);
        let mut field = |range: std::ops::Range<usize>, hidden: &dyn Fn(&[u8]) -> Vec<u8>| {
            if let (Some(to), Some(from)) = (page.get_mut(range.clone()), bytes.get(range)) {
                to.copy_from_slice(&hidden(from));
            }
        };
        // A short serial number stands alone in its field, whatever stands beside the field.
        let text = |b: &[u8]| secrets.hide(b, Reach::All);
        let id = |b: &[u8]| secrets.hide_id(b);
        match self {
            Page::IdCtrl => {
                field(4..24, &text);
                field(112..128, &id);
                field(768..1024, &text);
            }
            Page::IdNs => {
                field(104..120, &id);
                field(120..128, &id);
            }
            Page::Vpd80 => field(4..bytes.len().max(4), &text),
            Page::Vpd83 => {
                let mut at = 4;
                for (set, kind, body) in designators(bytes) {
                    let range = at + 4..at + 4 + body.len();
                    at = range.end;
                    match (kind, set) {
                        (2 | 3, 1) | (0, 1) => field(range, &id),
                        (10, _) if body.len() > 2 => field(range.start + 2..range.end, &id),
                        _ => field(range, &text),
                    }
                }
            }
            Page::Inquiry | Page::Vpd89 => {}
        }
        match self {
            Page::IdCtrl => blank(&mut page, &ID_CTRL_VENDOR, 0),
            Page::IdNs => blank(&mut page, &ID_NS_VENDOR, 0),
            Page::Inquiry => {
                blank(&mut page, &INQUIRY_VENDOR[0], b' ');
                blank(&mut page, &INQUIRY_VENDOR[1], 0);
            }
            Page::Vpd89 => hide_ata(&mut page, secrets),
            Page::Vpd80 | Page::Vpd83 => {}
        }
        page
    }
}

fn blank(page: &mut [u8], range: &std::ops::Range<usize>, with: u8) {
    let end = range.end.min(page.len());
    // Zeroes stay zeroes, so that a reserved field is not filled.
    page.get_mut(range.start..end).into_iter().flatten().filter(|b| **b != 0).for_each(|b| *b = with);
}

fn hide_ata(page: &mut [u8], secrets: &Secrets) {
    let end = ATA.end.min(page.len());
    let Some(data) = page.get_mut(ATA.start..end) else { return };
    let sum = |d: &[u8]| d.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
    let signed = data.len() == ATA.len() && data[510] == ATA_SIGNED && sum(data) == 0;
    let mut words = swapped(data);
    words = secrets.hide(&words, Reach::Long);
    if let Some(serial) = words.get_mut(20..40) {
        serial.copy_from_slice(&secrets.hide(serial, Reach::All));
    }
    if let Some(name) = words.get_mut(216..224) {
        name.copy_from_slice(&secrets.hide_id(name));
    }
    ATA_VENDOR.iter().for_each(|range| blank(&mut words, range, 0));
    data.copy_from_slice(&swapped(&words));
    if signed {
        data[511] = 0u8.wrapping_sub(sum(&data[..511]));
    }
}

/// ATA strings stand in words with the first character in the high byte.
fn swapped(data: &[u8]) -> Vec<u8> {
    data.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect()
}

/// Code set, type and body of each designator (SPC-5 7.8.6), as far as they hold together.
fn designators(page: &[u8]) -> impl Iterator<Item = (u8, u8, &[u8])> {
    let mut rest = page.get(4..).unwrap_or_default();
    std::iter::from_fn(move || match rest {
        [set, kind, _, length, tail @ ..] => {
            let (body, after) = tail.split_at(usize::from(*length).min(tail.len()));
            rest = after;
            Some((set & 0x0f, kind & 0x0f, body))
        }
        _ => None,
    })
}

/// T10: eight bytes of vendor, then what the vendor likes; by custom product and serial number.
pub fn t10(body: &[u8], secrets: &mut Secrets) {
    let tail = body.get(8..).unwrap_or_default();
    // What is known of the tail is replaced anyway; an unknown last word with a digit is taken for a serial number.
    let last = tail.rsplit(|b| matches!(b, b' ' | 0)).find(|w| !w.is_empty()).unwrap_or_default();
    if secrets.hide(tail, Reach::All) == tail && last.iter().any(u8::is_ascii_digit) {
        secrets.text(last, b'S');
    }
}

/// SCSI name string: `naa.…`, `eui.…`, or an iSCSI name.
fn name(body: &[u8], secrets: &mut Secrets) {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_end_matches('\0');
    match text.split_once('.') {
        Some((kind @ ("naa" | "eui"), digits)) => {
            secrets.hex(digits.split(',').next().unwrap_or_default(), kind == "naa");
        }
        _ => secrets.text(text.split(',').next().unwrap_or_default().as_bytes(), b'N'),
    }
}

/// An NVMe qualified name: what follows its last colon, where it names one subsystem.
pub fn nqn(text: &str, secrets: &mut Secrets) {
    let text = text.trim_end_matches(['\0', '\n', ' ']);
    // As a whole, since it names the organisation and whatever a site puts into it; its parts may stand elsewhere.
    secrets.text(text.as_bytes(), b'Q');
    let Some((_, last)) = text.rsplit_once(':') else { return };
    if !secrets.hex(last, false) && secrets.hide(last.as_bytes(), Reach::All) == last.as_bytes() {
        secrets.text(last.as_bytes(), b'N');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Page; 6] = [Page::IdCtrl, Page::IdNs, Page::Inquiry, Page::Vpd80, Page::Vpd83, Page::Vpd89];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_page_keeps_its_length(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
            let mut secrets = Secrets::default();
            ALL.iter().for_each(|p| p.collect(&bytes, &mut secrets));
            for page in ALL {
                prop_assert_eq!(page.hide(&bytes, &secrets).len(), bytes.len());
            }
        }
    }

    #[test]
    fn an_identifier_of_few_digits_changes_no_other_field() {
        let mut page = vec![0u8; 4096];
        page[120..128].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 7]);
        page[61..69].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 7]);
        let mut secrets = Secrets::default();
        Page::IdNs.collect(&page, &mut secrets);
        let hidden = Page::IdNs.hide(&page, &secrets);
        assert_eq!(hidden[120..128], [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(hidden[..120], page[..120], "NPDG is no part of EUI64");
    }

    #[test]
    fn ata_data_keeps_its_checksum() {
        let mut page = vec![0u8; 572];
        page[1] = 0x89;
        let data = &mut page[ATA];
        data[20..40].copy_from_slice(&swapped(b"      WD-WCC4N123456"));
        data[216..224].copy_from_slice(&swapped(&[0x50, 1, 0x4e, 0xe2, 9, 8, 7, 6]));
        data[510] = ATA_SIGNED;
        data[511] = 0u8.wrapping_sub(data[..511].iter().fold(0u8, |a, b| a.wrapping_add(*b)));
        let mut secrets = Secrets::default();
        Page::Vpd89.collect(&page, &mut secrets);
        let hidden = Page::Vpd89.hide(&page, &secrets);
        let words = swapped(&hidden[ATA]);
        assert_eq!(&words[20..40], b"      S0000000000001");
        assert_eq!(&words[216..224], [0x50, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(hidden[ATA].iter().fold(0u8, |a, b| a.wrapping_add(*b)), 0);
        assert_eq!(hidden.len(), page.len());
    }

    #[test]
    fn designators_and_serial_agree() {
        let mut p80 = vec![0, 0x80, 0, 8];
        p80.extend(b"  ABC123");
        let mut p83 = vec![0, 0x83, 0, 0];
        let mut add = |set: u8, kind: u8, body: &[u8]| {
            p83.extend([set, kind, 0, body.len() as u8]);
            p83.extend(body);
        };
        add(2, 1, b"LINUX   product  ABC123");
        add(1, 3, &[0x50, 0, 0xc5, 0, 1, 2, 3, 4]);
        add(3, 8, b"naa.5000C50001020304\0\0\0\0");
        let mut secrets = Secrets::default();
        Page::Vpd80.collect(&p80, &mut secrets);
        Page::Vpd83.collect(&p83, &mut secrets);
        assert_eq!(Page::Vpd80.hide(&p80, &secrets)[4..], *b"  S00001");
        let hidden = Page::Vpd83.hide(&p83, &secrets);
        let text = String::from_utf8_lossy(&hidden);
        assert!(text.contains("LINUX   product  S00001") && text.contains("naa.5000000000000002"), "{text}");
        assert_eq!(hidden.len(), p83.len());
        Page::Vpd83.collect(&p83[..9], &mut secrets);
    }
}
