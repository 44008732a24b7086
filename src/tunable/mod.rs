//! The kernel's tunables that depend on the verdict: which there are, and whether one is to be written. Plans only.

pub mod plan;

/// A managed tunable.
#[derive(Debug)]
pub struct Row {
    /// The name, as in properties and JSON.
    pub name: &'static str,
    /// The path below the device's directory.
    pub path: &'static str,
    /// The file that holds the kernel's default value.
    pub default: &'static str,
    /// What it changes.
    pub changes: &'static str,
    /// What resets it.
    pub reset_by: &'static str,
}

/// The managed tunables.
pub const MANAGED: &[Row] = &[Row {
    name: "write_zeroes_unmap_max_bytes",
    path: "queue/write_zeroes_unmap_max_bytes",
    default: "queue/write_zeroes_unmap_max_hw_bytes",
    changes: "whether FALLOC_FL_WRITE_ZEROES is let through to the device",
    reset_by: "removal of the device, reboot; for dm a reload of the table",
}];
