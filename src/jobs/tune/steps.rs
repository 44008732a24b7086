//! `tune apply` and `tune reset`: one step for each tunable.

use crate::assess::{self, tunables, Picture};
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::facts::{Depth, Facts};
use crate::jobs::show;
use crate::machine::block::stack;
use crate::machine::port::child::ChildPort;
use crate::machine::port::{ActError, Port, TunablePath};
use crate::machine::Roots;
use crate::store::applied_tunables::Record;
use crate::store::intents::Intents;
use crate::tunable::plan::Plan;
use crate::tunable::{managed, wedged, wedged_text, Row};
use crate::units::Nanos;
use crate::verdict::wants::wished_mode;
use crate::verdict::{LastWrite, MODE};

/// How long a limit write may take: it waits for the commands in flight, and those of a sound device are done by then.
const DEADLINE: Nanos = Nanos::from_secs(10);
/// The file that has the kernel read a SCSI disk anew.
const RESCAN: &str = "device/rescan";
const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();

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

/// Whether a test of this boot is open on a device or on anything below it: then a limit write could wait for ever behind
/// a command that is not answered.
pub(crate) fn held(roots: &Roots, device: &Device) -> Option<String> {
    let root = &roots.system;
    stack::with_members(root, device)
        .into_iter()
        .find(|d| d.devnum.is_some_and(|n| Intents::live(roots).open_in_this_boot(n)))
        .map(|d| {
            let which = if d.name == device.name { "it".to_owned() } else { d.node() };
            format!(
                "a test of {which} was started in this boot and has not ended, and a command may be in flight: its \
                 queue is not touched; run `zerocap recover` first"
            )
        })
}

/// Makes the managed tunables of the devices named, or of all, what is wanted. Each step is told as it is done.
pub fn apply(
    roots: &Roots,
    typed: &[String],
    (dry_run, rescan): (bool, bool),
    remark: &mut dyn FnMut(&str),
    each: &mut dyn FnMut(Step),
) -> Result<Vec<Error>> {
    writable(roots, dry_run)?;
    let (devices, errors) = show::devices(roots, typed, false, remark)?;
    for device in stack::leaves_first(&roots.system, devices) {
        let mut tell = |path: &str, outcome| {
            each(Step { device: device.name.clone(), path: path.to_owned(), outcome });
        };
        if let Some(why) = held(roots, &device) {
            tell("queue", Outcome::Left(why));
            continue;
        }
        let mut picture = assess::look_at(roots, roots.port().as_mut(), &device, Depth::Claims, remark);
        if wedged(&picture.facts) {
            let mends = rescan && device.kind == Kind::Scsi;
            if !mends || dry_run {
                let text = wedged_text(device.kind);
                tell(
                    "queue",
                    if mends { Outcome::Left(format!("would rescan: {text}")) } else { Outcome::Failed(text) },
                );
                continue;
            }
            tell(RESCAN, rescanned(roots, &device));
            picture = assess::look_at(roots, roots.port().as_mut(), &device, Depth::Claims, remark);
        }
        let record = tunables::read(roots, &picture.facts);
        for row in managed() {
            if let Some((path, outcome)) = one(roots, &picture, row, &record, dry_run) {
                tell(&path, outcome);
            }
        }
    }
    Ok(errors)
}

