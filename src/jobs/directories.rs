//! Directories on a disk as places of a test: where its file systems are mounted, what a test there would do, and which of
//! them `auto` takes. It only reads; `measure_directory` runs the test.

use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::jobs::measure_directory::{self, shows, wanted, On};
use crate::jobs::measured;
use crate::machine::block::{devices, stack};
use crate::machine::fs::mounts::{self, Mount};
use crate::machine::fs::path_info::{self, Located};
use crate::machine::Roots;
use crate::measure::scratch::{self, Asked, ScratchSpec};
use crate::protocol::supervise::Listener;
use crate::protocol::{directory, in_file, Answer};
use crate::store::intents::Intents;
use crate::units::human_bytes;

/// The file system of the disk that has the most free space of those that its class can come of. `why`: why no other place is
/// possible.
pub(super) fn auto(on: &On<'_>, mut why: String, intents: &mut Intents, listener: &mut dyn Listener) -> Result<Answer> {
    let mut best: Option<(u64, Located)> = None;
    for mount in mounted(on.roots, on.facts) {
        match fit(on, &mount.point) {
            Ok((free, located)) if best.as_ref().is_none_or(|(most, _)| free > *most) => best = Some((free, located)),
            Ok(_) => {}
            Err(e) => why = format!("{why}; {}: {}", escape_str(&mount.point), in_words(e)),
        }
    }
    let Some((_, located)) = best else { return Err(Error::NoPlace { device: on.facts.device.node(), why }) };
    listener.remark(&format!(
        "{}: {why}; the test uses a file in {}",
        on.facts.device.node(),
        escape_str(&located.path)
    ));
    measure_directory::run(on, &located, intents, listener)
}

/// A directory that the class of the disk can come of, and how much is free there.
fn fit(on: &On<'_>, point: &str) -> Result<(u64, Located)> {
    let located = path_info::locate(point)?;
    let checked = directory::check(on.roots, on.facts, &located)?;
    let not_safe = |why| Err(Error::NotSafe { device: on.facts.device.node(), why });
    match wanted(on, &checked, &located)? {
        Err(why) => not_safe(why),
        Ok(wanted) if in_file::moves(&wanted.kind) => not_safe(shows(&wanted.kind)),
        Ok(_) => Ok((checked.free, located)),
    }
}

/// What a test in a directory would be, and whether the disk's class can come of it; the error says why there can be none.
pub(super) fn planned(on: &On<'_>, asked: &mut Asked<'_>, directory: &str) -> Result<(bool, String)> {
    let place = ScratchSpec::Node(directory.to_owned());
    let located = directory::named(&place)?.ok_or_else(|| Error::Usage(format!("{directory} is not a directory")))?;
    let checked = directory::check(on.roots, on.facts, &located)?;
    match wanted(on, &checked, &located)? {
        Err(why) => {
            let gains = format!("a test there shows what writing zeroes into files of {} gains", checked.on.filesystem);
            Ok((false, format!("{gains}, but gives no class: {why}")))
        }
        Ok(wanted) => {
            let known = measured::known(on.roots, on.facts, on.request)?;
            scratch::any_place(asked, &on.facts.device, &known)?;
            let (file, most) = (human_bytes(wanted.length), human_bytes(on.request.max_bytes));
            let seconds = on.request.max_seconds;
            let text = format!(
                "in a file of {file} without a name, and without a journal; writes at most {most} in {seconds} s; {}",
                shows(&wanted.kind)
            );
            Ok((!in_file::moves(&wanted.kind), text))
        }
    }
}

/// The mounts of file systems whose devices stand on the disk, each file system once.
pub(super) fn mounted(roots: &Roots, facts: &Facts) -> Vec<Mount> {
    let root = &roots.system;
    let stands = |m: &Mount| {
        let name = root.link_name(&format!("sys/dev/block/{}", m.devnum)).known().cloned();
        let device = name.and_then(|name| devices::resolve_name(root, &name));
        device.is_some_and(|d| stack::with_members(root, &d).iter().any(|below| below.name == facts.device.name))
    };
    let mut seen = Vec::new();
    let mut first = |m: &Mount| {
        let new = !seen.contains(&m.devnum);
        seen.extend(new.then(|| m.devnum.clone()));
        new
    };
    let mounts = mounts::all(root).known().cloned().unwrap_or_default();
    mounts.into_iter().filter(|m| stands(m) && first(m)).collect()
}

/// Why a place is not possible; the disk stands elsewhere.
pub(super) fn in_words(e: Error) -> String {
    match e {
        Error::NotSafe { why, .. } => why,
        other => escape_str(&other.to_string()),
    }
}
