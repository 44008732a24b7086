//! From a path to the file system it lies on and the devices below, and whether fallocate(FALLOC_FL_WRITE_ZEROES) can work
//! there (fieldguide 2). Reads mountinfo and sysfs below the root; asks no device and judges no speed.

use crate::device::display::escape_str;
use crate::device::{Device, Devnum};
use crate::fact::Fact;
use crate::machine::block::devices;
use crate::machine::fs::mounts::{self, unescape, Mount};
use crate::machine::fs::path_info::{self, Located, Marks, What};
use crate::machine::fs::root::Root;

/// How many overlays may lie on one another; the kernel itself allows two.
const DEEPEST: usize = 4;
/// Linux 6.17: the call exists on block devices and in ext4.
const SINCE_EXT4: (u32, u32) = (6, 17);
/// Linux 7.3: the call exists in xfs.
const SINCE_XFS: (u32, u32) = (7, 3);

/// Where the data of a path lies.
#[derive(Debug, Clone)]
pub struct OnPath {
    /// The path, links followed, escaped.
    pub path: String,
    /// The type of the file system that holds the data: `ext4`.
    pub filesystem: String,
    /// Where it is mounted, escaped.
    pub mount_point: String,
    /// What was passed on the way, the outermost first, a sentence each.
    pub layers: Vec<String>,
    /// Whether the mount refuses writes.
    pub read_only: bool,
    /// Whether the path is a regular file.
    pub is_file: bool,
    /// Marks of the file.
    pub marks: Marks,
    /// On what the data lies.
    pub place: Place,
}

/// On what the data of a path lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On these whole devices, all of them: those that the file system itself uses, not what they are made of.
    Devices(Vec<Device>),
    /// On no block device of this machine; why.
    NoDevice(String),
    /// It cannot be told; why.
    Unknown(String),
}

/// What fallocate(FALLOC_FL_WRITE_ZEROES) does on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Can {
    /// It is passed to the device as zeroing.
    Yes,
    /// It succeeds, but the bytes are written; why.
    Written(String),
    /// It fails; why.
    No(String),
    /// It cannot be told; why.
    Unknown(String),
}

/// Resolves a path that was looked up.
pub fn resolve(root: &Root, located: &Located) -> OnPath {
    at_level(root, located, 0)
}

fn at_level(root: &Root, located: &Located, level: usize) -> OnPath {
    let mut on = OnPath {
        path: escape_str(&located.path),
        filesystem: "unknown".to_owned(),
        mount_point: String::new(),
        layers: Vec::new(),
        read_only: false,
        is_file: located.what == What::File,
        marks: located.marks,
        place: Place::Unknown("its mount is not in /proc/self/mountinfo".to_owned()),
    };
    let Some(mount) = mount_of(root, located) else { return on };
    on.filesystem = escape_str(&mount.kind);
    on.mount_point = escape_str(&mount.point);
    on.read_only = mount.options.iter().any(|o| o == "ro");
    if mount.kind == "overlay" {
        return below_overlay(root, located, &mount, on, level);
    }
    on.place = place(root, located.filesystem, &mount);
    on
}

/// An overlay writes to its upper layer only; what lies in a lower one is copied up first.
fn below_overlay(root: &Root, located: &Located, mount: &Mount, mut on: OnPath, level: usize) -> OnPath {
    let option = |key: &str| mount.options.iter().find_map(|o| o.strip_prefix(key));
    let Some(upper) = option("upperdir=").map(unescape) else {
        on.read_only = true;
        on.place = Place::Unknown("an overlay without an upper layer: nothing can be written there".to_owned());
        return on;
    };
    let shown = escape_str(&upper);
    // Below its own directory the path of the upper layer is that of the overlay.
    let relative = located.path.strip_prefix(&mount.point).unwrap_or_default();
    let inside =
        format!("{upper}{}{relative}", if relative.is_empty() || relative.starts_with('/') { "" } else { "/" });
    let (target, how) = if path_info::exists(&inside) {
        (inside.as_str(), "writes go to its upper layer")
    } else {
        (upper.as_str(), "the path is in a lower layer and is copied up at the first write to the upper layer")
    };
    let layer = format!("overlay on {}: {how} {shown}", escape_str(&mount.point));
    match path_info::locate(target) {
        Ok(next) if level < DEEPEST && next.path != located.path => {
            let below = at_level(root, &next, level + 1);
            let layers = std::iter::once(layer).chain(below.layers).collect();
            let read_only = on.read_only || below.read_only;
            OnPath { path: on.path, is_file: on.is_file, layers, read_only, ..below }
        }
        _ => {
            on.layers.push(layer);
            on.place = Place::Unknown(format!("its upper layer {shown} cannot be seen from here"));
            on
        }
    }
}

/// On what a file system lies; `filesystem` is its number.
pub(super) fn place(root: &Root, filesystem: Devnum, mount: &Mount) -> Place {
    let kind = escape_str(&mount.kind);
    match mount.kind.as_str() {
        "tmpfs" | "ramfs" | "rootfs" | "devtmpfs" | "hugetlbfs" => {
            Place::NoDevice(format!("{kind} keeps its files in memory, on no block device"))
        }
        "9p" | "virtiofs" | "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "afs" | "vboxsf" => {
            Place::NoDevice(format!("{kind} keeps its files on another host, on no block device of this machine"))
        }
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
                None => Place::Unknown(format!("sys/dev/block/{filesystem} leads to no device")),
            }
        }
        // One with a number of its own may still name its device as the source.
        _ => match of_source(root, &mount.source).and_then(|name| devices::resolve_name(root, &name)) {
            Some(device) => Place::Devices(vec![device]),
            None if kind.starts_with("fuse") => Place::NoDevice(format!("{kind} keeps its files behind a program")),
            None => Place::NoDevice(format!("{kind} names no block device")),
        },
    }
}

