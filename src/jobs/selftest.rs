//! `zerocap selftest`: the whole main job on a throw-away loop device, with its state in a temporary directory. Without
//! root or loop devices the same on a simulated device, named as such.

use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::facts::{self, Depth};
use crate::jobs::measure::{self, Answer, Request};
use crate::jobs::target;
use crate::jobs::udev_event::{self, Event};
use crate::machine::block::loop_device;
use crate::machine::environment;
use crate::machine::fs::durable::SimulatedDurable;
use crate::machine::fs::guard::When;
use crate::machine::fs::root::Root;
use crate::machine::fs::stamp;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::pattern;
use crate::machine::simulated::disk::{self, Shared, SimulatedHold};
use crate::machine::simulated::{Model, Noise, SimulatedPort};
use crate::machine::Roots;
use crate::measure::outcome::Outcome;
use crate::measure::scratch::{self, Asked, ScratchSpec};
use crate::policy::Policy;
use crate::protocol::plan::{self, Intended};
use crate::protocol::result::{self, Conditions};
use crate::protocol::{self, Machine, Subject};
use crate::store::intents::Intents;
use crate::terms::Class;
use crate::units::MIB;
use std::path::Path;

/// Size of the throw-away device.
const SIZE: u64 = 64 * MIB;

/// One step: what it was, and whether it held.
pub type Step = (String, bool);

/// Runs it. `say` gets each step as it is done. Whether all held.
pub fn run(say: &mut dyn FnMut(&str)) -> Result<bool> {
    let mut all = true;
    let mut step = |(text, held): Step| {
        all &= held;
        say(&format!("{} {text}", if held { "ok  " } else { "FAIL" }));
    };
    let steps = match on_loop() {
        Ok(steps) => steps,
        Err(e) => {
            step((format!("no loop device can be used ({e}); a SIMULATED device is used instead"), true));
            on_simulated()?
        }
    };
    steps.into_iter().for_each(&mut step);
    surroundings()?.into_iter().for_each(|(text, there)| {
        say(&format!("{} {text}", if there { "ok  " } else { "note" }));
    });
    Ok(all)
}

/// Content that is neither zero nor regular.
fn content() -> Vec<u8> {
    let mut bytes = vec![0u8; SIZE as usize];
    pattern::fill(&mut bytes, 0x5e1f_7e57, 0, 0);
    // A quarter of zeroes: put-back must bring those back too.
    bytes[20 * MIB as usize..36 * MIB as usize].fill(0);
    bytes
}

fn on_loop() -> Result<Vec<Step>> {
    if !environment::is_root() {
        return Err(Error::Usage("not root".to_owned()));
    }
    let dir = loop_device::private_directory()?;
    let result = on_loop_in(&dir);
    let removed = loop_device::remove_directory(&dir);
    result.and_then(|steps| removed.map(|()| steps))
}

fn on_loop_in(dir: &Path) -> Result<Vec<Step>> {
    let before = content();
    let device = loop_device::attach(&dir.join("disk"), &before)?;
    let mut roots = Roots::new(None, Some(&dir.join("state")))?;
    roots.system = roots.system.guarded(When::Always, &dir.join("state/run/zerocap"));
    let mut steps = vec![(format!("a throw-away loop device is attached: {}", device.node), true)];
    let request = Request {
        device: device.node.clone(),
        place: ScratchSpec::Range { offset: 16 * MIB, length: 32 * MIB },
        journal: Some(dir.join("journal")),
        max_bytes: 512 * MIB,
        max_seconds: 60,
        data_ok: true,
        private: true,
        ..Request::default()
    };
    let document = match measure::run(&roots, &request, &mut |_: &str| {})? {
        Answer::Verdict(document) => document,
        Answer::Planned(_) => return Err(Error::Usage("a plan where a test was asked for".to_owned())),
    };
    steps.push((format!("measured: {}", crate::output::detail::sentence(&document)), document.class != Class::Broken));
    let verified = document.zeroes_verified == Some(true);
    steps.push(("every zeroed byte was read back as zero".to_owned(), verified));
    steps
        .push(("the whole device holds what it held before".to_owned(), loop_device::content(&device.node)? == before));
    let found = target::named(&roots, &device.node)?;
    let event = Event { action: "change".to_owned(), devnum: found.devnum, ..Event::default() };
    let lines = udev_event::run(&roots, &device.node, &event).unwrap_or_else(|e| e);
    let wanted = format!("ZEROCAP_CLASS={}", document.class);
    steps.push((format!("an event answers from what was kept: {wanted}"), lines.lines().any(|l| l == wanted)));
    let published = found.devnum.is_some_and(|d| dir.join(format!("state/run/zerocap/{d}.json")).is_file());
    steps.push(("the verdict is published for other programs".to_owned(), published));
    Ok(steps)
}

