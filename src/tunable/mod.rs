//! The kernel's tunables that concern zeroing: which ones exist, whether one has to be written, and who wrote it. It has
//! plans and words only; `jobs` reads and writes.

pub mod plan;
mod registry;

use crate::device::Kind;
use crate::fact::Fact;
use crate::facts::Facts;
pub use registry::ROWS;

/// One tunable.
pub struct Row {
    /// The name, as in properties and JSON.
    pub name: &'static str,
    /// The path below the device's directory; a `*` stands for the one directory there.
    pub path: &'static str,
    /// Whether zerocap sets it; the others are shown only.
    pub managed: bool,
    /// Which devices have it.
    pub who: &'static str,
    /// What it accepts.
    pub accepts: &'static str,
    /// What it changes.
    pub changes: &'static str,
    /// What resets it.
    pub reset_by: &'static str,
    /// Whether it can be put back.
    pub put_back: &'static str,
    /// What it is now.
    now: fn(&Facts) -> Fact<String>,
    /// What the kernel would have it be, where that is known.
    kernel: fn(&Facts) -> Option<String>,
    /// What is to be written for a value, or why it must not be.
    encode: fn(&Facts, &str) -> Result<String, String>,
    /// Whether the kernel loses it without the device going, so that every event looks after it.
    volatile: fn(&Facts) -> bool,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

/// The tunables that zerocap sets.
pub fn managed() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|r| r.managed)
}

/// The row of this name.
pub fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|r| r.name == name)
}

impl Row {
    /// What it is now, from facts that were read already.
    pub fn now(&self, facts: &Facts) -> Fact<String> {
        (self.now)(facts)
    }

    /// What the kernel would have it be, where that is known.
    pub fn kernel(&self, facts: &Facts) -> Option<String> {
        (self.kernel)(facts)
    }

    /// What is to be written so that it becomes this value, or why it must not be written.
    pub fn encode(&self, facts: &Facts, value: &str) -> Result<String, String> {
        (self.encode)(facts, value)
    }

    /// Whether the kernel loses it on events that leave the device where it is.
    pub fn is_volatile(&self, facts: &Facts) -> bool {
        (self.volatile)(facts)
    }

    /// The path below this device's directory; `None` where the device cannot have it.
    pub fn file(&self, facts: &Facts) -> Option<String> {
        match self.path.split_once("/*/") {
            None => Some(self.path.to_owned()),
            Some((_, name)) => facts.scsi()?.scsi_disk.as_ref().map(|dir| format!("{dir}/{name}")),
        }
    }
}

/// Whether the kernel withdrew the offload at run time and left its limits wedged: every limit write gives EINVAL until a
/// rescan (fieldguide 1.4 b).
pub fn wedged(facts: &Facts) -> bool {
    facts.queue.unmap_hw.get().is_some_and(|hw| hw > 0) && facts.queue.write_zeroes_max.is(0)
}

/// What wedged limits mean and what to do.
pub fn wedged_text(kind: Kind) -> String {
    let cure = match kind {
        Kind::Scsi => {
            "a rescan makes them writable again (run `zerocap tune apply --rescan`, or write 1 to \
                       device/rescan)"
        }
        Kind::Dm => "rescan the devices below it, then reload its table to make them writable again",
        Kind::Md => "rescan the devices below it, then stop and assemble it to make them writable again",
        _ => "remove and add the device to make them writable again",
    };
    format!(
        "the limits are wedged: the kernel withdrew the zeroing offload at run time, and every write of a limit \
         gives EINVAL; {cure}; the offload itself stays off until the device is removed and added again"
    )
}
