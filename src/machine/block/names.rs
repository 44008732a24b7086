//! The names people use for a device: volume group and LV, device-mapper name, array, links of udev, mount points. They come
//! from sysfs, udev's properties and the mount table below the root, so a recorded machine gives the same names as the
//! original. It judges no speed.
//!
//! All of this is text that firmware or an administrator made: the code that shows it escapes it, once.

use crate::device::{Device, Devnum, Kind};
use crate::machine::block::devices;
use crate::machine::fs::location::{self, Place};
use crate::machine::fs::mounts;
use crate::machine::fs::root::Root;
use crate::machine::udev;
use std::collections::BTreeMap;

/// Where udev puts the links that are names: by the device's own serial number, and of arrays.
const LINKS: [&str; 2] = ["/dev/disk/by-id/", "/dev/md/"];
/// Links that only say once more what device-mapper's name and uuid say.
const TWICE: [&str; 3] = ["/dev/disk/by-id/dm-", "/dev/disk/by-id/md-name-", "/dev/disk/by-id/md-uuid-"];

/// The names of a device by device-mapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// The name below /dev/mapper.
    pub name: String,
    /// Volume group and LV: `vg0/root`; `None` where it is not LVM's.
    pub volume: Option<String>,
    /// Whether it is a part of an LV that nobody uses by itself: data and metadata of a pool, images of a RAID, the layers of a
    /// snapshot.
    pub internal: bool,
}

/// What device-mapper calls a device; `None` where it is none of its devices, or is not known.
pub fn mapped(root: &Root, device: &Device) -> Option<Mapped> {
    if device.kind != Kind::Dm {
        return None;
    }
    let name = root.text(&device.attr("dm/name")).known()?.clone();
    let uuid = root.text(&device.attr("dm/uuid"));
    let of_lvm = uuid.known().and_then(|u| u.strip_prefix("LVM-"));
    let Some(id) = of_lvm else { return Some(Mapped { name, volume: None, internal: false }) };
    let volume = volume_of(&name);
    // LVM's ids have no dash, so what follows one names the layer (lib/activate/dev_manager.c); parts of a RAID are known by
    // names that LVM gives to nothing else (lvm(8), "reserved").
    let reserved = |lv: &str| ["_rimage_", "_rmeta_", "_mimage_", "_mlog", "_corig"].iter().any(|r| lv.contains(r));
    let internal =
        id.contains('-') || volume.as_deref().and_then(|v| v.split_once('/')).is_some_and(|(_, lv)| reserved(lv));
    // Volume group, LV and layer: such a device is no volume.
    Some(Mapped { name, volume: volume.filter(|_| !id.contains('-')), internal })
}

/// LVM joins the names by a dash, and doubles each dash in them.
fn volume_of(name: &str) -> Option<String> {
    let hidden = name.replace("--", "\0");
    let (group, volume) = hidden.split_once('-')?;
    let plain = |part: &str| part.replace('\0', "-");
    (!group.is_empty() && !volume.is_empty()).then(|| format!("{}/{}", plain(group), plain(volume)))
}

/// The name below /dev/mapper of a volume as it is typed, `vg0/root`; `None` for anything else.
pub(super) fn mapper_name(typed: &str) -> Option<String> {
    let (group, volume) = typed
        .split_once('/')
        .filter(|(g, v)| !g.is_empty() && !g.starts_with('.') && !v.is_empty() && !v.contains('/'))?;
    Some(format!("{}-{}", group.replace('-', "--"), volume.replace('-', "--")))
}

/// The names of a device, what an administrator would say first: the volume, device-mapper's name, the array, by-id links.
pub fn of(root: &Root, device: &Device) -> Vec<String> {
    let mapped = mapped(root, device);
    let mut names: Vec<String> = mapped.iter().filter_map(|m| m.volume.clone()).collect();
    names.extend(mapped.map(|m| m.name));
    let mut links = links(root, &device.name);
    links.retain(|l| LINKS.iter().any(|dir| l.starts_with(dir)) && !TWICE.iter().any(|twice| l.starts_with(twice)));
    // Arrays first, as /dev/md/home; of those by serial number the shortest says as much as the others.
    links.sort_by_key(|l| (!l.starts_with(LINKS[1]), l.len(), l.clone()));
    names.extend(links);
    names
}

/// The links that udev made of a device or partition of this name.
fn links(root: &Root, name: &str) -> Vec<String> {
    let links = udev::properties_below(root, name).unwrap_or_default().remove("DEVLINKS");
    links.iter().flat_map(|l| l.split_whitespace()).map(str::to_owned).collect()
}

/// Whether a device or partition is called so: by a link, with or without `/dev/` and its directory, or by device-mapper.
fn is_called(root: &Root, typed: &str, name: &str, mapped: Option<&Mapped>) -> bool {
    let below_dev = typed.strip_prefix("/dev/").unwrap_or(typed);
    let is_link = |link: &String| {
        let short = LINKS.iter().find_map(|dir| link.strip_prefix(dir));
        link.strip_prefix("/dev/") == Some(below_dev) || short == Some(typed)
    };
    let by_mapper = |m: &Mapped| {
        m.name == typed || below_dev.strip_prefix("mapper/") == Some(&m.name) || m.volume.as_deref() == Some(below_dev)
    };
    mapped.is_some_and(by_mapper) || links(root, name).iter().any(is_link)
}

