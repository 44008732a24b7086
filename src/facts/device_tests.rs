//! Names from small trees of files.

use crate::fact::{Fact, Why};
use crate::facts::testing::facts;

fn text(s: &str) -> Fact<String> {
    Fact::Known(s.to_owned())
}

#[test]
fn a_flat_scsi_disk() {
    let f = facts(
        "sda",
        &[
            ("sys/block/sda/device/vendor", "ATA     \n"),
            ("sys/block/sda/device/model", "X\x1b[2J\n"),
            ("sys/block/sda/device/rev", "1.0 \n"),
            ("sys/block/sda/device/wwid", "t10.ATA     A  B\n"),
            ("sys/block/sda/size", "8\n"),
            ("sys/block/sda/ro", "0\n"),
        ],
        &[],
    );
    assert_eq!(f.names.transport, text("ata"));
    assert_eq!(f.names.model, text("X\\x1b[2J"));
    assert_eq!(f.names.firmware, text("1.0"));
    assert_eq!(f.names.size_bytes, Fact::Known(4096));
    assert_eq!(f.names.identity.as_ref().map(|i| i.as_str()), Some("t10.ATA A B"));
    assert!(f.is_libata());
    assert_eq!(f.names.hidden, Fact::ABSENT);
}

#[test]
fn the_transport_of_a_scsi_disk_by_its_path() {
    let tree = |parents: &str| {
        let real = format!("sys/devices/{parents}/0:0:0:0/block/sda");
        let target = format!("../devices/{parents}/0:0:0:0/block/sda");
        facts("sda", &[(&format!("{real}/size"), "18446744073709551615\n")], &[("sys/block/sda", &target)])
    };
    for (parents, word) in [
        ("pci0/usb2/2-1/host4/target4:0:0", "usb"),
        ("pci0/ata1/host0/target0:0:0", "ata"),
        ("pci0/host0/port-0:0/end_device-0:0/target0:0:0", "sas"),
        ("pci0/host0/rport-0:0-1/target0:0:0", "fc"),
        ("pci0/virtio3/host0/target0:0:0", "virtio"),
    ] {
        let f = tree(parents);
        assert_eq!(f.names.transport, text(word), "{parents}");
        assert!(matches!(f.names.size_bytes.why(), Some(Why::Malformed(_))), "the size overflows");
    }
    assert_eq!(tree("pci0/host0/target0:0:0").names.transport, Fact::ABSENT);
}

#[test]
fn an_nvme_head_takes_its_names_from_subsystem_and_path() {
    let f = facts(
        "nvme1n1",
        &[
            ("sys/devices/virtual/nvme-subsystem/nvme-subsys1/model", "M  \n"),
            ("sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/wwid", "eui.01\n"),
            ("sys/devices/pci0/0000:01:00.0/nvme/nvme1/transport", "pcie\n"),
            ("sys/devices/pci0/0000:01:00.0/nvme/nvme1/quirks", "bogus_nid\ndisable_write_zeroes\n"),
        ],
        &[
            ("sys/block/nvme1n1", "../devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1"),
            ("sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/device", "../../nvme-subsys1"),
            ("sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1", "../../../pci0/0000:01:00.0/nvme/nvme1"),
            ("sys/devices/pci0/0000:01:00.0/nvme/nvme1/device", "../../../0000:01:00.0"),
            ("sys/devices/pci0/0000:01:00.0/driver", "../../bus/pci/drivers/nvme"),
        ],
    );
    assert_eq!(
        (f.names.model.clone(), f.names.transport.clone(), f.names.driver.clone()),
        (text("M"), text("pcie"), text("nvme"))
    );
    let nvme = f.nvme().unwrap();
    assert_eq!(nvme.role, crate::facts::nvme::Role::Head);
    assert!(nvme.has_quirk("disable_write_zeroes") && nvme.has_quirk("bogus_nid"));
}

#[test]
fn devices_without_a_stable_identity_have_none() {
    let none = |name: &str, files: &[(&str, &str)]| assert_eq!(facts(name, files, &[]).names.identity, None, "{name}");
    none("vda", &[("sys/block/vda/serial", "\n")]);
    none("loop0", &[("sys/block/loop0/loop/backing_file", "/x\n")]);
    let card = facts("mmcblk0boot0", &[("sys/block/mmcblk0boot0/device/cid", "0353\n")], &[]);
    assert_eq!(card.names.identity.unwrap().as_str(), "mmc.0353.boot0");
}

#[test]
fn kernel_versions() {
    let version = |release: &str| facts("sda", &[("proc/sys/kernel/osrelease", release)], &[]).kernel_version();
    assert_eq!(version("5.19.0-rc6-next-20220714\n"), Some((5, 19)));
    assert_eq!(version("6.2\n"), Some((6, 2)));
    assert_eq!(version("six\n"), None);
}
