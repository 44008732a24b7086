//! Replaces what names a device or its owner in a recorded tree: serial numbers, WWNs, UUIDs, volume names, paths of backing
//! files. Each has the same replacement everywhere, so a replay equals the machine except for the names. It is pure.

use super::pages::{nqn, t10, Page};
use super::secrets::{Reach, Secrets};
use crate::device::identity::Parts;
use crate::device::{Identity, Kind};
use crate::machine::fs::mounts::{self, Mount};
use crate::machine::port::recorder::{Node, Tree};
use crate::units::utc_seconds;
use verdict_format::samples::Samples;

/// Keys of udev properties whose values are serial numbers, names or labels.
const UDEV_TEXT: &[(&str, u8)] = &[
    ("ID_SERIAL_SHORT", b'S'),
    ("ID_SCSI_SERIAL", b'S'),
    ("ID_USB_SERIAL_SHORT", b'S'),
    ("SCSI_IDENT_SERIAL", b'S'),
    ("DM_NAME", b'N'),
    ("DM_VG_NAME", b'N'),
    ("DM_LV_NAME", b'N'),
    ("MD_NAME", b'N'),
    ("MD_DEVNAME", b'N'),
    ("ID_FS_LABEL", b'N'),
    ("ID_FS_LABEL_ENC", b'N'),
    ("ID_PART_ENTRY_NAME", b'N'),
];

/// Keys of udev properties whose values are identifiers.
const UDEV_ID: &[&str] = &[
    "ID_WWN",
    "ID_WWN_WITH_EXTENSION",
    "ID_WWN_VENDOR_EXTENSION",
    "ID_FS_UUID",
    "ID_FS_UUID_SUB",
    "ID_PART_TABLE_UUID",
    "ID_PART_ENTRY_UUID",
    "MD_UUID",
];

/// Parts of udev keys whose values name something.
const UDEV_NAMING: &[&str] = &["SERIAL", "WWN", "UUID", "NAME", "LABEL", "DEVLINKS", "ID_PATH", "SCSI_IDENT"];

/// Files of sysfs that name a device.
const NAMING: &[&str] = &[
    "wwid",
    "serial",
    "eui",
    "nguid",
    "uuid",
    "subsysnqn",
    "hostnqn",
    "hostid",
    "cid",
    "backing_file",
    "dm/name",
    "address",
];

/// Where samples of tests are kept, of devices that have an identity.
const SAMPLES: &str = "etc/zerocap/samples/";

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn naming(path: &str) -> bool {
    NAMING.iter().any(|n| path.ends_with(n) && (n.contains('/') || last(path) == *n))
}

/// Gives the bytes of a file without what is secret in them.
pub type HideFile = dyn Fn(&[u8], &Secrets) -> Vec<u8>;

/// Replaces everything secret in the tree; gives what was used. `kept` does so in the file of a kept measurement, whose form
/// is not known here.
pub fn hide(tree: &mut Tree, kept: &HideFile) -> Secrets {
    let mut secrets = Secrets::default();
    // Before the paths of files, so that a file's stand-in lies below that of its mount.
    if let Some(Node::File(bytes)) = tree.nodes.get(mounts::MOUNTINFO) {
        mounts::parse(bytes).iter().for_each(|m| secrets.directory(m.point.as_bytes()));
    }
    // Texts that are made of others (an identity, a T10 designator) come last: what they hold is known by then.
    for late in [false, true] {
        for (path, node) in &tree.nodes {
            // A btrfs has its UUID as a directory.
            if let Some(uuid) = path.strip_prefix("sys/fs/btrfs/").and_then(|p| p.split('/').next()) {
                secrets.hex(uuid, false);
            }
            if let Node::File(bytes) = node {
                // The kernel's own name of a device that is recorded too names nobody.
                if last(path) == "backing_file" && is_recorded_node(tree, bytes) {
                    continue;
                }
                if late == (matches!(Page::of_file(path), Some(Page::Vpd83)) || last(path) == "wwid") {
                    collect(path, bytes, &mut secrets);
                }
            }
        }
    }
    let hidden = std::mem::take(&mut tree.nodes).into_iter().map(|(path, node)| {
        let named = hide_path(&path, &node, &secrets);
        let node = match node {
            Node::File(bytes) => Node::File(hide_file(&path, &bytes, &secrets, kept)),
            Node::Link(target) => Node::Link(secrets.hide(&target, Reach::Long)),
            other => other,
        };
        (named, node)
    });
    tree.nodes = hidden.collect();
    secrets
}

