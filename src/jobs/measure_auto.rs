//! The automatic test: `zerocap measure --auto` in `zerocap-measure@.service`, where a policy says `measure = "auto"` and
//! names a scratch.

use crate::assess::policies;
use crate::assess::Picture;
use crate::device::display::escape_str;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::{self, Depth};
use crate::jobs::target;
use crate::machine::fs::durable::LiveDurable;
use crate::machine::Roots;
use crate::measure::scratch::ScratchSpec;
use crate::policy::format::Rule;
use crate::policy::{Measure, Policy, Sourced};
use crate::terms::{Basis, Class, FindingCode};
use std::path::PathBuf;

/// The unit that an event is to ask for: where a policy wants a test, and there is neither a verdict nor an interrupted
/// test. The instance is the device number, which needs no escaping anywhere.
pub fn unit(picture: &Picture) -> Option<String> {
    scratch(&picture.policy)?;
    let d = &picture.document;
    // A measurement that did not decide is an answer too: a test again would give no other.
    let tested = picture.verdict.tested || d.class == Class::Broken || d.basis == Some(Basis::Policy);
    let cut_off = d.findings.iter().any(|f| f.code == FindingCode::TestInterrupted);
    let nothing_to_test = d.class == Class::None;
    // What is kept and cannot be read may be a hazard: a person has to look first.
    (!tested && !cut_off && !nothing_to_test && !picture.unusable)
        .then(|| picture.facts.device.devnum.map(|n| format!("zerocap-measure@{n}.service")))?
}

/// The scratch that the policy names, where it wants a test.
fn scratch(policy: &Policy) -> Option<&str> {
    let auto = policy.measure.as_ref().is_some_and(|m| m.value == Measure::Auto);
    policy.scratch.as_ref().filter(|_| auto).map(|s| s.value.as_str())
}

/// What the policy says of an automatic test.
#[derive(Debug)]
pub struct Wanted {
    /// Where it may write.
    pub place: ScratchSpec,
    /// Where it keeps the old content, if the policy says so.
    pub journal: Option<PathBuf>,
    /// Whether a rule names the bytes: that is leave to write over what lies there. `auto` names none.
    pub names_the_bytes: bool,
}

/// What `measure --auto` is to do on a device.
pub fn wanted(roots: &Roots, typed: &str) -> Result<Wanted> {
    let device: Device = target::named(roots, typed)?;
    let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
    let (policy, _) = policies::resolve(roots, &facts);
    of_policy(&policy, &device).unwrap_or_else(|| {
        let why = "no rule of the policy asks for a test of it (measure = \"auto\" and a scratch); `zerocap policy \
                   test` shows the rules of a device"
            .to_owned();
        Err(Error::NotSafe { device: device.node(), why })
    })
}

/// What a policy says of an automatic test of a device; `None` where it wants none.
pub fn of_policy(policy: &Policy, device: &Device) -> Option<Result<Wanted>> {
    let scratch = scratch(policy)?;
    let from = policy.scratch.as_ref().map_or("", |s| s.from.as_str());
    let place = scratch.parse().map_err(|e| format!("{from}: scratch: {e}"));
    let wanted = place.and_then(|place: ScratchSpec| {
        let journal = policy.journal.as_ref().map(journal).transpose()?;
        Ok(Wanted { names_the_bytes: place != ScratchSpec::Auto, place, journal })
    });
    Some(wanted.map_err(|why| Error::NotSafe { device: device.node(), why }))
}

/// The directory of a policy's journal, where it can be written to from here.
fn journal(wish: &Sourced<String>) -> std::result::Result<PathBuf, String> {
    let dir = PathBuf::from(&wish.value);
    LiveDurable::new(&dir, 0o600).may_be_written().map(|()| dir).map_err(|e| {
        let dir = escape_str(&wish.value);
        format!(
            "{}: journal: {e}. zerocap-measure@.service may write below /var/lib/zerocap only. To allow {dir}, run \
             `systemctl edit zerocap-measure@.service` and add the lines [Service] and ReadWritePaths={dir}",
            escape_str(&wish.from)
        )
    })
}

/// The places that rules name and that make none, as `file:line: what`.
pub fn no_places(rules: &[Rule]) -> Vec<String> {
    let wrong = |wish: &Sourced<String>| {
        let why = wish.value.parse::<ScratchSpec>().err()?;
        Some(format!("{}: scratch: {why}; no automatic test is made there", wish.from))
    };
    rules.iter().filter_map(|rule| wrong(rule.wishes.scratch.as_ref()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::format;

    #[test]
    fn an_invalid_place_in_a_rule_is_reported_with_its_line() {
        let text = "[[rule]]\nscratch = 'auto'\n[[rule]]\nmodel = 'x'\nscratch = 'sda3'\n";
        let (rules, problems) = format::parse("20.toml", text);
        assert!(problems.is_empty());
        let said = no_places(&rules);
        assert!(said.len() == 1 && said[0].starts_with("20.toml:5: scratch: give a partition or "), "{said:?}");
    }
}