/// The same on a simulated device whose truth is known: zeroing is 8 times as fast as writing. The order of the test is the
/// one that works on real devices.
fn on_simulated() -> Result<Vec<Step>> {
    let dir = loop_device::private_directory()?;
    let result = on_simulated_in(&dir);
    let removed = loop_device::remove_directory(&dir);
    result.and_then(|steps| removed.map(|()| steps))
}

fn on_simulated_in(dir: &Path) -> Result<Vec<Step>> {
    let model = Model { noise: Noise::Uniform(10.0), ..Model::steady(8_000_000, 1_000_000) };
    let before = content();
    let disk = Shared::new(SimulatedPort::new(model, before.clone(), 1));
    let opened = disk::opened(SIZE);
    let roots = Roots { system: disk::tree(dir, &opened)?, state: dir.join("state") };
    let mut port = disk.clone();
    let device = target::named(&roots, disk::NAME)?;
    let facts = facts::gather(&roots.system, &mut port, &device, Depth::Claims);
    let request = Request {
        device: device.name.clone(),
        place: ScratchSpec::Range { offset: 16 * MIB, length: 32 * MIB },
        journal: Some(dir.join("journal")),
        max_bytes: 512 * MIB,
        max_seconds: 60,
        data_ok: true,
        private: true,
        ..Request::default()
    };
    let (mut hold, interrupt) = (SimulatedHold::new(disk.clone(), opened), Interrupt::default());
    let mut intents = Intents::new(SimulatedDurable::default(), SimulatedDurable::default());
    let mut files = SimulatedDurable::default();
    let opened = protocol::begin(&mut hold, &mut intents, &device.node(), disk::NAME)?;
    let known = measure::known(&roots, &facts, &request)?;
    let mut asked = Asked { root: &roots.system, hold: &mut hold, opened };
    let mut ledger = SimulatedDurable::default();
    let proof = scratch::prove(&mut asked, &device, &request.place, &known, Some(&mut ledger))?;
    let Intended::Test(prepared) = plan::of(&roots, &request, &facts, &Policy::default(), &proof)? else {
        return Err(Error::Usage("a simulated device of 64 MiB has room for a test".to_owned()));
    };
    let mut class = None;
    let mut keep = |outcome: &Outcome, conditions: &Conditions| {
        class = Some(result::of_run(&facts, conditions, outcome).class);
        Ok(())
    };
    let mut machine = Machine {
        root: &roots.system,
        port: &mut port,
        hold: &mut hold,
        journal: &mut files,
        intents: &mut intents,
        interrupt: &interrupt,
    };
    let subject = Subject { facts: &facts, name: disk::NAME, proof: &proof, restore_limits: false };
    protocol::test(&mut machine, subject, &prepared, &mut |_: &str| {}, &mut keep)?;
    let fast = class == Some(Class::Fast);
    let back = disk.0.borrow().content == before;
    Ok(vec![
        ("SIMULATED device, zeroing 8 times as fast as writing: found fast".to_owned(), fast),
        ("SIMULATED device: the content was put back".to_owned(), back),
    ])
}

