//! The class that the claims alone suggest (DESIGN 2). It is pure; a claim never makes a class.

use crate::facts::scsi::Scsi;
use crate::facts::Facts;
use crate::terms::Class;
use crate::verdict::context::Ctx;
use crate::verdict::{findings, Finding};

/// What the claims let one expect: the first that holds.
pub fn expected(c: &Ctx<'_>, found: &[Finding]) -> Class {
    if no_offload(c) {
        return Class::None;
    }
    // What this kernel would send decides, not what the device could do. A claim with a warning against it is no ground for
    // hope, and none for despair either.
    if claims_zeroing_by_unmap(c)
        && !sends_what_nobody_knows(c)
        && c.unmaps() != Some(false)
        && !findings::claims_are_doubtful(found)
    {
        return Class::Fast;
    }
    if c.rotating() == Some(true)
        && c.unmaps() == Some(false)
        && c.facts.queue.write_zeroes_max.get().is_some_and(|l| l > 0)
    {
        return Class::Slow;
    }
    // A stack without a limit file of its own is what its weakest member is.
    if c.facts.lacks_unmap_limit() && c.facts.stack.passes_zeroing.is(true) && weakest(c) == Some(Class::Slow) {
        return Class::Slow;
    }
    Class::Unknown
}

/// No offload: the limit is 0, or the controller has no Write Zeroes and the kernel does not send DSM in its place.
fn no_offload(c: &Ctx<'_>) -> bool {
    c.facts.queue.write_zeroes_max.is(0)
        || c.facts.nvme().is_some_and(|n| n.write_zeroes().is(false) && !c.facts.deallocate_zeroes())
        || of_members(c)
}

/// Whether a stack that shows no limits has none because of a member: its limit would be the least of theirs, so one member
/// without is enough, whatever is known of the others.
fn of_members(c: &Ctx<'_>) -> bool {
    let without = || c.members.iter().any(|m| m.expected == Class::None);
    c.facts.lacks_unmap_limit()
        && c.facts.queue.write_zeroes_max.known().is_none()
        && c.facts.is_stack()
        && c.facts.stack.passes_zeroing.is(true)
        && without()
}

/// Whether a disk, or a member that a stack hands zeroing on to, is in a mode that is not known here.
fn sends_what_nobody_knows(c: &Ctx<'_>) -> bool {
    let unknown = |facts: &Facts| facts.scsi().is_some_and(Scsi::is_in_unknown_mode);
    unknown(c.facts) || c.facts.stack.passes_zeroing.is(true) && c.members.iter().any(|m| unknown(m.facts))
}

/// Whether zeroing by unmap is claimed: by the kernel's hardware limit, and only where the kernel has no such file by the
/// device itself.
pub fn claims_zeroing_by_unmap(c: &Ctx<'_>) -> bool {
    if let Some(hw) = c.facts.queue.unmap_hw.get() {
        return hw > 0;
    }
    if !c.facts.lacks_unmap_limit() {
        return false;
    }
    if c.facts.is_stack() {
        return c.facts.stack.passes_zeroing.is(true) && weakest(c) == Some(Class::Fast);
    }
    c.facts.claims_zeroing_by_unmap() == Some(true)
}

/// What the weakest member lets one expect; `None` for no stack, or one whose members are not known.
fn weakest(c: &Ctx<'_>) -> Option<Class> {
    if !c.facts.is_stack() {
        return None;
    }
    weakest_of(c.members.iter().map(|m| m.expected))
}

/// The weakest of several classes: what is broken or not known outweighs what is known.
pub fn weakest_of(classes: impl Iterator<Item = Class>) -> Option<Class> {
    const WEAKEST_FIRST: [Class; 5] = [Class::Broken, Class::Unknown, Class::None, Class::Slow, Class::Fast];
    let classes: Vec<Class> = classes.collect();
    WEAKEST_FIRST.into_iter().find(|class| classes.contains(class))
}
