//! Which devices have an answer that rests on that of a disk: the stacks that hold it or a partition of it, and its
//! partitions, which have the disk's properties. Names only; whoever asks sends the events.

use crate::device::Device;
use crate::machine::block::devices;
use crate::machine::fs::root::Root;

/// The sysfs directories, the stacks first: a partition that is told last has the properties of what was there before.
pub fn of_disk(root: &Root, device: &Device) -> Vec<String> {
    let parts: Vec<String> =
        devices::partitions(root, device).known().into_iter().flatten().map(|part| device.attr(&part.name)).collect();
    let mut above: Vec<String> = std::iter::once(&device.sys)
        .chain(&parts)
        .filter_map(|dir| root.list(&format!("{dir}/holders")).known().cloned())
        .flatten()
        .map(|holder| format!("sys/block/{holder}"))
        .collect();
    above.sort();
    above.dedup();
    above.extend(parts);
    above
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
        let root = Root::open(dir.path()).unwrap();
        let wanted = ["sys/block/dm-0", "sys/block/dm-1", "sys/block/md0", "sys/block/sda/sda1"];
        assert_eq!(of_disk(&root, &Device::new("sda", None)), wanted);
        assert!(of_disk(&root, &Device::new("sdb", None)).is_empty());
    }
}
