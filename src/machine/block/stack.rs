//! The walk down a stack of devices, the only one in the program. It reads sysfs and judges nothing.

use crate::device::{Device, Kind};
use crate::fact::Fact;
use crate::machine::block::devices;
use crate::machine::fs::root::Root;

/// How many levels a stack is followed down; the kernel itself refuses deeper ones long before.
pub const DEEPEST: usize = 8;

/// Walks down from `top`: `top` itself first, then all below it, each name once however many ways lead to it. `below` gives
/// what stands directly below one; a ring ends, and so does a stack of more than [`DEEPEST`] levels.
pub fn descend<T>(top: T, name: impl Fn(&T) -> String, mut below: impl FnMut(&T) -> Vec<T>) -> Vec<T> {
    let mut seen = vec![name(&top)];
    let (mut found, mut level) = (vec![top], 0);
    let mut from = 0;
    while from < found.len() && level < DEEPEST {
        let to = found.len();
        for at in from..to {
            for next in below(&found[at]) {
                let next_name = name(&next);
                if !seen.contains(&next_name) {
                    seen.push(next_name);
                    found.push(next);
                }
            }
        }
        (from, level) = (to, level + 1);
    }
    found
}

/// The whole devices directly below one: the disks of its `slaves`, in the kernel's order.
pub fn members(root: &Root, device: &Device) -> Vec<Device> {
    match root.list(&device.attr("slaves")) {
        // A member may be a partition: its disk stands for it.
        Fact::Known(names) => names.iter().filter_map(|name| devices::resolve_name(root, name)).collect(),
        Fact::Unknown(_) => Vec::new(),
    }
}

/// The device and every device below it, each once, the device itself first; of an NVMe multipath head its hidden paths too.
pub fn with_members(root: &Root, device: &Device) -> Vec<Device> {
    let below = |d: &Device| {
        let members = if d.kind.can_have_members() { members(root, d) } else { Vec::new() };
        members.into_iter().chain(hidden_paths(root, d)).collect()
    };
    descend(device.clone(), |d| d.name.clone(), below)
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

/// The names of the devices below one that stand on no others; its own where it is no stack.
pub fn leaves(root: &Root, device: &Device) -> Vec<String> {
    let members_of = |d: &Device| if d.kind.can_have_members() { members(root, d) } else { Vec::new() };
    let all = descend(device.clone(), |d| d.name.clone(), members_of).into_iter();
    all.filter(|d| !d.kind.can_have_members() || members(root, d).is_empty()).map(|d| d.name).collect()
}

/// The devices, each after all that it stands on.
pub fn leaves_first(root: &Root, mut devices: Vec<Device>) -> Vec<Device> {
    // What stands on another has that one below it, and all that the other has.
    devices.sort_by_cached_key(|d| with_members(root, d).len());
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(links: &[&str]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for link in links {
            std::fs::create_dir_all(dir.path().join("sys/block").join(link)).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        (dir, root)
    }

    #[test]
    fn a_stack_comes_after_what_it_stands_on() {
        let (_dir, root) = tree(&["dm-0/slaves/dm-1", "dm-1/slaves/sda", "sda/queue", "md0/slaves/dm-0"]);
        let devices = ["md0", "dm-0", "dm-1", "sda"].map(|n| devices::device(&root, n)).to_vec();
        let order: Vec<String> = leaves_first(&root, devices).into_iter().map(|d| d.name).collect();
        assert_eq!(order, ["sda", "dm-1", "dm-0", "md0"]);
        assert_eq!(leaves(&root, &devices::device(&root, "md0")), ["sda"]);
        assert_eq!(leaves(&root, &devices::device(&root, "sda")), ["sda"]);
    }

    #[test]
    fn a_ring_ends_and_each_is_seen_once() {
        let (_dir, root) =
            tree(&["md0/slaves/dm-0", "md0/slaves/dm-1", "dm-0/slaves/sdb", "dm-1/slaves/sdb", "sdb/queue"]);
        let all = with_members(&root, &devices::device(&root, "md0"));
        assert_eq!(all.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["md0", "dm-0", "dm-1", "sdb"]);
        let (_dir, root) = tree(&["dm-0/slaves/dm-1", "dm-1/slaves/dm-0"]);
        assert_eq!(with_members(&root, &devices::device(&root, "dm-0")).len(), 2);
        let deep = descend(0, |n| n.to_string(), |n| vec![n + 1]);
        assert_eq!(deep.len(), 1 + DEEPEST);
    }

    #[test]
    fn a_walk_reaches_each_disk_once() {
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
