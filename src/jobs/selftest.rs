//! `zerocap selftest`: a whole test on a temporary loop device, with its state in a temporary directory. Without root or loop
//! devices it runs on a simulated device, and says so.

mod surroundings;

use crate::error::{Error, Result};
use crate::facts::{self, Depth};
use crate::jobs::measure::{self, Answer, Request};
use crate::jobs::measured;
use crate::jobs::target;
use crate::jobs::udev_event::{self, Event};
use crate::machine::block::loop_device;
use crate::machine::environment;
use crate::machine::fs::durable::SimulatedDurable;
use crate::machine::fs::guard::When;
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
    surroundings::look(&Roots::new(None, None)?).into_iter().for_each(|(text, there)| {
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
    let roots = Roots::new(None, Some(&dir.join("state")))?.guarded(When::Always);
    let mut steps = vec![(format!("a temporary loop device is attached: {}", device.node), true)];
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
        Answer::Planned(_) => return Err(Error::Usage("a test was asked for, but only a plan came".to_owned())),
    };
    steps.push((format!("measured: {}", crate::output::detail::sentence(&document)), document.class != Class::Broken));
    let verified = document.zeroes_verified == Some(true);
    steps.push(("every zeroed byte was read back as zero".to_owned(), verified));
    steps.push((
        "the whole device has the content that it had before".to_owned(),
        loop_device::content(&device.node)? == before,
    ));
    let found = target::named(&roots, &device.node)?;
    let event = Event { action: "change".to_owned(), devnum: found.devnum, ..Event::default() };
    let lines = udev_event::run(&roots, &device.node, &event).unwrap_or_else(|e| e);
    let wanted = format!("ZEROCAP_CLASS={}", document.class);
    steps.push((
        format!("a udev event answers from the kept measurement: {wanted}"),
        lines.lines().any(|l| l == wanted),
    ));
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
    let roots = Roots::of(disk::tree(dir, &opened)?, dir.join("state"));
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
    let known = measured::known(&roots, &facts, &request)?;
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
