//! `zerocap measure` with a directory as the place. It tests the class of the disk in a file of a mounted file system that
//! keeps the bytes of a file in their place, and how much zeroed space gains for synchronous writes. The order of the test is
//! that of `protocol`, the same as on a device. Nobody else uses the file, so nothing is journalled and nothing is put back.

use crate::assess::stack_members;
use crate::device::display::escape_str;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::facts::path;
use crate::facts::Facts;
use crate::jobs::{measured, target};
use crate::machine::block::hold::{Hold, LiveHold, Opened};
use crate::machine::block::{devices, stack};
use crate::machine::fs::durable::LiveDurable;
use crate::machine::fs::location::Place;
use crate::machine::fs::path_info::{self, Located, What};
use crate::machine::interrupt::Interrupt;
use crate::machine::port::child::ChildPort;
use crate::machine::port::file_acts::block_bytes;
use crate::machine::port::Port;
use crate::machine::Roots;
use crate::measure::outcome::{End, Outcome};
use crate::measure::plan::{SEGMENT, SUSTAINED};
use crate::measure::scratch::{self, Asked, ScratchSpec};
use crate::measure::scratch::{file, Wanted};
use crate::policy::Policy;
use crate::protocol::directory::{self, Checked};
use crate::protocol::in_file::{self, InFile, Moved};
use crate::protocol::plan::{self, Intended, Prepared};
use crate::protocol::result::{self, Conditions};
use crate::protocol::supervise::Listener;
use crate::protocol::{self, deadline, surroundings, untested, Answer, Machine, Request, Subject};
use crate::store::intents::Intents;
use crate::store::{measurements, samples};
use crate::terms::Class;
use crate::units::{human_bytes, Nanos, MIB};
use std::cell::RefCell;

/// The longest file: what a usual cache holds, and more.
const LONGEST: u64 = 1024 * MIB;
/// So many times the file must be free.
const FREE: u64 = 10;

/// What the job is about.
#[derive(Clone, Copy)]
pub(super) struct On<'a> {
    pub(super) roots: &'a Roots,
    pub(super) request: &'a Request,
    pub(super) facts: &'a Facts,
    pub(super) policy: &'a Policy,
    pub(super) name: &'a str,
}

/// What is held while the disk is locked.
struct Held<'a> {
    hold: &'a mut LiveHold,
    opened: Opened,
    intents: &'a mut Intents,
    interrupt: &'a Interrupt,
}

/// The device that a test is about: the one that was named, or the disk below a directory that was, which is told.
pub(super) fn device(roots: &Roots, request: &Request, remark: &mut dyn FnMut(&str)) -> Result<Device> {
    let typed = &request.device;
    let as_path = typed.contains('/') || matches!(typed.as_str(), "." | "..");
    if !as_path || !path_info::locate(typed).is_ok_and(|l| l.what == What::Directory) {
        return target::to_test(roots, typed, &request.place, remark);
    }
    let disk = disk_below(roots, typed)?;
    let (node, shown) = (disk.node(), escape_str(typed));
    if matches!(request.place, ScratchSpec::Range { .. }) {
        return Err(Error::Usage(format!(
            "{shown} is a directory, but the offset in --scratch counts from the start of a device; name the device: \
             {node}"
        )));
    }
    remark(&format!("{shown}: its file system is on {node}; {node} is used"));
    Ok(disk)
}

/// The disk below a directory; where the way to it is no plain map, the device that the file system is on.
fn disk_below(roots: &Roots, typed: &str) -> Result<Device> {
    let root = &roots.system;
    let located = path_info::locate(typed)?;
    let on = path::resolve(root, &located);
    let [device] = target::devices(typed, &on)? else {
        let what = format!("{}: its file system lies on several devices; name one of them", escape_str(typed));
        return Err(Error::Usage(what));
    };
    if device.kind != Kind::Dm {
        return Ok(device.clone());
    }
    let disk = match &stack::leaves(root, device)[..] {
        [leaf] => devices::device(root, leaf),
        _ => return Ok(device.clone()),
    };
    Ok(if directory::mapped(root, located.filesystem, &disk).is_ok() { disk } else { device.clone() })
}

/// Runs the job.
pub(super) fn run(
    on: &On<'_>,
    located: &Located,
    intents: &mut Intents,
    listener: &mut dyn Listener,
) -> Result<Answer> {
    let request = on.request;
    let only_device = [(request.tune, "--tune"), (request.deep, "--deep"), (request.interference, "--interference")];
    if let Some((_, option)) = only_device.iter().find(|(asked, _)| *asked) {
        return Err(Error::Usage(format!(
            "{option} needs a scratch range on the device and does not work with a directory"
        )));
    }
    let interrupt = Interrupt::watch_and_answer().map_err(|e| Error::file("SIGINT, SIGTERM, SIGHUP", "handle", e))?;
    let mut hold = LiveHold::default();
    let opened = protocol::begin(&mut hold, intents, &on.facts.device.node(), on.name)?;
    let mut held = Held { hold: &mut hold, opened, intents, interrupt: &interrupt };
    let answer = locked(on, located, &mut held, listener);
    hold.unlock();
    intents.release(on.name);
    answer
}

