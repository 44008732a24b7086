//! Resolves a path to its file system and the devices below it, and decides whether fallocate(FALLOC_FL_WRITE_ZEROES) can
//! work there (fieldguide 2). It reads mountinfo and sysfs below the root, sends no command to a device, and judges no speed.

use crate::device::display::escape_str;
use crate::device::Devnum;
use crate::fact::Fact;
use crate::facts::kernel;
use crate::facts::knob::Knob;
use crate::machine::fs::location::{self, Place};
use crate::machine::fs::mounts::{self, Mount};
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
    /// The file or directory that holds the data, as it is named to the kernel.
    pub real: String,
    /// The number of the file system.
    pub number: Devnum,
    /// The options of the mount and of the file system.
    pub options: Vec<String>,
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
        real: located.path.clone(),
        number: located.filesystem,
        options: Vec::new(),
        layers: Vec::new(),
        read_only: false,
        is_file: located.what == What::File,
        marks: located.marks,
        place: Place::Unknown("its mount is not in /proc/self/mountinfo".to_owned()),
    };
    let Some(mount) = mounts::of_path(root, located) else { return on };
    on.filesystem = escape_str(&mount.kind);
    on.mount_point = escape_str(&mount.point);
    on.read_only = mount.options.iter().any(|o| o == "ro");
    on.options.clone_from(&mount.options);
    if mount.kind == "overlay" {
        return below_overlay(root, located, &mount, on, level);
    }
    on.place = location::of_mount(root, located.filesystem, &mount);
    on
}

/// An overlay writes to its upper layer only; what lies in a lower one is copied up first.
fn below_overlay(root: &Root, located: &Located, mount: &Mount, mut on: OnPath, level: usize) -> OnPath {
    let Some(upper) = mount.upper_directory() else {
        on.read_only = true;
        on.place =
            Place::Unknown("it is an overlay without an upper layer, so nothing can be written there".to_owned());
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

/// What fallocate(FALLOC_FL_WRITE_ZEROES) does on the path, by file system, kernel and knob.
pub fn can_write_zeroes(root: &Root, on: &OnPath) -> Can {
    let no = |why: String| Can::No(why);
    let kind = on.filesystem.as_str();
    let devices = match &on.place {
        Place::Devices(devices) => devices,
        Place::NoDevice(_, why) => return no(why.clone()),
        Place::Unknown(why) => return Can::Unknown(why.clone()),
    };
    let since = match kind {
        _ if on.read_only => return no(format!("{} is mounted read-only", on.mount_point)),
        _ if on.marks.immutable => return no("the file is immutable (chattr -i would allow it)".to_owned()),
        _ if on.marks.append_only => return no("the file is append-only (chattr -a would allow it)".to_owned()),
        "ext4" => SINCE_EXT4,
        "xfs" => SINCE_XFS,
        "ext2" | "ext3" => return no(format!("files of {kind} are not mapped by extents, and the call needs extents")),
        _ => return no(format!("{kind} has no FALLOC_FL_WRITE_ZEROES")),
    };
    if kind == "ext4" && on.marks.extents == Some(false) {
        // A directory may be older than the feature.
        return match on.is_file {
            true => no("the file is not mapped by extents (chattr +e would change that)".to_owned()),
            false => Can::Unknown("the directory is not mapped by extents; name a file in it".to_owned()),
        };
    }
    // What can be asked is asked first: a distribution's kernel may be ahead of its number.
    for device in devices {
        let knob = Knob::of(root, device);
        match (&knob, knob.why_not(&device.name)) {
            (_, None) => {}
            (Knob::Unknown(_), Some(why)) => return Can::Unknown(why),
            (_, Some(why)) => return no(why),
        }
    }
    if let Some(cannot) = by_release(kernel::release(root), kind, since) {
        return cannot;
    }
    if kind == "xfs" && zoned(root, on) {
        match on.marks.realtime {
            Some(true) => {
                return no("xfs puts all that is written to its zoned realtime device in new space".to_owned())
            }
            Some(false) => {}
            None => return Can::Unknown("whether the file lies on the zoned realtime device of the xfs".to_owned()),
        }
    }
    match on.marks.encrypted {
        // Of xfs no kernel has encryption.
        _ if kind == "xfs" => Can::Yes,
        Some(false) => Can::Yes,
        Some(true) => Can::Written("the file is encrypted, so that its zeroes are written as ciphertext".to_owned()),
        None => Can::Unknown("whether the file is encrypted".to_owned()),
    }
}

/// The name by which the kernel's file systems know the device that a path lies on: a partition's own.
pub fn own_device(root: &Root, on: &OnPath) -> Option<String> {
    root.link_name(&format!("sys/dev/block/{}", on.number)).known().cloned()
}

/// Whether an xfs has a zoned realtime device: only then the kernel makes this directory (fs/xfs/xfs_sysfs.c).
pub fn zoned(root: &Root, on: &OnPath) -> bool {
    own_device(root, on).is_some_and(|name| root.exists(&format!("sys/fs/xfs/{name}/zoned")))
}

/// Nothing tells whether a file system has the call but the kernel's release; `None` where that says so.
fn by_release(release: Fact<String>, kind: &str, since: (u32, u32)) -> Option<Can> {
    let Some(version) = release.known().and_then(|r| kernel::version(r)) else {
        return Some(Can::Unknown("the kernel's release cannot be read".to_owned()));
    };
    let ((major, minor), (from, of)) = (version, since);
    if version >= since {
        return None;
    }
    Some(match version < SINCE_EXT4 {
        true => Can::Unknown(format!(
            "the kernel has the tunable of Linux 6.17, but calls itself {major}.{minor}: it is not known whether its \
             {kind} has FALLOC_FL_WRITE_ZEROES; try the call on a file of your own"
        )),
        false => Can::No(format!(
            "{kind} has FALLOC_FL_WRITE_ZEROES since Linux {from}.{of}, but this kernel calls itself {major}.{minor}"
        )),
    })
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
