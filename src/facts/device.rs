//! Names, sizes and flags of a device, from sysfs only where sysfs has them (DESIGN 2, fieldguide 3.6). It judges nothing.
//!
//! All text of a device is escaped and trimmed here, so no other code gets raw text.

use crate::device::identity::Parts;
use crate::device::{Device, Identity, Instance, Kind};
use crate::fact::Fact;
use crate::facts::field::{text_of, Reading};
use crate::facts::{nvme, queue::Queue, Bus, Depth};
use crate::machine::clock;
use crate::machine::fs::root::Root;
use crate::units::SECTOR;

/// The vendor of INQUIRY that libata puts there.
pub const LIBATA_VENDOR: &str = "ATA";

/// What an element of the sysfs path below `devices/` says of the transport; the innermost that fits decides.
const PATH_TRANSPORTS: &[(&str, &str)] = &[
    ("usb", "usb"),
    ("ata", "ata"),
    ("end_device-", "sas"),
    ("rport-", "fc"),
    ("session", "iscsi"),
    ("virtio", "virtio"),
];

/// Names, sizes and flags of a device.
#[derive(Debug, Clone)]
pub struct Names {
    /// The identity, where there is a stable one.
    pub identity: Option<Identity>,
    /// Vendor, model, serial, firmware: text of the device, escaped, trimmed.
    pub vendor: Fact<String>,
    /// See [`Names::vendor`].
    pub model: Fact<String>,
    /// See [`Names::vendor`].
    pub serial: Fact<String>,
    /// See [`Names::vendor`].
    pub firmware: Fact<String>,
    /// `pcie`, `tcp`, `usb`, `ata`, `virtio`, …
    pub transport: Fact<String>,
    /// The kernel driver's name: `nvme`, `sd`, `virtio_blk`.
    pub driver: Fact<String>,
    /// Size in bytes (`size` counts 512-byte sectors), else NSZE or READ CAPACITY(16).
    pub size_bytes: Fact<u64>,
    /// `diskseq`.
    pub diskseq: Fact<u64>,
    /// What tells the device from the next one of its number.
    pub instance: Instance,
    /// `ro`.
    pub read_only: Fact<bool>,
    /// `removable`.
    pub removable: Fact<bool>,
    /// `hidden`.
    pub hidden: Fact<bool>,
}

/// Gathers the names of a device.
pub fn gather(
    root: &Root,
    device: &Device,
    bus: &Bus,
    queue: &Queue,
    depth: Depth,
    readings: &mut Vec<Reading>,
) -> Names {
    let text = |relative: &str| root.read(&device.attr(relative)).and_then(|b| text_of(&b));
    let controller = |name: &str| nvme::controller_text(root, device, name);
    // The kernel's files show these bytes of its INQUIRY (drivers/scsi/scsi_scan.c), which an event has read already.
    let inquiry = |file: &str, page: &Fact<String>| match depth.lean() {
        true => page.clone().or(|| text(file)),
        false => text(file).or(|| page.clone()),
    };
    let (vendor, model, serial, firmware) = match (device.kind, bus) {
        (Kind::Nvme, Bus::Nvme(n)) => (
            Fact::ABSENT,
            controller("model").or(|| n.mn.clone()),
            controller("serial").or(|| n.sn.clone()),
            controller("firmware_rev").or(|| n.fr.clone()),
        ),
        (Kind::Scsi, Bus::Scsi(s)) => (
            inquiry("device/vendor", &s.inquiry_vendor),
            inquiry("device/model", &s.inquiry_product),
            s.unit_serial.clone(),
            inquiry("device/rev", &s.inquiry_revision),
        ),
        (Kind::Mmc, _) => (Fact::ABSENT, text("device/name"), text("device/serial"), text("device/fwrev")),
        (Kind::Virtio, _) => (Fact::ABSENT, Fact::ABSENT, text("serial"), Fact::ABSENT),
        _ => (Fact::ABSENT, text("device/model"), Fact::ABSENT, Fact::ABSENT),
    };
    let transport = transport(root, device, &vendor);
    let driver = driver(root, device, bus, depth);
    let size_bytes = size(root, device, bus, queue);
    let diskseq = root.number(&device.attr("diskseq"));
    let identity = identity(root, device);
    let instance = match &identity {
        // What is kept goes by the identity: an event need not ask for more.
        Some(_) => Instance { diskseq: diskseq.get(), ..Instance::default() },
        None => instance_of(root, diskseq.get(), size_bytes.get()),
    };
    let more = depth.more_than_the_answer();
    let names = Names {
        identity,
        vendor,
        model,
        serial,
        firmware,
        transport,
        driver,
        instance,
        size_bytes,
        diskseq,
        read_only: if more { root.flag(&device.attr("ro")) } else { Fact::NOT_ASKED },
        removable: if more { root.flag(&device.attr("removable")) } else { Fact::NOT_ASKED },
        // See [`is_hidden`].
        hidden: if !more && !nvme::is_path_name(&device.name) {
            Fact::NOT_ASKED
        } else {
            root.flag(&device.attr("hidden"))
        },
    };
    let file = |field: &str, value: &Fact<String>| Reading {
        source: "sysfs".to_owned(),
        field: field.to_owned(),
        // Escaped once already.
        raw: value.clone(),
        says: None,
        claim: false,
    };
    let flag = |value: &Fact<bool>| value.as_ref().map(|b| u8::from(*b).to_string());
    readings.extend([
        file("vendor", &names.vendor),
        file("model", &names.model),
        file("serial", &names.serial),
        file("firmware", &names.firmware),
        file("transport", &names.transport).saying(transport_words(device.kind, &names.transport)),
        file("driver", &names.driver),
        file("diskseq", &names.diskseq.as_ref().map(u64::to_string)),
        file("ro", &flag(&names.read_only)),
        file("removable", &flag(&names.removable)),
        file("hidden", &flag(&names.hidden)),
    ]);
    names
}

