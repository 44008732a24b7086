//! What a recording may contain at all: a list of udev properties, kernel attributes and event keys. Everything else is left
//! out, because nobody knows what a site writes into a property of its own.
//!
//! What is on the list and names something is replaced by [`super::hide`]. A new reading of the program has to be added to
//! the list; otherwise its replay differs, and a test says so.

use crate::device::display;
use crate::machine::port::recorder::{Node, Tree};

/// Properties that are kept.
const PROPERTIES: &[&str] = &[
    "DEVLINKS",
    "DEVNAME",
    "DEVTYPE",
    "DISKSEQ",
    "DM_LV_NAME",
    "DM_MULTIPATH_DEVICE_PATH",
    "DM_NAME",
    "DM_SUSPENDED",
    "DM_UDEV_DISABLE_OTHER_RULES_FLAG",
    "DM_UUID",
    "DM_VG_NAME",
    "ID_ATA",
    "ID_ATA_ROTATION_RATE_RPM",
    "ID_ATA_SATA",
    "ID_ATA_WRITE_CACHE",
    "ID_ATA_WRITE_CACHE_ENABLED",
    "ID_BUS",
    "ID_FS_TYPE",
    "ID_FS_USAGE",
    "ID_FS_VERSION",
    "ID_MODEL",
    "ID_MODEL_ENC",
    "ID_MODEL_ID",
    "ID_NSID",
    "ID_PART_TABLE_TYPE",
    "ID_REVISION",
    "ID_SCSI",
    "ID_SCSI_SERIAL",
    "ID_SERIAL",
    "ID_SERIAL_SHORT",
    "ID_TYPE",
    "ID_USB_DRIVER",
    "ID_USB_INTERFACES",
    "ID_USB_MODEL",
    "ID_USB_MODEL_ID",
    "ID_USB_REVISION",
    "ID_USB_VENDOR",
    "ID_USB_VENDOR_ID",
    "ID_VENDOR",
    "ID_VENDOR_ENC",
    "ID_VENDOR_ID",
    "ID_WWN",
    "ID_WWN_WITH_EXTENSION",
    "MAJOR",
    "MD_DEVICES",
    "MD_LEVEL",
    "MD_METADATA",
    "MD_NAME",
    "MD_UUID",
    "MINOR",
    "SUBSYSTEM",
    "SYSTEMD_READY",
    "USEC_INITIALIZED",
    "ZEROCAP_BASIS",
    "ZEROCAP_CLASS",
    "ZEROCAP_EXPECTED",
    "ZEROCAP_FINDINGS",
    "ZEROCAP_MODEL_CLASS",
    "ZEROCAP_MODEL_DEVICES",
    "ZEROCAP_SKIP",
];

/// Links to a device that say no more than its identity, by how they begin; others name paths, hosts and sites.
const LINKS: &[&str] = &["ata-", "dm-uuid-", "md-uuid-", "mmc-", "nvme-", "scsi-", "usb-", "virtio-", "wwn-"];

/// Keys of `uevent` files that are kept.
const EVENT: &[&str] = &["DEVNAME", "DEVTYPE", "DISKSEQ", "DRIVER", "MAJOR", "MINOR", "NVME_TRTYPE", "PARTN"];

/// The name of a partition that is scratch; any other is somebody's.
const SCRATCH: &str = "PARTNAME=zerocap-scratch";

/// Attributes that are kept, by the last part of their path.
const ATTRIBUTES: &[&str] = &[
    "address",
    "alignment_offset",
    "array_state",
    "backing_file",
    "cache_mode",
    "chunk_size",
    "cid",
    "cntlid",
    "cntrltype",
    "comp_algorithm",
    "csi",
    "dev",
    "device",
    "dio",
    "discard_alignment",
    "discipline",
    "diskseq",
    "erase_size",
    "eui",
    "features",
    "firmware_rev",
    "fwrev",
    "hidden",
    "inquiry",
    "level",
    "max_write_same_blocks",
    "metadata_bytes",
    "model",
    "name",
    "nguid",
    "nsid",
    "offset",
    "partition",
    "partscan",
    "preferred_erase_size",
    "proc_name",
    "provisioning_mode",
    "quirks",
    "removable",
    "rev",
    "ro",
    "scsi_level",
    "serial",
    "size",
    "sizelimit",
    "start",
    "state",
    "subsysnqn",
    "suspended",
    "sys_vendor",
    "thin_provisioning",
    "transport",
    "type",
    "uevent",
    "uuid",
    "vendor",
    "vpd_pg0",
    "vpd_pg80",
    "vpd_pg83",
    "vpd_pg89",
    "vpd_pgb0",
    "vpd_pgb1",
    "vpd_pgb2",
    "wwid",
    "zeroing_mode",
    "zone_capacity",
];

