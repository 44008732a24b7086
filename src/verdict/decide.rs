//! The decision: it takes facts, members, measurement and policy, and gives one verdict. It is pure and ordered (DESIGN 2).

use crate::device::display::escape_str;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::terms::{Basis, Class, FindingCode};
use crate::units::human_bytes;
use crate::verdict::context::{Context, Ctx, Kept};
use crate::verdict::expected::{expected, weakest_of};
use crate::verdict::member::MemberView;
use crate::verdict::{findings, limit_rules, wants, Claim, Figures, Finding, Measurement, Verdict};

/// Why most devices are unknown.
const NOT_MEASURED: &str = "not measured";

/// A class, what it rests on, why in one clause, and the numbers that go with it.
struct Answer {
    class: Class,
    basis: Option<Basis>,
    reason: String,
    measurement: Option<Measurement>,
}

impl Answer {
    fn new(class: Class, basis: Option<Basis>, reason: impl Into<String>) -> Answer {
        Answer { class, basis, reason: reason.into(), measurement: None }
    }

    fn with(mut self, measurement: Option<&Measurement>) -> Answer {
        self.measurement = measurement.cloned();
        self
    }
}

/// Decides what zeroing on a device is like. `members` are the views of the devices directly below a stack.
pub fn decide(
    facts: &Facts,
    members: &[MemberView<'_>],
    measurement: Option<&Measurement>,
    policy: &Policy,
    context: &Context,
) -> Verdict {
    let ctx = Ctx::new(facts, members, measurement, policy, context);
    let found = findings::all(&ctx);
    let expected = expected(&ctx, &found);
    let answer = answer(&ctx, &found);
    let mut wants = wants::wants(facts, policy, answer.class, answer.measurement.as_ref(), members);
    // A file that nobody can read may have held a hazard: only off, for a device that is broken, is safe to want.
    wants.retain(|w| context.unusable.is_none() || answer.class == Class::Broken || w.name != crate::verdict::KNOB);
    Verdict {
        class: answer.class,
        basis: answer.basis,
        expected,
        reason: answer.reason,
        figures: Figures::of_answer(answer.basis, answer.measurement.as_ref(), members.iter().map(|m| m.figures)),
        measurement: answer.measurement,
        overwrite: ctx.overwrite().cloned(),
        tested: ctx.tested(),
        claims: claims(facts),
        findings: found,
        wants,
    }
}

/// The first arm that holds.
fn answer(c: &Ctx<'_>, found: &[Finding]) -> Answer {
    // Without an offload there is nothing for a hazard, a pin or a measurement to be about: the kernel writes zero pages.
    // Hazards and pins stay as findings, and count again when an offload is there.
    no_offload(c)
        // What lied, failed or hung once may do so again under any firmware, and no pin may hide it by chance.
        .or_else(|| hazard(c))
        // The administrator knows what no test can.
        .or_else(|| pin(c))
        // Zeroing was in flight when a test was cut off, so it may have hung the machine: nothing older speaks for the device.
        .or_else(|| interrupted(c))
        // What was known of this device is lost, a hazard perhaps: nothing that was seen elsewhere stands in for it.
        .or_else(|| unusable(c))
        // This very device, measured as it is now, where the test decided: before all that was seen elsewhere.
        .or_else(|| measured(c))
        // Others of the same model and firmware: weaker than this device, better than nothing.
        .or_else(|| model(c))
        // A stack without numbers of its own is what its members are, where it hands zeroing on.
        .or_else(|| derived(c, found))
        // Claims are no evidence; a test that did not decide says why.
        .unwrap_or_else(|| unknown(c))
}

fn hazard(c: &Ctx<'_>) -> Option<Answer> {
    // A pin overrides only the hazard that it names.
    let accepted =
        |hazard| c.policy.class.is_some() && c.policy.accept.as_ref().is_some_and(|accept| accept.value == hazard);
    if let Some(found) = c.recorded_hazards().find(|h| !accepted(h.hazard)) {
        let text = escape_str(&found.text);
        let reason = format!("{text} ({})", found.hazard);
        // The hazard holds whatever the fingerprint, the figures do not.
        let figures = match c.kept {
            Kept::Holds(m) | Kept::Beside(m) => Some(m),
            Kept::Stale(..) | Kept::None => None,
        };
        return Some(Answer::new(Class::Broken, Some(Basis::Measured), reason).with(figures));
    }
    let declared = c.policy.hazard.as_ref().filter(|h| !accepted(h.value))?;
    Some(Answer::new(Class::Broken, Some(Basis::Policy), format!("{} declared by {}", declared.value, declared.from)))
}

fn pin(c: &Ctx<'_>) -> Option<Answer> {
    let pin = c.policy.class.as_ref()?;
    Some(Answer::new(pin.value, Some(Basis::Policy), format!("pinned by {}", pin.from)).with(c.holding()))
}

fn no_offload(c: &Ctx<'_>) -> Option<Answer> {
    let why = limit_rules::why_no_offload(c).map_or_else(String::new, |why| format!(" ({why})"));
    let reason = || format!("write_zeroes_max_bytes is 0{why}");
    c.facts.queue.write_zeroes_max.is(0).then(|| Answer::new(Class::None, None, reason()))
}

fn interrupted(c: &Ctx<'_>) -> Option<Answer> {
    c.context.interrupted.as_ref().filter(|cut| cut.while_zeroing)?;
    Some(Answer::new(Class::Unknown, None, "a test of it was cut off during zeroing"))
}

fn unusable(c: &Ctx<'_>) -> Option<Answer> {
    let why = crate::device::display::printable(c.context.unusable.clone()?);
    Some(Answer::new(Class::Unknown, None, format!("its kept file cannot be used: {why}")))
}

fn measured(c: &Ctx<'_>) -> Option<Answer> {
    let m = c.holding()?;
    let answer = match class_of_numbers(m, c.policy.fast_ratio) {
        // A test that did not decide hides no better answer.
        Class::Unknown => return None,
        Class::None => Answer::new(
            Class::None,
            Some(Basis::Measured),
            "measured: the device does not support zeroing, although the kernel has a limit for it",
        ),
        class => {
            let times = m
                .speedup
                .map_or_else(String::new, |s| format!(", zeroing is {:.1} times as fast as writing", s.median));
            let mode = m.zeroing_mode.as_deref().map_or_else(String::new, |mode| {
                format!(", in zeroing_mode {}", crate::device::display::escape_str(mode))
            });
            let of = c
                .facts
                .changeable_backend()
                .map_or_else(String::new, |what| format!(", on {what}, whose backend may change"));
            Answer::new(class, Some(Basis::Measured), format!("measured{times}{mode}{of}"))
        }
    };
    Some(answer.with(Some(m)))
}

/// The class of a measurement's numbers under a policy's threshold. For another threshold than the test decided against,
/// the interval has to lie on one side of it, and for `fast` the long stretch above it too, where there was one.
pub fn class_of_numbers(m: &Measurement, fast_ratio: f64) -> Class {
    let sustained = m.sustained.is_none_or(|s| s.speedup.is_some_and(|speedup| speedup >= fast_ratio));
    let usual = (fast_ratio - m.fast_ratio).abs() < f64::EPSILON;
    match (m.class, m.speedup) {
        (Class::Fast | Class::Slow, Some(s)) if !usual => match (s.low, s.high) {
            (Some(low), _) if low >= fast_ratio && sustained => Class::Fast,
            (_, Some(high)) if high < fast_ratio => Class::Slow,
            _ => Class::Unknown,
        },
        (class, _) => class,
    }
}

fn model(c: &Ctx<'_>) -> Option<Answer> {
    let entry = c.context.model.as_ref()?;
    let basis = (entry.class != Class::Unknown).then_some(Basis::Model);
    Some(Answer::new(
        entry.class,
        basis,
        format!("other devices of this model and firmware were measured: {}", entry.from),
    ))
}

fn derived(c: &Ctx<'_>, found: &[Finding]) -> Option<Answer> {
    if !c.facts.is_stack() || !c.facts.stack.passes_zeroing.is(true) {
        return None;
    }
    // One member that nobody looked at may be the slow one.
    let names = c.facts.stack.members.known().map_or(&[][..], Vec::as_slice);
    if names.len() > c.members.len() {
        let unseen = names.iter().filter(|n| !c.members.iter().any(|m| m.facts.device.has_part(n)));
        let unseen: Vec<String> = unseen.map(|n| escape_str(n)).collect();
        let reason = format!("it is not measured, and its members {} cannot be examined", list(&unseen));
        return Some(Answer::new(Class::Unknown, None, reason));
    }
    let class = weakest_of(c.members.iter().map(|m| m.class))?;
    if class == Class::Unknown {
        return Some(Answer::new(Class::Unknown, None, unknown_member(c)));
    }
    // A broken member is broken however it is reached; anything better needs limits that make sense.
    if class != Class::Broken {
        if found.iter().any(|f| f.code == FindingCode::StackLimitsConflict) {
            return Some(Answer::new(Class::Unknown, None, "its limits contradict each other or those of a member"));
        }
        // Where nobody knows how it cuts zeroing up, what its members were measured with is no answer.
        let limit = c.facts.queue.write_zeroes_max.get()?;
        let larger =
            |m: &&MemberView<'_>| m.facts.queue.write_zeroes_max.get().is_some_and(|of_member| of_member > limit);
        if let Some(member) = c.members.iter().find(larger) {
            let of_member = member.facts.queue.write_zeroes_max.get().map_or_else(String::new, human_bytes);
            let name = escape_str(&member.facts.device.name);
            let (cut, reason) = (human_bytes(limit), "it splits zeroing into commands of");
            let reason = format!("{reason} {cut}, but its member {name} takes commands of {of_member}");
            return Some(Answer::new(Class::Unknown, None, reason));
        }
    }
    // The weakest first, and of a stack what makes it so.
    let (weakest, others): (Vec<_>, Vec<_>) = c.members.iter().partition(|m| m.class == class);
    let shown = |m: &&MemberView<'_>| format!("{} ({})", escape_str(&m.facts.device.name), m.class);
    let mut members: Vec<String> = weakest.iter().chain(&others).map(shown).collect();
    if let (Some(first), Some(m)) = (members.first_mut(), weakest.first()) {
        if m.facts.is_stack() && !m.reason.is_empty() {
            *first = format!("{} ({}: {})", escape_str(&m.facts.device.name), m.class, m.reason);
        }
    }
    Some(Answer::new(class, Some(Basis::Derived), format!("it passes zeroing to {}", list(&members))))
}

/// Why a stack is unknown of which a member is.
fn unknown_member(c: &Ctx<'_>) -> String {
    let unknown: Vec<_> = c.members.iter().filter(|m| m.class == Class::Unknown).collect();
    let names: Vec<String> = unknown.iter().map(|m| escape_str(&m.facts.device.name)).collect();
    match (unknown.as_slice(), names.as_slice()) {
        ([member], [name]) if member.reason == NOT_MEASURED => format!("neither it nor its member {name} is measured"),
        ([member], [name]) => format!("it is not measured, and its member {name} is unknown: {}", member.reason),
        (many, _) if many.iter().all(|m| m.reason == NOT_MEASURED) => {
            format!("neither it nor its members {} are measured", list(&names))
        }
        _ => format!("it is not measured, and its members {} are unknown", list(&names)),
    }
}

/// Names in a row; of very many the first.
fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    let rest = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - rest].join(", ");
    if rest > 0 {
        format!("{shown} and {rest} more")
    } else {
        shown
    }
}

