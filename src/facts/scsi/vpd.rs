//! SCSI vital product data: where a page is read, whether it is the page that was asked for, and the designators of page 83h
//! (SPC-5 7.8). It judges nothing.

use crate::device::{display, Device};
use crate::fact::{Fact, Why};
use crate::facts::field::{text_of, Reading};
use crate::facts::page::{reply, Page};
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, Question};

/// Checks the header of a page and cuts it to the length that it states (bytes 2 and 3, without the header itself).
///
/// A page that is shorter than it says keeps what is there: a field that lies beyond is malformed by itself.
pub fn checked(code: u8, bytes: Vec<u8>) -> Fact<Vec<u8>> {
    match (Page(&bytes).u8(1), Page(&bytes).be16(2)) {
        (Fact::Known(found), _) if found != code => {
            Fact::malformed(format!("its page code is {found:02x}, but {code:02x} was expected"))
        }
        (Fact::Known(_), Fact::Known(length)) => {
            let mut bytes = bytes;
            bytes.truncate(4 + usize::from(length));
            Fact::Known(bytes)
        }
        _ => Fact::malformed(format!("its {} bytes are too few for a page header", bytes.len())),
    }
}

/// A page: from sysfs where the kernel shows it (no command), else by the question, where one may be asked.
///
/// `listed` looks up page 00h in sysfs: what the device says it has not is not asked for, some bridges hang on it.
pub fn page(
    root: &Root,
    port: &mut dyn Port,
    device: &Device,
    code: u8,
    listed: &dyn Fn() -> Option<Vec<u8>>,
    ask: bool,
) -> Fact<Vec<u8>> {
    let from_sysfs = root.read(&device.attr(&format!("device/vpd_pg{code:x}")));
    let bytes = match from_sysfs {
        Fact::Known(bytes) => Fact::Known(bytes),
        Fact::Unknown(Why::Absent) if !ask => Fact::NOT_ASKED,
        Fact::Unknown(Why::Absent) if listed().is_some_and(|pages| !pages.contains(&code)) => Fact::ABSENT,
        Fact::Unknown(Why::Absent) => reply(port.ask(device, Question::ScsiVpd(code))),
        unknown => unknown,
    };
    bytes.and_then(|bytes| checked(code, bytes))
}

/// The codes that page 00h lists.
pub fn supported(root: &Root, device: &Device) -> Option<Vec<u8>> {
    let page = root.read(&device.attr("device/vpd_pg0")).and_then(|bytes| checked(0, bytes));
    page.known().and_then(|bytes| bytes.get(4..)).map(<[u8]>::to_vec)
}

/// The designators of page 83h as text: `naa.5000…`, `eui.0025…`, `t10.…`, each escaped.
pub fn designators(page: &Fact<Vec<u8>>) -> Fact<Vec<String>> {
    page.as_ref().and_then(|bytes| {
        let mut found = Vec::new();
        let mut rest = bytes.get(4..).unwrap_or_default();
        while let [code_set, kind, _, length, tail @ ..] = rest {
            let Some(body) = tail.get(..usize::from(*length)) else {
                return Fact::malformed(format!("a designator has {length} bytes, but only {} are left", tail.len()));
            };
            // ASSOCIATION 0 is the logical unit; ports and targets identify something else.
            let unit = (kind >> 4) & 3 == 0;
            let text = match (kind & 0x0f, code_set & 0x0f) {
                (1, _) => text_of(body).known().map(|t| format!("t10.{t}")),
                (2, 1) => Some(format!("eui.{}", display::hex(body))),
                (3, 1) => Some(format!("naa.{}", display::hex(body))),
                _ => None,
            };
            found.extend(text.filter(|_| unit));
            rest = &tail[usize::from(*length)..];
        }
        Fact::Known(found)
    })
}

/// The designators as readings.
pub fn show_designators(page: &Fact<Vec<u8>>, readings: &mut Vec<Reading>) -> Fact<Vec<String>> {
    let found = designators(page);
    for text in found.known().into_iter().flatten() {
        readings.push(Reading {
            source: "scsi-vpd-83".to_owned(),
            field: "DESIGNATOR".to_owned(),
            raw: Fact::Known(text.clone()),
            says: None,
            claim: false,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_header_of_a_page_is_checked() {
        assert_eq!(
            checked(0xb2, vec![0, 0xb2, 0, 4, 0, 0xe0, 2, 0, 9, 9]),
            Fact::Known(vec![0, 0xb2, 0, 4, 0, 0xe0, 2, 0])
        );
        assert!(matches!(checked(0xb2, vec![0, 0xb0, 0, 4, 0]).why(), Some(Why::Malformed(_))));
        assert!(matches!(checked(0xb2, vec![0, 0xb2, 0]).why(), Some(Why::Malformed(_))));
        let truncated = checked(0xb2, vec![0, 0xb2, 0, 4, 0]);
        assert_eq!(truncated, Fact::Known(vec![0, 0xb2, 0, 4, 0]), "what is there stays readable");
    }

    #[test]
    fn designators_of_the_unit() {
        let mut page = vec![0, 0x83, 0, 0];
        page.extend([1, 0x03, 0, 8, 0x50, 0, 0, 0, 0, 0, 0, 1]);
        page.extend([1, 0x93, 0, 8, 0x60, 0, 0, 0, 0, 0, 0, 2]);
        page.extend([2, 0x01, 0, 8]);
        page.extend(*b"QEMU  \x1b ");
        let found = designators(&Fact::Known(page.clone()));
        assert_eq!(found, Fact::Known(vec!["naa.5000000000000001".to_owned(), "t10.QEMU  \\x1b".to_owned()]));
        page.truncate(page.len() - 1);
        assert!(matches!(designators(&Fact::Known(page)).why(), Some(Why::Malformed(_))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_bytes_panic(code in any::<u8>(), bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            designators(&Fact::Known(bytes.clone()));
            checked(code, bytes);
        }
    }
}
