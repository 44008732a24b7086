//! The policy of one device, from the drop-in files of the administrator and of packages.

use crate::error::Result;
use crate::facts::Facts;
use crate::jobs::Env;
use crate::machine::durable::{Durable, LiveDurable};
use crate::policy::matcher::{self, Applied, Dir, Subject};
use crate::policy::{format, Policy};

/// All rules, in the order in which the last wins, and what was wrong with the files.
pub fn rules(env: &Env) -> Result<(Vec<format::Rule>, Vec<String>)> {
    let usr = LiveDurable::new(env.roots.state.join("usr/lib/zerocap/policy.d"), 0o644);
    let etc = LiveDurable::new(env.roots.state.join("etc/zerocap/policy.d"), 0o644);
    let toml = |names: Vec<String>| names.into_iter().filter(|n| n.ends_with(".toml")).collect::<Vec<_>>();
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for (dir, name) in matcher::drop_in_order(&toml(usr.list()?), &toml(etc.list()?)) {
        let files = if dir == Dir::Etc { &etc } else { &usr };
        let shown = files.shown(&name).display().to_string();
        match files.read(&name).map(|bytes| String::from_utf8(bytes.unwrap_or_default())) {
            Ok(Ok(text)) => {
                let (more, wrong) = format::parse(&shown, &text);
                rules.extend(more);
                problems.extend(wrong);
            }
            Ok(Err(_)) => problems.push(format!("{shown}: not UTF-8; the file is not used")),
            Err(e) => problems.push(e.to_string()),
        }
    }
    Ok((rules, problems))
}

/// The policy of one device, and what was wrong.
pub fn of(env: &Env, facts: &Facts) -> (Policy, Vec<String>) {
    let (policy, _, problems) = traced(env, facts);
    (policy, problems)
}

/// The policy of one device, which file and line each wish of it came from, and what was wrong.
pub fn traced(env: &Env, facts: &Facts) -> (Policy, Vec<Applied>, Vec<String>) {
    let (rules, mut problems) = match rules(env) {
        Ok(found) => found,
        Err(e) => return (Policy::default(), Vec::new(), vec![e.to_string()]),
    };
    if rules.is_empty() {
        return (Policy::default(), Vec::new(), problems);
    }
    let names = &facts.names;
    let node = facts.device.node();
    let subject = Subject {
        kind: Some(facts.device.kind.as_str()),
        vendor: names.vendor.known().map(String::as_str),
        model: names.model.known().map(String::as_str),
        firmware: names.firmware.known().map(String::as_str),
        serial: names.serial.known().map(String::as_str),
        path: Some(&node),
        driver: names.driver.known().map(String::as_str),
        identity: names.identity.as_ref().map(|i| i.as_str()),
    };
    let (policy, applied, wrong) = matcher::resolve(&rules, &subject);
    problems.extend(wrong);
    (policy, applied, problems)
}
