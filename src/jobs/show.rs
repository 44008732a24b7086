//! `zerocap show`: the verdicts of the named devices, or of all devices.

use crate::assess;
use crate::device::display::escape_str;
use crate::device::{Device, Devnum, Identity};
use crate::error::{Error, Result};
use crate::facts::{self, Depth};
use crate::jobs::answer;
use crate::jobs::target;
use crate::machine::block::names::{self, Mounted};
use crate::machine::block::{devices, stack};
use crate::machine::clock;
use crate::machine::machine_id;
use crate::machine::Roots;
use crate::store::model_entries;
use crate::tunable;
use std::collections::BTreeSet;
use verdict_format::fleet::{FleetLine, HwdbName};
use verdict_format::{Document, Member};

pub use crate::machine::environment::{columns, error_columns, shows_unicode, wants_colour};

/// The documents, and the errors of devices that could not be looked at.
pub type Shown = (Vec<Document>, Vec<Error>);

/// The documents of the devices named, or of all that are listed. With `all` also hidden paths and empty devices.
pub fn run(roots: &Roots, typed: &[String], all: bool, remark: &mut dyn FnMut(&str)) -> Result<Shown> {
    let (devices, errors) = devices(roots, typed, all, remark)?;
    Ok((documents(roots, devices, remark)?.collect(), errors))
}

/// The devices named, or all that are listed, and the errors of names that lead to none.
pub fn devices(
    roots: &Roots,
    typed: &[String],
    all: bool,
    remark: &mut dyn FnMut(&str),
) -> Result<(Vec<Device>, Vec<Error>)> {
    if typed.is_empty() {
        return Ok((target::listed(roots, all)?, Vec::new()));
    }
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for name in typed {
        match target::disk_of(roots, name, remark) {
            // Two partitions of one disk, or two of its names, are one device.
            Ok(d) if found.iter().any(|f: &Device| f.name == d.name) => {}
            Ok(d) => found.push(d),
            Err(e) => errors.push(e),
        }
    }
    Ok((found, errors))
}

/// All listed devices that one of these stands on, and that stand on one of them.
pub fn stacked_with(roots: &Roots, named: &[Device], all: bool) -> Result<Vec<Device>> {
    let root = &roots.system;
    let is_named = |d: &Device| named.iter().any(|n| n.name == d.name);
    let below: Vec<Device> = named.iter().flat_map(|d| stack::with_members(root, d)).collect();
    let mut devices = target::listed(roots, all)?;
    devices.retain(|d| below.iter().any(|b| b.name == d.name) || stack::with_members(root, d).iter().any(is_named));
    Ok(devices)
}

/// For a tree: a device that stands on some that are not listed, as a thin volume does on the parts of its pool, stands there
/// on what those stand on.
pub fn seen_through(roots: &Roots, documents: &mut [Document]) {
    let root = &roots.system;
    let listed: BTreeSet<String> = documents.iter().map(|d| d.device.name.clone()).collect();
    let is_listed = |name: &str| devices::resolve_name(root, name).is_none_or(|d| listed.contains(&d.name));
    for document in documents {
        let hidden = |m: &Member| !is_listed(&m.name);
        for _ in 0..stack::DEEPEST {
            if !document.device.members.iter().any(hidden) {
                break;
            }
            let (through, mut kept): (Vec<Member>, Vec<Member>) = document.device.members.drain(..).partition(hidden);
            let below =
                through.iter().filter_map(|m| root.list(&format!("sys/block/{}/slaves", m.name)).known().cloned());
            for name in below.flatten() {
                if !kept.iter().any(|m| m.name == name) {
                    kept.push(Member { name, devnum: None, diskseq: None });
                }
            }
            document.device.members = kept;
        }
    }
}

/// The documents of these devices, each made when it is asked for: a long list is never held as a whole.
pub fn documents<'a>(
    roots: &'a Roots,
    devices: Vec<Device>,
    remark: &'a mut dyn FnMut(&str),
) -> Result<impl Iterator<Item = Document> + 'a> {
    // Who bears which identity is asked once for all, so that a long list stays linear; of one, only who bears its own.
    let bearers = if devices.len() > 1 { Some(assess::identities(roots)?) } else { None };
    let shared = move |f: &facts::Facts| match &bearers {
        Some(bearers) => {
            let borne = |i: &Identity| bearers.get(&i.file_name()).is_some_and(|n| *n > 1);
            !f.names.hidden.is(true) && f.names.identity.as_ref().is_some_and(borne)
        }
        None => assess::is_shared(roots, f),
    };
    let (mut port, mounted) = (roots.port(), Mounted::read(&roots.system));
    Ok(devices.into_iter().map(move |device| {
        let document = match answer::published(roots, &device) {
            Some(document) => with_now(roots, document),
            None => {
                let picture = assess::among(roots, port.as_mut(), &device, Depth::Answer, &shared, remark);
                // What each tunable is now was read with the rest.
                let mut document = picture.document;
                for t in &mut document.tunables {
                    t.now = tunable::row(&t.name).and_then(|row| row.now(&picture.facts).known().cloned());
                }
                document
            }
        };
        with_names(roots, &device, &mounted, document)
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
            "{}: {why}: the lines name no machine, so a fleet cannot tell this machine from others; run \
             systemd-machine-id-setup to make a machine ID",
            path.display()
        ));
    }
    let (machine, collected) = (machine.known().cloned(), clock::now_utc());
    let documents = documents(roots, devices.clone(), remark)?;
    let mut port = roots.port();
    Ok(devices.into_iter().zip(documents).map(move |(device, mut document)| {
        // The names of volumes and directories tell whose machine it is.
        (document.device.names, document.device.mounts) = (None, None);
        let facts = facts::gather(&roots.system, port.as_mut(), &device, Depth::Quiet);
        let hwdb = model_entries::looked_up(&model_entries::properties(roots, &device).unwrap_or_default());
        FleetLine {
            machine: machine.clone(),
            collected: collected.clone(),
            hwdb: hwdb.map(|(model, revision)| HwdbName { model, revision }),
            backend: facts.changeable_backend().map(str::to_owned),
            document,
        }
    }))
}

/// Adds what people call the device, and where it is mounted.
fn with_names(roots: &Roots, device: &Device, mounted: &Mounted, mut document: Document) -> Document {
    let escaped = |texts: Vec<String>| Some(texts.iter().map(|text| escape_str(text)).collect());
    document.device.names = escaped(names::of(&roots.system, device));
    document.device.mounts = escaped(mounted.on(&roots.system, device));
    document
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
