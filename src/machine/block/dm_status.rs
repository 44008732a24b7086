//! What device mapper says about a device: its table, and for a thin volume the number of mapped sectors. It needs root and
//! only asks.

use crate::device::Devnum;
use crate::fact::{Fact, Why};
use crate::machine::sys::{dm_table_status, DM_BUFFER, DM_HEADER};
use crate::units::SECTOR;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// `DM_STATUS_TABLE_FLAG`: the table instead of the status.
const TABLE_FLAG: u32 = 1 << 4;
/// `DM_BUFFER_FULL_FLAG`: the answer did not fit.
const BUFFER_FULL_FLAG: u32 = 1 << 8;
/// `DM_SUSPEND_FLAG`: the device lets no command through.
const SUSPEND_FLAG: u32 = 1 << 1;
/// `DM_INACTIVE_PRESENT_FLAG`: another table waits to take the place of this one.
const INACTIVE_PRESENT_FLAG: u32 = 1 << 6;
/// Length of `struct dm_target_spec`, which stands before each target's text.
const SPEC: usize = 40;

/// A target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The first byte of the device that it serves.
    pub start: u64,
    /// So many bytes.
    pub length: u64,
    /// Its type: `linear`.
    pub kind: String,
    /// Its parameters, or its status.
    pub text: String,
}

/// The table of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its targets, in the order of the device's bytes.
    pub targets: Vec<Target>,
    /// No command goes through at the moment.
    pub suspended: bool,
    /// Another table is loaded and waits for the next suspension.
    pub another_waits: bool,
}

/// The table of a device, and whether it works by it at the moment.
pub fn table(devnum: Devnum) -> Fact<Table> {
    let answer = match ask(devnum, TABLE_FLAG) {
        Ok(answer) => answer,
        Err(Errno::NXIO) => return Fact::ABSENT,
        Err(e) => return Fact::Unknown(Why::Refused(format!("device mapper: {e}"))),
    };
    let flags = number(answer.as_slice(), 28).unwrap_or(0);
    let is_set = |flag: u32| flags & flag != 0;
    match targets(answer.as_slice()) {
        Some(targets) => {
            let (suspended, another_waits) = (is_set(SUSPEND_FLAG), is_set(INACTIVE_PRESENT_FLAG));
            Fact::Known(Table { targets, suspended, another_waits })
        }
        None => Fact::malformed("device mapper's table is longer than this program reads, or makes no sense"),
    }
}

/// Sectors that a thin volume has mapped; `None` where it is no thin volume of one target without an external origin, or
/// cannot be asked.
pub fn thin_mapped_sectors(devnum: Devnum) -> Option<u64> {
    let one = |flags| <[Target; 1]>::try_from(targets(ask(devnum, flags).ok()?.as_slice())?).ok();
    let [table] = one(TABLE_FLAG)?;
    // "pool id [origin]": what is not mapped reads as the origin, not as zero.
    if table.kind != "thin" || table.text.split_whitespace().count() != 2 {
        return None;
    }
    let [status] = one(0)?;
    mapped(&status.text)
}

/// The first word of a thin target's status: "24576 24575", or "0 -"; "Fail" and "Error" are no number.
fn mapped(status: &str) -> Option<u64> {
    status.split_whitespace().next()?.parse().ok()
}

fn ask(devnum: Devnum, flags: u32) -> Result<Box<[u8; DM_BUFFER]>, Errno> {
    let open = OFlags::RDWR | OFlags::CLOEXEC;
    let control = rustix::fs::open("/dev/mapper/control", open, Mode::empty())?;
    let mut buffer = Box::new([0u8; DM_BUFFER]);
    let mut put = |at: usize, bytes: &[u8]| buffer[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &4u32.to_ne_bytes());
    put(16, &(DM_HEADER as u32).to_ne_bytes());
    put(28, &flags.to_ne_bytes());
    // The kernel's huge_encode_dev.
    let (major, minor) = (u64::from(devnum.major), u64::from(devnum.minor));
    put(40, &((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)).to_ne_bytes());
    dm_table_status(control, &mut buffer)?;
    Ok(buffer)
}

fn number(buffer: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(buffer.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The targets of an answer; `None` where it makes no sense.
pub fn targets(buffer: &[u8]) -> Option<Vec<Target>> {
    let number = |at: usize| number(buffer, at);
    let bytes = |at: usize| {
        let sectors = u64::from_ne_bytes(buffer.get(at..at.checked_add(8)?)?.try_into().ok()?);
        sectors.checked_mul(SECTOR)
    };
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
        let (start, length) = (bytes(at)?, bytes(at.checked_add(8)?)?);
        let (kind, text) =
            (text(at.checked_add(24)?, at.checked_add(SPEC)?)?, text(at.checked_add(SPEC)?, buffer.len())?);
        targets.push(Target { start, length, kind, text });
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
