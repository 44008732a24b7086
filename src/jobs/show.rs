//! `zerocap show`: the verdicts of the devices that were named, or of all.

use crate::device::Devnum;
use crate::error::Result;
use crate::facts::{self, Depth};
use crate::jobs::{find, picture, publish, Env};
use crate::output::Document;
use std::collections::BTreeMap;

/// The documents, and the errors of devices that could not be looked at.
pub type Shown = (Vec<Document>, Vec<crate::error::Error>);

/// The documents of the devices named, or of all that are listed. With `all` also hidden paths and empty devices.
pub fn run(env: &Env, typed: &[String], all: bool, remark: &mut dyn FnMut(&str)) -> Result<Shown> {
    let mut errors = Vec::new();
    let devices = if typed.is_empty() {
        find::listed(env, all)?
    } else {
        let mut found = Vec::new();
        for name in typed {
            match find::named(env, name) {
                Ok(d) => found.push(d),
                Err(e) => errors.push(e),
            }
        }
        found
    };
    let root = &env.roots.system;
    // Who bears which identity is asked once for all, so that a long list stays linear.
    let mut bearers: BTreeMap<String, usize> = BTreeMap::new();
    for d in find::listed(env, true)? {
        if !root.flag(&d.attr("hidden")).is(true) {
            if let Some(identity) = facts::device::identity(root, &d) {
                *bearers.entry(identity.as_str().to_owned()).or_default() += 1;
            }
        }
    }
    let shared = |f: &facts::Facts| {
        !f.names.hidden.is(true)
            && f.names.identity.as_ref().is_some_and(|i| bearers.get(i.as_str()).is_some_and(|n| *n > 1))
    };
    let privileged = !env.roots.is_live() || rustix::process::geteuid().is_root();
    let mut port = env.port();
    let documents = devices
        .iter()
        .map(|device| {
            let published = || publish::read(env, device.devnum?, root.number(&device.attr("diskseq")).get());
            // Without root the claims cannot be asked for and kept files of old versions may be closed: what udev published
            // is the better answer.
            if let Some(document) = (!privileged).then(published).flatten() {
                return with_now(env, document);
            }
            let picture = picture::among(env, port.as_mut(), device, Depth::Claims, &shared, remark);
            with_now(env, picture.document)
        })
        .collect();
    Ok((documents, errors))
}

/// Adds what each tunable is now.
pub(crate) fn with_now(env: &Env, mut document: Document) -> Document {
    let dir = format!("sys/block/{}", document.device.name);
    for t in &mut document.tunables {
        t.now = env.roots.system.text(&format!("{dir}/{}", t.path)).known().cloned();
    }
    document
}

/// The number of a device, for messages.
pub fn devnum(document: &Document) -> Option<Devnum> {
    document.device.devnum.as_deref().and_then(|d| d.parse().ok())
}
