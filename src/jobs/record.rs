//! `zerocap record`: writes one device of the running system, with everything that `show` and `probe` read of it, as a
//! recorded machine.
//!
//! There is no list of readings: the code that answers is run over a root and a port that record what they are asked. It
//! opens nothing for writing except the new directory.

mod kept;
mod rules;

use crate::assess;
use crate::assess::policies;
use crate::device::{Device, Kind};
use crate::error::Result;
use crate::facts::{backing, initial, Depth, Facts};
use crate::jobs::show;
use crate::jobs::target;
use crate::machine::block::devices;
use crate::machine::clock;
use crate::machine::fs::guard::When;
use crate::machine::fs::mounts::MOUNTINFO;
use crate::machine::fs::root::{Note, Root};
use crate::machine::port::recorder::{must_be_empty, NotingPort, Tree};
use crate::machine::port::AskError;
use crate::machine::udev;
use crate::machine::Roots;
use crate::redact::{allowed, hide, secrets};
use crate::store::intents;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that no rule reads today and a reader of a bug report wants, below the device.
const BESIDE: &[&str] = &[
    "dev",
    "uevent",
    "discard_alignment",
    "alignment_offset",
    "dm/name",
    "md/chunk_size",
    "loop/offset",
    "loop/dio",
    "device/state",
    "device/scsi_level",
    "device/cntlid",
    "device/address",
    "device/subsysnqn",
];

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// The devices: the one that was named, what it is made of, and what bears its identity.
    pub devices: Vec<String>,
    /// Files and links written.
    pub files: usize,
    /// What could not be read, a line each.
    pub lost: Vec<String>,
}

/// Records a device into a directory that is not there yet, or empty.
pub fn run(roots: &Roots, typed: &str, dir: &Path, with_serials: bool) -> Result<Recorded> {
    let device = target::named(roots, typed)?;
    must_be_empty(dir)?;
    let source = Root::open(roots.system.path())?;
    let mut tee = Roots::new(Some(roots.system.path()), Some(&roots.state))?.guarded(When::Always);
    tee.system = tee.system.noting();
    let mut port = NotingPort::new(tee.port());
    let mut tree = Tree::default();
    let mut lost = BTreeSet::new();
    let mut mounts = BTreeMap::new();
    let mut devices: Vec<Device> = vec![device];
    let mut seen: Vec<Facts> = Vec::new();
    let mut at = 0;
    while let Some(device) = devices.get(at).cloned() {
        let root = &tee.system;
        // Whether an identity is borne twice is looked up below, on the other root: its readings concern every device.
        let picture = assess::among(&tee, &mut port, &device, Depth::All, &|_| false, &mut |_| ());
        show::with_now(&tee, picture.document);
        beside(root, &source, &device);
        let mut names = picture.facts.stack.members.known().cloned().unwrap_or_default();
        names.extend(assess::same_identity(roots, &picture.facts)?);
        names.extend(paths(&source, &device));
        for other in names.iter().filter_map(|name| devices::resolve_name(root, name)) {
            if !devices.iter().any(|d| d.name == other.name) {
                devices.push(other);
            }
        }
        // Of the mount table only the lines below are kept: the others tell of the machine what nobody asked for.
        let trail: Vec<Note> =
            root.trail().into_iter().filter(|n| !matches!(n, Note::Read(path, _) if path == MOUNTINFO)).collect();
        lost.extend(tree.add(&source, &trail));
        mounts.extend(backing::mount(&source, &device).map(|m| (m.id, m.line())));
        if roots.is_live() {
            let lines =
                udev::properties(&device.name).unwrap_or_default().into_iter().map(|(k, v)| format!("{k}={v}\n"));
            tree.file(format!("udev/{}", device.name), lines.collect::<String>());
        }
        state(roots, &picture.facts, &mut tree);
        seen.push(picture.facts);
        at += 1;
    }
    for ((name, question), reply) in &port.asked {
        let stem = format!("commands/{name}/{question}");
        match reply {
            // The replies of a recorded machine are files of its root, and noted as such.
            Ok(bytes) if roots.is_live() => tree.file(format!("{stem}.bin"), bytes.clone()),
            Err(AskError::NotAsked) | Ok(_) => {}
            Err(refusal) => {
                if roots.is_live() {
                    tree.file(format!("{stem}.err"), format!("{refusal}\n"));
                }
                lost.insert(format!("{name}: {question}: {refusal}"));
            }
        }
    }
    if !mounts.is_empty() {
        tree.file(MOUNTINFO, mounts.into_values().collect::<String>());
    }
    lost.extend(
        allowed::keep(&mut tree)
            .into_iter()
            .map(|what| format!("{what}: left out, because it is not on the list of what a recording may contain")),
    );
    let secrets = (!with_serials).then(|| hide::hide(&mut tree, &kept::hidden));
    policies(roots, &seen, secrets, &mut tree);
    tree.file("machine.toml", about(&source, &devices, with_serials));
    let files = tree.write(dir)?;
    let devices = devices.into_iter().map(|d| d.name).collect();
    Ok(Recorded { devices, files, lost: lost.into_iter().collect() })
}

/// Reads what only people want, and whole directories that are small.
fn beside(root: &Root, source: &Root, device: &Device) {
    devices::partitions(root, device);
    root.read(&format!("udev/{}", device.name));
    for name in root.list(&device.attr("queue")).known().into_iter().flatten() {
        let path = device.attr(&format!("queue/{name}"));
        if !source.exists(&format!("{path}/.")) {
            root.read(&path);
        }
    }
    BESIDE.iter().for_each(|name| drop(root.read(&device.attr(name))));
}