fn locked(on: &On<'_>, located: &Located, held: &mut Held<'_>, listener: &mut dyn Listener) -> Result<Answer> {
    let On { roots, request, facts, name, .. } = *on;
    let checked = directory::check(roots, facts, located)?;
    let wanted = wanted(on, &checked, located)?;
    if request.dry_run {
        let mut asked = Asked { root: &roots.system, hold: held.hold, opened: held.opened };
        return lines(on, &mut asked, checked, wanted).map(Answer::Planned);
    }
    measurements::may_be_kept(roots, facts)?;
    match wanted {
        Err(why) => listener.remark(&format!("{}: a test in files there gives no class: {why}", facts.device.node())),
        Ok(wanted) => {
            if let Some(answer) = class(on, wanted, held, listener)? {
                return Ok(answer);
            }
        }
    }
    let acts = (&mut *held.intents, held.interrupt);
    directory::run(roots, request, facts, (name, &checked), acts, listener)
}

/// The file that a class can come of; the inner error says why none can. A knob that is off refuses: setting it is all that
/// is needed.
pub(super) fn wanted(on: &On<'_>, checked: &Checked, located: &Located) -> Result<std::result::Result<Wanted, String>> {
    if let Some(why) = &checked.lacks {
        let limit = |d: &Device, name: &str| on.roots.system.number(&d.attr(&format!("queue/{name}"))).get();
        let off = |d: &Device| {
            limit(d, "write_zeroes_unmap_max_bytes") == Some(0)
                && limit(d, "write_zeroes_unmap_max_hw_bytes").is_some_and(|hw| hw > 0)
        };
        let devices = if let Place::Devices(devices) = &checked.on.place { &devices[..] } else { &[] };
        if devices.iter().any(off) {
            return Err(Error::NotSafe { device: on.facts.device.node(), why: why.clone() });
        }
        return Ok(Err(why.clone()));
    }
    if located.filesystem.major == 0 {
        // An overlay, for one: what a file of it lies on is asked of another file system.
        return Ok(Err(format!(
            "{} is not itself on a block device; name a directory of the file system below it",
            checked.on.path
        )));
    }
    let most = LONGEST.min(checked.free / FREE);
    let length = on.request.scratch_bytes.unwrap_or(most).min(most) / MIB * MIB;
    let block = block_bytes(&located.path).map_err(|e| Error::file(&located.path, "ask for the block size of", e))?;
    Ok(Ok(Wanted {
        directory: located.path.clone(),
        filesystem: located.filesystem,
        kind: checked.on.filesystem.clone(),
        mount_point: checked.on.mount_point.clone(),
        block,
        length,
    }))
}

/// The plan, in lines: nothing is made for it.
fn lines(
    on: &On<'_>,
    asked: &mut Asked<'_>,
    checked: Checked,
    wanted: std::result::Result<Wanted, String>,
) -> Result<Vec<String>> {
    let request = on.request;
    let mut lines = checked.lines;
    match wanted {
        Err(why) => lines.push(format!("the test gives no class, because there is no FALLOC_FL_WRITE_ZEROES: {why}")),
        Ok(wanted) => {
            let known = measured::known(on.roots, on.facts, request)?;
            lines.extend(scratch::any_place(asked, &on.facts.device, &known)?);
            let stretch = human_bytes(request.sustained.unwrap_or(SUSTAINED));
            lines.extend([
                format!(
                    "would test in a file of {} without a name, which is zeroed by write-zeroes",
                    human_bytes(wanted.length)
                ),
                "would journal nothing and put nothing back, because nobody else uses the file".to_owned(),
                format!(
                    "would write at most {} bytes in all, for at most {} s",
                    request.max_bytes, request.max_seconds
                ),
                format!("would zero up to {stretch} in one long stretch"),
                shows(&wanted.kind),
            ]);
        }
    }
    Ok(lines)
}

/// What the figures of a file system hold, and what they cannot show.
pub(super) fn shows(kind: &str) -> String {
    match in_file::moves(kind) {
        true => format!(
            "{kind} moves the bytes of a file each time they are zeroed, so the test gives rates but no \
                         class (moved-by-filesystem)"
        ),
        false => format!(
            "the figures include what {kind} adds to each call, such as a commit of its journal; other \
                          zeroing calls are not tried"
        ),
    }
}

