//! Decides whether a device has a medium of its own, or represents something elsewhere that may be exchanged unnoticed: the
//! image of a virtual disk, or the volume of an array. A measurement of such a device is not a property of its model, and it
//! becomes stale with time.

use crate::device::Kind;
use crate::facts::{Bus, Facts};

/// Vendors that only virtual disks show in INQUIRY.
const VIRTUAL_VENDORS: &[&str] =
    &["QEMU", "VMware", "VMware,", "Msft", "VBOX", "Google", "Nutanix", "NUTANIX", "LIO-ORG", "Linux", "TCMU", "OVirt"];
/// Host drivers of virtual machines, as `proc_name` shows them.
const VIRTUAL_HOSTS: &[&str] =
    &["virtio_scsi", "Virtio SCSI HBA", "storvsc", "storvsc_host", "vmw_pvscsi", "xen-scsifront", "scsi_debug"];
/// What models of virtual NVMe disks begin with.
const VIRTUAL_MODELS: &[&str] = &[
    "QEMU NVMe",
    "VMware Virtual NVMe",
    "Amazon Elastic Block Store",
    "nvme_card-pd",
    "MSFT NVMe Accelerator",
    "Alibaba Cloud Elastic Block",
    "Linux",
    "ORCL-VBOX-NVME",
];

impl Facts {
    /// What stands behind the device, where that may be exchanged without a sign of it; in words. What is not known counts as
    /// a medium of its own here.
    pub fn changeable_backend(&self) -> Option<&'static str> {
        let transport = self.names.transport.known().map(String::as_str);
        let begins =
            |known: Option<&String>, with: &[&str]| known.is_some_and(|k| with.iter().any(|w| k.starts_with(w)));
        match (self.device.kind, &self.bus) {
            (Kind::Virtio | Kind::Xen, _) => Some("a virtual disk"),
            (Kind::Nbd | Kind::Rbd | Kind::Ublk, _) => Some("a disk of a server"),
            (_, Bus::Nvme(_)) if matches!(transport, Some("tcp" | "rdma" | "fc")) => Some("a disk of a server"),
            (_, Bus::Nvme(_)) if begins(self.names.model.known(), VIRTUAL_MODELS) => Some("a virtual disk"),
            (_, Bus::Scsi(_)) if matches!(transport, Some("fc" | "iscsi")) => Some("a volume of an array"),
            (_, Bus::Scsi(s)) => {
                let host = s.host_driver.known().is_some_and(|h| VIRTUAL_HOSTS.contains(&h.as_str()));
                let vendor = self.names.vendor.known().is_some_and(|v| VIRTUAL_VENDORS.contains(&v.as_str()));
                (host || vendor).then_some("a virtual disk").or_else(|| self.thin().map(|_| "a volume of an array"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::testing::with;

    #[test]
    fn virtual_disks_and_array_volumes_have_a_changeable_backend() {
        let of = |name: &str, files: &[(&str, &str)]| with(name, files).changeable_backend();
        assert_eq!(of("vda", &[]), Some("a virtual disk"));
        assert_eq!(of("nbd0", &[]), Some("a disk of a server"));
        assert_eq!(of("sda", &[("device/vendor", "QEMU    \n")]), Some("a virtual disk"));
        assert_eq!(of("sda", &[("device/vendor", "ATA     \n")]), None);
        assert_eq!(of("sda", &[("device/vendor", "SEAGATE \n")]), None);
        assert_eq!(of("nvme0n1", &[("device/model", "QEMU NVMe Ctrl\n")]), Some("a virtual disk"));
        assert_eq!(of("nvme0n1", &[("device/model", "Samsung SSD 990 PRO\n")]), None);
        assert_eq!(of("nvme0n1", &[]), None, "not known");
        assert_eq!(of("md0", &[]), None);
    }
}