/// One tunable of one device; `None` where nothing is to be done.
fn one(roots: &Roots, picture: &Picture, row: &Row, record: &Record, dry: bool) -> Option<(String, Outcome)> {
    let facts = &picture.facts;
    let Some(want) = picture.document.tunables.iter().find(|t| t.name == row.name) else {
        return refused(picture, row);
    };
    let path = row.file(facts)?;
    let now = row.now(facts).known()?.clone();
    let outcome = match tunables::plan(facts, row, &want.wanted, record, false) {
        Plan::Leave | Plan::Changed => return None,
        Plan::Foreign(value) => {
            let default = row.kernel(facts).unwrap_or_else(|| "-".to_owned());
            Outcome::Left(format!(
                "set-by-admin: the value is {value}, which neither the kernel (its default is {default}) nor zerocap \
                 set, so zerocap does not change it; the wanted value is {} ({}); write the kernel's default if \
                 zerocap shall manage this tunable",
                want.wanted, want.why
            ))
        }
        Plan::Write => match row.encode(facts, &want.wanted) {
            Err(why) => Outcome::Failed(format!("{} is not written: {why}", want.wanted)),
            Ok(value) if dry => Outcome::Would(now, value, want.why.clone()),
            Ok(value) => {
                // Noted first: a program that is cut off in between must not take its own value for an administrator's.
                let before = record.last(row.name).cloned();
                match tunables::update(roots, facts, |r| tunables::note(facts, row, &value, r)) {
                    Err(e) => Outcome::Failed(e.to_string()),
                    Ok(()) => written(roots, facts, row, &path, &now, &value, &want.why, before),
                }
            }
        },
    };
    Some((path, outcome))
}

/// A mode that is wished for and must not be written to this device: nothing is wanted then, and that is said.
fn refused(picture: &Picture, row: &Row) -> Option<(String, Outcome)> {
    let wished = wished_mode(&picture.policy, picture.verdict.measurement.as_ref()).filter(|_| row.name == MODE);
    let (mode, whose) = wished?;
    let why = row.encode(&picture.facts, mode).err()?;
    Some((row.file(&picture.facts)?, Outcome::Left(format!("{mode} ({whose}) is not written: {why}"))))
}

/// Puts back what was found before the first write, where the value is still zerocap's.
pub fn reset(
    roots: &Roots,
    typed: &[String],
    remark: &mut dyn FnMut(&str),
    each: &mut dyn FnMut(Step),
) -> Result<Vec<Error>> {
    writable(roots, false)?;
    let (devices, errors) = show::devices(roots, typed, false, remark)?;
    let mut order = stack::leaves_first(&roots.system, devices);
    // A stack takes over what is below it only when its table is loaded: it goes first, so that nothing below changes it.
    order.reverse();
    for device in order {
        let mut tell = |path: &str, outcome| {
            each(Step { device: device.name.clone(), path: path.to_owned(), outcome });
        };
        if let Some(why) = held(roots, &device) {
            tell("queue", Outcome::Left(why));
            continue;
        }
        let facts = crate::facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
        let record = tunables::read(roots, &facts);
        for row in managed() {
            let (Some(last), Some(path)) = (record.last(row.name), row.file(&facts)) else { continue };
            let Some(now) = row.now(&facts).known().cloned() else { continue };
            // Whatever is there now, events leave it until something else is wanted.
            let keep = |r: &mut Record| {
                if let Some(l) = r.tunables.get_mut(row.name) {
                    (l.wrote, l.put_back) = (l.found.clone(), true);
                }
            };
            if now == last.found {
                if let Err(e) = tunables::update(roots, &facts, keep) {
                    tell(&path, Outcome::Failed(e.to_string()));
                }
                continue;
            }
            if now != last.wrote {
                tell(
                    &path,
                    Outcome::Left(format!(
                        "set-by-admin: the value is {now}, but zerocap wrote {}; it is not changed",
                        last.wrote
                    )),
                );
                continue;
            }
            let outcome = match row.encode(&facts, &last.found) {
                Err(why) => Outcome::Failed(format!(
                    "{} was found before the first write and cannot be put back: {why}",
                    last.found
                )),
                Ok(value) => match tunables::update(roots, &facts, keep) {
                    Err(e) => Outcome::Failed(e.to_string()),
                    Ok(()) => written(
                        roots,
                        &facts,
                        row,
                        &path,
                        &now,
                        &value,
                        "the value found before the first write",
                        Some(last.clone()),
                    ),
                },
            };
            tell(&path, outcome);
        }
    }
    Ok(errors)
}

fn writable(roots: &Roots, dry_run: bool) -> Result<()> {
    if dry_run || roots.is_live() {
        Ok(())
    } else {
        let why = "a recorded machine is never written to; leave out --root, or use `tune apply --dry-run`";
        Err(Error::Usage(why.to_owned()))
    }
}

