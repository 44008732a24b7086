//! On which block devices data lies, for a mount, a file or a directory. This is the only code that answers that question; it
//! is used by `check PATH`, by the facts of a loop device, and for a journal, which must not lie on the device that it
//! protects. It only reads.

use crate::device::display::escape_str;
use crate::device::{Device, Devnum, Kind};
use crate::fact::Fact;
use crate::machine::block::{devices, stack};
use crate::machine::fs::mounts::{self, Mount};
use crate::machine::fs::path_info;
use crate::machine::fs::root::Root;
use std::path::{Path, PathBuf};

/// The kernel's mark of a file without a name.
pub const DELETED: &str = " (deleted)";

/// On what data lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On these whole devices, all of them.
    Devices(Vec<Device>),
    /// On no block device of this machine; where then, and why.
    NoDevice(Medium, String),
    /// It cannot be told; why.
    Unknown(String),
}

/// Where data lies that is on no block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// In memory: a power cut loses it.
    Memory,
    /// On another host.
    OtherHost,
    /// The file system does not say.
    Untold,
}

/// All that data lies on, down to what stands on nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Below {
    /// The whole devices that are known, those on the way down too.
    pub devices: Vec<Device>,
    /// The first thing that is no device, or that cannot be told.
    pub rest: Option<Place>,
}

/// On what a file system lies: those devices that it uses itself, not what they are made of. `filesystem` is its number.
pub fn of_mount(root: &Root, filesystem: Devnum, mount: &Mount) -> Place {
    let kind = escape_str(&mount.kind);
    match mount.kind.as_str() {
        "tmpfs" | "ramfs" | "rootfs" | "devtmpfs" | "hugetlbfs" => {
            Place::NoDevice(Medium::Memory, format!("{kind} keeps its files in memory, on no block device"))
        }
        "9p" | "virtiofs" | "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "afs" | "vboxsf" => Place::NoDevice(
            Medium::OtherHost,
            format!("{kind} keeps its files on another host, on no block device of this machine"),
        ),
        "btrfs" => btrfs(root, &mount.source).map_or_else(Place::Unknown, Place::Devices),
        _ if filesystem.major != 0 => {
            let own = root.link_name(&format!("sys/dev/block/{filesystem}")).known().cloned();
            let mut names = vec![own];
            // Which of the two holds a file of xfs is a flag of the file: both count.
            let realtime = mount.options.iter().filter_map(|o| o.strip_prefix("rtdev="));
            names.extend(realtime.map(|source| of_source(root, source)));
            let disk = |name: Option<String>| name.and_then(|n| devices::resolve_name(root, &n));
            match names.into_iter().map(disk).collect::<Option<Vec<Device>>>() {
                Some(devices) => Place::Devices(devices),
                None => Place::Unknown(format!("sys/dev/block/{filesystem} does not lead to a device")),
            }
        }
        // One with a number of its own may still name its device as the source.
        _ => match of_source(root, &mount.source).and_then(|name| devices::resolve_name(root, &name)) {
            Some(device) => Place::Devices(vec![device]),
            None if kind.starts_with("fuse") => Place::NoDevice(
                Medium::Untold,
                format!("{kind} keeps its files behind a program (FUSE), on no block device that can be told"),
            ),
            None => Place::NoDevice(Medium::Untold, format!("{kind} does not name a block device")),
        },
    }
}

/// The kernel's name of the device that was mounted by this name; a recording has the kernel's already.
pub fn of_source(root: &Root, source: &str) -> Option<String> {
    match path_info::node_number(source).filter(|_| root.is_system()) {
        Some(number) => root.link_name(&format!("sys/dev/block/{number}")).known().cloned(),
        None => source.strip_prefix("/dev/").map(str::to_owned),
    }
}

/// The whole disks of the btrfs that has this device: the kernel lists them by the file system's uuid.
fn btrfs(root: &Root, source: &str) -> Result<Vec<Device>, String> {
    let shown = escape_str(source);
    let name = of_source(root, source);
    let name = name.ok_or_else(|| format!("the device {shown} of this btrfs cannot be seen from here"))?;
    let Fact::Known(uuids) = root.list("sys/fs/btrfs") else { return Err("sys/fs/btrfs cannot be read".to_owned()) };
    for uuid in uuids {
        let Fact::Known(names) = root.list(&format!("sys/fs/btrfs/{uuid}/devices")) else { continue };
        if !names.contains(&name) {
            continue;
        }
        let mut disks: Vec<Device> = Vec::new();
        for member in &names {
            let disk = devices::resolve_name(root, member)
                .ok_or_else(|| format!("the device {} of this btrfs is not in sysfs", escape_str(member)))?;
            if !disks.contains(&disk) {
                disks.push(disk);
            }
        }
        return Ok(disks);
    }
    Err(format!("no btrfs in sys/fs/btrfs has the device {shown}"))
}

/// On what the file of this name lies, by the mount table alone: the file is never touched, since it may lie on a server that
/// does not answer. Gives the mount too.
pub fn of_file(root: &Root, file: &str) -> (Option<Mount>, Place) {
    let mounts = mounts::all(root);
    let Some(mount) = mounts.known().and_then(|all| mounts::above(all, file)) else {
        let why = mounts.why().map_or_else(|| "no mount holds it".to_owned(), |w| format!("the mount table is {w}"));
        return (None, Place::Unknown(why));
    };
    let place = match (mount.kind.as_str(), mount.devnum.parse()) {
        ("overlay", _) => Place::Unknown("it cannot be told which layer holds the file".to_owned()),
        (_, Ok(number)) => of_mount(root, number, mount),
        (_, Err(())) => Place::Unknown("its line in the mount table has no device number".to_owned()),
    };
    (Some(mount.clone()), place)
}

