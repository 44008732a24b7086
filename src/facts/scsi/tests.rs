//! Byte vectors for the SCSI pages and the modes that sd chooses.

use super::fields::*;
use super::*;
use crate::fact::Fact;
use crate::fact::Why;
use crate::facts::ata;
use crate::facts::field::walk;
use proptest::prelude::*;

#[test]
fn pages_at_their_offsets() {
    // A booted guest's QEMU disk.
    let b2 = Fact::Known(vec![0x00, 0xb2, 0x00, 0x04, 0x00, 0xe0, 0x02, 0x00]);
    assert_eq!(
        [&LBPU, &LBPWS, &LBPWS10].map(|f| f.bit(&b2)),
        [Fact::Known(true), Fact::Known(true), Fact::Known(true)]
    );
    assert_eq!((LBPRZ_B2.value(&b2), PROVISIONING_TYPE.value(&b2)), (Fact::Known(0), Fact::Known(2)));
    let pattern = Fact::Known(vec![0x00, 0xb2, 0x00, 0x04, 0x00, 0x08, 0x00, 0x00]);
    assert_eq!(LBPRZ_B2.value(&pattern), Fact::Known(2));
    let rc16 = Fact::Known(vec![0, 0, 0, 0, 2, 0x7f, 0xff, 0xff, 0, 0, 2, 0, 0, 3, 0xc0, 0]);
    assert_eq!((LAST_LBA.value(&rc16), BLOCK_LENGTH.value(&rc16)), (Fact::Known(0x27f_ffff), Fact::Known(512)));
    assert_eq!(
        (LBPME.bit(&rc16), LBPRZ_RC16.bit(&rc16), LBPPBE.value(&rc16)),
        (Fact::Known(true), Fact::Known(true), Fact::Known(3))
    );
    let mut b0 = vec![0u8; 64];
    b0[20..32].copy_from_slice(&[0, 0, 8, 0, 0, 0, 0, 1, 0, 0x20, 0, 0]);
    b0[32..36].copy_from_slice(&[0x80, 0, 2, 0]);
    b0[36..44].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    let b0 = Fact::Known(b0);
    assert_eq!(
        [&MAX_UNMAP_LBAS, &MAX_UNMAP_DESCRIPTORS, &OPTIMAL_UNMAP_GRANULARITY].map(|f| f.value(&b0)),
        [2048, 1, 0x20_0000].map(Fact::Known)
    );
    assert_eq!([&UGAVALID, &UNMAP_ALIGNMENT, &MAX_WRITE_SAME].map(|f| f.value(&b0)), [1, 512, 65535].map(Fact::Known));
    assert_eq!(ROTATION_RATE.value(&Fact::Known(vec![0, 0xb1, 0, 60, 0x1c, 0x20])), Fact::Known(7200));
    let old = Fact::Known(vec![0u8; 16]);
    assert!(matches!(MAX_UNMAP_LBAS.value(&old).why(), Some(Why::Malformed(_))), "16 bytes have no unmap count");
}

#[test]
fn what_sd_would_choose() {
    assert_eq!(zeroing_mode_of_choice(true, true, true, 0), "writesame_16_unmap");
    assert_eq!(zeroing_mode_of_choice(true, false, true, 9), "writesame_10_unmap");
    assert_eq!(zeroing_mode_of_choice(false, true, true, 9), "writesame");
    assert_eq!(zeroing_mode_of_choice(true, false, false, 0), "write");
    assert_eq!(provisioning_mode_of_choice(false, true, None), "full");
    assert_eq!(provisioning_mode_of_choice(true, true, None), "unmap");
    assert_eq!(provisioning_mode_of_choice(true, false, None), "writesame_16");
    assert_eq!(provisioning_mode_of_choice(true, true, Some((true, true, true))), "unmap");
    assert_eq!(provisioning_mode_of_choice(true, false, Some((true, true, true))), "writesame_16");
    assert_eq!(provisioning_mode_of_choice(true, true, Some((false, false, true))), "writesame_10");
    assert_eq!(provisioning_mode_of_choice(true, false, Some((true, false, false))), "disabled");
}

#[test]
fn sd_chooses_by_the_lbpme_that_it_saw() {
    // usb-storage: sd asks READ CAPACITY(10), which has no LBPME; the disk itself answers READ CAPACITY(16) with it.
    let dir = "device/scsi_disk/0:0:0:0";
    let mut facts = crate::facts::testing::with(
        "sda",
        &[
            (&format!("{dir}/thin_provisioning"), "0\n"),
            (&format!("{dir}/max_write_same_blocks"), "65535\n"),
            (&format!("{dir}/provisioning_mode"), "full\n"),
        ],
    );
    let crate::facts::Bus::Scsi(s) = &mut facts.bus else { panic!("{:?}", facts.bus) };
    (s.lbpme, s.lbprz) = (Fact::Known(true), Fact::Known(true));
    (s.lbpu, s.lbpws, s.lbpws10) = (Fact::Known(true), Fact::Known(true), Fact::Known(true));
    assert_eq!((s.mode_of_choice(), s.provisioning_of_choice()), (Some("writesame"), Some("full")));
    (s.thin_provisioning, s.max_write_same_blocks) = (Fact::Known(true), Fact::Known(0));
    s.zeroing_mode = Fact::Known("write".to_owned());
    assert_eq!(s.mode_of_choice(), Some("write"), "no_write_same: sd leaves the mode as it is, as of every SATA disk");
    s.max_write_same_blocks = Fact::Known(65535);
    s.thin_provisioning = Fact::ABSENT;
    assert_eq!(s.mode_of_choice(), Some("writesame_16_unmap"), "without the file the disk's answer counts");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let page = Fact::Known(bytes);
        let mut readings = Vec::new();
        for table in [INQUIRY, READ_CAPACITY_16, VPD_B0, VPD_B1, VPD_B2, ata::VPD_89] {
            walk(table, &page, &mut readings);
        }
    }
}
