//! Names: a block device, its kind, its identity, and how its strings are shown. It does no I/O.

pub mod display;
pub mod identity;
pub mod instance;

pub use identity::Identity;
pub use instance::{Instance, Same};
pub use verdict_format::Devnum;

/// A whole block device (never a partition) as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The kernel's name: `nvme0n1`, `sda`, `dm-3`.
    pub name: String,
    /// Its sysfs directory below the root, without a leading slash: `sys/block/nvme0n1`.
    pub sys: String,
    /// What drives it.
    pub kind: Kind,
    /// `major:minor` where the kernel gave one; a hidden multipath path has none.
    pub devnum: Option<Devnum>,
}

impl Device {
    /// The device of this name in the flat namespace of `sys/block`.
    pub fn new(name: &str, devnum: Option<Devnum>) -> Self {
        // The kernel writes '/' in a disk name as '!' in sysfs (cciss!c0d0).
        Device { name: name.to_owned(), sys: format!("sys/block/{name}"), kind: Kind::of_name(name), devnum }
    }

    /// The device node: `/dev/nvme0n1`.
    pub fn node(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// A path below the device's sysfs directory.
    pub fn attr(&self, relative: &str) -> String {
        format!("{}/{relative}", self.sys)
    }

    /// Whether the kernel's name is that of the device or of a partition of it: `sda`, `sda3`; `nvme0n1p3`.
    pub fn has_part(&self, name: &str) -> bool {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        name.strip_prefix(&self.name).is_some_and(|rest| match self.name.ends_with(|c: char| c.is_ascii_digit()) {
            _ if rest.is_empty() => true,
            true => rest.strip_prefix('p').is_some_and(digits),
            false => digits(rest),
        })
    }
}

/// What the files that are kept of a device are named by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The stable identity, where there is one.
    pub identity: Option<Identity>,
    /// The device number.
    pub devnum: Option<Devnum>,
    /// What tells the device from the next one of its number.
    pub instance: Instance,
}

/// What drives a device, known by the kernel's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An NVMe namespace, or a multipath head.
    Nvme,
    /// A SCSI disk (sd): SCSI, SAS, SATA, USB, UFS.
    Scsi,
    /// virtio-blk.
    Virtio,
    /// Device mapper.
    Dm,
    /// MD RAID.
    Md,
    /// Loop.
    Loop,
    /// MMC and SD cards.
    Mmc,
    /// Network block device.
    Nbd,
    /// Compressed RAM.
    Zram,
    /// RAM disk (brd).
    Ram,
    /// Xen block front end.
    Xen,
    /// Ceph block device.
    Rbd,
    /// User-space block device.
    Ublk,
    /// Persistent memory.
    Pmem,
    /// DRBD.
    Drbd,
    /// S/390 DASD.
    Dasd,
    /// bcache.
    Bcache,
    /// null_blk.
    NullBlk,
    /// A volume of a ZFS pool.
    Zvol,
    /// Anything else.
    Other,
}

impl Kind {
    /// The kind by the kernel's name.
    pub fn of_name(name: &str) -> Kind {
        // Longer prefixes stand before shorter ones they contain (`nvme`, `nullb`, `nbd`).
        const PREFIXES: &[(&str, Kind)] = &[
            ("nvme", Kind::Nvme),
            ("mmcblk", Kind::Mmc),
            ("loop", Kind::Loop),
            ("zram", Kind::Zram),
            ("nullb", Kind::NullBlk),
            ("ublkb", Kind::Ublk),
            ("bcache", Kind::Bcache),
            ("pmem", Kind::Pmem),
            ("drbd", Kind::Drbd),
            ("dasd", Kind::Dasd),
            ("dm-", Kind::Dm),
            ("md_", Kind::Md),
            ("xvd", Kind::Xen),
            ("nbd", Kind::Nbd),
            ("rbd", Kind::Rbd),
            ("ram", Kind::Ram),
            ("md", Kind::Md),
            ("zd", Kind::Zvol),
            ("sd", Kind::Scsi),
            ("vd", Kind::Virtio),
        ];
        PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map_or(Kind::Other, |(_, kind)| *kind)
    }

    /// The word in JSON and policy files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Nvme => "nvme",
            Kind::Scsi => "scsi",
            Kind::Virtio => "virtio",
            Kind::Dm => "dm",
            Kind::Md => "md",
            Kind::Loop => "loop",
            Kind::Mmc => "mmc",
            Kind::Nbd => "nbd",
            Kind::Zram => "zram",
            Kind::Ram => "ram",
            Kind::Xen => "xen",
            Kind::Rbd => "rbd",
            Kind::Ublk => "ublk",
            Kind::Pmem => "pmem",
            Kind::Drbd => "drbd",
            Kind::Dasd => "dasd",
            Kind::Bcache => "bcache",
            Kind::NullBlk => "null",
            Kind::Zvol => "zvol",
            Kind::Other => "other",
        }
    }

    /// Whether the device is made of other block devices (dm, md, bcache, drbd; a loop only by its backing).
    pub const fn is_stack(self) -> bool {
        matches!(self, Kind::Dm | Kind::Md | Kind::Bcache | Kind::Drbd)
    }

    /// Whether the kernel can show members of the device: a stack, and what is not known by name.
    pub const fn can_have_members(self) -> bool {
        self.is_stack() || matches!(self, Kind::Other)
    }

    /// Whether the device can have partitions in the kernel, so that a temporary one can bound a range.
    pub const fn partitionable(self) -> bool {
        !matches!(self, Kind::Dm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, kind) in [
            ("nvme0n1", Kind::Nvme),
            ("nbd3", Kind::Nbd),
            ("nullb0", Kind::NullBlk),
            ("zd16", Kind::Zvol),
            ("sda", Kind::Scsi),
            ("dm-12", Kind::Dm),
            ("md127", Kind::Md),
            ("md_d0", Kind::Md),
            ("mmcblk0boot0", Kind::Mmc),
            ("vdb", Kind::Virtio),
            ("ram0", Kind::Ram),
            ("sr0", Kind::Other),
        ] {
            assert_eq!(Kind::of_name(name), kind, "{name}");
        }
        assert_eq!(Device::new("cciss!c0d0", None).node(), "/dev/cciss/c0d0");
        let part = |device: &str, name: &str| Device::new(device, None).has_part(name);
        assert!(part("sda", "sda") && part("sda", "sda12") && part("nvme0n1", "nvme0n1p3"));
        assert!(!part("sda", "sdaa") && !part("dm-1", "dm-10") && !part("nvme0n1", "nvme0n12"));
    }
}
