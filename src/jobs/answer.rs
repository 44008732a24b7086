//! The answer for a caller that may not ask the device: the published answer, but never a better one than is published for
//! the devices that it depends on.
//!
//! Without root the claims cannot be read, and kept files of old versions may be unreadable, so the answer that udev
//! published is better. It can be older than that of a member, if udev has not yet processed the device.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::facts;
use crate::machine::block::devices;
use crate::machine::block::stack::DEEPEST;
use crate::machine::environment;
use crate::machine::Roots;
use crate::store::published;
use crate::terms::{Basis, Class};
use crate::verdict::expected::weakest_of;
use std::collections::BTreeSet;
use verdict_format::{Document, Member};

/// The published document of a device, for a caller without root; `None` for root, and where nothing is published.
pub(crate) fn published(roots: &Roots, device: &Device) -> Option<Document> {
    if !roots.is_live() || environment::is_root() {
        return None;
    }
    vouched_for(roots, device, 0)
}

fn vouched_for(roots: &Roots, device: &Device, level: usize) -> Option<Document> {
    let document = published::read(roots, device.devnum?, &facts::device::instance(&roots.system, device))?;
    if document.basis != Some(Basis::Derived) {
        return Some(document);
    }
    Some(match doubt(roots, device, &document.device.members, level) {
        Some((class, why)) => weakened(document, class, why),
        None => document,
    })
}

/// What the members say that is worse than any derived class may be: the class, and why.
fn doubt(roots: &Roots, device: &Device, members: &[Member], level: usize) -> Option<(Class, String)> {
    let root = &roots.system;
    let unknown = |why: String| Some((Class::Unknown, why));
    // A table that was loaded anew keeps the device's sequence number.
    if let Some(now) = root.list(&device.attr("slaves")).known() {
        let now: BTreeSet<String> = now.iter().map(|name| escape_str(name)).collect();
        if now != members.iter().map(|m| m.name.clone()).collect() {
            return unknown("its members are not those that it had when its answer was published".to_owned());
        }
    }
    let mut classes = Vec::new();
    for member in members {
        let Some(disk) = devices::resolve_name(root, &member.name).filter(|_| level < DEEPEST) else {
            return unknown(format!("its member {} cannot be looked at", member.name));
        };
        if root.number(&disk.attr("diskseq")).get() != member.diskseq {
            return unknown(format!(
                "its member {} is not the disk that it was when its answer was published",
                member.name
            ));
        }
        let Some(below) = vouched_for(roots, &disk, level + 1) else {
            return unknown(format!("no answer is published for its member {}", member.name));
        };
        classes.push((below.class, format!("its member {} is {}", member.name, below.class)));
    }
    let weakest = weakest_of(classes.iter().map(|(class, _)| *class))?;
    classes.into_iter().find(|(class, _)| *class == weakest)
}

/// The document with the weaker of two classes; figures that spoke for a better one go.
fn weakened(document: Document, class: Class, why: String) -> Document {
    if weakest_of([class, document.class].into_iter()) == Some(document.class) {
        return document;
    }
    Document {
        class,
        basis: (class != Class::Unknown).then_some(Basis::Derived),
        reason: why,
        method: None,
        zeroes_verified: None,
        ..document
    }
}
