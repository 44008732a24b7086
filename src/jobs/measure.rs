//! `zerocap measure`: proof and plan, then the test itself with its order of safety (`protocol`), then the kept result and
//! its publication.
//!
//! This file has the order of the steps; each step is in a file of its own. It writes nothing to the device itself.

use crate::assess::{policies, stack_members};
use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::directories;
use crate::jobs::measure_directory::{self, On};
use crate::jobs::measured::{keep, known, published};
use crate::jobs::volume;
use crate::machine::block::hold::{Hold, LiveHold, Opened};
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::interrupt::Interrupt;
use crate::machine::lvm::Own;
use crate::machine::port::child::ChildPort;
use crate::machine::process;
use crate::machine::Roots;
use crate::measure::outcome::Outcome;
use crate::measure::scratch::group::Planned;
use crate::measure::scratch::{self, temporary, Asked, Known, Proof, ScratchSpec};
use crate::policy::{Measure, Policy};
use crate::protocol::plan::{self, Intended, Prepared};
use crate::protocol::result::Conditions;
use crate::protocol::{self, directory, surroundings, untested, Machine, Subject};
use crate::store::intents::{self, Intents};
use crate::store::measurements;
use crate::store::samples;

pub use crate::protocol::supervise::{Listener, Pair, Progress};
pub use crate::protocol::{Answer, Request};

/// Runs the job.
pub fn run(roots: &Roots, request: &Request, listener: &mut dyn Listener) -> Result<Answer> {
    live(roots)?;
    let device = measure_directory::device(roots, request, &mut |text| listener.remark(text))?;
    let root = &roots.system;
    let facts = facts::gather(root, roots.port().as_mut(), &device, Depth::Claims);
    let (policy, problems) = policies::resolve(roots, &facts);
    problems.iter().for_each(|p| listener.remark(p));
    refuse_by_policy(&facts, &policy)?;
    surroundings::unlimited(root, &facts)?;
    let name = intents::name(facts.names.identity.as_ref(), device.devnum);
    let mut intents = Intents::live(roots);
    if let Some(located) = directory::named(&request.place)? {
        let on = On { roots, request, facts: &facts, policy: &policy, name: &name };
        return measure_directory::run(&on, &located, &mut intents, listener);
    }
    // From here on a signal does not end the process: there may be a partition, then content, to put back.
    let interrupt = Interrupt::watch_and_answer().map_err(|e| Error::file("SIGINT, SIGTERM, SIGHUP", "handle", e))?;
    let mut hold = LiveHold::default();
    let opened = protocol::begin(&mut hold, &mut intents, &device.node(), &name)?;
    let mut held = Held { hold: &mut hold, intents: &mut intents, interrupt: &interrupt };
    let tested = with_lock(roots, request, (&facts, &policy, &name), opened, &mut held, listener);
    hold.unlock();
    intents.release(&name);
    match tested {
        // Files come last in the order: where there is no other place, or none that could be used.
        Err(Error::NoPlace { why, .. }) if request.place == ScratchSpec::Auto => {
            let on = On { roots, request, facts: &facts, policy: &policy, name: &name };
            directories::auto(&on, why, &mut intents, listener)
        }
        Err(e) => Err(e),
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => published(roots, &facts, listener),
    }
}

/// Only the running system has disks to test.
pub(crate) fn live(roots: &Roots) -> Result<()> {
    if roots.is_live() {
        return Ok(());
    }
    Err(Error::Usage(
        "measure works on the running system only, because a recorded machine is never written to; \
                      leave out --root"
            .to_owned(),
    ))
}

/// What is held while the disk is locked.
struct Held<'a> {
    hold: &'a mut LiveHold,
    intents: &'a mut Intents,
    interrupt: &'a Interrupt,
}

/// Proof, plan and test, with the disk locked and the test's name held; `None` where the verdict is to be looked up.
fn with_lock(
    roots: &Roots,
    request: &Request,
    (facts, policy, name): (&Facts, &Policy, &str),
    opened: Opened,
    held: &mut Held<'_>,
    listener: &mut dyn Listener,
) -> Result<Option<Answer>> {
    let known = known(roots, facts, request)?;
    let mut asked = Asked { root: &roots.system, hold: &mut *held.hold, opened };
    let Some(wanted) = volume::wanted(&mut asked, request, facts, &known)? else {
        return on_place(roots, request, (facts, policy, name), (opened, &known, None), held, listener);
    };
    if request.dry_run {
        return Ok(Some(Answer::Planned(volume::lines(request, &wanted.0))));
    }
    let (own, node) = volume::make(roots, facts, name, &wanted, held.intents)?;
    let inside = Request { place: ScratchSpec::Node(node), ..request.clone() };
    let made = Some((own, wanted.0));
    let tested = on_place(roots, &inside, (facts, policy, name), (opened, &known, made), held, listener);
    let gone = volume::finish(roots, name, held.intents);
    match tested {
        Ok(answer) => gone.map(|()| answer),
        Err(e) => {
            // Why there is no answer comes first.
            gone.err().into_iter().for_each(|e| listener.remark(&format!("{e}; run `zerocap recover` to try again")));
            Err(e)
        }
    }
}

