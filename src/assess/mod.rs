//! Looks at one device as a whole: facts, members, policy, what is kept, the verdict and the document.

pub mod compiled;
pub mod document;
pub mod policies;
pub mod publish;
pub mod stack_members;
pub mod tunables;

use crate::assess::compiled::Compiled;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::machine::block::devices;
use crate::machine::block::stack::DEEPEST;
use crate::machine::clock;
use crate::machine::port::Port;
use crate::machine::Roots;
use crate::policy::Policy;
use crate::store::bearers::{self, Bearers};
use crate::store::intents::{self, Intents, Phase};
use crate::store::measurements;
use crate::store::model_entries;
use crate::units::utc_seconds;
use crate::verdict::context::{Context, CutOff, ModelEntry};
use crate::verdict::member::{self, MemberView};
use crate::verdict::{decide, Verdict};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use verdict_format::Document;

/// Everything about one device.
#[derive(Debug)]
pub struct Picture {
    /// The facts.
    pub facts: Facts,
    /// The policy.
    pub policy: Policy,
    /// The verdict.
    pub verdict: Verdict,
    /// The document.
    pub document: Document,
    /// Whether there is a kept file that cannot be used.
    pub unusable: bool,
}

/// Looks at one device. What went wrong beside the answer goes to `remark`.
pub fn look_at(
    roots: &Roots,
    port: &mut dyn Port,
    device: &Device,
    depth: Depth,
    remark: &mut dyn FnMut(&str),
) -> Picture {
    among(roots, port, device, depth, &|facts| is_shared(roots, facts), remark)
}

/// As [`look_at`], for a caller that knows which identities are borne twice: `shared` answers from memory.
pub fn among(
    roots: &Roots,
    port: &mut dyn Port,
    device: &Device,
    depth: Depth,
    shared: &dyn Fn(&Facts) -> bool,
    remark: &mut dyn FnMut(&str),
) -> Picture {
    let model = |facts: &Facts, _| model_entries::known(roots, &facts.device).unwrap_or_default();
    let policy = |facts: &Facts| policies::resolve(roots, facts);
    let seen = BTreeMap::new();
    look(&mut Look { roots, port, depth, shared, remark, policy: &policy, model: &model, seen }, device)
}

/// What comes with an event, so that it need not be looked for.
#[derive(Debug, Clone, Copy)]
pub struct AtEvent<'a> {
    /// The model entry of the device itself, which udev's database has not yet.
    pub model: Option<&'a ModelEntry>,
    /// The rules of policy.
    pub rules: &'a Compiled,
}

/// As [`look_at`], at an event. `None` where the compiled rules make no sense, or the model entry of a member stands in
/// udev's database and this program cannot read it.
pub fn at_event(
    roots: &Roots,
    port: &mut dyn Port,
    device: &Device,
    depth: Depth,
    given: AtEvent<'_>,
    remark: &mut dyn FnMut(&str),
) -> Option<Picture> {
    let shared = |facts: &Facts| is_shared(roots, facts);
    let unread = Cell::new(false);
    let model = |facts: &Facts, level| match level {
        0 => given.model.cloned(),
        _ => model_entries::known(roots, &facts.device).unwrap_or_else(|_| {
            unread.set(true);
            None
        }),
    };
    let policy = |facts: &Facts| {
        given.rules.policy(roots, facts).unwrap_or_else(|| {
            unread.set(true);
            (Policy::default(), Vec::new())
        })
    };
    let (shared, seen) = (&shared, BTreeMap::new());
    let picture = look(&mut Look { roots, port, depth, shared, remark, policy: &policy, model: &model, seen }, device);
    (!unread.get()).then_some(picture)
}

fn look(look: &mut Look<'_>, device: &Device) -> Picture {
    let decided = look.decided(device, 0);
    // The memory of the way down ends here, so that nothing else holds the device that was asked for.
    look.seen.clear();
    let decided = Rc::unwrap_or_clone(decided);
    let Decided { facts, policy, verdict, unusable, .. } = decided;
    let document = document::compose(&look.roots.system, &facts, &verdict);
    Picture { facts, policy, verdict, document, unusable }
}

/// What stays the same on the way down a stack.
struct Look<'a> {
    roots: &'a Roots,
    port: &'a mut dyn Port,
    depth: Depth,
    shared: &'a dyn Fn(&Facts) -> bool,
    remark: &'a mut dyn FnMut(&str),
    /// The policy of a device, and what was wrong with the rules.
    policy: &'a dyn Fn(&Facts) -> (Policy, Vec<String>),
    /// The model entry of a device, by its level in the stack.
    model: &'a dyn Fn(&Facts, usize) -> Option<ModelEntry>,
    /// Members looked at, by name; `None` while one is being looked at, so that a ring ends.
    seen: BTreeMap<String, Option<Rc<Decided>>>,
}

/// One device of a stack, decided.
#[derive(Debug, Clone)]
struct Decided {
    facts: Facts,
    policy: Policy,
    verdict: Verdict,
    rotating: Option<bool>,
    unmaps: Option<bool>,
    unusable: bool,
}

