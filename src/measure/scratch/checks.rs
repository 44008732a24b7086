//! The single checks of a scratch proof: each passes with a line in words, or refuses and says what to do. It makes no range.

use super::proof::{Asked, LABEL};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::block::blkid::Signature;
use crate::machine::block::devices::{self, Partition};
use crate::machine::block::hold::Opened;
use crate::machine::fs::mounts;
use crate::machine::fs::root::Root;
use crate::machine::port::errno_name;
use crate::measure::partition_table::Table;
use crate::units::SECTOR;

pub(super) struct Checks {
    pub(super) device: String,
    pub(super) lines: Vec<String>,
}

impl Checks {
    pub(super) fn refuse<T>(&self, why: impl Into<String>) -> Result<T> {
        Err(Error::NotSafe { device: self.device.clone(), why: why.into() })
    }

    pub(super) fn require(&mut self, holds: bool, passed: &str, why: impl FnOnce() -> String) -> Result<()> {
        if !holds {
            return self.refuse(why());
        }
        self.lines.push(passed.to_owned());
        Ok(())
    }

    /// A reading that the proof rests on: where it is not known nothing is proved.
    pub(super) fn known<T>(&self, fact: Fact<T>, what: &str) -> Result<T> {
        match fact {
            Fact::Known(reading) => Ok(reading),
            Fact::Unknown(why) => self.refuse(format!(
                "{what} is not known ({why}), and what is not known counts as in use; make sure that /sys and /proc \
                 are mounted and can be read"
            )),
        }
    }
}

pub(super) fn same_device(checks: &mut Checks, root: &Root, device: &Device, disk: &Opened) -> Result<()> {
    let known = device.devnum.map(|d| (d.major, d.minor));
    checks.require(known == Some(disk.devnum), "the node has the device number that sysfs gives", || {
        "its node has another device number than sysfs gives; check the links in /dev".to_owned()
    })?;
    let replaced = || "the device was replaced while it was opened".to_owned();
    match (disk.diskseq, root.number(&device.attr("diskseq"))) {
        (Some(opened), Fact::Known(now)) => checks.require(opened == now, "diskseq is the same after open", replaced),
        // Linux before 5.15 has none: then the size is all there is besides the number.
        _ => {
            let now = root.number(&device.attr("size")).get().and_then(|n| n.checked_mul(SECTOR));
            checks.require(
                now == Some(disk.size),
                "the size is the same after open (the kernel has no diskseq)",
                replaced,
            )
        }
    }
}

/// blkid's word for a physical volume.
const LVM: &str = "LVM2_member";

/// What a signature of this type is, for a sentence: "an ext4 file system".
fn holds(kind: &str) -> String {
    match kind {
        "ext2" | "ext3" | "ext4" => format!("an {kind} file system"),
        "xfs" | "btrfs" | "vfat" | "f2fs" | "ntfs" | "exfat" | "squashfs" | "erofs" | "iso9660" | "udf"
        | "bcachefs" => {
            format!("a {kind} file system")
        }
        "swap" => "swap space".to_owned(),
        "swsuspend" => "swap space with a hibernation image".to_owned(),
        LVM => "a physical volume of LVM".to_owned(),
        "linux_raid_member" => "a member of an md RAID".to_owned(),
        "crypto_LUKS" => "an encrypted volume (LUKS)".to_owned(),
        "zfs_member" => "a member of a ZFS pool".to_owned(),
        "gpt" | "dos" => format!("a partition table ({kind})"),
        kind => format!("a signature of {kind}"),
    }
}

/// That nothing in the kernel stands on a disk or partition; `list` is its directory of holders.
pub(super) fn not_held(checks: &mut Checks, root: &Root, list: &str, what: &str) -> Result<()> {
    let holders = checks.known(root.list(list), &format!("what holds {what} ({})", root.shown(list).display()))?;
    checks.require(holders.is_empty(), &format!("nothing in the kernel uses {what}"), || {
        format!("{what} is used by {}", holders.join(", "))
    })
}

/// The kernel's partitions of a device.
pub(super) fn partitions(checks: &Checks, root: &Root, device: &Device) -> Result<Vec<Partition>> {
    checks.known(devices::partitions(root, device), "which partitions it has")
}