/// Whether a text is the node of a device or partition in the tree.
fn is_recorded_node(tree: &Tree, text: &[u8]) -> bool {
    let name = std::str::from_utf8(text).ok().and_then(|t| t.trim_end().strip_prefix("/dev/"));
    let in_tree = |name: String| {
        let (disk, partition) = (format!("sys/block/{name}"), format!("/{name}/partition"));
        tree.nodes
            .keys()
            .any(|path| *path == disk || path.starts_with(&format!("{disk}/")) || path.ends_with(&partition))
    };
    name.is_some_and(|name| in_tree(name.replace('/', "!")))
}

/// A kept file bears its device's identity as its name, which must fit the new identity.
fn hide_path(path: &str, node: &Node, secrets: &Secrets) -> String {
    let kept =
        ["etc/zerocap/devices/", SAMPLES, "var/lib/zerocap/intent/"].into_iter().find(|dir| path.starts_with(dir));
    let identity = match (kept, node) {
        (Some(_), Node::File(bytes)) => serde_json::from_slice::<serde_json::Value>(bytes).ok(),
        _ => None,
    };
    let identity = identity.as_ref().and_then(|v| v.get("identity")).and_then(|v| v.as_str());
    let hidden = identity.map(|i| secrets.hide_str(i, Reach::All));
    let parts = Parts { wwid: hidden.as_deref(), ..Parts::default() };
    match (kept, Identity::from_parts(Kind::Other, "", &parts)) {
        (Some(dir), Some(identity)) => {
            format!("{dir}{}{}", identity.file_name(), if path.ends_with(".json") { ".json" } else { "" })
        }
        _ => secrets.hide_str(path, Reach::Long),
    }
}

fn collect(path: &str, bytes: &[u8], secrets: &mut Secrets) {
    if let Some(page) = Page::of_file(path) {
        return page.collect(bytes, secrets);
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\n', '\0', ' ', '\t', '\r']);
    if path.starts_with("udev/") {
        return text.lines().filter_map(|l| l.split_once('=')).for_each(|(key, value)| property(key, value, secrets));
    }
    if path.starts_with("etc/zerocap/devices/") || path.starts_with("var/") || path.starts_with("run/") {
        if let Ok(tree) = serde_json::from_slice::<serde_json::Value>(bytes) {
            // The identity is made of names that the device tells itself; a text with blanks in a path is one path.
            let public = |j: &str| PUBLIC.iter().any(|known| j.starts_with(known));
            let whole = tree.get("journal").and_then(|j| j.as_str()).filter(|j| j.starts_with('/') && !public(j));
            whole.iter().for_each(|j| secrets.text(j.as_bytes(), b'F'));
            texts(&tree, &mut |text| paths(text, secrets));
        }
    }
    if !naming(path) {
        return;
    }
    match last(path) {
        "wwid" => wwid(text, secrets),
        "uuid" if path.ends_with("dm/uuid") => dm_uuid(text, secrets),
        "subsysnqn" | "hostnqn" => nqn(text, secrets),
        "eui" | "nguid" | "uuid" | "hostid" | "cid" => {
            if !secrets.hex(text, false) {
                secrets.text(text.as_bytes(), b'S');
            }
        }
        "backing_file" => secrets.text(text.strip_suffix(" (deleted)").unwrap_or(text).as_bytes(), b'F'),
        "name" => secrets.text(text.as_bytes(), b'N'),
        "address" => address(text, secrets),
        _ => secrets.text(text.strip_prefix("0x").unwrap_or(text).as_bytes(), b'S'),
    }
}

fn property(key: &str, value: &str, secrets: &mut Secrets) {
    if let Some((_, mark)) = UDEV_TEXT.iter().find(|(k, _)| *k == key) {
        secrets.text(value.as_bytes(), *mark);
    } else if key == "DM_UUID" {
        dm_uuid(value, secrets);
    } else if UDEV_ID.contains(&key) {
        let digits = value.strip_prefix("0x").unwrap_or(value);
        if !secrets.hex(digits, key.starts_with("ID_WWN")) {
            wwid(digits, secrets);
        }
    }
}

/// Where a controller is: on a bus of this machine, which says nothing, or on a network (`traddr=…,trsvcid=…,src_addr=…`).
fn address(text: &str, secrets: &mut Secrets) {
    for (key, value) in text.split(',').filter_map(|part| part.split_once('=')) {
        if key != "trsvcid" {
            secrets.text(value.as_bytes(), b'A');
        }
    }
}

/// Directories that every machine has.
const PUBLIC: &[&str] = &["/sys/", "/proc/", "/var/lib/zerocap/", "/run/zerocap/", "/etc/zerocap/", "/usr/"];

/// Paths in the words of a kept file or an intent: of a journal, a scratch directory, a node that somebody named. A node by
/// the kernel's name says nothing.
fn paths(text: &str, secrets: &mut Secrets) {
    let public = |p: &str| match p.strip_prefix("/dev/") {
        Some(node) => !node.contains('/'),
        None => PUBLIC.iter().any(|known| p.starts_with(known)),
    };
    let end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '(' | ')');
    let words = text.split(end).map(|w| w.trim_end_matches([':', '.']));
    for path in words.filter(|w| w.starts_with('/') && w.len() > 1 && !public(w)) {
        secrets.text(path.as_bytes(), b'F');
    }
}

