//! NVMe: the Identify pages, and what sysfs shows of a namespace (fieldguide 3.1, 3.2, 3.6). It judges nothing and writes
//! nothing.
//!
//! The field names are those of the NVM Express specifications; [`fields`] has the rows and [`bits`] the bits.

pub mod bits;
pub mod decode;
pub mod derived;
pub mod fields;
mod gather;
pub mod namespace;
pub mod quirks;

pub use gather::{controller_text, gather, in_controller, is_path_name, lba_format};
pub use namespace::{LbaFormat, Nvme, Role};

#[cfg(test)]
mod tests;
