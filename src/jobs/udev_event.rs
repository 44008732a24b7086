//! `zerocap udev NODE`: what the rule calls. Prints properties and publishes the document; at remove takes it away.
//!
//! Cheap and silent: environment, sysfs, one kept file, policy files. Never the device unless a claim is needed and sysfs
//! has none; no lock; no queue file where a test of this boot is open; never fails the event.

use crate::device::{Device, Devnum};
use crate::facts::{self, Depth};
use crate::jobs::{intent, picture, publish, Env};
use crate::machine::durable::{Durable, LiveDurable};
use crate::machine::live::LivePort;
use crate::machine::nodes;
use crate::machine::port::Port;
use crate::machine::recorded::RecordedPort;
use crate::machine::Roots;
use crate::output::{properties, Document};
use crate::tunable::{plan, MANAGED};
use crate::words::Class;
use std::collections::BTreeMap;
use std::path::Path;

/// What the rule passes: the kernel's and udev's properties of the event.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// `ACTION`.
    pub action: String,
    /// `MAJOR` and `MINOR`.
    pub devnum: Option<Devnum>,
}

impl Event {
    /// From the environment that udev gives a program.
    pub fn from_environment() -> Event {
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        Event {
            action: std::env::var("ACTION").unwrap_or_default(),
            devnum: number("MAJOR").zip(number("MINOR")).map(|(major, minor)| Devnum { major, minor }),
        }
    }
}

/// The arguments behind `udev`: a node, and the roots.
pub fn main(arguments: &[String]) -> Result<String, String> {
    let (mut node, mut root, mut state) = (None, None, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--root" => root = words.next(),
            "--state" => state = words.next(),
            w if w.starts_with('-') => return Err(format!("unknown option {w}")),
            _ if node.is_none() => node = Some(word),
            _ => return Err("one NODE at a time".to_owned()),
        }
    }
    let node = node.ok_or("usage: zerocap udev [--root DIR] [--state DIR] NODE")?;
    let roots = Roots::new(root.map(Path::new), state.map(Path::new)).map_err(|e| e.to_string())?;
    run(&Env { roots }, node, &Event::from_environment())
}

/// Answers one event: the lines to print.
pub fn run(env: &Env, node: &str, event: &Event) -> Result<String, String> {
    let name = node.strip_prefix("/dev/").unwrap_or(node).replace('/', "!");
    if event.action == "remove" {
        // sysfs is gone by now: the event's own number names what was published.
        if let Some(devnum) = event.devnum {
            publish::remove(env, devnum).map_err(|e| e.to_string())?;
            settings(env).remove(&devnum.to_string()).map_err(|e| e.to_string())?;
        }
        return Ok(String::new());
    }
    let root = &env.roots.system;
    let device = nodes::device(root, &name);
    if root.flag(&device.attr("hidden")).is(true) {
        return Ok(String::new());
    }
    if device.devnum.is_none() && !root.exists(&device.sys) {
        return Err(format!("{name} is no whole block device"));
    }
    // Reading a queue file blocks while a test of this boot waits for a device that does not answer.
    let held = env.roots.is_live() && device.devnum.is_some_and(|d| intent::open_in_this_boot(env, d));
    let depth = if held { Depth::Quiet } else { Depth::Event };
    let mut problems = Vec::new();
    let mut port: Box<dyn Port> =
        if env.roots.is_live() { Box::new(LivePort::default()) } else { Box::new(RecordedPort::new(root)) };
    // Whether the identity is borne twice would need a look at every device; `show` and `measure` look.
    let never = |_: &facts::Facts| false;
    let picture = picture::among(env, port.as_mut(), &device, depth, &never, &mut |p| problems.push(p.to_owned()));
    problems.iter().for_each(|p| eprintln!("zerocap: {p}"));
    // Without the queue files the document says less than the published one, except that a device is broken.
    if !held || picture.document.class == Class::Broken {
        if let Err(e) = publish::write(env, device.devnum, &picture.document) {
            eprintln!("zerocap: {e}");
        }
    }
    let set = if held { Vec::new() } else { to_set(env, &device, &picture.document) };
    Ok(properties::lines(&picture.document, &set))
}

fn settings(env: &Env) -> LiveDurable {
    LiveDurable::new(env.roots.run().join("set"), 0o644)
}

/// The tunables that the rule is to write now; what will be written is recorded first.
fn to_set(env: &Env, device: &Device, document: &Document) -> Vec<(String, String)> {
    let root = &env.roots.system;
    let mut files = settings(env);
    let Some(devnum) = device.devnum else { return Vec::new() };
    let file = devnum.to_string();
    let mut record: BTreeMap<String, plan::Last> =
        files.read(&file).ok().flatten().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default();
    let mut set = Vec::new();
    for row in MANAGED {
        let Some(wanted) = document.tunables.iter().find(|t| t.name == row.name) else { continue };
        let now = root.text(&device.attr(row.path)).known().cloned();
        let default = root.text(&device.attr(row.default)).known().cloned();
        let last = record.get(row.name).cloned();
        let plan = plan::plan(now.as_deref(), default.as_deref(), &wanted.wanted, last.as_ref());
        if plan == plan::Plan::Write {
            let found = last.map_or_else(|| now.unwrap_or_default(), |l| l.found);
            record.insert(row.name.to_owned(), plan::Last { found, wrote: wanted.wanted.clone() });
            set.push((row.name.to_owned(), wanted.wanted.clone()));
        }
    }
    if !set.is_empty() {
        let bytes = serde_json::to_vec(&record).unwrap_or_default();
        if let Err(e) = files.replace(&file, &bytes) {
            // Without the record the value could not be told from an administrator's later: then it is not written.
            eprintln!("zerocap: {e}");
            return Vec::new();
        }
    }
    set
}
