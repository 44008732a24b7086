//! Facts for `verdict::on_file`, which says what matters when a file is zeroed ahead of use: how its bytes lie, what its file
//! system says of itself, and which devices below have snapshots. It asks the file system, device mapper and LVM, and writes
//! nothing.

use crate::device::{Device, Kind};
use crate::fact::{Fact, Why};
use crate::facts::path::{self, OnPath};
use crate::machine::block::{dm_status, stack};
use crate::machine::fs::file_map;
pub use crate::machine::fs::file_map::FileMap;
use crate::machine::fs::location::Place;
use crate::machine::fs::root::Root;
use crate::machine::lvm;

/// What was gathered.
#[derive(Debug, Clone, PartialEq)]
pub struct FileFacts {
    /// Its size and its map; none of a directory.
    pub file: Option<(Fact<u64>, Fact<FileMap>)>,
    /// All options of an ext4, those too that the mount table leaves out since they are its default.
    pub ext4_options: Fact<Vec<String>>,
    /// Whether an xfs has a zoned realtime device.
    pub xfs_zoned: bool,
    /// Whether this kernel has xfs copy always, in file systems that are mounted from now on (a kernel for debugging).
    pub xfs_always_cow: Fact<bool>,
    /// Where an f2fs writes over in place (`ipu_policy`, bits).
    pub f2fs_policy: Fact<u64>,
    /// The devices below that have to do with snapshots, and those of which that is not known.
    pub snapshots: Vec<(String, Fact<Snapshot>)>,
}

/// What a device has to do with snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshot {
    /// It has a snapshot of dm-snapshot.
    Origin,
    /// It is one.
    Copy,
    /// It is a thin volume that shares blocks with others.
    Thin,
}

/// Gathers.
pub fn gather(root: &Root, on: &OnPath) -> FileFacts {
    let devices = match &on.place {
        Place::Devices(devices) => devices.as_slice(),
        Place::NoDevice(..) | Place::Unknown(_) => &[],
    };
    FileFacts {
        file: on.is_file.then(|| file_map::of(&on.real)),
        ext4_options: ext4_options(root, on),
        xfs_zoned: on.filesystem == "xfs" && path::zoned(root, on),
        xfs_always_cow: root.flag("sys/fs/xfs/debug/always_cow"),
        f2fs_policy: match path::own_device(root, on).filter(|_| on.filesystem == "f2fs") {
            Some(name) => root.number(&format!("sys/fs/f2fs/{name}/ipu_policy")),
            None => Fact::NOT_ASKED,
        },
        snapshots: snapshots(root, devices),
    }
}

fn ext4_options(root: &Root, on: &OnPath) -> Fact<Vec<String>> {
    match path::own_device(root, on).filter(|_| matches!(on.filesystem.as_str(), "ext3" | "ext4")) {
        Some(name) => {
            let text = root.text(&format!("proc/fs/ext4/{name}/options"));
            text.map(|text| text.lines().map(str::to_owned).collect())
        }
        None => Fact::NOT_ASKED,
    }
}

/// Of every device-mapper device below, by its table.
fn snapshots(root: &Root, devices: &[Device]) -> Vec<(String, Fact<Snapshot>)> {
    let mut found: Vec<(String, Fact<Snapshot>)> = Vec::new();
    for device in devices.iter().flat_map(|d| stack::with_members(root, d)).filter(|d| d.kind == Kind::Dm) {
        if found.iter().any(|(name, _)| *name == device.name) {
            continue;
        }
        let Some(number) = device.devnum else {
            found.push((device.name, Fact::ABSENT));
            continue;
        };
        let kinds = dm_status::table(number).map(|t| t.targets.into_iter().map(|t| t.kind).collect::<Vec<_>>());
        let is = |kinds: &[String], words: &[&str]| kinds.iter().any(|k| words.contains(&k.as_str()));
        let what = match kinds {
            Fact::Known(k) if is(&k, &["snapshot-origin"]) => Fact::Known(Snapshot::Origin),
            Fact::Known(k) if is(&k, &["snapshot", "snapshot-merge"]) => Fact::Known(Snapshot::Copy),
            Fact::Known(k) if is(&k, &["thin"]) => match thin((number.major, number.minor)) {
                Fact::Known(true) => Fact::Known(Snapshot::Thin),
                Fact::Known(false) => continue,
                Fact::Unknown(why) => Fact::Unknown(why),
            },
            Fact::Known(_) => continue,
            Fact::Unknown(why) => Fact::Unknown(why),
        };
        found.push((device.name, what));
    }
    found
}

/// Whether a thin volume shares blocks with another, by LVM's word: device mapper's own tools know it from the pool's metadata
/// alone.
fn thin(number: (u32, u32)) -> Fact<bool> {
    let volumes = match lvm::volumes() {
        Ok(volumes) => volumes,
        Err(e) => return Fact::Unknown(Why::Refused(e.to_string())),
    };
    match volumes.iter().find(|v| v.devnum == Some(number)) {
        Some(volume) => Fact::Known(volume.kinds.iter().any(|k| k == "thinorigin" || k == "thinsnapshot")),
        None => Fact::Unknown(Why::Refused("LVM does not know the thin volume".to_owned())),
    }
}
