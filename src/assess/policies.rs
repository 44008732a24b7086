//! Reads the policy of one device from the drop-in files of the administrator and of packages.

use crate::device::Devnum;
use crate::error::Result;
use crate::facts::Facts;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::fs::stamp;
use crate::machine::Roots;
use crate::policy::matcher::{self, Applied, Subject};
use crate::policy::{format, Policy};
use crate::verdict::fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The directories of rules: of packages, of what is installed by hand, of the administrator. A name in a later one takes
/// the place of the same name in an earlier one.
pub const DIRS: [&str; 3] = ["usr/lib/zerocap/policy.d", "usr/local/lib/zerocap/policy.d", "etc/zerocap/policy.d"];

/// The files of rules that there are, in the order in which they count, and which directories cannot be listed.
struct Files {
    dirs: [LiveDurable; 3],
    names: Vec<(usize, String)>,
    problems: Vec<String>,
}

fn files(roots: &Roots) -> Files {
    let dirs = DIRS.map(|below| roots.lasting(roots.state.join(below), 0o644));
    let mut problems = Vec::new();
    let names = dirs.each_ref().map(|dir| {
        dir.list().unwrap_or_else(|e| {
            problems.push(format!("{e}; no rule of this directory is used"));
            Vec::new()
        })
    });
    Files { dirs, names: matcher::drop_in_order(&names), problems }
}

/// All rules, in the order in which the last wins, and what was wrong with the files.
pub fn rules(roots: &Roots) -> (Vec<format::Rule>, Vec<String>) {
    read(&files(roots))
}

/// The rules of each file that counts, by its path below the root of state.
pub fn by_file(roots: &Roots) -> Vec<(String, Vec<format::Rule>)> {
    each(&files(roots)).0
}

fn read(files: &Files) -> (Vec<format::Rule>, Vec<String>) {
    let (rules, problems) = each(files);
    (rules.into_iter().flat_map(|(_, rules)| rules).collect(), problems)
}

fn each(files: &Files) -> (Vec<(String, Vec<format::Rule>)>, Vec<String>) {
    let (mut rules, mut problems) = (Vec::new(), files.problems.clone());
    for (below, name) in &files.names {
        let dir = &files.dirs[*below];
        let shown = dir.shown(name).display().to_string();
        let mut unused = |what: &str| problems.push(format!("{what}; the file is not used; correct it or remove it"));
        match dir.read(name).map(|bytes| bytes.map(String::from_utf8)) {
            Ok(Some(Ok(text))) => {
                let (more, wrong) = format::parse(&shown, &text);
                if more.len() > MOST_RULES {
                    unused(&format!(
                        "{shown} has {} rules; a file may have at most {MOST_RULES}, because udev events would have \
                         to wait for more",
                        more.len()
                    ));
                    continue;
                }
                rules.push((format!("{}/{name}", DIRS[*below]), more));
                problems.extend(wrong);
            }
            Ok(Some(Err(_))) => unused(&format!("{shown} is not UTF-8")),
            Ok(None) => unused(&format!("{shown} is a link that leads nowhere")),
            Err(e) => unused(&e.to_string()),
        }
    }
    (rules, problems)
}

/// The policy of one device, and what was wrong.
pub fn resolve(roots: &Roots, facts: &Facts) -> (Policy, Vec<String>) {
    let (policy, _, problems) = traced(roots, facts);
    (policy, problems)
}

/// The policy of one device, which file and line each wish of it came from, and what was wrong.
pub fn traced(roots: &Roots, facts: &Facts) -> (Policy, Vec<Applied>, Vec<String>) {
    resolved(&files(roots), facts)
}

fn resolved(files: &Files, facts: &Facts) -> (Policy, Vec<Applied>, Vec<String>) {
    let (rules, mut problems) = read(files);
    if rules.is_empty() {
        return (Policy::default(), Vec::new(), problems);
    }
    let node = facts.device.node();
    let (policy, applied, wrong) = matcher::resolve(&rules, &subject(facts, &node));
    problems.extend(wrong);
    (policy, applied, problems)
}

/// What the rules are asked about.
pub fn subject<'a>(facts: &'a Facts, node: &'a str) -> Subject<'a> {
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

/// The most rules of one file: the first event of each device after a change reads them all, while udevd waits.
const MOST_RULES: usize = 10_000;

/// Rules of so many bytes in all are read quicker than what they came to is looked up.
const FEW: u64 = 8 * 1024;

/// What the rules came to for one device, and for which text of the rules.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    of: String,
    policy: Policy,
    problems: Vec<String>,
}

fn remembered(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run().join("policy"), 0o644)
}

/// As [`resolve`], for an event: where there are many rules, what they came to is remembered in `/run/zerocap/policy` until a
/// file of rules or a name of the device changes.
pub fn at_event(roots: &Roots, facts: &Facts) -> (Policy, Vec<String>) {
    let rules = files(roots);
    let now = || {
        let (policy, _, problems) = resolved(&rules, facts);
        (policy, problems)
    };
    let (Some((key, bytes)), Some(devnum)) = (key(&rules, facts), facts.device.devnum) else { return now() };
    if bytes <= FEW {
        return now();
    }
    let (mut files, name) = (remembered(roots), devnum.to_string());
    let kept = files.read(&name).ok().flatten().and_then(|b| serde_json::from_slice::<Remembered>(&b).ok());
    if let Some(kept) = kept.filter(|k| k.of == key) {
        return (kept.policy, kept.problems);
    }
    let (policy, problems) = now();
    let kept = Remembered { of: key, policy, problems };
    // Only time is lost where it cannot be written.
    let _ = files.replace(&name, &serde_json::to_vec(&kept).unwrap_or_default());
    (kept.policy, kept.problems)
}

/// What the policy of a device depends on: the files of rules as they are, and its names; and the bytes of those files.
fn key(files: &Files, facts: &Facts) -> Option<(String, u64)> {
    let (mut lines, mut bytes) = (BTreeMap::new(), 0);
    for (dir, name) in &files.names {
        let path = files.dirs[*dir].shown(name);
        let (stamp, size) = stamp::take(&path)?;
        bytes += size;
        lines.insert(path.display().to_string(), stamp);
    }
    lines.insert("subject".to_owned(), format!("{:?}", subject(facts, &facts.device.node())));
    Some((fingerprint::digest(&lines), bytes))
}

/// Forgets what was remembered of a device that is gone.
pub fn forget(roots: &Roots, devnum: Devnum) -> Result<()> {
    remembered(roots).remove(&devnum.to_string())
}
