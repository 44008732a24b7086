//! Block devices as the kernel shows them: names, partitions, locks, signatures. It reads, and it makes partitions in the
//! kernel's view only; it writes nothing to a medium.

pub mod blkid;
pub mod controller;
pub mod dependents;
pub mod devices;
pub mod dm_status;
pub mod exports;
pub mod hold;
pub mod locked_disk;
pub mod loop_device;
pub mod loops;
pub mod named;
pub mod names;
pub mod openers;
pub mod read_zero;
pub mod served;
pub mod stack;
pub mod swaps;
