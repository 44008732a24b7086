//! What the rules and the decision use: the facts of one device, its members, the kept measurement, the policy. This file has
//! only forms and small questions about them.

use crate::device::display::escape_str;
use crate::facts::nvme::Role;
use crate::facts::Facts;
use crate::policy::{Policy, BACKEND_MAX_AGE};
use crate::terms::Class;
use crate::verdict::fingerprint;
use crate::verdict::measurement::{Measurement, Overwrite, RecordedHazard};
use crate::verdict::member::{rotating, unmaps, MemberView};

/// What the caller knows beyond facts, measurement and policy.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Another device present bears the same identity, and neither is a path of the same multipath head.
    pub shared: bool,
    /// A model entry that fits.
    pub model: Option<ModelEntry>,
    /// A hazard that is not in the kept measurement: a command in flight past its deadline, a second interrupted test.
    pub hazard: Option<RecordedHazard>,
    /// A test of another boot left its intent.
    pub interrupted: Option<CutOff>,
    /// Why the kept file cannot be used, where there is one that cannot: it may have held a hazard.
    pub unusable: Option<String>,
    /// How old the kept measurement is, in seconds; `None` where no clock is asked (a recorded machine), or it cannot be told.
    pub age: Option<u64>,
    /// Tunables that hold a value of somebody else, a text each.
    pub set_by_admin: Vec<String>,
}

/// A test that was cut off and is not cleared up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutOff {
    /// What is known of it, and what to do.
    pub text: String,
    /// Whether it may have been zeroing then: the device may be what cut it off.
    pub while_zeroing: bool,
}

/// A class measured on other devices of the same model and firmware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// The class.
    pub class: Class,
    /// Where the entry stands, or what it says of itself.
    pub from: String,
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
            Some(m) if !shared(facts, context) => match changes(m, facts, policy, context) {
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

    /// Whether a test of the device as it is now is kept; that there could be none is an answer of a test too.
    pub fn tested(&self) -> bool {
        match self.kept {
            Kept::Holds(_) => true,
            Kept::Beside(m) => m.inconclusive.is_some(),
            Kept::Stale(..) | Kept::None => false,
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
}

/// See [`Ctx::shared`]. The paths of a head bear one identity by right: it is one disk.
fn shared(facts: &Facts, context: &Context) -> bool {
    let is_path = facts.nvme().is_some_and(|n| n.role == Role::Path) || facts.stack.is_path.is(true);
    context.shared && !is_path
}

/// What speaks against a kept measurement: what of its fingerprint changed, and its age.
fn changes(m: &Measurement, facts: &Facts, policy: &Policy, context: &Context) -> Vec<String> {
    let mut changed = fingerprint::changes(m, facts);
    let backend = facts.changeable_backend().filter(|_| policy.max_age.is_none());
    let most = policy.max_age.as_ref().map(|wish| wish.value).or(backend.map(|_| BACKEND_MAX_AGE));
    if let Some((age, most)) = context.age.zip(most).filter(|(age, most)| age > most) {
        let why = match (&policy.max_age, backend) {
            (Some(wish), _) => format!("max_age of {}", escape_str(&wish.from)),
            (None, what) => format!("it is {}, whose backend may have changed since", what.unwrap_or_default()),
        };
        changed.push(format!("it is {} days old, and at most {} are allowed ({why})", age / DAY, days(most)));
    }
    changed
}

/// Seconds of a day.
const DAY: u64 = 86_400;

fn days(seconds: u64) -> String {
    if seconds % DAY == 0 {
        format!("{} days", seconds / DAY)
    } else {
        format!("{seconds} s")
    }
}