/// What speaks against any place on the whole disk: a holder or a file system of the whole disk.
pub(super) fn whole_disk(checks: &mut Checks, on: &Asked<'_>, device: &Device) -> Result<()> {
    not_held(checks, on.root, &device.attr("holders"), "the whole disk")?;
    if let Some(devnum) = device.devnum {
        not_mounted(checks, on.root, &devnum.to_string(), "the whole disk")?;
    }
    whole_disk_signature(checks, on, device, false)
}

/// That nothing lies on the whole disk but a partition table, or, where a logical volume is asked about, LVM itself.
pub(super) fn whole_disk_signature(checks: &mut Checks, on: &Asked<'_>, device: &Device, lvm: bool) -> Result<()> {
    match on.hold.signature(&device.node(), None)? {
        Signature::Nothing => checks.lines.push("no signature on the whole disk (blkid -p)".to_owned()),
        Signature::Content(what) if lvm && what == LVM => {
            checks.lines.push("the whole disk is a physical volume of LVM (blkid -p)".to_owned())
        }
        Signature::Table(kind) => {
            checks.lines.push(format!("only a partition table ({kind}) on the whole disk (blkid -p)"))
        }
        Signature::Content(what) => return checks.refuse(format!("the whole disk holds {}", holds(&what))),
    }
    Ok(())
}

/// That nothing stands on the whole disk or on these partitions of it, and none of them is mounted.
pub(super) fn holds_no_mount(checks: &mut Checks, root: &Root, device: &Device, parts: &[&Partition]) -> Result<()> {
    not_held(checks, root, &device.attr("holders"), "the whole disk")?;
    for p in parts {
        not_held(checks, root, &device.attr(&format!("{}/holders", p.name)), &p.name)?;
    }
    let numbers = device.devnum.into_iter().chain(parts.iter().filter_map(|p| p.devnum));
    for number in numbers {
        not_mounted(checks, root, &number.to_string(), &device.name)?;
    }
    Ok(())
}

/// That the type of a partition does not say that something uses it without a file system: firmware, a boot loader, a
/// volume manager. One that stands in no table that can be read is of a type that nobody knows.
pub(super) fn type_allows(checks: &mut Checks, on: &Asked<'_>, p: &Partition) -> Result<()> {
    let disk = on.opened;
    let table = Table::read(disk.size, disk.logical_block, &mut |at, n| on.hold.read_at(at, n));
    let end = p.start.saturating_add(p.length);
    let mut entries = table.entries.iter().filter(|e| (e.first_byte, e.end_byte) == (p.start, end)).peekable();
    if entries.peek().is_none() {
        return checks.refuse(format!(
            "{} is not in a partition table that can be read (it has {}), so its type is not known, and what is not \
             known counts as in use",
            p.name,
            table.kind.noun()
        ));
    }
    match entries.find_map(|e| e.purpose) {
        None => {
            checks.lines.push(format!("the type of {} is not one that is used without a file system", p.name));
            Ok(())
        }
        Some(what) => checks.refuse(format!("{} is {what}; name a partition that holds nothing", p.name)),
    }
}

/// Whether the GPT name of a partition says that it is scratch.
pub(super) fn is_labelled(root: &Root, device: &Device, p: &Partition) -> bool {
    let uevent = root.text(&device.attr(&format!("{}/uevent", p.name)));
    let wanted = format!("PARTNAME={LABEL}");
    uevent.known().is_some_and(|text| text.lines().any(|line| line == wanted))
}

pub(super) fn not_mounted(checks: &mut Checks, root: &Root, devnum: &str, what: &str) -> Result<()> {
    let mounts = checks.known(mounts::complete(root), "what is mounted (/proc/self/mountinfo)")?;
    let on = mounts.iter().find(|m| m.devnum == devnum);
    checks.require(on.is_none(), &format!("{what} is not mounted"), || {
        format!("{what} is mounted on {}", crate::device::display::escape_str(on.map_or("?", |m| &m.point)))
    })
}

