//! `zerocap udev NODE`, and the small program that the udev rule calls for it: prints properties and publishes the document; at
//! a remove event it removes the document. Both programs are this code; the small one leaves what it cannot do to the whole
//! program, and says so before it has written anything.
//!
//! It is cheap and quiet: it reads the environment, sysfs, one kept file and the policy files. It opens the device only if a
//! claim is needed and sysfs does not have it. It takes no lock, reads no queue file while a test of this boot has not ended,
//! and never makes the event fail.

use crate::assess::compiled::{self, Compiled};
use crate::assess::{self, publish, tunables, AtEvent, Picture};
use crate::device::display::escape_str;
use crate::device::{Device, Devnum, Kind};
use crate::error::Result;
use crate::facts::Depth;
use crate::jobs::measure_auto;
use crate::machine::block::devices;
use crate::machine::environment::variable;
use crate::machine::fs::guard::When;
use crate::machine::fs::root::Root;
use crate::machine::stuck::Stuck;
use crate::machine::Roots;
use crate::output::properties;
use crate::store::applied_tunables::{self, Record};
use crate::store::bearers;
use crate::store::intents::Intents;
use crate::store::measurements;
use crate::store::model_entries;
use crate::store::published::{self, Change};
use crate::store::samples;
use crate::terms::Class;
use crate::tunable::managed;
use crate::tunable::plan::Plan;
use crate::verdict::ModelEntry;
use std::io::Write;
use std::path::Path;

/// What is said to a call without a node.
const USAGE: &str = "usage: zerocap udev [--root DIR] [--state DIR] [--tell] NODE";

/// The lines to print; `None` where this program cannot answer, and has written nothing: then the whole one does.
type Lines = std::result::Result<Option<String>, String>;

/// Answers one event of one node.
type Answer = fn(&Roots, &str, &Event) -> Lines;

/// Printed where the answer changed: the rule then runs `zerocap udev --tell NODE`, once udev's database has the new
/// properties. udev keeps no property whose name begins with a dot.
const TELL: &str = ".ZEROCAP_TELL=1\n";

/// What the rule passes: the kernel's and udev's properties of the event.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// `ACTION`.
    pub action: String,
    /// `MAJOR` and `MINOR`.
    pub devnum: Option<Devnum>,
    /// `ZEROCAP_SKIP`: an earlier rule wants nothing said of the device.
    pub skip: bool,
    /// What the rule imported from hwdb for the model: `ZEROCAP_MODEL_*`.
    pub model: Option<ModelEntry>,
}

impl Event {
    /// From the environment that udev gives a program.
    pub fn from_environment() -> Event {
        let number = |name: &str| variable(name)?.parse().ok();
        Event {
            action: variable("ACTION").unwrap_or_default(),
            skip: variable("ZEROCAP_SKIP").is_some_and(|v| v == "1"),
            devnum: number("MAJOR").zip(number("MINOR")).map(|(major, minor)| Devnum { major, minor }),
            model: model_entries::from_properties(variable),
        }
    }
}

/// `zerocap udev` with these arguments behind it: the lines to print.
pub fn main(arguments: &[String]) -> std::result::Result<String, String> {
    called(arguments, |roots, node, event| run(roots, node, event).map(Some)).map(Option::unwrap_or_default)
}

/// The same of the small program: from rules that are compiled, and without libudev.
pub fn small_main(arguments: &[String]) -> Lines {
    called(arguments, |roots, node, event| answer(roots, node, event, compiled::current))
}

