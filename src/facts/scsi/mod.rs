//! SCSI disks: VPD pages, READ CAPACITY(16), `scsi_disk` attributes (fieldguide 4). Judges nothing, writes nothing.
//!
//! Rows and bits stand in [`fields`].

pub mod derived;
pub mod disk;
pub mod fields;
mod gather;
pub mod lba_status;
pub mod provisioning;
pub mod vpd;

pub use disk::{provisioning_mode_of_choice, zeroing_mode_of_choice, Scsi};
pub use gather::gather;

#[cfg(test)]
mod tests;