fn unknown(c: &Ctx<'_>) -> Answer {
    let reason = match &c.kept {
        // That there could be no test is an answer, and is kept so that nobody tries again at each event.
        Kept::Beside(m) if m.inconclusive.is_some() => {
            let why = m.inconclusive.as_deref().map(crate::device::display::escape_str).unwrap_or_default();
            return Answer::new(Class::Unknown, None, format!("not tested: {why}")).with(Some(m));
        }
        Kept::Holds(m) => {
            let why = m.inconclusive.as_deref().map_or_else(|| "the figures do not decide".to_owned(), escape_str);
            return Answer::new(Class::Unknown, None, format!("the measurement did not decide: {why}")).with(Some(m));
        }
        Kept::Stale(_, changed) => format!("the measurement no longer applies: {}", changed.join("; ")),
        _ if c.shared() => "another device has the same identity".to_owned(),
        _ => NOT_MEASURED.to_owned(),
    };
    Answer::new(Class::Unknown, None, reason)
}

/// What device and kernel claim: the readings that are claims, and known.
pub fn claims(facts: &Facts) -> Vec<Claim> {
    let claim = |r: &crate::facts::Reading| {
        let value = r.raw.known().filter(|_| r.claim)?;
        let says = r.says.clone().unwrap_or_default();
        Some(Claim { source: r.source.clone(), field: r.field.clone(), value: value.clone(), says })
    };
    facts.readings.iter().filter_map(claim).collect()
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