pub(super) fn labelled<'a>(
    checks: &Checks,
    root: &Root,
    device: &Device,
    partitions: &'a [Partition],
) -> Result<&'a Partition> {
    let mut found = partitions.iter().filter(|p| is_labelled(root, device, p));
    match (found.next(), found.next()) {
        (Some(p), None) => Ok(p),
        (None, _) => checks.refuse(format!("no GPT partition is named {LABEL}")),
        (Some(_), Some(_)) => checks.refuse(format!("more than one GPT partition is named {LABEL}")),
    }
}

pub(super) fn named<'a>(
    checks: &Checks,
    on: &Asked<'_>,
    device: &Device,
    partitions: &'a [Partition],
    node: &str,
) -> Result<&'a Partition> {
    let shown = crate::device::display::escape_str(node);
    let Some((major, minor)) = on.hold.node_devnum(node) else {
        return Err(Error::NoDevice { path: shown, what: "not a block device".to_owned() });
    };
    if device.devnum.is_some_and(|d| (d.major, d.minor) == (major, minor)) {
        return checks.refuse(format!("{shown} is the whole disk: name a partition of it, or OFFSET+LENGTH"));
    }
    match partitions.iter().find(|p| p.devnum.is_some_and(|d| (d.major, d.minor) == (major, minor))) {
        Some(p) => Ok(p),
        None => checks.refuse(format!("{shown} is not a partition of it")),
    }
}

/// That nothing lies on a node; `what` it is, for who has to name another.
pub(super) fn unsigned(checks: &mut Checks, on: &Asked<'_>, (node, name): (&str, &str), what: &str) -> Result<()> {
    match on.hold.signature(node, None)? {
        Signature::Nothing => {
            checks.lines.push(format!("no signature on {name} (blkid -p)"));
            Ok(())
        }
        Signature::Table(found) | Signature::Content(found) => {
            checks.refuse(format!("{name} holds {}; name a {what} that holds nothing", holds(&found)))
        }
    }
}

pub(super) fn exclusive(checks: &mut Checks, on: &Asked<'_>, node: &str) -> Result<()> {
    match on.hold.claimable(node) {
        Ok(()) => {
            checks.lines.push(format!("{node} can be claimed exclusively (O_EXCL)"));
            Ok(())
        }
        Err(e) => {
            checks.refuse(format!("{node} cannot be claimed exclusively ({}), so something uses it", errno_name(e)))
        }
    }
}

/// A file system that starts where the range does is not seen on the whole disk: the node of the range is probed, or these
/// bytes of the disk's.
pub(super) fn inner_signature(
    checks: &mut Checks,
    on: &Asked<'_>,
    node: &str,
    bytes: Option<(u64, u64)>,
) -> Result<()> {
    match on.hold.signature(node, bytes)? {
        Signature::Nothing => {
            checks.lines.push("no signature at the start of the range (blkid -p)".to_owned());
            Ok(())
        }
        Signature::Table(what) | Signature::Content(what) => {
            checks.refuse(format!("the range holds {}; name another range", holds(&what)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Checks {
        Checks { device: "/dev/sda".to_owned(), lines: Vec::new() }
    }

    #[test]
    fn an_unknown_reading_refuses_the_test() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let root = Root::open(dir.path()).unwrap();
        let device = Device::new("sda", None);
        let refused = |result: Result<()>, what: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("not known"), "{error}");
        };
        refused(not_held(&mut checks(), &root, "sys/block/sda/holders", "sda"), "what holds sda");
        refused(not_mounted(&mut checks(), &root, "8:0", "the whole disk"), "what is mounted");
        refused(partitions(&checks(), &root, &device).map(drop), "which partitions it has");
        write("sys/block/sda/sda1/partition", "1\n");
        write("sys/block/sda/sda1/start", "2048\n");
        refused(partitions(&checks(), &root, &device).map(drop), "which partitions it has");
        write("sys/block/sda/sda1/size", "2048\n");
        write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        std::fs::create_dir(dir.path().join("sys/block/sda/holders")).unwrap();
        not_held(&mut checks(), &root, "sys/block/sda/holders", "sda").unwrap();
        not_mounted(&mut checks(), &root, "8:0", "the whole disk").unwrap();
        assert!(not_mounted(&mut checks(), &root, "8:1", "sda1").is_err());
        assert_eq!(partitions(&checks(), &root, &device).unwrap().len(), 1);
    }
}
