//! Byte vectors for the identify pages.

use super::fields::*;
use super::*;
use crate::fact::Fact;
use crate::fact::Why;
use crate::facts::field::walk;
use proptest::prelude::*;

fn id_ns(set: &[(usize, &[u8])]) -> Fact<Vec<u8>> {
    let mut page = vec![0u8; 4096];
    for (at, bytes) in set {
        page[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    Fact::Known(page)
}

#[test]
fn identify_namespace_at_its_offsets() {
    let page = id_ns(&[
        (0, &[0x00, 0x00, 0x20]),
        (24, &[0x10, 0x01, 0x01]),
        (33, &[0x19]),
        (68, &[0x1f, 0]),
        (128 + 4, &[8, 0, 12, 0]),
    ]);
    assert_eq!(NSZE.value(&page), Fact::Known(0x20_0000));
    assert_eq!(DLFEAT.reading(&page).raw, Fact::Known("0x19".to_owned()));
    assert_eq!(lba_format(&page), Fact::Known(LbaFormat { lbads: 12, ms: 8 }));
    assert_eq!(NPDG.value(&page), Fact::Known(31));
}

#[test]
fn the_format_index_has_high_bits_only_with_many_formats() {
    let high = 0x20 | 0x01;
    let few = id_ns(&[(25, &[15, high]), (128 + 4, &[0, 0, 9, 0])]);
    assert_eq!(lba_format(&few), Fact::Known(LbaFormat { lbads: 9, ms: 0 }));
    let many = id_ns(&[(25, &[20, high]), (128 + 4 * 17, &[0, 0, 12, 0])]);
    assert_eq!(lba_format(&many), Fact::Known(LbaFormat { lbads: 12, ms: 0 }));
    for lbads in [0, 8, 32, 255] {
        let odd = id_ns(&[(128, &[0, 0, lbads, 0])]);
        assert!(matches!(lba_format(&odd).why(), Some(Why::Malformed(_))), "{lbads}");
    }
}

#[test]
fn a_short_page_is_malformed_and_a_refused_one_refused() {
    let short = Fact::Known(vec![0u8; 33]);
    assert!(matches!(DLFEAT.value(&short).why(), Some(Why::Malformed(_))));
    let refused: Fact<Vec<u8>> = Fact::Unknown(Why::Refused("errno EACCES".to_owned()));
    assert_eq!(DLFEAT.value(&refused).why(), refused.why());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        let page = Fact::Known(bytes);
        let mut readings = Vec::new();
        for table in [ID_CTRL, ID_NS, ID_CTRL_NVM, ID_NS_NVM, ID_NS_INDEPENDENT] {
            walk(table, &page, &mut readings);
        }
        lba_format(&page);
    }
}
