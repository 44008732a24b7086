//! One device as a whole: facts, members, policy, what is kept, the verdict, the document.

use crate::device::Device;
use crate::error::Result;
use crate::facts::{self, Depth, Facts};
use crate::jobs::{find, intent, kept, policies, Env};
use crate::machine::nodes;
use crate::machine::port::Port;
use crate::output::Document;
use crate::policy::Policy;
use crate::verdict::context::{Context, MemberView};
use crate::verdict::{decide, Verdict};

/// How deep a stack is followed; the kernel itself refuses deeper ones long before.
const DEEPEST: usize = 8;

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
}

/// Looks at one device. What went wrong beside the answer goes to `remark`.
pub fn of(env: &Env, port: &mut dyn Port, device: &Device, depth: Depth, remark: &mut dyn FnMut(&str)) -> Picture {
    let shared = |facts: &Facts| same_identity(env, facts).is_ok_and(|names| !names.is_empty());
    let (facts, policy, verdict) = decided(env, port, device, depth, &shared, remark, 0);
    let document = Document::new(&facts, &verdict);
    Picture { facts, policy, verdict, document }
}

/// As [`of`], for a caller that knows which identities are borne twice: `shared` answers from memory.
pub fn among(
    env: &Env,
    port: &mut dyn Port,
    device: &Device,
    depth: Depth,
    shared: &dyn Fn(&Facts) -> bool,
    remark: &mut dyn FnMut(&str),
) -> Picture {
    let (facts, policy, verdict) = decided(env, port, device, depth, shared, remark, 0);
    let document = Document::new(&facts, &verdict);
    Picture { facts, policy, verdict, document }
}

fn decided(
    env: &Env,
    port: &mut dyn Port,
    device: &Device,
    depth: Depth,
    shared: &dyn Fn(&Facts) -> bool,
    remark: &mut dyn FnMut(&str),
    level: usize,
) -> (Facts, Policy, Verdict) {
    let root = &env.roots.system;
    let facts = facts::gather(root, port, device, depth);
    let names: &[String] = facts.stack.members.known().filter(|_| level < DEEPEST).map_or(&[], Vec::as_slice);
    let below: Vec<(Facts, Verdict)> = names
        .iter()
        .filter_map(|name| {
            // A member may be a partition: its disk answers for it.
            let member = nodes::resolve_name(root, name)?;
            let (f, _, v) = decided(env, port, &member, depth, shared, remark, level + 1);
            Some((f, v))
        })
        .collect();
    let members: Vec<MemberView<'_>> = below.iter().map(|(f, v)| MemberView::new(f, &[], v)).collect();
    let (policy, problems) = policies::of(env, &facts);
    problems.iter().for_each(|p| remark(p));
    let measurement = kept::load(env, &facts).unwrap_or_else(|e| {
        remark(&e.to_string());
        None
    });
    let context = Context { shared: shared(&facts), interrupted: interrupted(env, &facts), ..Context::default() };
    let verdict = decide(&facts, &members, measurement.as_ref(), &policy, &context);
    (facts, policy, verdict)
}

/// What an intent of another boot, not cleared up yet, says.
fn interrupted(env: &Env, facts: &Facts) -> Option<String> {
    let word = intent::of(env, &intent::name(facts)).ok().flatten()?;
    let now = crate::machine::clock::boot_id(&env.roots.system);
    (word.boot_id != now).then(|| format!("the test of {} was cut off; run `zerocap recover`", word.at))
}

/// The other present devices that bear the identity of this one. Hidden multipath paths are the head's own.
pub fn same_identity(env: &Env, facts: &Facts) -> Result<Vec<String>> {
    let Some(identity) = &facts.names.identity else { return Ok(Vec::new()) };
    let root = &env.roots.system;
    Ok(find::listed(env, true)?
        .into_iter()
        .filter(|d| d.name != facts.device.name && !root.flag(&d.attr("hidden")).is(true))
        .filter(|d| facts::device::identity(root, d).as_ref() == Some(identity))
        .map(|d| d.name)
        .collect())
}
