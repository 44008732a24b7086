//! The policy of one device, from the drop-in files of the administrator and of packages.

use crate::device::Devnum;
use crate::error::Result;
use crate::facts::Facts;
use crate::jobs::Env;
use crate::machine::durable::{Durable, LiveDurable};
use crate::machine::stamp;
use crate::policy::matcher::{self, Applied, Dir, Subject};
use crate::policy::{format, Policy};
use crate::verdict::fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The two directories of rules.
fn dirs(env: &Env) -> (LiveDurable, LiveDurable) {
    let dir = |below: &str| LiveDurable::new(env.roots.state.join(below), 0o644);
    (dir("usr/lib/zerocap/policy.d"), dir("etc/zerocap/policy.d"))
}

/// All rules, in the order in which the last wins, and what was wrong with the files.
pub fn rules(env: &Env) -> Result<(Vec<format::Rule>, Vec<String>)> {
    let (usr, etc) = dirs(env);
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for (dir, name) in matcher::drop_in_order(&usr.list()?, &etc.list()?) {
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
    let node = facts.device.node();
    let (policy, applied, wrong) = matcher::resolve(&rules, &subject(facts, &node));
    problems.extend(wrong);
    (policy, applied, problems)
}

/// What the rules are asked about.
fn subject<'a>(facts: &'a Facts, node: &'a str) -> Subject<'a> {
    let names = &facts.names;
    Subject {
        kind: Some(facts.device.kind.as_str()),
        vendor: names.vendor.known().map(String::as_str),
        model: names.model.known().map(String::as_str),
        firmware: names.firmware.known().map(String::as_str),
        serial: names.serial.known().map(String::as_str),
        path: Some(node),
        driver: names.driver.known().map(String::as_str),
        identity: names.identity.as_ref().map(|i| i.as_str()),
    }
}

/// Rules of so many bytes in all are read quicker than what they came to is looked up.
const FEW: u64 = 8 * 1024;

/// What the rules came to for one device, and for which text of the rules.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    of: String,
    policy: Policy,
    problems: Vec<String>,
}

fn remembered(env: &Env) -> LiveDurable {
    LiveDurable::volatile(env.roots.run().join("policy"), 0o644)
}

/// As [`of`], for an event: where there are many rules, what they came to is remembered in `/run/zerocap/policy` until a
/// file of rules or a name of the device changes.
pub fn at_event(env: &Env, facts: &Facts) -> (Policy, Vec<String>) {
    let (Some((key, bytes)), Some(devnum)) = (key(env, facts), facts.device.devnum) else { return of(env, facts) };
    if bytes <= FEW {
        return of(env, facts);
    }
    let (mut files, name) = (remembered(env), devnum.to_string());
    let kept = files.read(&name).ok().flatten().and_then(|b| serde_json::from_slice::<Remembered>(&b).ok());
    if let Some(kept) = kept.filter(|k| k.of == key) {
        return (kept.policy, kept.problems);
    }
    let (policy, problems) = of(env, facts);
    let kept = Remembered { of: key, policy, problems };
    // Only time is lost where it cannot be written.
    let _ = files.replace(&name, &serde_json::to_vec(&kept).unwrap_or_default());
    (kept.policy, kept.problems)
}

/// What the policy of a device depends on: the files of rules as they are, and its names; and the bytes of those files.
fn key(env: &Env, facts: &Facts) -> Option<(String, u64)> {
    let (usr, etc) = dirs(env);
    let (mut lines, mut bytes) = (BTreeMap::new(), 0);
    for (dir, name) in matcher::drop_in_order(&usr.list().ok()?, &etc.list().ok()?) {
        let path = if dir == Dir::Etc { etc.shown(&name) } else { usr.shown(&name) };
        let (stamp, size) = stamp::of(&path)?;
        bytes += size;
        lines.insert(path.display().to_string(), stamp);
    }
    lines.insert("subject".to_owned(), format!("{:?}", subject(facts, &facts.device.node())));
    Some((fingerprint::digest(&lines), bytes))
}

/// Forgets what was remembered of a device that is gone.
pub fn forget(env: &Env, devnum: Devnum) -> Result<()> {
    remembered(env).remove(&devnum.to_string())
}
