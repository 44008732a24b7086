//! `zerocap show`: the verdicts of the devices that were named, or of all.

use crate::assess;
use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::facts::{self, Depth};
use crate::jobs::answer;
use crate::jobs::target;
use crate::machine::clock;
use crate::machine::machine_id;
use crate::machine::Roots;
use crate::store::model_entries;
use std::collections::BTreeMap;
use verdict_format::fleet::{FleetLine, HwdbName};
use verdict_format::Document;

pub use crate::machine::environment::{columns, error_columns, shows_unicode, wants_colour};

/// The documents, and the errors of devices that could not be looked at.
pub type Shown = (Vec<Document>, Vec<Error>);

/// The documents of the devices named, or of all that are listed. With `all` also hidden paths and empty devices.
pub fn run(roots: &Roots, typed: &[String], all: bool, remark: &mut dyn FnMut(&str)) -> Result<Shown> {
    let (devices, errors) = devices(roots, typed, all)?;
    Ok((documents(roots, devices, remark)?.collect(), errors))
}

/// The devices named, or all that are listed, and the errors of names that lead to none.
pub fn devices(roots: &Roots, typed: &[String], all: bool) -> Result<(Vec<Device>, Vec<Error>)> {
    if typed.is_empty() {
        return Ok((target::listed(roots, all)?, Vec::new()));
    }
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for name in typed {
        match target::named(roots, name) {
            // Two partitions of one disk, or two of its names, are one device.
            Ok(d) if found.iter().any(|f: &Device| f.name == d.name) => {}
            Ok(d) => found.push(d),
            Err(e) => errors.push(e),
        }
    }
    Ok((found, errors))
}

/// The documents of these devices, each made when it is asked for: a long list is never held as a whole.
pub fn documents<'a>(
    roots: &'a Roots,
    devices: Vec<Device>,
    remark: &'a mut dyn FnMut(&str),
) -> Result<impl Iterator<Item = Document> + 'a> {
    let root = &roots.system;
    // Who bears which identity is asked once for all, so that a long list stays linear.
    let mut bearers: BTreeMap<String, usize> = BTreeMap::new();
    for d in target::listed(roots, true)? {
        if !root.flag(&d.attr("hidden")).is(true) {
            if let Some(identity) = facts::device::identity(root, &d) {
                *bearers.entry(identity.as_str().to_owned()).or_default() += 1;
            }
        }
    }
    let shared = move |f: &facts::Facts| {
        !f.names.hidden.is(true)
            && f.names.identity.as_ref().is_some_and(|i| bearers.get(i.as_str()).is_some_and(|n| *n > 1))
    };
    let mut port = roots.port();
    Ok(devices.into_iter().map(move |device| {
        if let Some(document) = answer::published(roots, &device) {
            return with_now(roots, document);
        }
        let picture = assess::among(roots, port.as_mut(), &device, Depth::Claims, &shared, remark);
        with_now(roots, picture.document)
    }))
}

/// The lines of these devices for a fleet, each made when it is asked for. A machine without a machine-id is told once.
pub fn fleet_lines<'a>(
    roots: &'a Roots,
    devices: Vec<Device>,
    remark: &'a mut dyn FnMut(&str),
) -> Result<impl Iterator<Item = FleetLine> + 'a> {
    let machine = machine_id::opaque(&roots.system);
    if let Some(why) = machine.why() {
        let path = roots.system.shown("etc/machine-id");
        remark(&format!(
            "{}: {why}: the lines name no machine, so that a fleet cannot tell it from others; \
             systemd-machine-id-setup makes one",
            path.display()
        ));
    }
    let (machine, collected) = (machine.known().cloned(), clock::now_utc());
    let documents = documents(roots, devices.clone(), remark)?;
    let mut port = roots.port();
    Ok(devices.into_iter().zip(documents).map(move |(device, document)| {
        let facts = facts::gather(&roots.system, port.as_mut(), &device, Depth::Quiet);
        let hwdb = model_entries::looked_up(&model_entries::properties(roots, &device));
        FleetLine {
            machine: machine.clone(),
            collected: collected.clone(),
            hwdb: hwdb.map(|(model, revision)| HwdbName { model, revision }),
            backend: facts.changeable_backend().map(str::to_owned),
            document,
        }
    }))
}

/// Adds what each tunable is now.
pub(crate) fn with_now(roots: &Roots, mut document: Document) -> Document {
    let dir = format!("sys/block/{}", document.device.name);
    for t in &mut document.tunables {
        t.now = roots.system.text(&format!("{dir}/{}", t.path)).known().cloned();
    }
    document
}

/// The number of a device, for messages.
pub fn devnum(document: &Document) -> Option<Devnum> {
    document.device.devnum.as_deref().and_then(|d| d.parse().ok())
}