/// The test of the class; an answer where nothing more is to be asked of the disk.
fn class(on: &On<'_>, wanted: Wanted, held: &mut Held<'_>, listener: &mut dyn Listener) -> Result<Option<Answer>> {
    let On { roots, request, facts, policy, .. } = *on;
    // The path has a group's limits too, which are as little the disk's.
    if let Some(top) = on_top(roots, &wanted, facts) {
        surroundings::unlimited(&roots.system, &top)?;
    }
    let own = || deadline::of(&roots.system, facts, SEGMENT);
    let mut port = ChildPort::new(request.deadline.map_or_else(own, Nanos::from_secs));
    let known = measured::known(roots, facts, request)?;
    let mut asked = Asked { root: &roots.system, hold: &mut *held.hold, opened: held.opened };
    let proof = file::prove(&mut asked, &facts.device, &known, wanted, &mut port);
    let tested = proof.and_then(|proof| {
        if proof.thin {
            let devices = stack_members::addresses(roots, facts);
            port.listen(devices).map_err(|e| Error::file("the kernel's events (netlink)", "listen to", e))?;
        }
        match plan::of(roots, request, facts, policy, &proof)? {
            Intended::Test(prepared) => tested(on, &proof, &prepared, &mut port, held, listener),
            Intended::TooCoarse(why) => {
                untested::answer(roots, facts, &proof, &why, listener).map(Answer::Verdict).map(Some)
            }
        }
    });
    // The file goes with its last descriptor.
    port.close();
    tested
}

/// The facts of the device that the file system is on, where that is another one than is tested.
fn on_top(roots: &Roots, wanted: &Wanted, facts: &Facts) -> Option<Facts> {
    let root = &roots.system;
    let device = devices::by_number(root, wanted.filesystem)?.device;
    if device.name == facts.device.name {
        return None;
    }
    Some(crate::facts::gather(root, roots.port().as_mut(), &device, crate::facts::Depth::Event))
}

fn tested(
    on: &On<'_>,
    proof: &scratch::Proof,
    prepared: &Prepared,
    port: &mut ChildPort,
    held: &mut Held<'_>,
    listener: &mut dyn Listener,
) -> Result<Option<Answer>> {
    let On { roots, request, facts, name, .. } = *on;
    let Some(place) = &proof.file else { return Ok(None) };
    let moved = Moved::default();
    let mut in_file = InFile::new(port, place, &moved);
    // Nothing is written to it.
    let mut files = LiveDurable::new(plan::journal_directory(roots, request), 0o600);
    let mut machine = Machine {
        root: &roots.system,
        port: &mut in_file,
        hold: &mut *held.hold,
        journal: &mut files,
        intents: &mut *held.intents,
        interrupt: held.interrupt,
    };
    let subject = Subject { facts, name, proof, restore_limits: request.restore_limits };
    let (remarks, mut wrong) = (RefCell::new(Vec::new()), false);
    let mut keep = |outcome: &Outcome, conditions: &Conditions| {
        wrong = matches!(outcome.end, End::Wrong(_));
        let why = moved.borrow().clone();
        let kept = keep(on, prepared, (outcome, conditions), why.as_deref());
        kept.map(|remark| remarks.borrow_mut().extend(remark))
    };
    let result = protocol::test(&mut machine, subject, prepared, listener, &mut keep);
    remarks.borrow().iter().for_each(|remark: &String| listener.remark(remark));
    result?;
    // Of a disk that zeroes wrongly nothing more is asked.
    if wrong {
        return measured::published(roots, facts, listener).map(Some);
    }
    Ok(None)
}

/// Keeps what the test gave; the remark says why that was not done. What decides nothing takes no place of what did.
fn keep(
    on: &On<'_>,
    prepared: &Prepared,
    (outcome, conditions): (&Outcome, &Conditions),
    moved: Option<&str>,
) -> Result<Option<String>> {
    let On { roots, facts, .. } = *on;
    let mut found = result::of_run(facts, conditions, outcome);
    if let Some(why) = moved {
        result::only_rates(&mut found, why);
    }
    let before = measurements::load(roots, facts).ok().flatten();
    if found.class == Class::Unknown && before.as_ref().is_some_and(|m| !m.is_without_test()) {
        let why = found.inconclusive.unwrap_or_default();
        return Ok(Some(format!(
            "{}: the test in a file gave no class: {why}; what was known of the device is kept",
            facts.device.node()
        )));
    }
    let kept = match moved {
        None => measured::keep(roots, facts, prepared, outcome, conditions)?,
        Some(_) => {
            found.overwrite = before.and_then(|m| m.overwrite);
            measurements::save(roots, facts, &found)?.is_some()
        }
    };
    // The answer is kept; that its single times are not is no failure of the test.
    let saved = kept.then(|| samples::save(roots, facts, &protocol::samples::of_run(facts, conditions, outcome)));
    let unsaved = saved.and_then(std::result::Result::err);
    Ok(unsaved.map(|e| format!("{e}; a report of this test will have no single times")))
}
