//! Explains in words what a driver's zeroing limit means, and why there is no limit (fieldguide 1.5, 3.4, 4.5, 4.6, 5). No
//! class, expectation or finding depends on these words.

use crate::device::Kind;
use crate::fact::Fact;
use crate::facts::field::Reading;
use crate::facts::nvme::derived::derived;
use crate::facts::queue::UINT_MAX_SECTORS;
use crate::facts::{stack, Bus, Facts};

/// What nbd, and loop on a file, show for "no limit": UINT_MAX bytes in whole sectors.
const UINT_MAX_BYTES: u64 = (u32::MAX as u64) & !511;

/// Host drivers whose template, or which for some or all disks, sets `no_write_same`: sd then has no zeroing offload.
const NEVER_ZEROING_HOSTS: &[&str] = &[
    "3w-9xxx",
    "3w-sas",
    "3w-xxxx",
    "aacraid",
    "arcmsr",
    "hpsa",
    "ips",
    "megaraid",
    "megaraid_legacy",
    "megaraid_mbox",
    "megaraid_sas",
    "mpi3mr",
    "pmcraid",
    "smartpqi",
    "storvsc",
    "storvsc_host",
];

/// Names of libata's own host drivers as `proc_name` shows them; the others of libata begin with `sata_` or `pata_`.
const LIBATA_HOSTS: &[&str] = &["ahci", "ata_piix", "ata_generic"];

fn is_libata_host(name: &str) -> bool {
    LIBATA_HOSTS.contains(&name) || ["sata_", "pata_", "ahci_"].iter().any(|p| name.starts_with(p))
}

/// Why the kernel has no zeroing offload on a device whose limit is 0, where that follows from the kind of device; `None`
/// where nothing that is known explains it.
pub fn why_none(f: &Facts) -> Option<String> {
    match &f.bus {
        Bus::Nvme(n) if n.has_quirk("disable_write_zeroes") => {
            Some("the kernel's quirk disable_write_zeroes".to_owned())
        }
        Bus::Nvme(n) => n.write_zeroes().get().map(|has| match has {
            true => "the controller has Write Zeroes, but a quirk of the kernel turns it off".to_owned(),
            false => "ONCS does not list Write Zeroes".to_owned(),
        }),
        Bus::Scsi(s) => {
            let usb = f.names.transport.known().is_some_and(|t| t == "usb");
            let why = scsi(s.host_driver.known().map(String::as_str), usb, f.is_libata())?;
            let bridge = if usb && s.lbpme.is(false) { "; LBPME=0: the bridge does not unmap" } else { "" };
            Some(format!("{why}{bridge}"))
        }
        Bus::Other => match f.device.kind {
            Kind::Virtio => Some("the host does not offer VIRTIO_BLK_F_WRITE_ZEROES".to_owned()),
            Kind::Dm => dm_without(f.stack.target.known()?),
            Kind::Md => {
                let level = f.stack.target.known()?;
                let passes = matches!(level.as_str(), "raid0" | "linear");
                (!passes).then(|| format!("md {level} sets write_zeroes_max_bytes to 0, whatever its members have"))
            }
            kind => never(kind).map(str::to_owned),
        },
    }
}

fn scsi(host: Option<&str>, usb: bool, libata: bool) -> Option<String> {
    match host {
        Some("ufshcd") => Some("the ufs driver sets no_write_same".to_owned()),
        Some("usb-storage") => Some("usb-storage sets no_write_same for every disk".to_owned()),
        Some("uas") => Some("uas sets no_write_same for bridges that are known to reject WRITE SAME".to_owned()),
        Some(name) if NEVER_ZEROING_HOSTS.contains(&name) => {
            Some(format!("the host driver {} sets no_write_same", crate::device::display::escape_str(name)))
        }
        Some(name) if is_libata_host(name) => Some("libata sets no_write_same for every disk".to_owned()),
        _ if usb => {
            Some("a USB bridge: usb-storage always sets no_write_same, uas sets it for some bridges".to_owned())
        }
        None if libata => Some("an ATA disk: libata sets no_write_same".to_owned()),
        _ => None,
    }
}

/// Drivers that never have the request.
fn never(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Xen => "xen-blkfront has no request for zeroing",
        Kind::Ram => "brd has no request for zeroing; its discard frees pages",
        Kind::NullBlk => "null_blk has no request for zeroing",
        Kind::Pmem => "the pmem driver has no request for zeroing",
        Kind::Bcache => "bcache does not pass zeroing on",
        Kind::Mmc => "the card has no TRIM, or erased memory does not read as 00h",
        Kind::Zram => "zram has an offload only where its block is a whole page",
        Kind::Loop => {
            "the file system of the backing file has no such fallocate or refused it once, or the backing \
                       device has no offload"
        }
        Kind::Nbd => "the server does not offer NBD_FLAG_SEND_WRITE_ZEROES",
        Kind::Rbd => "rbd was mapped without trim",
        Kind::Ublk => "the server gives no max_write_zeroes_sectors",
        Kind::Drbd => "the peer did not agree to zeroing",
        Kind::Zvol => "the zvol driver of this ZFS has no request for zeroing",
        Kind::Dasd => "only FBA disks with the discard feature have an offload",
        _ => return None,
    })
}

fn dm_without(target: &str) -> Option<String> {
    let says = match target {
        "CRYPT" => "dm-crypt and dm-integrity do not pass zeroing on",
        "VDO" => "dm-vdo does not pass zeroing on",
        stack::THIN => "dm-thin does not pass zeroing on",
        "LVM" => {
            "one of its targets does not pass zeroing on (thin, snapshot or cache, for example), or a member \
                  has no offload"
        }
        "mpath" => "one of its paths has no offload",
        _ => return None,
    };
    Some(says.to_owned())
}

