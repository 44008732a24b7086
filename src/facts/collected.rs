//! All facts of one device, and the questions that need more than one reading. It reads nothing itself.

use crate::device::{Device, Key};
use crate::fact::Fact;
use crate::facts::device::{Names, LIBATA_VENDOR};
use crate::facts::{initial, kernel, nvme, queue, scsi, stack, Bus, Reading};

/// All that was gathered of one device.
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
            Some(vendor) => vendor == LIBATA_VENDOR,
            None => {
                self.names.transport.known().is_some_and(|t| t == "ata")
                    || self.names.identity.as_ref().is_some_and(|i| i.as_str().starts_with("t10.ATA "))
            }
        }
    }

    /// The kernel release as major and minor number.
    pub fn kernel_version(&self) -> Option<(u32, u32)> {
        kernel::version(self.kernel.known()?)
    }
}

impl From<&Facts> for Key {
    fn from(facts: &Facts) -> Key {
        let names = &facts.names;
        Key { identity: names.identity.clone(), devnum: facts.device.devnum, instance: names.instance.clone() }
    }
}
