//! `zerocap tune`: what the tunables are and should be, and making them so: plan, write through a child with a deadline,
//! read back, record what was found and written. Leaves before the stacks on them.

mod steps;

use crate::assess::{self, Picture};
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::facts::Depth;
use crate::jobs::show;
use crate::machine::block::devices;
use crate::machine::fs::root::Root;
use crate::machine::Roots;
use crate::store::applied_tunables;
use crate::store::intents::Intents;
use crate::tunable::plan::{self, SetBy};
use crate::tunable::ROWS;
use serde::Serialize;
pub use steps::{apply, reset};

/// How deep a stack is followed.
const DEEPEST: usize = 8;

/// One tunable of one device, as `tune show` has it.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The device's name.
    pub device: String,
    /// The tunable.
    pub tunable: &'static str,
    /// Its path below the device.
    pub path: &'static str,
    /// What it is; null where it is not known.
    pub now: Option<String>,
    /// Why it is not known: absent, timed out, …
    pub now_unknown: Option<String>,
    /// What the kernel would have it be; for the knob the hardware's limit.
    pub hw: Option<String>,
    /// What is wanted; null: nothing.
    pub wanted: Option<String>,
    /// Why, or what stands in the way.
    pub why: Option<String>,
    /// Who put the value there: kernel, zerocap, admin.
    pub set_by: Option<&'static str>,
    /// What it accepts.
    pub accepts: &'static str,
    /// What it changes.
    pub changes: &'static str,
    /// What resets it.
    pub reset_by: &'static str,
    /// Whether it can be put back.
    pub put_back: &'static str,
}

/// What was done about one tunable, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The device's name.
    pub device: String,
    /// The path below the device.
    pub path: String,
    /// What it came to.
    pub outcome: Outcome,
}

/// What a step came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It would be written: from, to, why.
    Would(String, String, String),
    /// It was written: from, to, why; and what was read back.
    Wrote(String, String, String, String),
    /// It was left alone, and why. No failure.
    Left(String),
    /// It could not be done, and what to do.
    Failed(String),
}

/// The tunables of the devices named, or of all.
pub fn show(
    roots: &Roots,
    typed: &[String],
    all: bool,
    remark: &mut dyn FnMut(&str),
) -> Result<(Vec<Line>, Vec<Error>)> {
    let (devices, errors) = show::devices(roots, typed, all)?;
    let mut lines = Vec::new();
    for device in devices {
        let held = held(roots, &device);
        let mut port = roots.port();
        let depth = if held.is_some() { Depth::Quiet } else { Depth::Claims };
        let picture = assess::of(roots, port.as_mut(), &device, depth, remark);
        lines.extend(of_device(roots, &picture, held.as_deref()));
    }
    Ok((lines, errors))
}

fn of_device(roots: &Roots, picture: &Picture, held: Option<&str>) -> Vec<Line> {
    let facts = &picture.facts;
    let record = applied_tunables::read(roots, facts);
    let mut lines = Vec::new();
    for row in ROWS.iter().filter(|r| r.file(facts).is_some() && (r.managed || row_is_there(r, picture))) {
        let want = picture.document.tunables.iter().find(|t| t.name == row.name);
        let (now, hw) = (row.now(facts), row.kernel(facts));
        let set_by = now.known().and_then(|n| plan::set_by(n, hw.as_deref(), record.of(row)));
        let in_the_way = match (set_by, now.known(), want) {
            _ if held.is_some() => held.map(str::to_owned),
            _ if row.path.starts_with("queue/") && crate::tunable::wedged(facts) => {
                Some(steps::wedged_text(facts.device.kind))
            }
            (Some(SetBy::Admin), Some(now), Some(w)) if w.wanted != *now => Some("set-by-admin: left alone".to_owned()),
            _ => None,
        };
        lines.push(Line {
            device: facts.device.name.clone(),
            tunable: row.name,
            path: row.path,
            now_unknown: now.why().map(ToString::to_string),
            now: now.known().cloned(),
            hw,
            wanted: want.map(|w| w.wanted.clone()),
            why: in_the_way.or_else(|| want.map(|w| w.why.clone())),
            set_by: set_by.map(SetBy::as_str),
            accepts: row.accepts,
            changes: row.changes,
            reset_by: row.reset_by,
            put_back: row.put_back,
        });
    }
    lines
}

/// What is shown only is left out where the device has no such file.
fn row_is_there(row: &crate::tunable::Row, picture: &Picture) -> bool {
    row.now(&picture.facts) != Fact::ABSENT
}

/// Whether a test of this boot is open on a device or on anything below it: then a limit write could wait for ever behind
/// a command that is not answered.
pub(crate) fn held(roots: &Roots, device: &Device) -> Option<String> {
    let root = &roots.system;
    below(root, device, 0)
        .into_iter()
        .find(|d| d.devnum.is_some_and(|n| Intents::live(roots).open_in_this_boot(n)))
        .map(|d| {
            let which = if d.name == device.name { "it".to_owned() } else { d.node() };
            format!(
                "a test of {which} is open in this boot, perhaps with a command in flight: its queue is not touched"
            )
        })
}

/// The device and all it stands on.
fn below(root: &Root, device: &Device, level: usize) -> Vec<Device> {
    let mut found = vec![device.clone()];
    let can_have = device.kind.is_stack() || device.kind == Kind::Other;
    if let (true, Fact::Known(names)) = (can_have && level < DEEPEST, root.list(&device.attr("slaves"))) {
        let members = names.iter().filter_map(|n| devices::resolve_name(root, n));
        found.extend(members.flat_map(|m| below(root, &m, level + 1)));
    }
    found
}

/// The devices, each after all that it stands on.
fn leaves_first(root: &Root, mut devices: Vec<Device>) -> Vec<Device> {
    fn height(root: &Root, device: &Device, level: usize) -> usize {
        let can_have = device.kind.is_stack() || device.kind == Kind::Other;
        match root.list(&device.attr("slaves")) {
            Fact::Known(names) if can_have && level < DEEPEST => {
                let members = names.iter().filter_map(|n| devices::resolve_name(root, n));
                members.map(|m| height(root, &m, level + 1) + 1).max().unwrap_or(0)
            }
            _ => 0,
        }
    }
    devices.sort_by_cached_key(|d| height(root, d, 0));
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_comes_after_what_it_stands_on() {
        let dir = tempfile::tempdir().unwrap();
        for slave in ["dm-0/slaves/dm-1", "dm-1/slaves/sda", "sda/queue", "md0/slaves/dm-0"] {
            std::fs::create_dir_all(dir.path().join("sys/block").join(slave)).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let devices = ["md0", "dm-0", "dm-1", "sda"].map(|n| devices::device(&root, n)).to_vec();
        let order: Vec<String> = leaves_first(&root, devices).into_iter().map(|d| d.name).collect();
        assert_eq!(order, ["sda", "dm-1", "dm-0", "md0"]);
    }
}
