//! One device of a stack as the stack's own rules see it, and what a device takes from those below it. Pure.

use crate::device::Kind;
use crate::facts::scsi::fields::{ROTATION_FIRST_RATE, ROTATION_LAST_RATE, ROTATION_NONE};
use crate::facts::{Bus, Facts};
use crate::terms::Class;
use crate::verdict::{Figures, Verdict};

/// A member of a stack, as the stack's own rules see it.
#[derive(Debug, Clone)]
pub struct MemberView<'a> {
    /// The member's facts.
    pub facts: &'a Facts,
    /// The member's own verdict.
    pub class: Class,
    /// Why it is that.
    pub reason: &'a str,
    /// Its figures.
    pub figures: Figures,
    /// What the member's claims let one expect.
    pub expected: Class,
    /// Whether its knob is wanted to be 0.
    pub knob_off: bool,
    /// Whether the member's medium rotates, where known; of a stack, from its members.
    pub rotating: Option<bool>,
    /// Whether the member's offload unmaps, where known.
    pub unmaps: Option<bool>,
}

impl<'a> MemberView<'a> {
    /// The view of a device that is decided; `below` are its own members.
    pub fn new(facts: &'a Facts, below: &[MemberView<'_>], verdict: &'a Verdict) -> Self {
        MemberView {
            facts,
            class: verdict.class,
            reason: &verdict.reason,
            figures: verdict.figures,
            expected: verdict.expected,
            knob_off: verdict.knob_off(),
            rotating: rotating(facts, below),
            unmaps: unmaps(facts, below),
        }
    }
}

/// Whether the medium rotates: `queue/rotational` for SCSI, ATA and MMC disks only (elsewhere the flag means nothing), VPD
/// B1 only without it; a stack takes it from its members.
pub fn rotating(facts: &Facts, members: &[MemberView<'_>]) -> Option<bool> {
    match facts.device.kind {
        Kind::Scsi | Kind::Mmc => facts.queue.rotational.get().or_else(|| {
            facts.scsi().and_then(|s| match s.rotation_rate.get()? {
                ROTATION_NONE => Some(false),
                ROTATION_FIRST_RATE..=ROTATION_LAST_RATE => Some(true),
                _ => None,
            })
        }),
        kind if kind.is_stack() => {
            let each: Vec<_> = members.iter().map(|m| m.rotating).collect();
            match () {
                () if each.contains(&Some(true)) => Some(true),
                () if !each.is_empty() && each.iter().all(|r| *r == Some(false)) => Some(false),
                () => None,
            }
        }
        _ => None,
    }
}

/// Whether zeroing unmaps, as far as it is known: the kernel's own word, else what the claims and `zeroing_mode` say where
/// the kernel has no such word; a stack that passes zeroing through takes it from its members.
pub fn unmaps(facts: &Facts, members: &[MemberView<'_>]) -> Option<bool> {
    if let Some(hw) = facts.queue.unmap_hw.get() {
        return Some(hw > 0);
    }
    // Not readable is not the same as not there.
    if !facts.lacks_unmap_limit() {
        return None;
    }
    if facts.device.kind.is_stack() {
        let each = || members.iter().map(|m| m.unmaps);
        return match facts.stack.passes_zeroing.get() {
            Some(true) if each().any(|u| u == Some(false)) => Some(false),
            Some(true) if !members.is_empty() && each().all(|u| u == Some(true)) => Some(true),
            _ => None,
        };
    }
    match &facts.bus {
        // What sd sends now comes before what it could send.
        Bus::Scsi(s) if matches!(s.zeroing_mode.known().map(String::as_str), Some("write" | "writesame")) => {
            Some(false)
        }
        _ => facts.claims_zeroing_by_unmap(),
    }
}
