//! Resolves what was typed to a device: `/dev/sda`, `/dev/disk/by-id/…`, `sda`, a partition. It also lists all devices.

use crate::device::display::escape_str;
use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::fact::{Fact, Why};
use crate::machine::fs::root::Root;
use crate::units::{natural, SECTOR};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// A whole device, and the partition of it that was named, if one was.
#[derive(Debug, Clone)]
pub struct Target {
    /// The whole device.
    pub device: Device,
    /// The partition.
    pub partition: Option<Partition>,
}

/// A partition as the kernel has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The kernel's name: `nvme0n1p3`.
    pub name: String,
    /// Its device number.
    pub devnum: Option<Devnum>,
    /// The partition's number.
    pub number: u64,
    /// Where it starts, in bytes.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
}

impl Partition {
    /// The device node.
    pub fn node(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// Its directory of sysfs, as that of a device: below the disk's own.
    pub fn as_device(&self, disk: &Device) -> Device {
        Device { name: self.name.clone(), sys: disk.attr(&self.name), kind: disk.kind, devnum: self.devnum }
    }
}

/// The names of every whole block device of the root. Of the running system too they are listed and not enumerated through
/// libudev, which reads four files and a database for each: what the kernel links here is what it calls a disk.
pub fn names(root: &Root) -> Result<Vec<String>> {
    Ok(links(root)?.into_iter().map(|(name, _)| name).collect())
}

/// The same with the number of each device's link, which on the running system no later device gets.
pub fn links(root: &Root) -> Result<Vec<(String, u64)>> {
    match root.entries("sys/block") {
        Fact::Known(links) => Ok(links),
        Fact::Unknown(why) if root.is_system() => {
            let what = format!("no block devices are listed: {why}; is sysfs mounted?");
            Err(Error::NoDevice { path: "/sys/block".to_owned(), what })
        }
        Fact::Unknown(why) => {
            let path = root.shown("sys/block").display().to_string();
            Err(Error::NoDevice { path, what: format!("no recorded block devices: {why}") })
        }
    }
}

/// Every whole block device of the root, in the order of names.
pub fn disks(root: &Root) -> Result<Vec<Device>> {
    let mut devices: Vec<Device> = names(root)?.iter().map(|name| device(root, name)).collect();
    devices.sort_by_cached_key(|d| natural(&d.name));
    Ok(devices)
}

/// The number of the link of one device.
pub fn link(root: &Root, name: &str) -> Option<u64> {
    root.entry_number(&format!("sys/block/{name}"))
}

/// The device of a name, with its number where the root has it.
pub fn device(root: &Root, name: &str) -> Device {
    let mut device = Device::new(name, None);
    device.devnum = root.text(&device.attr("dev")).known().and_then(|t| t.parse().ok());
    device
}

/// The partitions of a device that the kernel knows: all of them, or not known.
pub fn partitions(root: &Root, device: &Device) -> Fact<Vec<Partition>> {
    let names = match root.list(&device.sys) {
        Fact::Known(names) => names,
        Fact::Unknown(why) => return Fact::Unknown(why),
    };
    let mut found = Vec::new();
    for name in names.iter().filter(|n| n.starts_with(&device.name)) {
        match partition(root, device, name) {
            Fact::Known(partition) => found.push(partition),
            // The boot parts of an MMC card are directories of the card, and no partitions.
            Fact::Unknown(_) if root.number(&device.attr(&format!("{name}/partition"))).why() == Some(&Why::Absent) => {
            }
            Fact::Unknown(why) => return Fact::Unknown(why),
        }
    }
    Fact::Known(found)
}

fn partition(root: &Root, device: &Device, name: &str) -> Fact<Partition> {
    let dir = device.attr(name);
    let number = |file: &str| root.number(&format!("{dir}/{file}"));
    let bytes = |file: &str| {
        number(file).and_then(|n| {
            n.checked_mul(SECTOR).map_or_else(|| Fact::malformed("it does not fit into 64 bits"), Fact::Known)
        })
    };
    let devnum = root.text(&format!("{dir}/dev")).known().and_then(|t| t.parse().ok());
    number("partition").and_then(|number| {
        bytes("start").and_then(|start| {
            bytes("size").map(|length| Partition { name: name.to_owned(), devnum, number, start, length })
        })
    })
}

/// Finds what was typed.
pub fn resolve(root: &Root, typed: &str) -> Result<Target> {
    let none = |what: &str| Error::NoDevice { path: escape_str(typed), what: what.to_owned() };
    if !root.is_system() {
        let name = typed.strip_prefix("/dev/").unwrap_or(typed).replace('/', "!");
        if name.is_empty() || name.starts_with('.') {
            return Err(none("not a device name"));
        }
        return target(root, &name).ok_or_else(|| none("no such recorded block device"));
    }
    let path = if typed.contains('/') { typed.to_owned() } else { format!("/dev/{typed}") };
    let meta = std::fs::metadata(&path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => none("no such device"),
        _ => Error::file(&path, "look up", e),
    })?;
    let kind = meta.file_type();
    if !kind.is_block_device() {
        return Err(none(if kind.is_dir() {
            "a directory, not a block device"
        } else if kind.is_char_device() {
            "a character device, not a block device"
        } else {
            "not a block device"
        }));
    }
    let devnum = Devnum { major: rustix::fs::major(meta.rdev()), minor: rustix::fs::minor(meta.rdev()) };
    let name = root
        .link_name(&format!("sys/dev/block/{devnum}"))
        .known()
        .cloned()
        .ok_or_else(|| none(&format!("sys/dev/block/{devnum} does not exist: the device is gone")))?;
    target(root, &name).ok_or_else(|| none(&format!("{name} is not in sysfs")))
}