/// Whether a disk is a hidden path of a multipath head. Only NVMe multipath hides disks, and names them nvme0c1n1.
pub fn is_hidden(root: &Root, device: &Device) -> bool {
    nvme::is_path_name(&device.name) && root.flag(&device.attr("hidden")).is(true)
}

/// The stable identity of a device from what sysfs shows.
pub fn identity(root: &Root, device: &Device) -> Option<Identity> {
    // What stands behind these may be another thing at any time: the kernel has no name for it.
    if matches!(device.kind, Kind::Loop | Kind::Nbd | Kind::Zram | Kind::Ram) {
        return None;
    }
    let text = |relative: &str| root.read(&device.attr(relative)).and_then(|b| text_of(&b));
    // The kernel gives these kinds no wwid, and the others nothing but it: an event need not ask for what cannot be there.
    let without_wwid = matches!(device.kind, Kind::Dm | Kind::Md | Kind::Virtio | Kind::Mmc);
    let wwid = match device.kind {
        Kind::Scsi => text("device/wwid").or(|| text("wwid")),
        _ => text("wwid").or(|| if without_wwid { Fact::ABSENT } else { text("device/wwid") }),
    };
    let of = |kind: Kind, file: &str| if device.kind == kind { text(file) } else { Fact::NOT_ASKED };
    let (dm, md) = (of(Kind::Dm, "dm/uuid"), of(Kind::Md, "md/uuid"));
    let (serial, cid) = (of(Kind::Virtio, "serial"), of(Kind::Mmc, "device/cid"));
    let parts = Parts {
        wwid: wwid.known().map(String::as_str),
        dm_uuid: dm.known().map(String::as_str),
        md_uuid: md.known().map(String::as_str),
        virtio_serial: serial.known().map(String::as_str),
        mmc_cid: cid.known().map(String::as_str),
    };
    Identity::from_parts(device.kind, &device.name, &parts)
}

/// What tells a device from the next one of its number. On a kernel without sequence numbers that is the boot and the size,
/// which count nowhere else.
pub fn instance(root: &Root, device: &Device) -> Instance {
    let size = || root.number(&device.attr("size")).get().and_then(|n| n.checked_mul(SECTOR));
    let diskseq = root.number(&device.attr("diskseq")).get();
    instance_of(root, diskseq, if diskseq.is_none() { size() } else { None })
}

