//! On which block devices a directory lies, seen through partitions and stacks: a journal must not lie on the device it
//! protects. Reads only.

use crate::device::Devnum;
use crate::fact::Fact;
use crate::machine::fs::root::Root;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where a directory lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On these whole devices (names), all of them.
    Devices(Vec<String>),
    /// In memory: a power cut loses the content.
    Memory,
    /// Not on a block device of this machine (a network or host file system).
    Elsewhere(String),
    /// It cannot be told; why.
    Unknown(String),
}

/// Where a directory lies, or would be made.
pub fn of(root: &Root, dir: &Path) -> Place {
    let Some(existing) = existing_ancestor(dir) else { return Place::Unknown("it does not exist".to_owned()) };
    let devnum = match std::fs::metadata(&existing) {
        Ok(meta) => Devnum { major: rustix::fs::major(meta.dev()), minor: rustix::fs::minor(meta.dev()) },
        Err(e) => return Place::Unknown(e.to_string()),
    };
    if devnum.major != 0 {
        return devices_below(root, &devnum.to_string()).map_or_else(Place::Unknown, Place::Devices);
    }
    let Some((kind, source, options)) = mount_of(root, devnum) else {
        return Place::Unknown("its mount is not in /proc/self/mountinfo".to_owned());
    };
    match kind.as_str() {
        "tmpfs" | "ramfs" | "rootfs" | "devtmpfs" => Place::Memory,
        "9p" | "virtiofs" | "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" => Place::Elsewhere(kind),
        // The writable layer of an overlay is its upper directory.
        "overlay" => match options.split(',').find_map(|o| o.strip_prefix("upperdir=")) {
            Some(upper) if Path::new(upper) != existing && Path::new(upper).exists() => of(root, Path::new(upper)),
            _ => Place::Unknown("an overlay whose upper directory cannot be seen from here".to_owned()),
        },
        // btrfs and others with device numbers of their own name the device as the source.
        _ => match std::fs::metadata(&source) {
            Ok(meta) if meta.rdev() != 0 => {
                let id = format!("{}:{}", rustix::fs::major(meta.rdev()), rustix::fs::minor(meta.rdev()));
                match devices_below(root, &id) {
                    // A btrfs may have more devices than the one that is named.
                    Ok(names) if kind != "btrfs" => Place::Devices(names),
                    Ok(_) => Place::Unknown("a btrfs may lie on several devices".to_owned()),
                    Err(why) => Place::Unknown(why),
                }
            }
            _ => Place::Unknown(format!("a {kind} file system without a device")),
        },
    }
}

fn existing_ancestor(dir: &Path) -> Option<PathBuf> {
    let dir = std::path::absolute(dir).ok()?;
    dir.ancestors().find(|p| p.is_dir()).and_then(|p| std::fs::canonicalize(p).ok())
}

/// File-system type, source and super options of the mount with this device number (proc_pid_mountinfo(5)).
fn mount_of(root: &Root, devnum: Devnum) -> Option<(String, String, String)> {
    let Fact::Known(bytes) = root.read("proc/self/mountinfo") else { return None };
    String::from_utf8_lossy(&bytes).lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        if left.split(' ').nth(2)? != devnum.to_string() {
            return None;
        }
        let mut words = right.split(' ').map(str::to_owned);
        Some((words.next()?, words.next()?, words.next().unwrap_or_default()))
    })
}

/// The whole leaf devices below a device number: partitions lead to their disk, stacks to their members, a loop to the
/// devices of its backing file.
fn devices_below(root: &Root, devnum: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut waiting = vec![(format!("sys/dev/block/{devnum}"), 0)];
    while let Some((dir, depth)) = waiting.pop() {
        if depth > 16 {
            return Err("a stack deeper than 16 levels".to_owned());
        }
        let is_partition = root.exists(&format!("{dir}/partition"));
        let name = match (is_partition, root.link_name(&dir)) {
            (false, Fact::Known(name)) => name,
            (false, Fact::Unknown(_)) => dir.rsplit('/').next().unwrap_or_default().to_owned(),
            // The link of a partition ends in <disk>/<partition>.
            (true, link) => {
                let target = root.link(&dir).known().cloned().unwrap_or_default();
                let mut parts = target.rsplit('/');
                match (parts.next(), parts.next(), link) {
                    (Some(_), Some(disk), Fact::Known(_)) => disk.to_owned(),
                    _ => return Err(format!("{dir} leads to no disk")),
                }
            }
        };
        if !found.contains(&name) {
            found.push(name.clone());
        }
        if let Fact::Known(members) = root.list(&format!("sys/block/{name}/slaves")) {
            waiting.extend(members.iter().map(|m| (format!("sys/class/block/{m}"), depth + 1)));
        }
        if let Fact::Known(file) = root.text(&format!("sys/block/{name}/loop/backing_file")) {
            match of(root, Path::new(&file).parent().unwrap_or(Path::new("/"))) {
                Place::Devices(more) => found.extend(more),
                Place::Unknown(why) => return Err(why),
                Place::Memory | Place::Elsewhere(_) => {}
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told() {
        let root = Root::open(Path::new("/")).unwrap();
        assert_eq!(of(&root, Path::new("/dev/shm/not/there")), Place::Memory);
        assert_eq!(of(&root, Path::new("/proc")), Place::Unknown("a proc file system without a device".to_owned()));
    }
}