/// The kernel's name of the device that was mounted by this name; a recording has the kernel's already.
pub(super) fn of_source(root: &Root, source: &str) -> Option<String> {
    match path_info::node_number(source).filter(|_| root.is_system()) {
        Some(number) => root.link_name(&format!("sys/dev/block/{number}")).known().cloned(),
        None => source.strip_prefix("/dev/").map(str::to_owned),
    }
}

/// The whole disks of the btrfs that has this device.
fn btrfs(root: &Root, source: &str) -> Result<Vec<Device>, String> {
    let shown = escape_str(source);
    let name = of_source(root, source);
    let name = name.ok_or_else(|| format!("the device {shown} of a btrfs cannot be seen from here"))?;
    let Fact::Known(uuids) = root.list("sys/fs/btrfs") else { return Err("sys/fs/btrfs cannot be read".to_owned()) };
    for uuid in uuids {
        let Fact::Known(names) = root.list(&format!("sys/fs/btrfs/{uuid}/devices")) else { continue };
        if !names.contains(&name) {
            continue;
        }
        let mut disks: Vec<Device> = Vec::new();
        for member in &names {
            let disk = devices::resolve_name(root, member)
                .ok_or_else(|| format!("{} of a btrfs is not in sysfs", escape_str(member)))?;
            if !disks.contains(&disk) {
                disks.push(disk);
            }
        }
        return Ok(disks);
    }
    Err(format!("no btrfs in sys/fs/btrfs has {shown}"))
}

/// The names of the leaf devices that a device is made of, partitions led to their disks; itself where it is no stack.
pub fn leaves(root: &Root, device: &Device) -> Vec<String> {
    let (mut found, mut waiting, mut seen) = (Vec::new(), vec![device.name.clone()], Vec::new());
    while let Some(name) = waiting.pop() {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        let members = root.list(&format!("sys/block/{name}/slaves")).known().cloned().unwrap_or_default();
        let disks: Vec<String> =
            members.iter().filter_map(|m| devices::resolve_name(root, m)).map(|d| d.name).collect();
        if disks.is_empty() {
            found.push(name);
        }
        waiting.extend(disks.into_iter().rev());
    }
    found
}

/// What fallocate(FALLOC_FL_WRITE_ZEROES) does on the path, by file system, kernel and knob.
pub fn can_write_zeroes(root: &Root, on: &OnPath) -> Can {
    let no = |why: String| Can::No(why);
    let kind = on.filesystem.as_str();
    let devices = match &on.place {
        Place::Devices(devices) => devices,
        Place::NoDevice(why) => return no(why.clone()),
        Place::Unknown(why) => return Can::Unknown(why.clone()),
    };
    let since = match kind {
        _ if on.read_only => return no(format!("{} is mounted read-only", on.mount_point)),
        _ if on.marks.immutable => return no("the file is immutable (chattr -i would allow it)".to_owned()),
        _ if on.marks.append_only => return no("the file is append-only (chattr -a would allow it)".to_owned()),
        "ext4" => SINCE_EXT4,
        "xfs" => SINCE_XFS,
        "ext2" | "ext3" => return no(format!("files of {kind} are not mapped by extents, which the call needs")),
        _ => return no(format!("{kind} has no FALLOC_FL_WRITE_ZEROES")),
    };
    if kind == "ext4" && on.marks.extents == Some(false) {
        // A directory may be older than the feature.
        return match on.is_file {
            true => no("the file is not mapped by extents (chattr +e would change that)".to_owned()),
            false => Can::Unknown("the directory is not mapped by extents; name a file of it".to_owned()),
        };
    }
    let release = root.text("proc/sys/kernel/osrelease");
    let Some(version) = release.known().and_then(|r| version(r)) else {
        return Can::Unknown("the kernel's release cannot be read".to_owned());
    };
    if version < since {
        let ((major, minor), (from, of)) = (version, since);
        return no(format!("{kind} has FALLOC_FL_WRITE_ZEROES since Linux {from}.{of}; this is {major}.{minor}"));
    }
    for device in devices {
        let limit = |name: &str| root.number(&device.attr(&format!("queue/{name}")));
        let name = escape_str(&device.name);
        match (limit("write_zeroes_unmap_max_bytes"), limit("write_zeroes_unmap_max_hw_bytes").get()) {
            (Fact::Known(0), Some(hw)) if hw > 0 => {
                return no(format!(
                    "the kernel's knob is off: {name}/queue/write_zeroes_unmap_max_bytes is 0; writing {hw} there allows it"
                ))
            }
            (Fact::Known(0), _) => {
                return no(format!("{name} does not zero by unmapping: write_zeroes_unmap_max_hw_bytes is 0"))
            }
            (Fact::Known(_), _) => {}
            (Fact::Unknown(why), _) => {
                return Can::Unknown(format!("{name}/queue/write_zeroes_unmap_max_bytes is {why}"))
            }
        }
    }
    if on.marks.encrypted {
        return Can::Written("the file is encrypted, so that its zeroes are written as ciphertext".to_owned());
    }
    Can::Yes
}

/// Major and minor number of a kernel release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The mount that a path lies on: by its number, else the longest mount point above it with the device's number.
fn mount_of(root: &Root, located: &Located) -> Option<Mount> {
    let mut mounts = mounts::all(root).known().cloned()?.into_iter();
    match located.mount {
        Some(id) => mounts.find(|m| m.id == id),
        None => mounts
            .filter(|m| {
                m.devnum == located.filesystem.to_string() && std::path::Path::new(&located.path).starts_with(&m.point)
            })
            .max_by_key(|m| m.point.len()),
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
