//! What is proved for a disk, wherever on it a test writes. It only reads.

use super::checks::{same_device, Checks};
use super::place::ScratchSpec;
use super::proof::{Asked, Known};
use crate::device::Device;
use crate::error::Result;

/// What is proved of a disk wherever on it the test is to write.
pub(super) fn of_disk(on: &Asked<'_>, device: &Device, place: &ScratchSpec, known: &Known) -> Result<Checks> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    checks.lines.push("the lock (flock) of the whole disk is held".to_owned());
    same_device(&mut checks, on.root, device, &on.opened)?;
    checks.require(!known.read_only, "not read-only", || "it is read-only".to_owned())?;
    checks.require(!known.zoned, "not zoned", || {
        "it is zoned, and a test would write where its zones do not allow it".to_owned()
    })?;
    checks.require(known.same_identity.is_empty(), "no other device has the same identity", || {
        format!(
            "{} has the same identity, so it may be another path to the same medium",
            known.same_identity.join(", ")
        )
    })?;
    if let Some(why) = &known.thin {
        checks.require(known.thin_ok, &format!("thinly provisioned ({why}), allowed by --thin-ok"), || {
            format!("it is {why}, so writing takes space from a pool; allow that with --thin-ok")
        })?;
    }
    if let Some(why) = &known.shared {
        let own_place = matches!(place, ScratchSpec::Label | ScratchSpec::Node(_));
        checks.require(
            known.shared_ok || own_place,
            &format!("it may be shared with other machines ({why})"),
            || {
                format!(
                    "{why}, and this machine cannot see what they write; name a partition for the test, or allow this \
                 range with --shared-ok if no other machine uses it"
                )
            },
        )?;
    }
    Ok(checks)
}

/// What is proved of it for a place that somebody named, in lines.
pub fn any_place(on: &Asked<'_>, device: &Device, known: &Known) -> Result<Vec<String>> {
    of_disk(on, device, &ScratchSpec::Node(String::new()), known).map(|checks| checks.lines)
}
