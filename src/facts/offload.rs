//! What a driver's zeroing limit means, and why there is none, in words (fieldguide 1.5, 3.4, 4.5, 4.6, 5). Explains; no
//! class, expectation or finding rests on these words.

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
            true => "the controller has Write Zeroes, a quirk of the kernel turns it off".to_owned(),
            false => "ONCS has no Write Zeroes".to_owned(),
        }),
        Bus::Scsi(s) => {
            let usb = f.names.transport.known().is_some_and(|t| t == "usb");
            let why = scsi(s.host_driver.known().map(String::as_str), usb, f.is_libata())?;
            let bridge = if usb && s.lbpme.is(false) { "; LBPME=0: the bridge unmaps nothing" } else { "" };
            Some(format!("{why}{bridge}"))
        }
        Bus::Other => match f.device.kind {
            Kind::Virtio => Some("the host does not offer VIRTIO_BLK_F_WRITE_ZEROES".to_owned()),
            Kind::Dm => dm_without(f.stack.target.known()?),
            Kind::Md => {
                let level = f.stack.target.known()?;
                let passes = matches!(level.as_str(), "raid0" | "linear");
                (!passes).then(|| format!("md {level} sets it to 0 whatever its members have"))
            }
            kind => never(kind).map(str::to_owned),
        },
    }
}

fn scsi(host: Option<&str>, usb: bool, libata: bool) -> Option<String> {
    match host {
        Some("ufshcd") => Some("the ufs driver sets no_write_same".to_owned()),
        Some("usb-storage") => Some("usb-storage sets no_write_same for every disk".to_owned()),
        Some("uas") => Some("uas sets no_write_same where the bridge is known not to take WRITE SAME".to_owned()),
        Some(name) if NEVER_ZEROING_HOSTS.contains(&name) => {
            Some(format!("the host driver {} sets no_write_same", crate::device::display::escape_str(name)))
        }
        Some(name) if is_libata_host(name) => Some("libata sets no_write_same for every disk".to_owned()),
        _ if usb => Some("a USB bridge: usb-storage sets no_write_same always, uas for some".to_owned()),
        None if libata => Some("an ATA disk: libata sets no_write_same".to_owned()),
        _ => None,
    }
}

/// Drivers that never have the request.
fn never(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Xen => "xen-blkfront has no such request",
        Kind::Ram => "brd has no such request; its discard frees pages",
        Kind::NullBlk => "null_blk has no such request",
        Kind::Pmem => "the pmem driver has no such request",
        Kind::Bcache => "bcache passes none on",
        Kind::Mmc => "the card cannot TRIM, or erases to something else than 00h",
        Kind::Zram => "zram has it only where its block is a whole page",
        Kind::Loop => "the backing file has no fallocate, refused it once, or the backing device has none",
        Kind::Nbd => "the server does not offer NBD_FLAG_SEND_WRITE_ZEROES",
        Kind::Rbd => "rbd was mapped without trim",
        Kind::Ublk => "the server gives no max_write_zeroes_sectors",
        Kind::Drbd => "the peer does not agree to it",
        Kind::Zvol => "the zvol driver of this ZFS has no such request",
        Kind::Dasd => "only FBA disks with the discard feature have it",
        _ => return None,
    })
}

fn dm_without(target: &str) -> Option<String> {
    let says = match target {
        "CRYPT" => "neither dm-crypt nor dm-integrity passes zeroing on",
        "VDO" => "dm-vdo passes no zeroing on",
        stack::THIN => "dm-thin passes no zeroing on",
        "LVM" => "a target that passes no zeroing on, as thin, snapshot or cache, or a member without it",
        "mpath" => "a path without it",
        _ => return None,
    };
    Some(says.to_owned())
}

/// What a limit above 0 means for this driver.
fn meaning(kind: Kind, limit: u64) -> Option<&'static str> {
    Some(match kind {
        Kind::Virtio => "the host's own figure (2199023255040 where it gives none); unmaps unless asked not to, the kernel reads no promise of it",
        Kind::Mmc => "sent as TRIM always, also where no unmap is asked for; the card erases to 00h",
        Kind::Nbd => "NBD_CMD_WRITE_ZEROES; what the server does with it is not told",
        Kind::Rbd => "the size of an object set, zeroed by the cluster",
        Kind::Loop if limit == UINT_MAX_BYTES => {
            "as a loop on a file shows it: PUNCH_HOLE or ZERO_RANGE of its filesystem, and 0 once that refused"
        }
        Kind::Loop => "as a loop on a device shows it: the limit of that device; its unmap limit is not passed on",
        Kind::Zram => "frees memory, without any command",
        Kind::Ublk => "the server's own figure",
        Kind::Drbd => "the peer agreed to it, whatever the backing disk has",
        Kind::Zvol => "the pool frees the blocks, and keeps them where a snapshot has them",
        Kind::Dasd => "an FBA disk with the discard feature: the same limit as for discard",
        Kind::Nvme if limit == UINT_MAX_SECTORS => "no limit: sent as Dataset Management (the quirk deallocate_zeroes)",
        Kind::Nvme => "WZSL where it is given, else the transfer limit of the controller",
        Kind::Scsi => "WRITE SAME: MAXIMUM WRITE SAME LENGTH, else 65535 blocks",
        Kind::Dm => "the least of its members; every target passes zeroing on",
        Kind::Md => "the least of its members and the chunk",
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
            why_none(f).or_else(of_table).unwrap_or_else(|| "nothing that is known says why".to_owned())
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
            assert!(!said.is_empty() && !said.starts_with("nothing"), "{name}: {said}");
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
        assert!(behind("mpt3sas\n").starts_with("nothing"));
        let sata = with("sda", &[("queue/write_zeroes_max_bytes", "0"), ("device/vendor", "ATA     \n")]);
        assert!(note(&sata).contains("libata"));
    }

    #[test]
    fn stacks() {
        let md = |level: &str| note(&with("md0", &[("queue/write_zeroes_max_bytes", "0"), ("md/level", level)]));
        assert!(md("raid5").contains("raid5") && md("raid0").starts_with("nothing"));
        let dm = |uuid: &str| note(&with("dm-0", &[("queue/write_zeroes_max_bytes", "0"), ("dm/uuid", uuid)]));
        assert!(dm("CRYPT-LUKS2-0-x").contains("dm-crypt"));
    }
}
