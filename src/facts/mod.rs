//! Turns readings into typed facts of one device. It judges nothing and writes nothing.
//!
//! There is one file for each bus. `gather` asks the port only if sysfs does not have the answer, and it never fails: what
//! could not be read is a [`Fact`](crate::fact::Fact) that says why. `readings` has every field under its specification name,
//! for `probe`, the claims and JSON.

pub mod ata;
pub mod backend;
pub mod backing;
pub mod bus;
pub mod claims;
pub mod collected;
pub mod depth;
pub mod device;
pub mod driver_files;
pub mod field;
pub mod file;
mod gather;
pub mod initial;
pub mod kernel;
pub mod knob;
pub mod nvme;
pub mod offload;
pub mod page;
pub mod path;
pub mod queue;
pub mod scsi;
pub mod stack;
#[cfg(test)]
pub mod testing;

pub use bus::Bus;
pub use collected::Facts;
pub use depth::Depth;
pub use device::Names;
pub use field::Reading;
pub use gather::gather;