/// The arguments: a node, and the roots.
fn called(arguments: &[String], answer: Answer) -> Lines {
    let (mut node, mut root, mut state, mut only_tell) = (None, None, None, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--root" => root = words.next(),
            "--state" => state = words.next(),
            "--tell" => only_tell = true,
            w if w.starts_with('-') => return Err(format!("unknown option {w}")),
            _ if node.is_none() => node = Some(word),
            _ => return Err("give only one NODE".to_owned()),
        }
    }
    let node = node.ok_or(USAGE)?;
    let mut roots = Roots::new(root.map(Path::new), state.map(Path::new)).map_err(|e| e.to_string())?;
    roots.system = roots.system.fleeting();
    let roots = roots.guarded(When::Busy);
    let lines = if only_tell { tell(&roots, node).map(Some) } else { answer(&roots, node, &Event::from_environment()) };
    // The process ends here, and its end closes what is open.
    std::mem::forget(roots);
    lines
}

/// The kernel's name of a node.
fn name_of(node: &str) -> std::result::Result<String, String> {
    let name = node.strip_prefix("/dev/").unwrap_or(node).replace('/', "!");
    if name.is_empty() || name.starts_with('.') || name.starts_with('!') {
        return Err(format!("{} is not a device node", escape_str(node)));
    }
    Ok(name)
}

/// Has udev look at what rests on the answer of a device.
pub fn tell(roots: &Roots, node: &str) -> std::result::Result<String, String> {
    let device = devices::device(&roots.system, &name_of(node)?);
    publish::tell(roots, &device, &mut say);
    Ok(String::new())
}

/// Answers one event: the lines to print.
pub fn run(roots: &Roots, node: &str, event: &Event) -> std::result::Result<String, String> {
    let lines = match answer(roots, node, event, |roots| Some(compiled::ready(roots)))? {
        // What was compiled before makes no sense.
        None => answer(roots, node, event, |roots| Some(compiled::anew(roots)))?,
        lines => lines,
    };
    Ok(lines.unwrap_or_default())
}

fn answer(roots: &Roots, node: &str, event: &Event, rules: fn(&Roots) -> Option<Compiled>) -> Lines {
    let nothing = || Ok(Some(String::new()));
    let name = name_of(node)?;
    if event.skip && event.action != "remove" {
        // What was said before must not stand. The tunables stay as they are: they are not zerocap's to touch any more.
        let Some(devnum) = event.devnum.filter(|d| published::is_there(roots, *d)) else { return nothing() };
        published::remove(roots, devnum).map_err(|e| e.to_string())?;
        return Ok(Some(TELL.to_owned()));
    }
    if event.action == "remove" {
        // sysfs is gone by now: the event's own number names what was published.
        event.devnum.map_or(Ok(()), |devnum| forget(roots, &name, devnum)).map_err(|e| e.to_string())?;
        return nothing();
    }
    let root = &roots.system;
    let device = devices::device(root, &name);
    // What stood behind these was taken away, and the next thing behind the number is another one.
    let virtual_kind = matches!(device.kind, Kind::Loop | Kind::Nbd | Kind::Zram);
    if let Some(devnum) = device.devnum.filter(|_| virtual_kind && root.number(&device.attr("size")).is(0)) {
        forget(roots, &name, devnum).map_err(|e| e.to_string())?;
        return nothing();
    }
    if device.devnum.is_none() && !root.exists(&device.sys) {
        return Err(format!("{} is not a whole block device", escape_str(&name)));
    }
    let Some(rules) = rules(roots) else { return Ok(None) };
    // Reading a queue file blocks while a test of this boot, or somebody else, waits for a device that does not answer.
    let open = || device.devnum.is_some_and(|d| Intents::live(roots).open_in_this_boot(d));
    let held = roots.is_live() && (open() || !answers(root, &device));
    let depth = if held { Depth::Quiet } else { Depth::Event };
    let mut problems = Vec::new();
    let mut port = roots.port_at_event();
    let given = AtEvent { model: event.model.as_ref(), rules: &rules };
    let picture = assess::at_event(roots, port.as_mut(), &device, depth, given, &mut |p| problems.push(p.to_owned()));
    let Some(picture) = picture else { return Ok(None) };
    problems.iter().for_each(|p| say(p));
    // A hidden multipath path has no node; its head answers.
    if picture.facts.names.hidden.is(true) {
        return nothing();
    }
    // The queue of a member may not answer either.
    let held = held || root.timed_out();
    // Without the queue files the document says less than the published one, except that a device is broken.
    let mut change = Change::Nothing;
    if !held || picture.document.class == Class::Broken {
        match published::write(roots, device.devnum, &picture.document) {
            Ok(made) => change = made,
            Err(e) => say(&e.to_string()),
        }
    }
    // What was published before was told before.
    if change != Change::Nothing {
        bear(roots, &picture);
    }
    let set = if held { Vec::new() } else { to_set(roots, &picture) };
    let mut lines = properties::lines(&picture.document, &set);
    if let Some(unit) = (!held).then(|| measure_auto::unit(&picture)).flatten() {
        lines.push_str(&format!("SYSTEMD_WANTS={unit}\n"));
    }
    // A disk that is added has its partitions and the stacks on it still before it.
    if change == Change::Answer || change == Change::First && event.action != "add" {
        lines.push_str(TELL);
    }
    Ok(Some(lines))
}