/// What of the installation and the kernel is there.
fn surroundings() -> Result<Vec<Step>> {
    let root = Roots::new(None, None)?.system;
    let there = |paths: &[&str]| paths.iter().any(|p| root.exists(p));
    let rule = there(&[
        "etc/udev/rules.d/90-zerocap.rules",
        "usr/local/lib/udev/rules.d/90-zerocap.rules",
        "usr/lib/udev/rules.d/90-zerocap.rules",
        "lib/udev/rules.d/90-zerocap.rules",
    ]);
    let unit = there(&[
        "usr/lib/systemd/system/zerocap-recover.service",
        "usr/local/lib/systemd/system/zerocap-recover.service",
        "etc/systemd/system/zerocap-recover.service",
        "lib/systemd/system/zerocap-recover.service",
    ]);
    let knob = match root.list("sys/block") {
        Fact::Known(names) => {
            names.iter().any(|n| root.exists(&format!("sys/block/{n}/queue/write_zeroes_unmap_max_bytes")))
        }
        Fact::Unknown(_) => false,
    };
    let mut steps = vec![
        (format!("the udev rule is {}", if rule { "installed" } else { "not installed (make install)" }), rule),
        (
            format!("zerocap-recover.service is {}", if unit { "installed" } else { "not installed (make install)" }),
            unit,
        ),
        (format!("the kernel {} write_zeroes_unmap_max_bytes (Linux 6.17)", if knob { "has" } else { "has no" }), knob),
    ];
    steps.extend(not_compiled(Path::new("/")).map(|file| {
        let text = format!(
            "the model entries of {file} are newer than hwdb.bin, so udev does not know them: run systemd-hwdb update, then \
             udevadm trigger --subsystem-match=block"
        );
        (text, false)
    }));
    Ok(steps)
}

/// Where udev looks for the compiled database: the first that is there counts (hwdb(7), `hwdb_bin_paths` of systemd).
const COMPILED: [&str; 5] = [
    "etc/systemd/hwdb/hwdb.bin",
    "etc/udev/hwdb.bin",
    "usr/lib/systemd/hwdb/hwdb.bin",
    "usr/lib/udev/hwdb.bin",
    "lib/udev/hwdb.bin",
];

/// A file with model entries that was written after the database was compiled; where none was compiled, any such file.
fn not_compiled(root: &Path) -> Option<String> {
    let compiled = COMPILED.iter().find_map(|path| stamp::modified(&root.join(path)));
    let newer = |path: &Path| stamp::modified(path).is_some_and(|m| compiled.is_none_or(|c| m > c));
    let files = Root::open(root).ok()?;
    let entries = ["etc/udev/hwdb.d", "usr/lib/udev/hwdb.d"].into_iter().flat_map(|dir| {
        let names = files.list(dir).known().cloned().unwrap_or_default();
        names.into_iter().filter(|n| n.ends_with(".hwdb")).map(move |n| format!("{dir}/{n}"))
    });
    let speaks = |path: &String| files.text(path).known().is_some_and(|t| t.contains("ZEROCAP_MODEL_"));
    let found: Vec<String> = entries.filter(|path| newer(&root.join(path)) && speaks(path)).collect();
    found.first().map(|path| format!("/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn model_entries_that_udev_does_not_know_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str, age: u64| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let when = SystemTime::now() - Duration::from_secs(age);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
        };
        put("etc/udev/hwdb.d/20-other.hwdb", "evdev:*\n KEY=1\n", 0);
        put("usr/lib/udev/hwdb.bin", "", 100);
        assert_eq!(not_compiled(dir.path()), None, "not of zerocap");
        put("usr/lib/udev/hwdb.d/90-zerocap.hwdb", "zerocap:*\n ZEROCAP_MODEL_CLASS=fast\n", 200);
        assert_eq!(not_compiled(dir.path()), None, "older");
        put("etc/udev/hwdb.d/90-fleet.hwdb", "zerocap:*\n ZEROCAP_MODEL_CLASS=fast\n", 50);
        assert_eq!(not_compiled(dir.path()).as_deref(), Some("/etc/udev/hwdb.d/90-fleet.hwdb"));
        // A database of the administrator's own hides the vendor's.
        put("etc/udev/hwdb.bin", "", 10);
        assert_eq!(not_compiled(dir.path()), None, "compiled again");
    }
}
