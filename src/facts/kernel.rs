//! The release of the kernel: where it is read, and its major and minor number.

use crate::fact::Fact;
pub use crate::machine::environment::kernel_version as version;
use crate::machine::fs::root::Root;

/// The release as the kernel spells it: `6.17.0-rc3+`.
pub fn release(root: &Root) -> Fact<String> {
    root.text("proc/sys/kernel/osrelease")
}