/// Leaves out of the tree what is not allowed; gives the paths, and for files of lines the keys, that were left out.
pub fn keep(tree: &mut Tree) -> Vec<String> {
    let mut left_out = Vec::new();
    tree.nodes.retain(|path, node| {
        let Node::File(bytes) = node else { return true };
        if !attribute(path) {
            left_out.push(path.clone());
            return false;
        }
        let kept: fn(&str) -> Option<String> = match path {
            p if p.starts_with("udev/") => property,
            p if p.ends_with("/uevent") => event,
            _ => return true,
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (mut lines, mut lost) = (String::new(), 0);
        for line in text.lines() {
            match kept(line) {
                Some(line) => lines.push_str(&format!("{line}\n")),
                None => lost += 1,
            }
        }
        if lost > 0 {
            left_out.push(format!("{path}: {lost} lines"));
        }
        *bytes = lines.into_bytes();
        true
    });
    left_out.iter().map(|l| display::escape_str(l)).collect()
}

/// Whether a file may be in a recording. Below `queue/` are the kernel's own numbers and words.
fn attribute(path: &str) -> bool {
    if !path.starts_with("sys/") {
        return true;
    }
    let mut parts = path.rsplit('/');
    let (last, above) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    matches!(above, "queue" | "iosched") || ATTRIBUTES.contains(&last)
}

fn property(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=').filter(|(key, _)| PROPERTIES.contains(key))?;
    if key != "DEVLINKS" {
        return Some(line.to_owned());
    }
    let plain = |link: &&str| match link.strip_prefix("/dev/disk/") {
        Some(below) => match below.split_once('/') {
            Some(("by-id", name)) => LINKS.iter().any(|start| name.starts_with(start)),
            Some((by, _)) => by == "by-diskseq",
            None => false,
        },
        None => false,
    };
    let links: Vec<&str> = value.split(' ').filter(plain).collect();
    Some(format!("DEVLINKS={}", links.join(" ")))
}

fn event(line: &str) -> Option<String> {
    let key = line.split('=').next().unwrap_or_default();
    (EVENT.contains(&key) || line == SCRATCH).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_that_are_not_on_the_list_are_left_out() {
        let mut tree = Tree::default();
        let token = "SITE_TOKEN=abc\nID_BUS=ata\nID_PATH=ip-10.0.0.1-iscsi-iqn.x\n\
                     DEVLINKS=/dev/disk/by-path/ip-10.0.0.1 /dev/disk/by-id/wwn-0x5 /dev/acme/data /dev/disk/by-label/x\n";
        tree.file("udev/sda", token);
        tree.file(
            "sys/block/sda/uevent",
            "MAJOR=8\nPARTNAME=payroll\nNVME_TRADDR=10.0.0.1\nPARTNAME=zerocap-scratch\n",
        );
        tree.file("sys/block/sda/queue/nr_requests", "64\n");
        tree.file("sys/block/sda/site_secret", "x\n");
        let left_out = keep(&mut tree);
        assert_eq!(left_out.len(), 3, "{left_out:?}");
        let text = |path: &str| match tree.nodes.get(path) {
            Some(Node::File(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(text("udev/sda"), "ID_BUS=ata\nDEVLINKS=/dev/disk/by-id/wwn-0x5\n");
        assert_eq!(text("sys/block/sda/uevent"), "MAJOR=8\nPARTNAME=zerocap-scratch\n");
        assert_eq!(text("sys/block/sda/queue/nr_requests"), "64\n");
        assert!(!tree.nodes.contains_key("sys/block/sda/site_secret"));
    }
}
