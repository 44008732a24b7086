//! The devices whose answer depends on that of a disk: the stacks on it or on a partition of it, the loop devices on it,
//! which claim nothing, and its partitions, which have the properties of the disk. It only gives names; the caller sends the
//! events.

use crate::device::Device;
use crate::machine::block::devices;
use crate::machine::block::loops;
use crate::machine::fs::root::Root;

/// The stacks first, loops among them, then the partitions.
pub fn of_disk(root: &Root, device: &Device) -> Vec<Device> {
    let parts: Vec<Device> =
        devices::partitions(root, device).known().into_iter().flatten().map(|part| part.as_device(device)).collect();
    let holders = |d: &Device| root.list(&d.attr("holders")).known().cloned().unwrap_or_default();
    let all = || std::iter::once(device).chain(&parts);
    let on_loops = loops::all(root).into_iter().filter(|l| all().any(|d| d.node() == l.file)).map(|l| l.name);
    let mut above: Vec<String> = all().flat_map(holders).chain(on_loops).collect();
    above.sort();
    above.dedup();
    above.iter().map(|holder| devices::device(root, holder)).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_on_the_disk_and_on_its_partitions_come_before_the_partitions() {
        let dir = tempfile::tempdir().unwrap();
        let sda = dir.path().join("sys/block/sda");
        for (path, text) in [("partition", "1"), ("start", "2048"), ("size", "8"), ("dev", "8:1")] {
            std::fs::create_dir_all(sda.join("sda1")).unwrap();
            std::fs::write(sda.join("sda1").join(path), text).unwrap();
        }
        for holder in ["holders/dm-1", "holders/md0", "sda1/holders/dm-0", "sda1/holders/dm-1"] {
            std::fs::create_dir_all(sda.join(holder)).unwrap();
        }
        for (name, file) in [("loop0", "/dev/sda1\n"), ("loop1", "/dev/sdb\n"), ("loop2", "/img\n")] {
            std::fs::create_dir_all(dir.path().join(format!("sys/block/{name}/loop"))).unwrap();
            std::fs::write(dir.path().join(format!("sys/block/{name}/loop/backing_file")), file).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let wanted = ["sys/block/dm-0", "sys/block/dm-1", "sys/block/loop0", "sys/block/md0", "sys/block/sda/sda1"];
        let found = of_disk(&root, &Device::new("sda", None));
        assert_eq!(found.iter().map(|d| d.sys.as_str()).collect::<Vec<_>>(), wanted);
        let on_other = of_disk(&root, &Device::new("sdb", None));
        assert_eq!(on_other.iter().map(|d| d.sys.as_str()).collect::<Vec<_>>(), ["sys/block/loop1"]);
        assert!(of_disk(&root, &Device::new("sdc", None)).is_empty());
    }
}
