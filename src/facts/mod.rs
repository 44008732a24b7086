//! Readings -> typed facts of one device. Gathers; judges nothing, writes nothing.
//!
//! One file a bus. `gather` asks the port only where sysfs has not the answer, and never fails: what could not be read is
//! a [`Fact`] that says why. `readings` holds every field by its specification name, for `probe`, claims and JSON.

pub mod ata;
pub mod backing;
pub mod device;
pub mod driver_files;
pub mod field;
pub mod initial;
pub mod nvme;
pub mod offload;
pub mod page;
pub mod path;
pub mod queue;
pub mod scsi;
pub mod stack;
#[cfg(test)]
pub mod testing;

use crate::device::{Device, Identity, Kind};
use crate::fact::Fact;
use crate::machine::fs::root::Root;
use crate::machine::port::Port;
pub use field::Reading;

/// The whole picture of one device.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The device.
    pub device: Device,
    /// Names, sizes and flags of the device.
    pub names: Names,
    /// The queue limits.
    pub queue: queue::Queue,
    /// What the bus says.
    pub bus: Bus,
    /// What the device is made of.
    pub stack: stack::Stack,
    /// What it holds, as far as that is known without reading it.
    pub initial: initial::Initial,
    /// `proc/sys/kernel/osrelease`.
    pub kernel: Fact<String>,
    /// Every field that was read, in the order it is shown.
    pub readings: Vec<Reading>,
}

/// What the bus says.
#[derive(Debug, Clone)]
pub enum Bus {
    /// NVMe identify data.
    Nvme(Box<nvme::Nvme>),
    /// SCSI pages and `scsi_disk` attributes, with what ATA says behind a translation.
    Scsi(Box<scsi::Scsi>),
    /// No bus of which more is read.
    Other,
}

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
    /// `ro`.
    pub read_only: Fact<bool>,
    /// `removable`.
    pub removable: Fact<bool>,
    /// `hidden`.
    pub hidden: Fact<bool>,
}

/// How much may be asked while gathering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Neither a queue file nor a command: a test of this boot has not come back, and both may block behind it.
    Quiet,
    /// Files, and a command only where a claim needs one that sysfs has not (the rule's way).
    Event,
    /// What the findings rest on: Identify, or READ CAPACITY(16) and the VPD pages that sysfs has not (`show`, `check`).
    Claims,
    /// Every question that fits the bus (`probe`, `record`).
    All,
}

impl Depth {
    /// Whether only what the answer rests on is read: an event has a budget of system calls.
    pub(crate) fn lean(self) -> bool {
        matches!(self, Depth::Quiet | Depth::Event)
    }

    /// Whether commands may be sent for claims.
    fn asks(self, queue: &queue::Queue) -> bool {
        match self {
            Depth::Quiet => false,
            Depth::Event => queue.unmap_hw.known().is_none(),
            Depth::Claims | Depth::All => true,
        }
    }
}

/// Gathers the whole picture of one device.
pub fn gather(root: &Root, port: &mut dyn Port, device: &Device, depth: Depth) -> Facts {
    let mut readings = Vec::new();
    let kernel = root.text("proc/sys/kernel/osrelease").map(|k| crate::device::display::escape_str(&k));
    let queue = queue::gather(root, device, depth, &mut readings);
    let bus = match device.kind {
        Kind::Nvme => Bus::Nvme(Box::new(nvme::gather(root, port, device, &queue, depth, &mut readings))),
        Kind::Scsi => Bus::Scsi(Box::new(scsi::gather(root, port, device, &queue, depth, &mut readings))),
        _ => Bus::Other,
    };
    let names = device::gather(root, device, &bus, &queue, depth, &mut readings);
    let stack = stack::gather(root, device, &queue, depth, &mut readings);
    if depth == Depth::All {
        driver_files::gather(root, device, &mut readings);
    }
    let initial = initial::gather(root, port, device, (&bus, &stack), depth);
    let mut facts = Facts { device: device.clone(), names, queue, bus, stack, initial, kernel, readings };
    if depth == Depth::All {
        let mut notes = Vec::new();
        offload::notes(&facts, &mut notes);
        facts.readings.append(&mut notes);
        facts.readings = field::grouped(facts.readings);
    }
    facts
}

impl Facts {
    /// What NVMe says, of an NVMe device.
    pub fn nvme(&self) -> Option<&nvme::Nvme> {
        match &self.bus {
            Bus::Nvme(n) => Some(n),
            _ => None,
        }
    }

    /// What SCSI says, of a SCSI disk.
    pub fn scsi(&self) -> Option<&scsi::Scsi> {
        match &self.bus {
            Bus::Scsi(s) => Some(s),
            _ => None,
        }
    }

    /// The logical block in bytes: the kernel's, else the device's own.
    pub fn block_bytes(&self) -> Fact<u64> {
        self.queue.logical_block.clone().or(|| match &self.bus {
            Bus::Nvme(n) => n.lba_bytes(),
            Bus::Scsi(s) => s.block_length.clone(),
            Bus::Other => Fact::NOT_ASKED,
        })
    }

    /// Whether the disk is translated by libata, whose VPD B2 is a constant page: by its vendor; where that is not recorded,
    /// by the bus or by an identity that begins with it.
    pub fn is_libata(&self) -> bool {
        match self.names.vendor.known() {
            Some(vendor) => vendor == "ATA",
            None => {
                self.names.transport.known().is_some_and(|t| t == "ata")
                    || self.names.identity.as_ref().is_some_and(|i| i.as_str().starts_with("t10.ATA "))
            }
        }
    }

    /// The kernel release as major and minor number.
    pub fn kernel_version(&self) -> Option<(u32, u32)> {
        let release = self.kernel.known()?;
        let mut parts = release.split(|c: char| !c.is_ascii_digit());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }
}
