//! Reads the policy of one device from the drop-in files of the administrator and of packages.

use crate::facts::Facts;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::Roots;
use crate::policy::matcher::{self, Applied, Subject};
use crate::policy::{format, Policy};

/// The directories of rules: of packages, of what is installed by hand, of the administrator. A name in a later one takes
/// the place of the same name in an earlier one.
pub const DIRS: [&str; 3] = ["usr/lib/zerocap/policy.d", "usr/local/lib/zerocap/policy.d", "etc/zerocap/policy.d"];

/// The files of rules that there are, in the order in which they count, and which directories cannot be listed.
pub(super) struct Files {
    dirs: [LiveDurable; 3],
    names: Vec<(usize, String)>,
    problems: Vec<String>,
}

pub(super) fn files(roots: &Roots) -> Files {
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

impl Files {
    /// Each file below the root of state.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.names.iter().map(|(below, name)| format!("{}/{name}", DIRS[*below]))
    }
}

/// All rules, in the order in which the last wins, and what was wrong with the files.
pub fn rules(roots: &Roots) -> (Vec<format::Rule>, Vec<String>) {
    read(&files(roots))
}

/// The rules of each file that counts, by its path below the root of state.
pub fn by_file(roots: &Roots) -> Vec<(String, Vec<format::Rule>)> {
    each(&files(roots)).0
}

pub(super) fn read(files: &Files) -> (Vec<format::Rule>, Vec<String>) {
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
