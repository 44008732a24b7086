//! What the bus of a device says. There is one form for each bus that has more to read than sysfs shows for every disk.

use crate::facts::{nvme, scsi};

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