impl Look<'_> {
    /// One device, looked at once however many ways lead to it.
    fn member(&mut self, device: &Device, level: usize) -> Option<Rc<Decided>> {
        if let Some(known) = self.seen.get(&device.name) {
            return known.clone();
        }
        self.seen.insert(device.name.clone(), None);
        let decided = self.decided(device, level);
        self.seen.insert(device.name.clone(), Some(decided.clone()));
        Some(decided)
    }

    fn decided(&mut self, device: &Device, level: usize) -> Rc<Decided> {
        let root = &self.roots.system;
        let facts = facts::gather(root, self.port, device, self.depth);
        let names: &[String] = facts.stack.members.known().filter(|_| level < DEEPEST).map_or(&[], Vec::as_slice);
        // A member may be a partition: its disk answers for it.
        let below: Vec<Device> = names.iter().filter_map(|name| devices::resolve_name(root, name)).collect();
        let below: Vec<Rc<Decided>> = below.iter().filter_map(|member| self.member(member, level + 1)).collect();
        let members: Vec<MemberView<'_>> = below
            .iter()
            .map(|d| MemberView {
                facts: &d.facts,
                class: d.verdict.class,
                reason: &d.verdict.reason,
                figures: d.verdict.figures,
                findings: &d.verdict.findings,
                expected: d.verdict.expected,
                knob_off: d.verdict.knob_off(),
                rotating: d.rotating,
                unmaps: d.unmaps,
            })
            .collect();
        let event = matches!(self.depth, Depth::Event | Depth::Quiet);
        let (policy, problems) = (self.policy)(&facts);
        problems.iter().for_each(|p| (self.remark)(p));
        let (measurement, unusable) = match measurements::load(self.roots, &facts) {
            Ok(kept) => (kept, None),
            Err(e) => (None, Some(e.to_string())),
        };
        unusable.iter().for_each(|why| (self.remark)(why));
        // At an event only a device with something kept pays for a look at all the others.
        let look_around = !event || measurement.is_some();
        let context = Context {
            shared: look_around && (self.shared)(&facts),
            interrupted: interrupted(self.roots, &facts),
            unusable: unusable.clone(),
            set_by_admin: tunables::foreign(self.roots, &facts),
            model: (self.model)(&facts, level),
            age: measurement.as_ref().filter(|_| self.roots.is_live()).and_then(|m| age(&m.at)),
            hazard: None,
        };
        let verdict = decide(&facts, &members, measurement.as_ref(), &policy, &context);
        let (rotating, unmaps) = (member::rotating(&facts, &members), member::unmaps(&facts, &members));
        Rc::new(Decided { facts, policy, verdict, rotating, unmaps, unusable: unusable.is_some() })
    }
}

/// How many seconds ago a time was; `None` for one to come, and for what is no time.
fn age(at: &str) -> Option<u64> {
    utc_seconds(&clock::now_utc())?.checked_sub(utc_seconds(at)?)
}

/// What an intent of another boot, not cleared up yet, says; or why it cannot be known whether there is one.
fn interrupted(roots: &Roots, facts: &Facts) -> Option<CutOff> {
    let name = intents::name(facts.names.identity.as_ref(), facts.device.devnum);
    let word = match Intents::live(roots).of(&name) {
        Ok(word) => word?,
        // Intents are root's alone; whoever else asks is answered by what is published.
        Err(Error::File { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => return None,
        Err(e) => {
            let text = format!("it is not known whether a test was cut off: {e}");
            return Some(CutOff { text, while_zeroing: true });
        }
    };
    let now = clock::boot_id(&roots.system);
    (word.boot_id != now).then(|| CutOff {
        text: format!("the test of {} was cut off; run `zerocap recover`", word.at),
        // Each segment is named before it is zeroed: where none is, no zeroing was in flight.
        while_zeroing: word.phase == Phase::Writing && !word.zeroed.is_empty(),
    })
}

/// Whether another present device bears the identity of this one.
pub fn is_shared(roots: &Roots, facts: &Facts) -> bool {
    // Where the devices cannot be listed nobody knows, and a kept measurement may be another device's.
    bearing(roots, facts, &bearers::read(roots)).map_or(true, |names| !names.is_empty())
}

/// How many present devices bear each identity, by its file's name. Hidden multipath paths are the head's own.
pub fn identities(roots: &Roots) -> Result<BTreeMap<String, usize>> {
    let (root, told) = (&roots.system, bearers::read(roots));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (name, link) in devices::links(root)? {
        let device = Device::new(&name, None);
        let identity = match told.told(&name, link) {
            Some(told) => told.map(str::to_owned),
            None => facts::device::identity(root, &device).map(|i| i.file_name()),
        };
        if let Some(identity) = identity.filter(|_| !facts::device::is_hidden(root, &device)) {
            *counts.entry(identity).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The other present devices that bear the identity of this one, for a proof: each device is asked itself, whatever events
/// have told of it.
pub fn same_identity(roots: &Roots, facts: &Facts) -> Result<Vec<String>> {
    bearing(roots, facts, &Bearers::default())
}

/// The same; what events `told` says which devices need not be asked. Hidden multipath paths are the head's own.
fn bearing(roots: &Roots, facts: &Facts, told: &Bearers) -> Result<Vec<String>> {
    let Some(identity) = &facts.names.identity else { return Ok(Vec::new()) };
    let root = &roots.system;
    let mut names: Vec<String> = devices::links(root)?
        .into_iter()
        .filter(|(name, link)| *name != facts.device.name && told.may_bear(name, *link, identity))
        .map(|(name, _)| Device::new(&name, None))
        .filter(|d| facts::device::identity(root, d).as_ref() == Some(identity))
        .filter(|d| !facts::device::is_hidden(root, d))
        .map(|d| d.name)
        .collect();
    names.sort();
    Ok(names)
}
