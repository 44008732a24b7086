//! Wall-clock time as text, the identity of the boot, and a seed: what a record needs to say when and where it was made.

use crate::fact::Fact;
use crate::machine::fs::root::Root;
use crate::units;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as RFC 3339 in UTC with seconds.
pub fn now_utc() -> String {
    units::utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}

/// The kernel's identity of this boot.
pub fn boot_id(root: &Root) -> Option<String> {
    match root.text("proc/sys/kernel/random/boot_id") {
        Fact::Known(id) if !id.is_empty() => Some(id),
        _ => None,
    }
}

/// Eight bytes that no earlier run had, from the kernel's random numbers.
pub fn fresh_seed() -> std::io::Result<u64> {
    use std::io::Read;
    let mut bytes = [0u8; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
