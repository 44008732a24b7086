//! The rules of policy, compiled once for all events: `/run/zerocap/rules`, which says of every directory and file of rules
//! what it was when it was read. Decides whether that still holds; decides nothing about a device.
//!
//! An event starts from nothing, and reading TOML each time costs more than all the rest. Whoever finds the file missing,
//! stale or damaged compiles the rules anew, under a lock; the program of an event cannot, and has the whole program do it.
//! Nothing here has to be there to be right.

use crate::assess::policies::{self, Files};
use crate::device::Devnum;
use crate::error::Result;
use crate::facts::Facts;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::fs::lock::Lock;
use crate::machine::fs::stamp;
use crate::machine::Roots;
use crate::policy::format::Rule;
use crate::policy::{matcher, Policy};
use crate::verdict::fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file's name below `/run/zerocap`, and that of its lock.
const NAME: &str = "rules";

/// Rules of so many bytes in all are matched quicker than what they came to is looked up.
const FEW: u64 = 8 * 1024;

/// Another program may understand rules otherwise.
const PROGRAM: &str = concat!("zerocap ", env!("CARGO_PKG_VERSION"));

/// The first line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    program: String,
    /// Every directory and file of rules, below the root of state, with its stamp.
    of: BTreeMap<String, String>,
    /// The bytes of the files of rules.
    bytes: u64,
    /// Of what follows.
    crc32: u32,
}

/// What follows it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Body {
    rules: Vec<Rule>,
    problems: Vec<String>,
}

/// The rules at one event.
#[derive(Debug)]
pub struct Compiled {
    /// `None` where the files were changed while they were read, or just before.
    head: Option<Head>,
    body: Text,
}

/// What follows the first line, read only where it is needed.
#[derive(Debug)]
enum Text {
    Read(Body),
    Not(Vec<u8>),
}

fn kept(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run(), 0o644)
}

/// The compiled rules, where they are root's, whole, and of the files as they are now.
pub fn current(roots: &Roots) -> Option<Compiled> {
    let bytes = kept(roots).read(NAME).ok()??;
    let end = bytes.iter().position(|b| *b == b'\n')?;
    let head: Head = serde_json::from_slice(&bytes[..end]).ok()?;
    let body = bytes.get(end + 1..)?;
    let whole = head.program == PROGRAM && head.crc32 == crc32fast::hash(body);
    let as_read =
        |(path, then): (&String, &String)| stamp::state(&roots.state.join(path)).is_some_and(|s| s.text == *then);
    (whole && head.of.iter().all(as_read)).then(|| Compiled { body: Text::Not(body.to_vec()), head: Some(head) })
}

/// The same, compiled anew and kept for the next event where they are not current.
pub fn ready(roots: &Roots) -> Compiled {
    if let Some(rules) = current(roots) {
        return rules;
    }
    // Of many events at once one reads the files, and the others what it has kept. Only time is lost where none can be kept.
    let lock = Lock::take(&roots.run().join("lock"), NAME);
    let rules = current(roots).unwrap_or_else(|| anew(roots));
    drop(lock);
    rules
}

/// Reads the files of rules, and keeps what they say unless they were changed at that time.
pub fn anew(roots: &Roots) -> Compiled {
    let before = stamps(roots, &policies::files(roots));
    let files = policies::files(roots);
    let (rules, problems) = policies::read(&files);
    let body = Body { rules, problems };
    let same = |(of, bytes): (BTreeMap<String, String>, u64)| (stamps(roots, &files)?.0 == of).then_some((of, bytes));
    let Some((of, bytes)) = before.and_then(same) else { return Compiled { head: None, body: Text::Read(body) } };
    let text = serde_json::to_vec(&body).unwrap_or_default();
    let head = Head { program: PROGRAM.to_owned(), of, bytes, crc32: crc32fast::hash(&text) };
    let mut whole = serde_json::to_vec(&head).unwrap_or_default();
    whole.push(b'\n');
    whole.extend_from_slice(&text);
    let _ = kept(roots).replace(NAME, &whole);
    Compiled { head: Some(head), body: Text::Read(body) }
}

/// The directories and files of rules as they are, and the bytes of the files; `None` where one cannot be looked at, or was
/// changed so lately that a later change may bear the same time.
fn stamps(roots: &Roots, files: &Files) -> Option<(BTreeMap<String, String>, u64)> {
    let (mut of, mut bytes) = (BTreeMap::new(), 0);
    let mut take = |path: &str| -> Option<bool> {
        let stamp = stamp::state(&roots.state.join(path)).filter(|s| s.settled)?;
        let there = stamp.bytes.is_some();
        bytes += stamp.bytes.unwrap_or(0);
        of.insert(path.to_owned(), stamp.text);
        Some(there)
    };
    for dir in policies::DIRS {
        // What is believed depends on the directory above too, which is the program's own.
        let above = Path::new(dir).parent().and_then(Path::to_str)?;
        if take(above)? {
            take(dir)?;
        }
    }
    for path in files.paths() {
        take(&path)?;
    }
    Some((of, bytes))
}

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

impl Compiled {
    /// The policy of one device, and what was wrong. Where there are many rules, what they came to is remembered in
    /// `/run/zerocap/policy` until a file of rules or a name of the device changes. `None`: what is kept makes no sense.
    pub fn policy(&self, roots: &Roots, facts: &Facts) -> Option<(Policy, Vec<String>)> {
        let many = self.head.as_ref().filter(|head| head.bytes > FEW);
        let (Some(head), Some(devnum)) = (many, facts.device.devnum) else { return self.resolved(facts) };
        let (mut files, name) = (remembered(roots), devnum.to_string());
        let mut lines = head.of.clone();
        lines.insert("subject".to_owned(), format!("{:?}", policies::subject(facts, &facts.device.node())));
        let of = fingerprint::digest(&lines);
        let kept = files.read(&name).ok().flatten().and_then(|b| serde_json::from_slice::<Remembered>(&b).ok());
        if let Some(kept) = kept.filter(|k| k.of == of) {
            return Some((kept.policy, kept.problems));
        }
        let (policy, problems) = self.resolved(facts)?;
        let kept = Remembered { of, policy, problems };
        // Only time is lost where it cannot be written.
        let _ = files.replace(&name, &serde_json::to_vec(&kept).unwrap_or_default());
        Some((kept.policy, kept.problems))
    }

    fn resolved(&self, facts: &Facts) -> Option<(Policy, Vec<String>)> {
        match &self.body {
            Text::Read(body) => Some(body.resolved(facts)),
            Text::Not(text) => Some(serde_json::from_slice::<Body>(text).ok()?.resolved(facts)),
        }
    }
}

impl Body {
    fn resolved(&self, facts: &Facts) -> (Policy, Vec<String>) {
        if self.rules.is_empty() {
            return (Policy::default(), self.problems.clone());
        }
        let node = facts.device.node();
        let (policy, _, wrong) = matcher::resolve(&self.rules, &policies::subject(facts, &node));
        (policy, [self.problems.as_slice(), &wrong].concat())
    }
}

/// Forgets what was remembered of a device that is gone.
pub fn forget(roots: &Roots, devnum: Devnum) -> Result<()> {
    remembered(roots).remove(&devnum.to_string())
}