/// Writes, reads back, and says what came of it. `before`: the record as it was, for a write that fails.
#[allow(clippy::too_many_arguments)] // two callers, and all of it is said to the user
fn written(
    roots: &Roots,
    facts: &Facts,
    row: &Row,
    path: &str,
    now: &str,
    value: &str,
    why: &str,
    before: Option<LastWrite>,
) -> Outcome {
    let result = set(&facts.device, path, value);
    let reads = |path: &str| roots.system.text(&facts.device.attr(path));
    let failed = match result {
        Ok(()) => match reads(path).known() {
            Some(read) if read == value || row.kernel(facts).as_deref() == Some(read) => {
                // Again: an event in between saw the old value there, and took note of that.
                let noted = tunables::update(roots, facts, |r| {
                    if let Some(last) = r.tunables.get_mut(row.name) {
                        value.clone_into(&mut last.wrote);
                    }
                });
                return match noted {
                    Ok(()) => Outcome::Wrote(now.to_owned(), value.to_owned(), why.to_owned(), read.clone()),
                    Err(e) => Outcome::Failed(format!(
                        "{value} was written, but zerocap could not record that it did so: {e}"
                    )),
                };
            }
            Some(read) => {
                format!(
                    "{value} was written, but {read} is read back: something else set it, or the kernel limited \
                         it"
                )
            }
            None => format!("{value} was written, but it cannot be read back"),
        },
        Err(ActError::Os(EINVAL)) => {
            // EINVAL means the value, or limits that are wedged: only the other files tell which (fieldguide 1.4 e).
            let limit = |name: &str| reads(&format!("queue/{name}")).known().cloned();
            match (limit("write_zeroes_unmap_max_hw_bytes"), limit("write_zeroes_max_bytes").as_deref()) {
                (Some(hw), Some("0")) if hw != "0" => wedged_text(facts.device.kind),
                (hw, _) => format!(
                    "the kernel refuses {value} (EINVAL); it accepts {}, and the hardware's limit is {}",
                    row.accepts,
                    hw.unwrap_or_else(|| "unknown".to_owned())
                ),
            }
        }
        Err(ActError::NoAnswer(pid)) => {
            // The write may still happen once the device answers, so the note stays.
            return Outcome::Failed(format!(
                "write {value}: no answer in {:.0} s; the write waits for a command that the device does not answer \
                 (process {pid} still waits); check the device, then run this again",
                DEADLINE.as_secs_f64()
            ));
        }
        Err(e @ ActError::Os(_)) => format!("write {value}: {e}; run it as root, and not in a container"),
        Err(e) => format!("write {value}: {e}"),
    };
    let undone = tunables::update(roots, facts, |r| {
        match before {
            Some(last) => r.tunables.insert(row.name.to_owned(), last),
            None => r.tunables.remove(row.name),
        };
    });
    Outcome::Failed(match undone {
        Ok(()) => failed,
        Err(e) => format!("{failed}; also: {e}"),
    })
}

/// Writes one file of a device in a child of its own, since one that is not answered is left behind.
fn set(device: &Device, path: &str, value: &str) -> std::result::Result<(), ActError> {
    let mut port = ChildPort::new(DEADLINE);
    let result = port.set(device, &TunablePath(path.to_owned()), value);
    port.close();
    result
}

/// Has the kernel read the disk anew.
fn rescanned(roots: &Roots, device: &Device) -> Outcome {
    if let Err(e) = set(device, RESCAN, "1") {
        return Outcome::Failed(format!("write 1: {e}"));
    }
    let read = |name: &str| roots.system.text(&device.attr(&format!("queue/{name}"))).known().cloned();
    let or = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    Outcome::Wrote(
        "wedged".to_owned(),
        "1".to_owned(),
        "the rescan makes the limits writable again; the offload itself stays off until the device is removed and \
         added again"
            .to_owned(),
        format!(
            "write_zeroes_max_bytes {}, write_zeroes_unmap_max_hw_bytes {}",
            or(read("write_zeroes_max_bytes")),
            or(read("write_zeroes_unmap_max_hw_bytes"))
        ),
    )
}
