//! Where the file behind a loop device lies: in which file system, and on which disks. It reads the mount table and sysfs,
//! and never the file, which may lie on a server that does not answer.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::fact::Fact;
use crate::machine::block::devices;
use crate::machine::fs::location::{self, Place, DELETED};
use crate::machine::fs::mounts::{self, Mount};
use crate::machine::fs::root::Root;

/// On what the file lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backing {
    /// In a clause.
    pub says: String,
    /// The whole disks, by the kernel's names; unknown where that cannot be told.
    pub disks: Fact<Vec<String>>,
}

/// What `loop/backing_file` says where it is the node of a block device: the kernel shows it by its own name.
pub fn on_a_device(root: &Root, file: &str) -> Option<Backing> {
    let node = file.strip_prefix("/dev/")?;
    let disk = devices::resolve_name(root, &node.replace('/', "!"))?;
    Some(Backing { says: "a block device".to_owned(), disks: Fact::Known(vec![disk.name]) })
}

/// Looks up `loop/backing_file`, the path of a file.
pub fn look_up(root: &Root, file: &str) -> Backing {
    let name = file.strip_suffix(DELETED).unwrap_or(file);
    let (mount, place) = location::of_file(root, name);
    let Some(mount) = mount else {
        let why = if let Place::Unknown(why) = place { why } else { String::new() };
        return Backing { says: format!("its file system is not known: {why}"), disks: Fact::ABSENT };
    };
    let what = if name == file { "a file" } else { "a deleted file" };
    let kind = escape_str(&mount.kind);
    let (on, disks) = match place {
        Place::Devices(disks) => {
            let names: Vec<String> = disks.into_iter().map(|d| d.name).collect();
            (format!(" on {}", escape_str(&names.join(", "))), Fact::Known(names))
        }
        Place::NoDevice(..) => (", which is on no block device of this machine".to_owned(), Fact::Known(Vec::new())),
        Place::Unknown(why) => (format!("; {why}"), Fact::ABSENT),
    };
    Backing { says: format!("{what} in {kind}{on}"), disks }
}

/// What a recording of a loop device needs of the mount table: the mount of its file, with the kernel's names in place of
/// those that somebody mounted by.
pub fn mount(root: &Root, device: &Device) -> Option<Mount> {
    let file = root.text(&device.attr("loop/backing_file")).known()?.clone();
    let name = file.strip_suffix(DELETED).unwrap_or(&file);
    let mounts = mounts::all(root);
    let mount = mounts::above(mounts.known()?, name)?;
    let by_kernel = |source: &str| {
        let name = location::of_source(root, source).filter(|name| devices::resolve_name(root, name).is_some());
        name.map(|name| format!("/dev/{name}"))
    };
    let realtime = mount.options.iter().find_map(|o| by_kernel(o.strip_prefix("rtdev=")?));
    let own = mount.options.first().filter(|o| matches!(o.as_str(), "rw" | "ro"));
    Some(Mount {
        source: by_kernel(&mount.source).unwrap_or_else(|| "none".to_owned()),
        options: own.cloned().into_iter().chain(realtime.map(|node| format!("rtdev={node}"))).collect(),
        ..mount.clone()
    })
}

#[cfg(test)]
mod tests {
    use crate::facts::testing::facts;

    /// What `probe` says of a loop device on this file, and what it stands on.
    fn on(file: &str) -> (String, Option<Vec<String>>) {
        let mounts = "\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:40 / /b rw - btrfs /dev/sdb rw
31 22 0:41 / /dev/shm rw - tmpfs tmpfs rw
32 22 0:42 / /srv rw - nfs4 host:/export rw
33 22 252:0 / /with\\040space ro - xfs /dev/mapper/x ro
34 22 0:43 / /m rw - overlay overlay rw
35 22 9:9 / /gone rw - ext4 /dev/gone rw
";
        let files = [
            ("proc/self/mountinfo", mounts),
            ("sys/block/loop0/loop/backing_file", file),
            ("sys/block/sda/sda1/partition", "1"),
            ("sys/block/sda/sda1/start", "2048"),
            ("sys/block/sda/sda1/size", "2048"),
            ("sys/block/sdb/size", "8"),
            ("sys/block/dm-0/size", "8"),
            ("sys/block/cciss!c0d0/size", "8"),
            ("sys/fs/btrfs/1-2/devices/sdb", ""),
            ("sys/fs/btrfs/1-2/devices/sda1", ""),
        ];
        let links = [("sys/dev/block/8:1", "../../block/sda/sda1"), ("sys/dev/block/252:0", "../../block/dm-0")];
        let f = facts("loop0", &files, &links);
        let says = f.readings.iter().find(|r| r.field == "loop/backing_file").and_then(|r| r.says.clone());
        (says.unwrap_or_default(), f.stack.members.known().cloned())
    }

    #[test]
    fn the_file_system_and_the_disks_of_a_loop_are_found() {
        for (file, says, disks) in [
            ("/var/img\n", "a file in ext4 on sda", Some(vec!["sda"])),
            ("/var/img (deleted)\n", "a deleted file in ext4 on sda", Some(vec!["sda"])),
            ("/b/img\n", "a file in btrfs on sda, sdb", Some(vec!["sda", "sdb"])),
            ("/with space/img\n", "a file in xfs on dm-0", Some(vec!["dm-0"])),
            ("/dev/shm/img\n", "a file in tmpfs, which is on no block device of this machine", Some(vec![])),
            ("/srv/img\n", "a file in nfs4, which is on no block device of this machine", Some(vec![])),
            ("/m/img\n", "a file in overlay; it cannot be told which layer holds the file", None),
            ("/gone/img\n", "a file in ext4; sys/dev/block/9:9 does not lead to a device", None),
            ("/dev/sda1\n", "a block device", Some(vec!["sda"])),
            ("/dev/cciss/c0d0\n", "a block device", Some(vec!["cciss!c0d0"])),
            ("img\n", "its file system is not known: no mount holds it", None),
        ] {
            let disks: Option<Vec<String>> = disks.map(|d| d.into_iter().map(str::to_owned).collect());
            assert_eq!(on(file), (says.to_owned(), disks), "{file}");
        }
        let f = facts("loop0", &[("sys/block/loop0/loop/backing_file", "/x\n")], &[]);
        let says = f.readings.iter().find(|r| r.field == "loop/backing_file").and_then(|r| r.says.clone());
        assert_eq!(says.as_deref(), Some("its file system is not known: the mount table is absent"));
        assert_eq!(f.stack.members.known(), None);
    }
}
