//! Wall-clock time as text, the boot's identity, and a seed: what a record needs to say when and where it was made.

use crate::fact::Fact;
use crate::machine::fs::root::Root;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as RFC 3339 in UTC with seconds.
pub fn now_utc() -> String {
    let secs = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    utc(secs)
}

/// Seconds since 1970 as RFC 3339 in UTC (the civil calendar by Howard Hinnant's days-to-date algorithm).
pub fn utc(secs: u64) -> String {
    let (days, rest) = (secs / 86_400, secs % 86_400);
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
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

#[cfg(test)]
mod tests {
    #[test]
    fn dates() {
        assert_eq!(super::utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(super::utc(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(super::utc(1_796_025_600), "2026-11-30T08:00:00Z");
    }
}
