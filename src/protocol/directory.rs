//! `--scratch DIR`: whether the files of a directory lie on the device, and how much zeroed space in a file gains for
//! synchronous writes. It makes one file without a name in the directory and writes nothing else. `in_file` gives the class.

use crate::assess::publish;
use crate::device::display::escape_str;
use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::facts::path::{self, Can, OnPath};
use crate::facts::Facts;
use crate::machine::block::hold::LiveHold;
use crate::machine::clock;
use crate::machine::fs::location::Place;
use crate::machine::fs::path_info::{self, Located, What};
use crate::machine::fs::root::Root;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::child::ChildPort;
use crate::machine::port::file_acts::free_bytes;
use crate::machine::port::pattern::RunId;
use crate::machine::port::Port;
use crate::machine::port::{ActError, ScratchRange};
use crate::machine::Roots;
use crate::measure::overwrite::{self, Outcome, Plan, AREA, AREAS};
use crate::measure::scratch::{self, ScratchSpec};
use crate::protocol::result::{self, Conditions};
use crate::protocol::supervise::Listener;
use crate::protocol::{deadline, Answer, Request};
use crate::store::intents::{Intent, Intents, Phase};
use crate::store::measurements;
use crate::units::{human_bytes, rate, Nanos};
use crate::verdict::measurement::{Overwrite, DIR};

/// Bytes of the file.
const LENGTH: u64 = AREA * AREAS;
/// So many times the file must be free: a file system that is nearly full shows something else.
const SPARE: u64 = 4;

/// The directory that a place names, if it names one.
pub(crate) fn named(place: &ScratchSpec) -> Result<Option<Located>> {
    match place {
        ScratchSpec::Node(path) => path_info::locate(path).map(|l| Some(l).filter(|l| l.what == What::Directory)),
        _ => Ok(None),
    }
}

/// What the checks gave.
pub(crate) struct Checked {
    pub(crate) on: OnPath,
    pub(crate) lines: Vec<String>,
    /// Why FALLOC_FL_WRITE_ZEROES does not work here, where that is known.
    pub(crate) lacks: Option<String>,
    range: ScratchRange,
    /// Bytes that are free.
    pub(crate) free: u64,
}

/// The rest of the job, on a disk that is locked and whose test has its name: what files gain, kept and published.
pub(crate) fn run(
    roots: &Roots,
    request: &Request,
    facts: &Facts,
    (name, checked): (&str, &Checked),
    (intents, interrupt): (&mut Intents, &Interrupt),
    listener: &mut dyn Listener,
) -> Result<Answer> {
    let outcome = acted(roots, request, facts, name, &checked.range, intents, interrupt)?;
    let overwrite = form(checked, &outcome);
    if let Some(at) = outcome.old_data {
        listener.remark(&format!("{}: after zeroing a file, old data is read at its byte {at}", facts.device.node()));
    }
    keep(roots, facts, checked, overwrite, listener)
}

/// That the files of a directory lie on the device, by itself or by plain maps, and that there is room.
pub(crate) fn check(roots: &Roots, facts: &Facts, located: &Located) -> Result<Checked> {
    let root = &roots.system;
    let not_safe = |why: String| Err(Error::NotSafe { device: facts.device.node(), why });
    let on = path::resolve(root, located);
    let mut lines = Vec::new();
    match &on.place {
        Place::Devices(devices) if devices.iter().all(|d| d.name == facts.device.name) && !devices.is_empty() => {}
        Place::Devices(devices) => match mapped(root, located.filesystem, &facts.device) {
            Ok(through) => lines.extend(through.iter().map(|what| format!("mapped plainly by {what}"))),
            Err(why) => {
                let names: Vec<String> = devices.iter().map(|d| escape_str(&d.name)).collect();
                return not_safe(format!(
                    "{} lies on {}, and not on this device alone: {why}",
                    on.path,
                    names.join(", ")
                ));
            }
        },
        Place::NoDevice(_, why) | Place::Unknown(why) => return not_safe(format!("{}: {why}", on.path)),
    }
    if on.read_only {
        return not_safe(format!("{} is mounted read-only", on.mount_point));
    }
    let free = free_bytes(&located.path).map_err(|e| Error::file(&located.path, "ask for the free space of", e))?;
    if free < SPARE * LENGTH {
        return not_safe(format!(
            "{} has only {} free, but {} are needed",
            on.mount_point,
            human_bytes(free),
            human_bytes(SPARE * LENGTH)
        ));
    }
    lines.push(format!(
        "{} lies in the {} file system on {}, mounted on {}",
        on.path,
        on.filesystem,
        facts.device.node(),
        on.mount_point
    ));
    lines.push(format!("one file without a name would use {} of the {} free bytes", LENGTH, free));
    let lacks = match path::can_write_zeroes(root, &on) {
        Can::Yes => None,
        Can::No(why) | Can::Written(why) | Can::Unknown(why) => Some(why),
    };
    let number = (located.filesystem.major, located.filesystem.minor);
    let block = facts.queue.logical_block.get().unwrap_or(512);
    let range = scratch::file::new_file(&located.path, number, LENGTH, block);
    Ok(Checked { on, lines, lacks, range, free })
}

