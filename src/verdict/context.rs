//! What the rules and the decision look at: one device's facts, its members, the kept measurement, the policy. Forms and
//! small questions over them only.

use crate::device::Kind;
use crate::facts::nvme::Role;
use crate::facts::scsi::fields::{ROTATION_FIRST_RATE, ROTATION_LAST_RATE, ROTATION_NONE};
use crate::facts::{Bus, Facts};
use crate::policy::Policy;
use crate::terms::Class;
use crate::verdict::measurement::{Measurement, Overwrite, RecordedHazard};
use crate::verdict::{fingerprint, wants, Figures, Verdict};

/// What the caller knows beyond facts, measurement and policy.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Another device present bears the same identity, and neither is a path of the same multipath head.
    pub shared: bool,
    /// A model entry that fits.
    pub model: Option<ModelEntry>,
    /// A hazard that is not in the kept measurement: a command in flight past its deadline, a second interrupted test.
    pub hazard: Option<RecordedHazard>,
    /// A test of another boot left its intent: what is known of it.
    pub interrupted: Option<String>,
    /// Why the kept file cannot be used, where there is one that cannot: it may have held a hazard.
    pub unusable: Option<String>,
    /// Tunables that hold a value of somebody else, a text each.
    pub set_by_admin: Vec<String>,
}

/// A class measured on other devices of the same model and firmware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// The class.
    pub class: Class,
    /// Where the entry stands, or what it says of itself.
    pub from: String,
}

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
            knob_off: wants::knob_off(&verdict.wants),
            rotating: rotating(facts, below),
            unmaps: unmaps(facts, below),
        }
    }
}

/// What a kept measurement is worth now.
#[derive(Debug, Clone)]
pub enum Kept<'a> {
    /// There is none of use: its identity may be shared.
    None,
    /// Its fingerprint holds.
    Holds(&'a Measurement),
    /// Its fingerprint does not hold; the keys that changed, in words.
    Stale(&'a Measurement, Vec<String>),
    /// Its fingerprint holds, but it is without a test: it says nothing of the class.
    Beside(&'a Measurement),
}

/// What a rule looks at.
#[derive(Debug)]
pub struct Ctx<'a> {
    /// The facts.
    pub facts: &'a Facts,
    /// The members of a stack that are known.
    pub members: &'a [MemberView<'a>],
    /// The kept file as it is, for its hazard.
    pub file: Option<&'a Measurement>,
    /// The kept measurement.
    pub kept: Kept<'a>,
    /// The policy.
    pub policy: &'a Policy,
    /// The rest.
    pub context: &'a Context,
}

impl<'a> Ctx<'a> {
    /// Weighs the kept measurement against the facts.
    pub fn new(
        facts: &'a Facts,
        members: &'a [MemberView<'a>],
        measurement: Option<&'a Measurement>,
        policy: &'a Policy,
        context: &'a Context,
    ) -> Self {
        let kept = match measurement {
            Some(m) if !shared(facts, context) => match fingerprint::changes(m, facts) {
                changed if m.is_without_test() => match changed.is_empty() {
                    true => Kept::Beside(m),
                    false => Kept::None,
                },
                changed if changed.is_empty() => Kept::Holds(m),
                changed => Kept::Stale(m, changed),
            },
            _ => Kept::None,
        };
        Ctx { facts, members, file: measurement, kept, policy, context }
    }

    /// What synchronous writes into files gain, where the fingerprint holds.
    pub fn overwrite(&self) -> Option<&'a Overwrite> {
        match self.kept {
            Kept::Holds(m) | Kept::Beside(m) => m.overwrite.as_ref(),
            _ => None,
        }
    }

    /// Whether another device bears the identity, so that nothing kept under it may be used.
    pub fn shared(&self) -> bool {
        shared(self.facts, self.context)
    }

    /// The measurement where its fingerprint holds.
    pub fn holding(&self) -> Option<&'a Measurement> {
        match self.kept {
            Kept::Holds(m) => Some(m),
            _ => None,
        }
    }

    /// The hazards recorded by tests, in the kept file and since. They hold whatever the fingerprint, and a shared
    /// identity does not lift them: to leave zeroing alone costs only time.
    pub fn recorded_hazards(&self) -> impl Iterator<Item = &'a RecordedHazard> {
        let file: Option<&'a Measurement> = self.file;
        self.context.hazard.as_ref().into_iter().chain(file.and_then(|m| m.hazard.as_ref()))
    }

    /// Whether the medium rotates, where that is known.
    pub fn rotating(&self) -> Option<bool> {
        rotating(self.facts, self.members)
    }

    /// Whether the offload unmaps, where that is known.
    pub fn unmaps(&self) -> Option<bool> {
        unmaps(self.facts, self.members)
    }

    /// Whether the device has the mark of the kernel's DEALLOCATE_ZEROES quirk: Write Zeroes is sent as DSM.
    pub fn deallocate_zeroes(&self) -> bool {
        deallocate_zeroes(self.facts)
    }
}

/// See [`Ctx::shared`]. The paths of a head bear one identity by right: it is one disk.
fn shared(facts: &Facts, context: &Context) -> bool {
    let is_path = facts.nvme().is_some_and(|n| n.role == Role::Path) || facts.stack.is_path.is(true);
    context.shared && !is_path
}

/// See [`Ctx::deallocate_zeroes`]: the quirk by name, or the limit that only it gives an NVMe namespace.
pub fn deallocate_zeroes(facts: &Facts) -> bool {
    facts.nvme().is_some_and(|n| {
        n.has_quirk("deallocate_zeroes") || facts.queue.write_zeroes_max.is(crate::facts::queue::UINT_MAX_SECTORS)
    })
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
    if !matches!(facts.queue.unmap_hw.why(), Some(crate::fact::Why::Absent)) {
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
        Bus::Nvme(n) if n.older_than_dlfeat() => None,
        Bus::Nvme(n) => match (n.dlfeat_read().get(), n.deac().get()) {
            (Some(read), Some(deac)) => Some(read == crate::facts::nvme::fields::DLFEAT_READ_00 && deac),
            _ => None,
        },
        Bus::Scsi(s) => match s.zeroing_mode.known().map(String::as_str) {
            // What sd sends now comes before what it could send.
            Some("write" | "writesame") => Some(false),
            _ => match (s.lbpme.get(), s.lbprz.get(), s.unmaps_by_write_same().get()) {
                (Some(false), _, _) | (_, Some(false), _) | (_, _, Some(false)) => Some(false),
                (Some(true), Some(true), Some(true)) => Some(true),
                _ => None,
            },
        },
        Bus::Other => None,
    }
}
