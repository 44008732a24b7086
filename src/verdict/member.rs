//! One device of a stack as the rules of the stack see it, and what a device takes over from those below it. It is pure.

use crate::device::Kind;
use crate::facts::scsi::fields::{ROTATION_FIRST_RATE, ROTATION_LAST_RATE, ROTATION_NONE};
use crate::facts::Facts;
use crate::terms::Class;
use crate::verdict::{Figures, Finding, Verdict};

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
    /// Its findings, of which some bear on the stack.
    pub findings: &'a [Finding],
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
            findings: &verdict.findings,
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
        _ if facts.is_stack() => {
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

/// Whether zeroing unmaps, as far as it is known: what the driver of a leaf sends; of a stack that passes zeroing on, what
/// its members send, and the kernel's own word where that is not known. A loop's own limit says nothing of the device below.
pub fn unmaps(facts: &Facts, members: &[MemberView<'_>]) -> Option<bool> {
    let own = || facts.queue.unmap_hw.get().map(|hw| hw > 0);
    if !facts.is_stack() {
        // A controller that is older than DLFEAT claims nothing by it, whatever the kernel sends.
        return match facts.sends_unmap() {
            Some(true) if facts.lacks_unmap_limit() && !facts.deallocate_zeroes() => facts.claims_zeroing_by_unmap(),
            sends => sends,
        };
    }
    match facts.stack.passes_zeroing.get() {
        Some(true) if members.iter().any(|m| m.unmaps == Some(false)) => Some(false),
        Some(true) if !members.is_empty() && members.iter().all(|m| m.unmaps == Some(true)) => Some(true),
        _ if facts.device.kind == Kind::Loop => None,
        _ => own(),
    }
}
