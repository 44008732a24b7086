//! The order of `show --tree`: each device with the stacks on it below it, as lsblk(8) shows it. A stack on several devices
//! is below each of them, and its own stacks are shown only the first time.

use crate::device::Device;
use std::collections::BTreeSet;
use verdict_format::Document;

/// What the lines are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branches {
    /// Before a device that has another one below it on the same level.
    fork: &'static str,
    /// Before the last one.
    end: &'static str,
    /// Below a fork.
    beside: &'static str,
}

impl Branches {
    /// On a terminal that shows them.
    pub const LINES: Branches = Branches { fork: "├─", end: "└─", beside: "│ " };
    /// Plain characters.
    pub const PLAIN: Branches = Branches { fork: "|-", end: "`-", beside: "| " };
}

/// Whether a device stands directly on another, or on a partition of it.
fn stands_on(upper: &Document, lower: &Document) -> bool {
    let lower = Device::new(&lower.device.name, None);
    upper.device.name != lower.name && upper.device.members.iter().any(|m| lower.has_part(&m.name))
}

/// The documents in the order of the tree, each with what stands before its name.
pub(super) fn order<'a>(documents: &[&'a Document], with: Branches) -> Vec<(String, &'a Document)> {
    let mut walk = Walk { documents, with, drawn: BTreeSet::new(), lines: Vec::new() };
    for document in documents.iter().copied() {
        if !documents.iter().any(|lower| stands_on(document, lower)) {
            walk.down(document, "", "");
        }
    }
    // In a ring nothing is at the bottom: what was not reached is still shown.
    for document in documents.iter().copied() {
        if !walk.drawn.contains(&document.device.name) {
            walk.down(document, "", "");
        }
    }
    walk.lines
}

struct Walk<'a, 'd> {
    documents: &'d [&'a Document],
    with: Branches,
    drawn: BTreeSet<String>,
    lines: Vec<(String, &'a Document)>,
}

impl<'a> Walk<'a, '_> {
    /// A device and all that stands on it. `before`: what is drawn before it; `below`: before what stands on it.
    fn down(&mut self, document: &'a Document, before: &str, below: &str) {
        self.lines.push((before.to_owned(), document));
        if !self.drawn.insert(document.device.name.clone()) {
            return;
        }
        let above: Vec<&'a Document> = self.documents.iter().copied().filter(|d| stands_on(d, document)).collect();
        for (i, upper) in above.iter().enumerate() {
            let (line, beside) =
                if i + 1 == above.len() { (self.with.end, "  ") } else { (self.with.fork, self.with.beside) };
            self.down(upper, &format!("{below}{line}"), &format!("{below}{beside}"));
        }
    }
}