/// Takes away all below `/run` that was published or kept under the number of a device that is gone.
fn forget(roots: &Roots, name: &str, devnum: Devnum) -> Result<()> {
    published::remove(roots, devnum)?;
    applied_tunables::remove(roots, devnum)?;
    compiled::forget(roots, devnum)?;
    measurements::forget_unnamed(roots, devnum)?;
    samples::forget_unnamed(roots, devnum)?;
    Stuck::below(&roots.run()).forget(name);
    Ok(())
}

/// Tells others who this is, so that none of them has to ask.
fn bear(roots: &Roots, picture: &Picture) {
    let (root, names) = (&roots.system, &picture.facts.names);
    let Some(link) = devices::link(root, &picture.facts.device.name).filter(|_| roots.is_live()) else { return };
    let present = || devices::links(root).unwrap_or_default();
    // Without the line each of the others asks this device itself.
    if let Err(e) = bearers::add(roots, &picture.facts.device.name, link, names.identity.as_ref(), present) {
        say(&e.to_string());
    }
}

/// Whether a queue of the running system gives its files, of which this is one that waits for a limit being written.
fn answers(root: &Root, device: &Device) -> bool {
    let limit = device.attr("queue/write_zeroes_max_bytes");
    if root.may_wait(&limit) {
        root.number(&limit);
    }
    !root.timed_out()
}

/// The tunables that the rule is to write now; what will be written is recorded first.
fn to_set(roots: &Roots, picture: &Picture) -> Vec<(String, String)> {
    let facts = &picture.facts;
    let (mut record, mut set, mut seen) = (None, Vec::new(), Vec::new());
    for row in managed() {
        let Some(wanted) = picture.document.tunables.iter().find(|t| t.name == row.name) else { continue };
        let record: &Record = record.get_or_insert_with(|| tunables::read(roots, facts));
        match tunables::plan(facts, row, &wanted.wanted, record, true) {
            Plan::Write => set.push((row, wanted.wanted.clone())),
            Plan::Leave | Plan::Changed if tunables::news(facts, row, &wanted.wanted, record) => {
                seen.push((row, wanted.wanted.clone()));
            }
            Plan::Leave | Plan::Changed | Plan::Foreign(_) => {}
        }
    }
    // Most events change nothing: then no lock is taken either.
    if !set.is_empty() || !seen.is_empty() {
        let noted = tunables::update(roots, facts, |record| {
            set.iter().for_each(|(row, wanted)| tunables::note(facts, row, wanted, record));
            seen.iter().for_each(|(row, wanted)| tunables::seen(facts, row, wanted, record));
        });
        if let Err(e) = noted {
            // Without the record the value could not be told from an administrator's later: then it is not written.
            say(&e.to_string());
            return Vec::new();
        }
    }
    set.into_iter().map(|(row, wanted)| (row.name.to_owned(), wanted)).collect()
}

/// A remark on standard error, which under udev may be closed.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "zerocap: {text}");
}
