//! A temporary partition in the kernel's view (BLKPG), so that the kernel itself enforces the bounds of a range, even beside
//! mounted partitions. Nothing on the disk changes.
//!
//! Each partition is recorded in a ledger below `/run` before it is made. Neither the partition nor the record outlives the
//! boot, so a partition that a killed test left is recognised and removed later.

use super::checks::{self, Checks};
use super::proof::Asked;
use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::fact::{Fact, Why};
use crate::machine::block::devices::{self, Partition};
use crate::machine::block::hold::Hold;
use crate::machine::fs::durable::Durable;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the node of a new partition may take to appear.
const NODE_WAIT: Duration = Duration::from_secs(10);

/// A note in the ledger, under the disk's `major:minor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    number: u64,
    start: u64,
    length: u64,
}

/// Makes the partition; `None` where the device can have none.
pub(super) fn make(
    checks: &mut Checks,
    on: &mut Asked<'_>,
    device: &Device,
    ledger: &mut dyn Durable,
    (start, length): (u64, u64),
) -> Result<Option<Partition>> {
    if !device.kind.partitionable() {
        return Ok(None);
    }
    // From the top, so that no number of a table read later is taken. sd has 15 minors of its own, but extended ones.
    let taken: Vec<u64> = checks::partitions(checks, on.root, device)?.iter().map(|p| p.number).collect();
    let Some(number) = (1..=250u64).rev().find(|n| !taken.contains(n)) else {
        return checks.refuse("there is no free partition number");
    };
    let name = name_of(on.opened.devnum);
    let note = serde_json::to_vec(&Note { number, start, length }).unwrap_or_default();
    ledger.replace(&name, &note)?;
    if !on.hold.add_partition(number as i32, start, length)? {
        ledger.remove(&name)?;
        return Ok(None);
    }
    // Not known here is not made as asked for: what was added is taken away again below.
    let now = devices::partitions(on.root, device).known().cloned().unwrap_or_default();
    let found = now.into_iter().find(|p| p.number == number);
    let made = found.filter(|p| (p.start, p.length) == (start, length));
    let ready = made.as_ref().and_then(|p| p.devnum.map(|d| (p.node(), (d.major, d.minor))));
    let there = ready.is_some_and(|(node, devnum)| on.hold.wait_for_node(&node, devnum, NODE_WAIT));
    match made.filter(|_| there) {
        Some(p) => {
            // Noted and made: if it cannot be kept open it goes again.
            if let Err(e) = on.hold.keep_open(&p.node()) {
                take_away(on.hold, on.opened.devnum, ledger, number)?;
                return Err(e);
            }
            checks.lines.push(format!("the kernel bounds the range as partition {} ({})", p.number, p.name));
            Ok(Some(p))
        }
        None => {
            take_away(on.hold, on.opened.devnum, ledger, number)?;
            checks.refuse("the temporary partition did not appear with the bounds that were asked for")
        }
    }
}

/// Takes a temporary partition away, and its note.
pub fn take_away(hold: &mut dyn Hold, disk: (u32, u32), ledger: &mut dyn Durable, number: u64) -> Result<()> {
    hold.delete_partition(number as i32)?;
    ledger.remove(&name_of(disk))
}

/// Takes away what a killed test left on a disk. Only a partition that is exactly as noted; what else has that number by
/// now is not ours.
pub fn take_stale_away(on: &mut Asked<'_>, device: &Device, ledger: &mut dyn Durable) -> Result<bool> {
    let name = name_of(on.opened.devnum);
    let Some(note) = ledger.read(&name)?.and_then(|b| serde_json::from_slice::<Note>(&b).ok()) else {
        return Ok(false);
    };
    let is_noted = |p: &Partition| (p.number, p.start, p.length) == (note.number, note.start, note.length);
    let now = match devices::partitions(on.root, device) {
        Fact::Known(now) => now,
        Fact::Unknown(Why::Absent) => Vec::new(),
        // The note stays for a later call.
        Fact::Unknown(why) => {
            let why = format!("it is not known which partitions it has ({why}); run `zerocap recover` again");
            return Err(Error::NotSafe { device: device.node(), why });
        }
    };
    let there = now.iter().any(is_noted);
    if there {
        on.hold.delete_partition(note.number as i32)?;
    }
    ledger.remove(&name)?;
    Ok(there)
}

/// The disks that have a note.
pub fn noted(ledger: &dyn Durable) -> Result<Vec<Devnum>> {
    Ok(ledger.list()?.iter().filter_map(|name| name.parse().ok()).collect())
}

fn name_of(disk: (u32, u32)) -> String {
    format!("{}:{}", disk.0, disk.1)
}