/// Every text of a tree.
fn texts(tree: &serde_json::Value, each: &mut dyn FnMut(&str)) {
    match tree {
        serde_json::Value::String(text) => each(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, each)),
        serde_json::Value::Object(members) => members.values().for_each(|member| texts(member, each)),
        _ => {}
    }
}

/// The kernel's name of a device: `naa.…`, `eui.…`, `uuid.…`, `t10.…`, `nvme.<vid>-<serial>-<model>-<nsid>`.
fn wwid(text: &str, secrets: &mut Secrets) {
    let Some((kind, rest)) = text.split_once('.') else { return secrets.text(text.as_bytes(), b'S') };
    match kind {
        "naa" | "eui" | "uuid" => {
            secrets.hex(rest, kind == "naa");
        }
        "t10" => t10(rest.as_bytes(), secrets),
        "nvme" => {
            let serial = rest.split('-').nth(1).unwrap_or_default();
            let digits = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok());
            if let Some(ascii) = serial.as_bytes().chunks(2).map(digits).collect::<Option<Vec<u8>>>() {
                secrets.text(&ascii, b'S');
            }
        }
        _ => secrets.text(text.as_bytes(), b'S'),
    }
}

/// `LVM-<64>[-tpool]`, `CRYPT-LUKS2-<32 hex>-<name>`, `mpath-3<wwid>`, `part1-mpath-…`: the long parts are secret.
fn dm_uuid(text: &str, secrets: &mut Secrets) {
    for part in text.split('-').filter(|p| p.len() >= 6) {
        match part.len() {
            32 => drop(secrets.hex(part, false)),
            // The first digit of a multipath name tells what kind of name follows.
            17 | 33 if text.contains("mpath") => drop(secrets.hex(&part[1..], true)),
            _ => secrets.text(part.as_bytes(), b'U'),
        }
    }
}

fn hide_file(path: &str, bytes: &[u8], secrets: &Secrets, kept: &HideFile) -> Vec<u8> {
    if let Some(page) = Page::of_file(path) {
        return page.hide(bytes, secrets);
    }
    if path.starts_with("udev/") {
        let text = String::from_utf8_lossy(bytes);
        let line = |l: &str| match l.split_once('=') {
            Some((key, value)) => {
                let names = UDEV_NAMING.iter().any(|k| key.contains(k)) && !matches!(key, "DEVNAME" | "ID_MODEL");
                let reach = if names { Reach::All } else { Reach::Long };
                format!("{key}={}\n", secrets.hide_str(value, reach))
            }
            None => format!("{l}\n"),
        };
        return text.lines().map(line).collect::<String>().into_bytes();
    }
    if path.contains("/devices/") && path.ends_with(".json") && path.starts_with("etc/") {
        return kept(bytes, secrets);
    }
    if path.starts_with(SAMPLES) || path.starts_with("run/zerocap/samples/") {
        return samples(bytes, secrets);
    }
    if path == mounts::MOUNTINFO {
        let hidden = |m: Mount| Mount { point: secrets.hide_str(&m.point, Reach::All), ..m }.line();
        return mounts::parse(bytes).into_iter().map(hidden).collect::<String>().into_bytes();
    }
    let reach = match path {
        // Numbers, and what the kernel says of itself.
        p if p.contains("/queue/") || p.starts_with("proc/") => return bytes.to_vec(),
        p if naming(p) || p.starts_with("var/") || p.starts_with("run/") => Reach::All,
        _ => Reach::Long,
    };
    secrets.hide(bytes, reach)
}

/// The samples of a test: numbers and words, and the identity. What is no such file may be anything, and is left empty.
fn samples(bytes: &[u8], secrets: &Secrets) -> Vec<u8> {
    let Ok(mut samples) = serde_json::from_slice::<Samples>(bytes) else { return Vec::new() };
    samples.identity = samples.identity.map(|i| secrets.hide_str(&i, Reach::All));
    if utc_seconds(&samples.at).is_none() {
        samples.at.clear();
    }
    serde_json::to_vec(&samples).unwrap_or_default()
}
