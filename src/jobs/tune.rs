//! `zerocap tune`: shows the tunables and their wanted values, and sets them: plan, write through a child with a deadline,
//! read back, record what was found and what was written. It does so for leaf devices before the stacks on them.

mod steps;

use crate::assess::{self, tunables, Picture};
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::facts::Depth;
use crate::jobs::show;
use crate::machine::Roots;
use crate::tunable::plan::{self, SetBy};
use crate::tunable::{wedged_text, ROWS};
use serde::Serialize;
use steps::held;
pub use steps::{apply, reset, Outcome, Step};

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

/// The tunables of the devices named, or of all.
pub fn show(
    roots: &Roots,
    typed: &[String],
    all: bool,
    remark: &mut dyn FnMut(&str),
) -> Result<(Vec<Line>, Vec<Error>)> {
    let (devices, errors) = show::devices(roots, typed, all, remark)?;
    let mut lines = Vec::new();
    for device in devices {
        let held = held(roots, &device);
        let mut port = roots.port();
        let depth = if held.is_some() { Depth::Quiet } else { Depth::Claims };
        let picture = assess::look_at(roots, port.as_mut(), &device, depth, remark);
        lines.extend(of_device(roots, &picture, held.as_deref()));
    }
    Ok((lines, errors))
}

fn of_device(roots: &Roots, picture: &Picture, held: Option<&str>) -> Vec<Line> {
    let facts = &picture.facts;
    let record = tunables::read(roots, facts);
    let mut lines = Vec::new();
    for row in ROWS.iter().filter(|r| r.file(facts).is_some() && (r.managed || row_is_there(r, picture))) {
        let want = picture.document.tunables.iter().find(|t| t.name == row.name);
        let (now, hw) = (row.now(facts), row.kernel(facts));
        let set_by = now.known().and_then(|n| plan::set_by(n, hw.as_deref(), record.last(row.name)));
        let in_the_way = match (set_by, now.known(), want) {
            _ if held.is_some() => held.map(str::to_owned),
            _ if row.path.starts_with("queue/") && crate::tunable::wedged(facts) => {
                Some(wedged_text(facts.device.kind))
            }
            (Some(SetBy::Admin), Some(now), Some(w)) if w.wanted != *now => {
                Some("set-by-admin: not changed".to_owned())
            }
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
