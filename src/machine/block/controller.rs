//! The controllers of a block device, so that no two tests use the same controller at once: the NVMe controller, the SCSI
//! host, or else the device above the disk in the kernel's tree of devices; for a stack, the controllers of all its members.
//! It reads sysfs.

use super::stack;
use crate::device::Device;
use crate::machine::fs::root::Root;

/// The names of the controllers below a device, sorted; never empty. Of a disk whose place in the tree is not known its own
/// name stands for them.
pub fn of(root: &Root, device: &Device) -> Vec<String> {
    let below = stack::with_members(root, device);
    let disks = || below.iter().filter(|d| !d.kind.can_have_members() || stack::members(root, d).is_empty());
    let mut names: Vec<String> = disks().map(|d| of_disk(root, d)).collect();
    names.sort();
    names.dedup();
    names
}

fn of_disk(root: &Root, disk: &Device) -> String {
    let link = root.link(&disk.sys);
    link.known().and_then(|target| in_path(target)).unwrap_or_else(|| disk.name.clone())
}

/// The controller in the path of a disk below `/sys/devices`.
fn in_path(target: &str) -> Option<String> {
    let parts: Vec<&str> = target.split('/').filter(|p| !p.is_empty() && *p != "..").collect();
    let (_, above) = parts.split_last()?;
    let numbered = |prefix: &str, part: &&&str| {
        part.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    // The nearest: behind a bridge of USB or SAS there is more than one.
    let nvme = above.iter().rev().find(|p| numbered("nvme", p));
    let host = above.iter().rev().find(|p| numbered("host", p));
    let known = nvme.or(host).map(|name| (*name).to_owned());
    // Virtual disks have no controller: each is its own.
    let virtual_disk = above.contains(&"virtual") && !above.iter().any(|p| p.starts_with("nvme-subsys"));
    known.or_else(|| {
        (!virtual_disk).then(|| above.iter().filter(|p| **p != "block").copied().collect::<Vec<_>>().join("/"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_controller_in_the_tree() {
        let pci = "../devices/pci0000:00";
        for (below, controller) in [
            ("0000:00:03.0/nvme/nvme1/nvme1n1", Some("nvme1")),
            ("0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", Some("host0")),
            ("0000:00:14.0/usb2/2-1/2-1:1.0/host12/target12:0:0/12:0:0:0/block/sdb", Some("host12")),
            ("0000:00:05.0/virtio2/block/vda", Some("devices/pci0000:00/0000:00:05.0/virtio2")),
        ] {
            assert_eq!(in_path(&format!("{pci}/{below}")).as_deref(), controller, "{below}");
        }
        let head = "../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
        assert_eq!(in_path(head).as_deref(), Some("devices/virtual/nvme-subsystem/nvme-subsys0"));
        assert_eq!(in_path("../devices/virtual/block/loop0"), None);
    }

    #[test]
    fn a_stack_has_the_controllers_of_its_members_and_a_head_those_of_its_paths() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at("sys/block")).unwrap();
        for (name, path) in [
            ("sda", "pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda"),
            ("sdb", "pci0000:00/ata2/host1/target1:0:0/1:0:0:0/block/sdb"),
            ("dm-0", "virtual/block/dm-0"),
            ("nvme0n1", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1"),
            ("nvme0c2n1", "pci0000:00/0000:00:04.0/nvme/nvme2/nvme0c2n1"),
        ] {
            std::fs::create_dir_all(at(&format!("sys/devices/{path}"))).unwrap();
            std::os::unix::fs::symlink(format!("../devices/{path}"), at(&format!("sys/block/{name}"))).unwrap();
        }
        for member in ["sda", "sdb"] {
            std::fs::create_dir_all(at(&format!("sys/devices/virtual/block/dm-0/slaves/{member}"))).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let of = |name: &str| of(&root, &Device::new(name, None));
        assert_eq!(of("sda"), ["host0"]);
        assert_eq!(of("dm-0"), ["host0", "host1"]);
        assert_eq!(of("nvme0n1"), ["devices/virtual/nvme-subsystem/nvme-subsys0", "nvme2"]);
        assert_eq!(of("nothing"), ["nothing"]);
    }
}
