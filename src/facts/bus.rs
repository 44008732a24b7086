//! What the bus of a device says: one form for each bus of which more is read than sysfs shows of every disk.

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