/// What a limit above 0 means for this driver.
fn meaning(kind: Kind, limit: u64) -> Option<&'static str> {
    Some(match kind {
        Kind::Virtio => {
            "the host's figure (2199023255040 where it gives none); the host unmaps unless it is told \
                         not to, but the kernel does not take this as a promise"
        }
        Kind::Mmc => {
            "always sent as TRIM, even where the caller asks not to unmap; erased memory of the card reads \
                      as 00h"
        }
        Kind::Nbd => "sent as NBD_CMD_WRITE_ZEROES; the protocol does not say what the server does with it",
        Kind::Rbd => "the size of an object set; the cluster zeroes it",
        Kind::Loop if limit == UINT_MAX_BYTES => {
            "the limit of a loop device on a file: the file system zeroes by PUNCH_HOLE or ZERO_RANGE, and the limit \
             becomes 0 once it refuses"
        }
        Kind::Loop => {
            "the limit of a loop device on a block device: that device's limit; its unmap limit is not \
                       passed on"
        }
        Kind::Zram => "zeroing frees memory; no command is sent",
        Kind::Ublk => "the server's figure",
        Kind::Drbd => "the peer agreed to zeroing, whatever its backing disk has",
        Kind::Zvol => "the pool frees the blocks, unless a snapshot still has them",
        Kind::Dasd => "an FBA disk with the discard feature: the same limit as for discard",
        Kind::Nvme if limit == UINT_MAX_SECTORS => {
            "no limit: zeroing is sent as Dataset Management (the kernel's quirk deallocate_zeroes)"
        }
        Kind::Nvme => "WZSL if the controller gives it, else the transfer limit of the controller",
        Kind::Scsi => "for WRITE SAME: MAXIMUM WRITE SAME LENGTH if the device gives it, else 65535 blocks",
        Kind::Dm => "the least limit of its members; every target passes zeroing on",
        Kind::Md => "the least of its members' limits and the chunk size",
        _ => return None,
    })
}

/// Adds the readings that explain the limit.
pub fn notes(f: &Facts, readings: &mut Vec<Reading>) {
    let Some(limit) = f.queue.write_zeroes_max.get() else { return };
    let says = match limit {
        0 => {
            let table = || f.nvme().and_then(|n| n.known_quirk());
            let of_table = || table().map(|q| format!("the kernel's table of quirks has {}: {}", q.name, q.product));
            why_none(f).or_else(of_table).unwrap_or_else(|| "the reason is not known".to_owned())
        }
        _ => match meaning(f.device.kind, limit) {
            Some(says) => says.to_owned(),
            None => return,
        },
    };
    let field = if limit == 0 { "why there is no offload" } else { "what the limit is" };
    readings.push(derived(field, Fact::Known(f.device.kind.as_str().to_owned()), says));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::testing::{facts, with};

    fn note(f: &Facts) -> String {
        let found = f.readings.iter().find(|r| r.field.starts_with("wh") && r.source == "derived");
        found.and_then(|r| r.says.clone()).unwrap_or_default()
    }

    #[test]
    fn every_kind_has_words_for_no_limit() {
        for name in [
            "vda", "xvda", "ram0", "nullb0", "pmem0", "bcache0", "mmcblk0", "zram0", "loop0", "nbd0", "rbd0", "ublkb0",
            "drbd0", "dasda", "zd0",
        ] {
            let said = note(&with(name, &[("queue/write_zeroes_max_bytes", "0")]));
            assert!(!said.is_empty() && !said.contains("is not known"), "{name}: {said}");
        }
        for name in [
            "vda", "mmcblk0", "zram0", "loop0", "nbd0", "rbd0", "ublkb0", "drbd0", "dasda", "nvme0n1", "sda", "dm-0",
            "md0",
        ] {
            let said = note(&with(name, &[("queue/write_zeroes_max_bytes", "4096")]));
            assert!(!said.is_empty(), "{name}: {said}");
        }
    }

    #[test]
    fn disks_behind_hosts_that_never_zero() {
        let behind = |host: &str| {
            let real = "sys/devices/pci0/host3/target3:0:0/3:0:0:0";
            note(&facts(
                "sdb",
                &[
                    (&format!("{real}/block/sdb/queue/write_zeroes_max_bytes"), "0"),
                    (&format!("{real}/vendor"), "X\n"),
                    ("sys/class/scsi_host/host3/proc_name", host),
                ],
                &[
                    ("sys/block/sdb", &format!("../{}/block/sdb", &real[4..])),
                    (&format!("{real}/block/sdb/device"), "../../../3:0:0:0"),
                ],
            ))
        };
        assert!(behind("megaraid_sas\n").contains("megaraid_sas"));
        assert!(behind("usb-storage\n").contains("usb-storage"));
        assert!(behind("ufshcd\n").contains("ufs"));
        assert!(behind("ahci\n").contains("libata"));
        assert!(behind("mpt3sas\n").contains("is not known"));
        let sata = with("sda", &[("queue/write_zeroes_max_bytes", "0"), ("device/vendor", "ATA     \n")]);
        assert!(note(&sata).contains("libata"));
    }

    #[test]
    fn stacks_without_an_offload_say_why() {
        let md = |level: &str| note(&with("md0", &[("queue/write_zeroes_max_bytes", "0"), ("md/level", level)]));
        assert!(md("raid5").contains("raid5") && md("raid0").contains("is not known"));
        let dm = |uuid: &str| note(&with("dm-0", &[("queue/write_zeroes_max_bytes", "0"), ("dm/uuid", uuid)]));
        assert!(dm("CRYPT-LUKS2-0-x").contains("dm-crypt"));
    }
}
