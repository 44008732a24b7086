//! The devices that a device is made of, down to the disks: the kernel's `slaves`, and the hidden paths of an NVMe
//! multipath head. Reads only.

use crate::device::{Device, Kind};
use crate::fact::Fact;
use crate::machine::block::devices;
use crate::machine::fs::root::Root;

/// How deep a stack is followed; the kernel itself refuses deeper ones long before.
pub const DEEPEST: usize = 8;

/// The device and every device below it, each once, the device itself first.
pub fn with_members(root: &Root, device: &Device) -> Vec<Device> {
    let mut found = vec![device.clone()];
    let mut level = vec![device.clone()];
    for _ in 0..DEEPEST {
        let below: Vec<Device> = level.iter().flat_map(|d| directly_below(root, d)).collect();
        level.clear();
        for d in below {
            if found.iter().all(|f| f.name != d.name) {
                found.push(d.clone());
                level.push(d);
            }
        }
    }
    found
}

fn directly_below(root: &Root, device: &Device) -> Vec<Device> {
    let slaves = match root.list(&device.attr("slaves")) {
        Fact::Known(names) => names,
        Fact::Unknown(_) => Vec::new(),
    };
    // A member may be a partition: its disk answers for it.
    slaves.iter().filter_map(|name| devices::resolve_name(root, name)).chain(hidden_paths(root, device)).collect()
}

/// `nvme0n1` has the paths `nvme0c0n1`, `nvme0c1n1` (fieldguide 3.6).
fn hidden_paths(root: &Root, device: &Device) -> Vec<Device> {
    if device.kind != Kind::Nvme || device.name.contains('c') {
        return Vec::new();
    }
    let Some((subsystem, namespace)) = device.name.rsplit_once('n').filter(|(s, _)| s.starts_with("nvme")) else {
        return Vec::new();
    };
    let Fact::Known(names) = root.list("sys/block") else { return Vec::new() };
    let is_path = |name: &&String| {
        name.strip_prefix(subsystem)
            .and_then(|rest| rest.strip_prefix('c'))
            .and_then(|rest| rest.split_once('n'))
            .is_some_and(|(path, n)| n == namespace && path.bytes().all(|b| b.is_ascii_digit()))
    };
    names.iter().filter(is_path).map(|name| devices::device(root, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn down_to_the_disks_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| std::fs::create_dir_all(dir.path().join("sys/block").join(path)).unwrap();
        for path in ["dm-0/slaves/dm-1", "dm-0/slaves/sda1", "dm-1/slaves/sda", "sda/sda1", "nvme0n1", "nvme0c0n1"] {
            make(path);
        }
        for path in ["nvme0c1n1", "nvme0c0n2", "nvme10c0n1"] {
            make(path);
        }
        for (file, text) in [("partition", "1"), ("start", "0"), ("size", "8")] {
            std::fs::write(dir.path().join("sys/block/sda/sda1").join(file), text).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let names = |name: &str| {
            let mut names: Vec<String> =
                with_members(&root, &Device::new(name, None)).into_iter().map(|d| d.name).collect();
            names[1..].sort();
            names
        };
        assert_eq!(names("dm-0"), ["dm-0", "dm-1", "sda"]);
        assert_eq!(names("nvme0n1"), ["nvme0n1", "nvme0c0n1", "nvme0c1n1"]);
        assert_eq!(names("sda"), ["sda"]);
    }
}