/// A whole device or a partition by its number.
pub fn by_number(root: &Root, devnum: Devnum) -> Option<Target> {
    target(root, root.link_name(&format!("sys/dev/block/{devnum}")).known()?)
}

/// The whole device of a kernel's name, which may be that of a partition.
pub fn resolve_name(root: &Root, name: &str) -> Option<Device> {
    target(root, name).map(|t| t.device)
}

/// A whole device or a partition by the kernel's name.
pub fn target(root: &Root, name: &str) -> Option<Target> {
    if root.exists(&format!("sys/block/{name}")) {
        return Some(Target { device: device(root, name), partition: None });
    }
    // sda3 -> sda, nvme0n1p3 -> nvme0n1: the parent is found by the directory that holds the partition.
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    [stem, stem.strip_suffix('p').unwrap_or(stem)].iter().find_map(|parent| {
        if !root.exists(&format!("sys/block/{parent}/{name}")) {
            return None;
        }
        let device = device(root, parent);
        let partition = partition(root, &device, name).known().cloned()?;
        Some(Target { device, partition: Some(partition) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_partition_leads_to_its_disk() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sys/block/nvme0n1/dev", "259:0\n");
        write("sys/block/nvme0n1/nvme0n1p2/partition", "2\n");
        write("sys/block/nvme0n1/nvme0n1p2/start", "2048\n");
        write("sys/block/nvme0n1/nvme0n1p2/size", "8\n");
        write("sys/block/nvme0n10/dev", "259:9\n");
        write("sys/block/nvme0n2/dev", "259:8\n");
        let root = Root::open(dir.path()).unwrap();
        let target = resolve(&root, "/dev/nvme0n1p2").unwrap();
        assert_eq!(target.device.name, "nvme0n1");
        let partition = target.partition.unwrap();
        assert_eq!((partition.start, partition.length), (1 << 20, 4096));
        assert!(resolve(&root, "nvme0n3").is_err());
        assert!(resolve(&root, "../etc").is_err());
        let names: Vec<String> = disks(&root).unwrap().into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["nvme0n1", "nvme0n2", "nvme0n10"]);
        assert_eq!(partitions(&root, &target.device), Fact::Known(vec![partition]));
        // What is no partition is left out; a partition of which something is not known is not.
        write("sys/block/nvme0n1/nvme0n1boot0/size", "8\n");
        assert_eq!(partitions(&root, &target.device).known().map(Vec::len), Some(1));
        for (file, text) in [("start", "much\n"), ("size", "99999999999999999999\n"), ("partition", "")] {
            let path = format!("sys/block/nvme0n1/nvme0n1p2/{file}");
            let before = std::fs::read_to_string(dir.path().join(&path)).unwrap();
            write(&path, text);
            assert!(partitions(&root, &target.device).known().is_none(), "{file}");
            write(&path, &before);
        }
        std::fs::remove_dir_all(dir.path().join("sys/block/nvme0n1")).unwrap();
        assert_eq!(partitions(&root, &target.device), Fact::ABSENT);
    }
}