/// The same in a place that is there, perhaps because it was `made` for the test.
fn on_place(
    roots: &Roots,
    request: &Request,
    (facts, policy, name): (&Facts, &Policy, &str),
    (opened, known, made): (Opened, &Known, Option<(Own, Planned)>),
    held: &mut Held<'_>,
    listener: &mut dyn Listener,
) -> Result<Option<Answer>> {
    let mut ledger = ledger(roots);
    let ledger: Option<&mut dyn Durable> = if request.dry_run { None } else { Some(&mut ledger) };
    let mut asked = Asked { root: &roots.system, hold: held.hold, opened };
    let mut proof = scratch::prove(&mut asked, &facts.device, &request.place, known, ledger)?;
    if let Some((own, planned)) = made {
        proof = proof.of_made(&facts.device, own, planned)?;
    }
    // Of `auto` a place for which there is no plan (its journal has no room) is none. What refuses later ends the test.
    let planned = intended(roots, request, (facts, policy), held.hold, &mut proof).map_err(|e| match e {
        Error::NotSafe { device, why } if request.place == ScratchSpec::Auto => Error::NoPlace { device, why },
        e => e,
    });
    let tested = planned.and_then(|intended| match intended {
        intended if request.dry_run => Ok(Some(Answer::Planned(plan::lines(request, &proof, &intended)))),
        Intended::Test(prepared) => {
            let on = Tested { roots, facts, name, proof: &proof, prepared: &prepared };
            run_test(&on, request, held.hold, held.intents, held.interrupt, listener).map(|()| None)
        }
        Intended::TooCoarse(why) => {
            untested::answer(roots, facts, &proof, &why, listener).map(Answer::Verdict).map(Some)
        }
    });
    drop_partition(roots, held.hold, &proof, &mut |text| listener.remark(text));
    tested
}

/// The plan of a test on a proved range, and what lies in the bytes that it would use, as the last check of the proof.
pub(crate) fn intended(
    roots: &Roots,
    request: &Request,
    (facts, policy): (&Facts, &Policy),
    hold: &dyn Hold,
    proof: &mut Proof,
) -> Result<Intended> {
    let intended = plan::of(roots, request, facts, policy, proof)?;
    measurements::may_be_kept(roots, facts)?;
    if let Intended::Test(prepared) = &intended {
        proof.checks.push(scratch::content(hold, &facts.device, proof, prepared.layout.span, request.data_ok)?);
    }
    Ok(intended)
}

/// What a test works on, and with.
struct Tested<'a> {
    roots: &'a Roots,
    facts: &'a Facts,
    name: &'a str,
    proof: &'a Proof,
    prepared: &'a Prepared,
}

/// Runs the test on the device itself.
fn run_test(
    on: &Tested<'_>,
    request: &Request,
    hold: &mut LiveHold,
    intents: &mut Intents,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<()> {
    let Tested { roots, facts, name, proof, prepared } = *on;
    listener.deadline(prepared.deadline);
    let mut port = ChildPort::new(prepared.deadline);
    if proof.thin {
        let devices = stack_members::addresses(roots, facts);
        port.listen(devices).map_err(|e| Error::file("the kernel's events (netlink)", "listen to", e))?;
    }
    // Where nothing is kept nothing is made of it.
    let dir = prepared.journal.clone().unwrap_or_else(|| plan::journal_directory(roots, request));
    let mut files = LiveDurable::new(dir, 0o600);
    let mut machine = Machine { root: &roots.system, port: &mut port, hold, journal: &mut files, intents, interrupt };
    // A mode that was tried may have taken others along.
    let restore_limits = request.restore_limits || request.tune;
    let subject = Subject { facts, name, proof, restore_limits };
    // While content is away, the machine does not go to sleep or down of itself. Where there is nobody to ask, the journal
    // has to do.
    let asked = roots.system.exists("run/systemd/system");
    let _awake = asked.then(|| process::keep_awake(&format!("a test of {} is not over", facts.device.node())));
    let mut unkept = None;
    let mut keep = |outcome: &Outcome, conditions: &Conditions| {
        if keep(roots, facts, prepared, outcome, conditions)? {
            // The answer is kept; that its single times are not is no failure of the test.
            let samples = protocol::samples::of_run(facts, conditions, outcome);
            unkept = samples::save(roots, facts, &samples).err();
        }
        Ok(())
    };
    let tested = protocol::test(&mut machine, subject, prepared, listener, &mut keep);
    if let Some(e) = unkept {
        listener.remark(&format!("{e}; a report of this test will have no single times"));
    }
    tested
}

fn refuse_by_policy(facts: &Facts, policy: &Policy) -> Result<()> {
    match &policy.measure {
        Some(wish) if wish.value == Measure::Never => Err(Error::NotSafe {
            device: facts.device.node(),
            why: format!("a rule of the policy says measure = \"never\" ({})", escape_str(&wish.from)),
        }),
        _ => Ok(()),
    }
}

/// Where temporary partitions are noted; they do not outlive the boot, nor do the notes.
pub fn ledger(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run().join("temporary"), 0o600)
}

/// Takes the temporary partition away. A partition that a child still holds stays, and is named.
fn drop_partition(roots: &Roots, hold: &mut dyn Hold, proof: &Proof, remark: &mut dyn FnMut(&str)) {
    if let Some((number, true)) = proof.partition {
        if let Err(e) = temporary::take_away(hold, proof.opened.devnum, &mut ledger(roots), number) {
            remark(&format!("{e}; run `zerocap recover` later to remove it"));
        }
    }
}