fn instance_of(root: &Root, diskseq: Option<u64>, size: Option<u64>) -> Instance {
    match diskseq {
        Some(_) => Instance { diskseq, ..Instance::default() },
        None => Instance { diskseq, boot_id: clock::boot_id(root), size_bytes: size },
    }
}

fn transport(root: &Root, device: &Device, vendor: &Fact<String>) -> Fact<String> {
    let known = |s: &str| Fact::Known(s.to_owned());
    match device.kind {
        Kind::Nvme => nvme::controller_text(root, device, "transport"),
        Kind::Virtio => known("virtio"),
        Kind::Mmc => known("mmc"),
        Kind::Scsi => {
            let link = root.link(&device.sys);
            let along = link.known().map_or("", String::as_str);
            // The path tells more, and a live root has no such file: so a recording answers as its machine did.
            let bus = if along.is_empty() { udev_bus(root, device) } else { None };
            // A bridge may hand on libata's vendor text, so USB is asked for first.
            if along.contains("/usb") || bus.as_deref() == Some("usb") {
                return known("usb");
            }
            if vendor.known().is_some_and(|v| v == LIBATA_VENDOR) || bus.as_deref() == Some("ata") {
                return known("ata");
            }
            let of_element = |element: &str| {
                let fits = |prefix: &str| {
                    element.strip_prefix(prefix).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
                };
                PATH_TRANSPORTS.iter().find(|(prefix, _)| fits(prefix)).map(|(_, word)| *word)
            };
            along.rsplit('/').find_map(of_element).map_or(Fact::ABSENT, known)
        }
        _ => Fact::ABSENT,
    }
}

/// What a transport of NVMe over fabrics means for the claims.
fn transport_words(kind: Kind, transport: &Fact<String>) -> Option<String> {
    let word = transport.known().filter(|_| kind == Kind::Nvme)?;
    match word.as_str() {
        "tcp" | "rdma" | "fc" | "loop" => Some(
            "over fabrics: claims and limits come from the target; nvmet claims DEAC only since Linux 6.17".to_owned(),
        ),
        _ => None,
    }
}

/// `ID_BUS` of the recorded udev properties.
fn udev_bus(root: &Root, device: &Device) -> Option<String> {
    let properties = root.text(&format!("udev/{}", device.name));
    let bus = properties.known()?.lines().find_map(|l| l.strip_prefix("ID_BUS="))?;
    text_of(bus.as_bytes()).known().cloned()
}

/// The driver's name: of the disk's own device, and for NVMe of the bus device below its controller.
fn driver(root: &Root, device: &Device, bus: &Bus, depth: Depth) -> Fact<String> {
    // A head's driver is that of the controllers below its subsystem: too long a way for an event.
    let head = matches!(bus, Bus::Nvme(n) if matches!(n.role, nvme::Role::Head));
    if head && depth.lean() {
        return Fact::NOT_ASKED;
    }
    let mut found = root.link_name(&device.attr("device/driver"));
    if device.kind == Kind::Nvme {
        found = found.or(|| nvme::in_controller(root, device, |dir| root.link_name(&format!("{dir}/device/driver"))));
    }
    found.and_then(|name| text_of(name.as_bytes()))
}

/// The size: sysfs counts sectors of 512 bytes whatever the block; else what the device says of its blocks.
fn size(root: &Root, device: &Device, bus: &Bus, queue: &Queue) -> Fact<u64> {
    let bytes = |count: u64, unit: u64| match count.checked_mul(unit) {
        Some(n) => Fact::Known(n),
        None => Fact::malformed(format!("{count} blocks of {unit} bytes")),
    };
    root.number(&device.attr("size")).and_then(|n| bytes(n, SECTOR)).or(|| match bus {
        Bus::Nvme(n) => {
            let block = queue.logical_block.clone().or(|| n.lba_bytes());
            n.nsze.clone().and_then(|count| block.and_then(|unit| bytes(count, unit)))
        }
        Bus::Scsi(s) => s.last_lba.clone().and_then(|last| match last.checked_add(1) {
            Some(count) => s.block_length.clone().and_then(|unit| bytes(count, unit)),
            None => Fact::malformed("a last block of all ones"),
        }),
        Bus::Other => Fact::ABSENT,
    })
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
