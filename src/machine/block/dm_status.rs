//! What device mapper says of a thin volume: how many sectors are mapped, and whether it has an origin outside its pool.
//! Needs root; asks only.

use crate::device::Devnum;
use crate::machine::sys::{dm_table_status, DM_BUFFER, DM_HEADER};
use rustix::fs::{Mode, OFlags};

/// `DM_STATUS_TABLE_FLAG`: the table instead of the status.
const TABLE_FLAG: u32 = 1 << 4;
/// `DM_BUFFER_FULL_FLAG`: the answer did not fit.
const BUFFER_FULL_FLAG: u32 = 1 << 8;
/// Length of `struct dm_target_spec`, which stands before each target's text.
const SPEC: usize = 40;

/// A target: its type and its text.
pub type Target = (String, String);

/// Sectors that a thin volume has mapped; `None` where it is no thin volume of one target without an external origin, or
/// cannot be asked.
pub fn thin_mapped_sectors(devnum: Devnum) -> Option<u64> {
    let [(kind, table)] = ask(devnum, TABLE_FLAG)?.try_into().ok()?;
    // "pool id [origin]": what is not mapped reads as the origin, not as zero.
    if kind != "thin" || table.split_whitespace().count() != 2 {
        return None;
    }
    let [(_, status)] = ask(devnum, 0)?.try_into().ok()?;
    mapped(&status)
}

/// The first word of a thin target's status: "24576 24575", or "0 -"; "Fail" and "Error" are no number.
fn mapped(status: &str) -> Option<u64> {
    status.split_whitespace().next()?.parse().ok()
}

fn ask(devnum: Devnum, flags: u32) -> Option<Vec<Target>> {
    let open = OFlags::RDWR | OFlags::CLOEXEC;
    let control = rustix::fs::open("/dev/mapper/control", open, Mode::empty()).ok()?;
    let mut buffer = Box::new([0u8; DM_BUFFER]);
    let mut put = |at: usize, bytes: &[u8]| buffer[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &4u32.to_ne_bytes());
    put(16, &(DM_HEADER as u32).to_ne_bytes());
    put(28, &flags.to_ne_bytes());
    // The kernel's huge_encode_dev.
    let (major, minor) = (u64::from(devnum.major), u64::from(devnum.minor));
    put(40, &((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)).to_ne_bytes());
    dm_table_status(control, &mut buffer).ok()?;
    targets(buffer.as_slice())
}

/// The targets of an answer: type and text of each; `None` where it makes no sense.
pub fn targets(buffer: &[u8]) -> Option<Vec<Target>> {
    let number = |at: usize| Some(u32::from_ne_bytes(buffer.get(at..at.checked_add(4)?)?.try_into().ok()?));
    if number(28)? & BUFFER_FULL_FLAG != 0 {
        return None;
    }
    let data = number(16)? as usize;
    let mut at = data;
    let mut targets = Vec::new();
    for _ in 0..number(20)? {
        // More than fit are none, and one that leads back would never end.
        if targets.len() > buffer.len() / SPEC {
            return None;
        }
        let text = |from: usize, to: usize| {
            let bytes = buffer.get(from..to)?;
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        targets.push((text(at.checked_add(24)?, at.checked_add(SPEC)?)?, text(at.checked_add(SPEC)?, buffer.len())?));
        // `next` counts from the start of the data.
        at = data.checked_add(number(at.checked_add(20)?)? as usize)?;
    }
    Some(targets)
}

#[cfg(test)]
mod tests {
    use super::mapped;

    #[test]
    fn status_of_a_thin_target() {
        assert_eq!(mapped("24576 24575"), Some(24576));
        assert_eq!(mapped("0 -"), Some(0));
        assert_eq!(mapped("Fail"), None);
        assert_eq!(mapped(""), None);
    }
}
