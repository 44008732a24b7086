//! What is proved of a disk wherever on it a test is to write. Reads only.

use super::checks::{same_device, Checks};
use super::place::ScratchSpec;
use super::proof::{Asked, Known};
use crate::device::Device;
use crate::error::Result;

/// What is proved of a disk wherever on it the test is to write.
pub(super) fn of_disk(on: &Asked<'_>, device: &Device, place: &ScratchSpec, known: &Known) -> Result<Checks> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    checks.lines.push("whole-disk lock (flock) is held".to_owned());
    same_device(&mut checks, on.root, device, &on.opened)?;
    checks.require(!known.read_only, "not read-only", || "it is read-only".to_owned())?;
    checks.require(!known.zoned, "not zoned", || "it is zoned: a blind write would break its zones".to_owned())?;
    checks.require(known.same_identity.is_empty(), "no other device bears its identity", || {
        format!("{} bears the same identity: it may be another path to this medium", known.same_identity.join(", "))
    })?;
    if let Some(why) = &known.thin {
        checks.require(known.thin_ok, &format!("thinly provisioned ({why}), allowed by --thin-ok"), || {
            format!("{why}: writing takes space from its pool; allow it with --thin-ok")
        })?;
    }
    if let Some(why) = &known.shared {
        let own_place = matches!(place, ScratchSpec::Label | ScratchSpec::Node(_));
        checks.require(known.shared_ok || own_place, &format!("perhaps shared with other machines ({why})"), || {
            format!(
                "{why}, and what another machine writes is not seen here; name a partition that is scratch, or, if no other \
                 machine uses it, allow it with --shared-ok"
            )
        })?;
    }
    Ok(checks)
}

/// What is proved of it for a place that somebody named, in lines.
pub fn any_place(on: &Asked<'_>, device: &Device, known: &Known) -> Result<Vec<String>> {
    of_disk(on, device, &ScratchSpec::Node(String::new()), known).map(|checks| checks.lines)
}