/// On what a directory lies, or would be made: every whole device on the way down, through partitions, stacks and the files
/// of loop devices. Of the running system only.
pub fn below_directory(root: &Root, dir: &Path) -> Below {
    match of_directory(root, dir) {
        Place::Devices(devices) => all_below(root, devices),
        other => Below { devices: Vec::new(), rest: Some(other) },
    }
}

fn of_directory(root: &Root, dir: &Path) -> Place {
    let Some(existing) = existing_ancestor(dir) else { return Place::Unknown("it does not exist".to_owned()) };
    let located = match path_info::locate(&existing.to_string_lossy()) {
        Ok(located) => located,
        Err(e) => return Place::Unknown(e.to_string()),
    };
    let Some(mount) = mounts::of_path(root, &located) else {
        return Place::Unknown("its mount is not in /proc/self/mountinfo".to_owned());
    };
    if mount.kind != "overlay" {
        return of_mount(root, located.filesystem, &mount);
    }
    // The writable layer of an overlay is its upper directory.
    match mount.upper_directory() {
        Some(upper) if Path::new(&upper) != existing && path_info::exists(&upper) => {
            of_directory(root, Path::new(&upper))
        }
        _ => Place::Unknown("an overlay whose upper directory cannot be seen from here".to_owned()),
    }
}

fn existing_ancestor(dir: &Path) -> Option<PathBuf> {
    let dir = std::path::absolute(dir).ok()?;
    dir.ancestors().find(|p| p.is_dir()).and_then(|p| std::fs::canonicalize(p).ok())
}

/// These devices and all that they stand on.
fn all_below(root: &Root, devices: Vec<Device>) -> Below {
    let mut rest = None;
    let mut found: Vec<Device> = Vec::new();
    for device in devices {
        let below = stack::descend(
            device,
            |d| d.name.clone(),
            |d| match below(root, d) {
                Place::Devices(devices) => devices,
                place => {
                    rest.get_or_insert(place);
                    Vec::new()
                }
            },
        );
        found.extend(below);
    }
    Below { devices: found, rest }
}

/// What stands directly below one device.
fn below(root: &Root, device: &Device) -> Place {
    match device.kind {
        Kind::Zram | Kind::Ram => {
            Place::NoDevice(Medium::Memory, format!("{} keeps its content in memory", escape_str(&device.name)))
        }
        Kind::Loop => match root.text(&device.attr("loop/backing_file")) {
            Fact::Known(file) => {
                let file = file.strip_suffix(DELETED).unwrap_or(&file).to_owned();
                let node = file.strip_prefix("/dev/").map(|node| node.replace('/', "!"));
                match node.and_then(|name| devices::resolve_name(root, &name)) {
                    Some(disk) => Place::Devices(vec![disk]),
                    None => of_file(root, &file).1,
                }
            }
            Fact::Unknown(_) => Place::Devices(Vec::new()),
        },
        _ => Place::Devices(stack::members(root, device)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_in_memory_is_recognised() {
        let root = Root::open(Path::new("/")).unwrap();
        let rest = |dir: &str| below_directory(&root, Path::new(dir)).rest;
        assert!(matches!(rest("/dev/shm/not/there"), Some(Place::NoDevice(Medium::Memory, _))));
        assert!(matches!(rest("/proc"), Some(Place::NoDevice(Medium::Untold, _))));
    }

    /// A machine whose mount table has a btrfs on two partitions of two disks, one of them below a stack.
    fn machine() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            mounts::MOUNTINFO,
            "1 0 0:33 / / rw - btrfs /dev/sda1 rw\n2 1 0:40 / /m rw - tmpfs tmpfs rw\n3 1 7:0 / /l rw - ext4 /dev/loop0 rw\n\
             4 1 7:1 / /z rw - ext4 /dev/loop1 rw\n",
        );
        for (disk, number) in [("sda", "1"), ("dm-0", "9")] {
            let part = format!("{disk}p{number}").replace("sdap", "sda");
            write(&format!("sys/block/{disk}/{part}/partition"), number);
            write(&format!("sys/block/{disk}/{part}/start"), "8");
            write(&format!("sys/block/{disk}/{part}/size"), "8");
            write(&format!("sys/fs/btrfs/11-22/devices/{part}"), "");
        }
        write("sys/block/dm-0/slaves/sdb", "");
        write("sys/block/sdb/size", "8");
        write("sys/block/loop0/loop/backing_file", "/var/image\n");
        write("sys/block/loop1/loop/backing_file", "/m/image (deleted)\n");
        let root = Root::open(dir.path()).unwrap();
        (dir, root)
    }

    #[test]
    fn a_btrfs_lies_on_all_its_devices_and_a_loop_where_its_file_does() {
        let (_dir, root) = machine();
        let names = |devices: &[Device]| devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        let Place::Devices(disks) = of_file(&root, "/etc/zerocap/x").1 else { panic!("no devices") };
        assert_eq!(names(&disks), ["dm-0", "sda"]);
        assert_eq!(names(&all_below(&root, disks).devices), ["dm-0", "sdb", "sda"]);
        let on = |name: &str| all_below(&root, vec![devices::device(&root, name)]);
        assert_eq!(names(&on("loop0").devices), ["loop0", "dm-0", "sda", "sdb"]);
        assert_eq!(on("loop0").rest, None);
        assert!(matches!(on("loop1").rest, Some(Place::NoDevice(Medium::Memory, _))), "a deleted file in memory");
        assert!(matches!(on("zram0").rest, Some(Place::NoDevice(Medium::Memory, _))));
        assert!(matches!(of_file(&root, "relative"), (None, Place::Unknown(_))));
    }
}