/// What leads from a file system's device to the disk, where every byte of it is mapped plainly to that disk.
pub(crate) fn mapped(root: &Root, filesystem: Devnum, disk: &Device) -> std::result::Result<Vec<String>, String> {
    scratch::file::mapped(root, &LiveHold::default(), filesystem, disk).map(|map| map.through)
}

/// The acts, between the word that they begin and the word that they are over.
fn acted(
    roots: &Roots,
    request: &Request,
    facts: &Facts,
    name: &str,
    range: &ScratchRange,
    intents: &mut Intents,
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let deadline = request.deadline.map_or_else(|| deadline::of(&roots.system, facts, AREA), Nanos::from_secs);
    let devnum = facts.device.devnum;
    let random = || clock::fresh_seed().map_err(|e| Error::file("/dev/urandom", "read", e));
    let run = RunId(random()?, random()?);
    // Without a journal: the file is nobody's, and nothing has to be put back.
    let mut word = Intent::begun(&roots.system, &facts.device, facts.names.identity.as_ref(), run);
    word.phase = Phase::Writing;
    intents.write(name, devnum, &word)?;
    let mut port = ChildPort::new(deadline);
    let plan = Plan { seed: run.seed(), max_time: Nanos::from_secs(request.max_seconds) };
    let result = overwrite::run(&mut port, range, &plan, &|| interrupt.seen());
    let act = |operation, what| Error::Act { device: facts.device.node(), operation, what };
    if let Some(pid) = port.left_behind() {
        word.left_behind = Some(pid);
        intents.write(name, devnum, &word)?;
        let what = "no answer by the deadline; run `zerocap recover` once that process is gone, or after a restart";
        return Err(act(format!("a call in {} (pid {pid})", escape_str(&range.node)), what.to_owned()));
    }
    // The file goes with its last descriptor.
    port.close();
    intents.end(name)?;
    result.map_err(|e| match e.error {
        None => Error::Interrupted { device: facts.device.node(), what: "the file does not exist any more".to_owned() },
        Some(ActError::Os(errno)) if errno == rustix::io::Errno::OPNOTSUPP.raw_os_error() => {
            act(e.operation, format!("the file system of {} does not support that", escape_str(&range.node)))
        }
        Some(error) => act(e.operation, error.to_string()),
    })
}

fn form(checked: &Checked, outcome: &Outcome) -> Overwrite {
    let bytes = |(bytes, took): (u64, Nanos)| rate(bytes, took);
    let (unwritten, write_zeroes) = (bytes(outcome.unwritten), outcome.write_zeroes.ok().and_then(bytes));
    let refused = outcome.write_zeroes.err().map(|errno| ActError::Os(errno).to_string());
    let moves = "overwriting moves the bytes (the file system copies on write, or shares them), so space that is \
                 prepared ahead gains nothing";
    let lacks = if outcome.moves {
        Some(format!("{} cannot be used: {moves}", checked.on.filesystem))
    } else {
        refused.map(|errno| checked.lacks.clone().unwrap_or(errno))
    };
    let times = |(faster, slower): (u64, u64)| faster as f64 / slower.max(1) as f64;
    let interval = outcome.over_zeroed.interval();
    Overwrite {
        at: clock::now_utc(),
        filesystem: checked.on.filesystem.clone(),
        mount_point: Some(checked.on.mount_point.clone()),
        unwritten,
        write_zeroes,
        written: bytes(outcome.written),
        gain: write_zeroes.zip(unwritten).map(times),
        gain_low: interval.low.filter(|_| write_zeroes.is_some()),
        gain_high: interval.high.filter(|_| write_zeroes.is_some()),
        gain_written: bytes(outcome.written).zip(unwritten).map(times),
        zero_bytes_per_second: outcome.zeroed.and_then(bytes),
        verified: outcome.verified,
        lacks,
    }
}

/// It is kept beside a measurement of the device, or alone: then it says nothing of the class.
fn keep(
    roots: &Roots,
    facts: &Facts,
    checked: &Checked,
    overwrite: Overwrite,
    listener: &mut dyn Listener,
) -> Result<Answer> {
    let alone = || {
        let conditions = Conditions::without_test(overwrite.at.clone(), DIR, checked.lines.clone());
        result::blank(facts, &conditions)
    };
    let mut measurement = measurements::load(roots, facts)?.unwrap_or_else(alone);
    measurement.overwrite = Some(overwrite.clone());
    measurements::save(roots, facts, &measurement)?;
    let mut document = publish::with_event(roots, &facts.device, &mut |text| listener.remark(text))?;
    // What was just measured is told, also where a stale measurement beside it, or a shared identity, hides it later.
    document.overwrite = Some((&overwrite).into());
    Ok(Answer::Verdict(Box::new(document)))
}