/// Every device of a recorded machine that is called so, and the partition where that is what is called so. `mapped_alone`:
/// only names of device-mapper are looked at.
pub(super) fn called(root: &Root, typed: &str, mapped_alone: bool) -> Vec<devices::Target> {
    let mut found = Vec::new();
    let mut names = devices::names(root).unwrap_or_default();
    names.retain(|name| !mapped_alone || Kind::of_name(name) == Kind::Dm);
    for device in names.iter().map(|name| devices::device(root, name)) {
        if mapped_alone {
            let is_it = mapped(root, &device).is_some_and(|m| m.name == typed);
            found.extend(is_it.then_some(devices::Target { device, partition: None }));
            continue;
        }
        if is_called(root, typed, &device.name, mapped(root, &device).as_ref()) {
            found.push(devices::Target { device: device.clone(), partition: None });
        }
        for partition in devices::partitions(root, &device).known().cloned().unwrap_or_default() {
            if is_called(root, typed, &partition.name, None) {
                found.push(devices::Target { device: device.clone(), partition: Some(partition) });
            }
        }
    }
    found
}

/// Where the file systems of each device are mounted.
#[derive(Debug, Default)]
pub struct Mounted {
    /// By device number.
    numbers: BTreeMap<String, Vec<String>>,
    /// By the name of the whole device, for file systems with a number of their own (btrfs).
    devices: BTreeMap<String, Vec<String>>,
}

impl Mounted {
    /// From the mount table; nothing where it cannot be read.
    pub fn read(root: &Root) -> Mounted {
        let mut mounted = Mounted::default();
        for mount in mounts::all(root).known().into_iter().flatten() {
            let number: Option<Devnum> = mount.devnum.parse().ok();
            match number {
                Some(number) if number.major == 0 => {
                    // Only what names a device; most of such mounts are the kernel's own.
                    let named = mount.source.starts_with("/dev/").then(|| location::of_mount(root, number, mount));
                    let Some(Place::Devices(on)) = named else { continue };
                    for device in on {
                        mounted.devices.entry(device.name).or_default().push(mount.point.clone());
                    }
                }
                _ => mounted.numbers.entry(mount.devnum.clone()).or_default().push(mount.point.clone()),
            }
        }
        mounted
    }

    /// The mount points of a device and its partitions, each once, in the order of the mount table.
    pub fn on(&self, root: &Root, device: &Device) -> Vec<String> {
        let partitions = devices::partitions(root, device).known().cloned().unwrap_or_default();
        let numbers = std::iter::once(device.devnum).chain(partitions.iter().map(|p| p.devnum)).flatten();
        let mut points: Vec<String> = Vec::new();
        let own = numbers.filter_map(|n| self.numbers.get(&n.to_string()));
        for point in own.chain(self.devices.get(&device.name)).flatten() {
            if !points.contains(point) {
                points.push(point.clone());
            }
        }
        points
    }

    /// The whole devices that have a file system mounted there.
    pub(super) fn at(&self, root: &Root, point: &str) -> Vec<Device> {
        let mut all = devices::disks(root).unwrap_or_default();
        all.retain(|d| self.on(root, d).iter().any(|p| p == point));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_are_read_as_lvm_writes_them() {
        for (name, volume) in [
            ("vg0-root", Some("vg0/root")),
            ("my--vg-my--lv", Some("my-vg/my-lv")),
            ("a----b-c", Some("a--b/c")),
            ("crypt", None),
            ("-x", None),
            ("a--b", None),
        ] {
            assert_eq!(volume_of(name).as_deref(), volume, "{name}");
            if let Some(volume) = volume {
                assert_eq!(mapper_name(volume).as_deref(), Some(name));
            }
        }
        assert_eq!((mapper_name("root"), mapper_name("/root"), mapper_name("disk/by-id/x")), (None, None, None));
    }

    #[test]
    fn parts_of_a_volume_are_internal() {
        let dir = tempfile::tempdir().unwrap();
        let id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        for (number, name, uuid) in [
            (0, "vg0-root", format!("LVM-{id}\n")),
            (1, "vg0-pool_tmeta", format!("LVM-{id}-tmeta\n")),
            (2, "vg0-home_rimage_0", format!("LVM-{id}\n")),
            (3, "my-disk", "CRYPT-LUKS2-00-my-disk\n".to_owned()),
        ] {
            let dm = dir.path().join(format!("sys/block/dm-{number}/dm"));
            std::fs::create_dir_all(&dm).unwrap();
            std::fs::write(dm.join("name"), format!("{name}\n")).unwrap();
            std::fs::write(dm.join("uuid"), uuid).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let of = |name: &str| mapped(&root, &Device::new(name, None)).unwrap();
        assert_eq!((of("dm-0").volume.as_deref(), of("dm-0").internal), (Some("vg0/root"), false));
        assert_eq!((of("dm-1").volume, of("dm-1").internal), (None, true));
        assert!(of("dm-2").internal);
        assert_eq!((of("dm-3").volume, of("dm-3").internal), (None, false));
        assert_eq!(mapped(&root, &Device::new("sda", None)), None);
    }
}