/// The hidden paths of a multipath head: `nvme1c0n1` of `nvme1n1`.
fn paths(root: &Root, device: &Device) -> Vec<String> {
    let parts = device.name.strip_prefix("nvme").and_then(|r| r.split_once('n'));
    let Some((instance, namespace)) = parts.filter(|_| device.kind == Kind::Nvme) else { return Vec::new() };
    let of_head = |name: &String| {
        let rest = name.strip_prefix("nvme").and_then(|r| r.strip_prefix(instance)).and_then(|r| r.strip_prefix('c'));
        rest.and_then(|r| r.split_once('n')).is_some_and(|(_, n)| n == namespace)
    };
    root.list("sys/block").known().into_iter().flatten().filter(|n| of_head(n)).cloned().collect()
}

/// The kept measurement with its samples, and the intent of a device, under the names that a replay looks for.
fn state(roots: &Roots, facts: &Facts, tree: &mut Tree) {
    let Ok(root) = Root::open(&roots.state) else { return };
    let mut take = |path: String| {
        if let Some(bytes) = root.read(&path).known() {
            tree.file(path, bytes.clone());
        }
    };
    match (&facts.names.identity, facts.device.devnum) {
        (Some(identity), _) => {
            take(format!("etc/zerocap/devices/{}.json", identity.file_name()));
            take(format!("etc/zerocap/samples/{}.json", identity.file_name()));
        }
        (None, Some(devnum)) => {
            take(format!("run/zerocap/kept/{devnum}.json"));
            take(format!("run/zerocap/samples/{devnum}.json"));
        }
        (None, None) => {}
    }
    take(format!("var/lib/zerocap/intent/{}", intents::name(facts.names.identity.as_ref(), facts.device.devnum)));
    // What zerocap set: without it the value would look like an administrator's.
    if let Some(devnum) = facts.device.devnum {
        take(format!("run/zerocap/set/{devnum}"));
    }
    // What the running system told of the holes below a loop or thin volume, which no recorded file can.
    if let Some(told) = facts.initial.to_record().filter(|_| roots.is_live()) {
        tree.file(initial::place(&facts.device), told);
    }
}

/// The rules that fit a recorded device: they take part in the verdict.
fn policies(roots: &Roots, seen: &[Facts], mut secrets: Option<secrets::Secrets>, tree: &mut Tree) {
    let nodes: Vec<String> = seen.iter().map(|f| f.device.node()).collect();
    let subjects: Vec<_> = seen.iter().zip(&nodes).map(|(f, node)| policies::subject(f, node)).collect();
    for (path, rules) in policies::by_file(roots) {
        if let Some(text) = rules::text(&rules, &subjects, secrets.as_mut()) {
            tree.file(path, text);
        }
    }
}

/// `machine.toml`: where the recording comes from.
fn about(root: &Root, devices: &[Device], with_serials: bool) -> String {
    let names: Vec<&str> = devices.iter().map(|d| d.name.as_str()).collect();
    let hidden = if with_serials { "" } else { "; serial numbers, WWNs, UUIDs and names replaced" };
    let note = format!("zerocap {} record: {}{hidden}.", env!("CARGO_PKG_VERSION"), names.join(", "));
    let kept = |key: &str| {
        let text = root.text("machine.toml");
        let table: Option<toml::Table> = text.known().and_then(|t| t.parse().ok());
        table.and_then(|t| t.get(key).and_then(toml::Value::as_str).map(str::to_owned))
    };
    let today = || clock::now_utc().chars().take(10).collect();
    let (origin, date) = match root.is_system() {
        true => (origin(root).to_owned(), today()),
        // A recording of a recording comes from where the first one did.
        false => (
            kept("origin").unwrap_or_else(|| "hardware".to_owned()),
            kept("date").unwrap_or_else(|| "unknown".to_owned()),
        ),
    };
    let note = match kept("note").filter(|_| !root.is_system()) {
        Some(first) => format!("{first} {note}"),
        None => note,
    };
    // A JSON string is a TOML basic string.
    let quote = |s: &str| serde_json::to_string(s).unwrap_or_default();
    format!("origin = {}\nnote = {}\ndate = {}\n", quote(&origin), quote(&note), quote(&date))
}

/// Words of hypervisors in what the firmware says of the machine.
const HYPERVISORS: &[&str] = &[
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "innotek",
    "Xen",
    "Bochs",
    "Parallels",
    "Virtual Machine",
    "OpenStack",
    "Google Compute Engine",
    "BHYVE",
    "Firecracker",
    "Standard PC",
];

/// `vm` where firmware or processor say so, else `hardware`.
fn origin(root: &Root) -> &'static str {
    let dmi = |name: &str| root.text(&format!("sys/class/dmi/id/{name}")).known().cloned().unwrap_or_default();
    let firmware = [dmi("sys_vendor"), dmi("product_name")].join(" ");
    // x86 sets the flag under any hypervisor (CPUID 1, ECX bit 31).
    let flags = root.text("proc/cpuinfo");
    let flagged = flags.known().is_some_and(|t| {
        t.lines().any(|l| l.starts_with("flags") && l.split_ascii_whitespace().any(|w| w == "hypervisor"))
    });
    if flagged || HYPERVISORS.iter().any(|w| firmware.contains(w)) {
        "vm"
    } else {
        "hardware"
    }
}
