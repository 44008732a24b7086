//! `zerocap measure`: proof, plan, then journal, intent, test, put-back, kept result, publication (`guarded`).
//!
//! This file is the order of the steps; each stands in a file of its own. Writes nothing to the device itself.

use crate::assess;
use crate::assess::policies;
use crate::assess::stack_members;
use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::find;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::interrupt::Interrupt;
use crate::machine::Roots;
use crate::measure::scratch::{self, temporary, Known, Proof};
use crate::policy::{Measure, Policy};
use crate::protocol::plan::{self, Intended};
use crate::protocol::supervise::Listener;
use crate::protocol::{self, directory, untested, Subject};
use crate::store::intents;

pub use crate::protocol::{Answer, Request};

/// Runs the job.
pub fn run(roots: &Roots, request: &Request, listener: &mut dyn Listener) -> Result<Answer> {
    if !roots.is_live() {
        return Err(Error::Usage(
            "a recorded machine is never written to: measure works on the running system".to_owned(),
        ));
    }
    let device = find::whole(roots, &request.device)?;
    let root = &roots.system;
    let facts = facts::gather(root, roots.port().as_mut(), &device, Depth::Claims);
    let (policy, problems) = policies::of(roots, &facts);
    problems.iter().for_each(|p| listener.remark(p));
    refuse_by_policy(&facts, &policy)?;
    let name = intents::name(&facts);
    refuse_after_cut(roots, &facts, &name)?;
    if let Some(located) = directory::named(&request.place)? {
        if request.tune {
            return Err(Error::Usage(
                "--tune tries a device's modes: name a scratch on the device, not a directory".to_owned(),
            ));
        }
        return directory::run(roots, request, &facts, &name, &located, listener);
    }
    let known = known(roots, &facts, request.thin_ok)?;
    // From here on a signal does not end the process: there may be a partition, then content, to put back.
    let interrupt = Interrupt::watch().map_err(|e| Error::file("SIGINT, SIGTERM, SIGHUP", "handle", e))?;
    let mut ledger = ledger(roots);
    let ledger: Option<&mut dyn Durable> = if request.dry_run { None } else { Some(&mut ledger) };
    let proof = scratch::prove(root, &device, &request.place, &known, ledger)?;
    let result = plan::of(roots, request, &facts, &policy, &proof).and_then(|intended| {
        if request.dry_run {
            return Ok(Answer::Planned(plan::lines(request, &proof, &intended)));
        }
        let (proof, interrupt) = (&proof, &interrupt);
        // A mode that was tried may have taken others along.
        let restore_limits = request.restore_limits || request.tune;
        let on = Subject { roots, facts: &facts, name: &name, proof, interrupt, restore_limits };
        match intended {
            Intended::Test(prepared) => protocol::test(on, &prepared, listener),
            Intended::TooCoarse(why) => untested::answer(on, &why, listener),
        }
        .map(Answer::Verdict)
    });
    drop_partition(roots, &proof, &mut |text| listener.remark(text));
    result
}

fn refuse_by_policy(facts: &Facts, policy: &Policy) -> Result<()> {
    match &policy.measure {
        Some(wish) if wish.value == Measure::Never => Err(Error::NotSafe {
            device: facts.device.node(),
            why: format!("policy says measure = \"never\" ({})", escape_str(&wish.from)),
        }),
        _ => Ok(()),
    }
}

/// Refuses while an earlier test is not cleared up.
fn refuse_after_cut(roots: &Roots, facts: &Facts, name: &str) -> Result<()> {
    let Some(earlier) = intents::of(roots, name)? else { return Ok(()) };
    let why = match earlier.left_behind {
        Some(pid) => format!("an earlier test is still in flight (pid {pid}) or not cleared up; run `zerocap recover`"),
        None => "an earlier test was cut off; run `zerocap recover` first".to_owned(),
    };
    Err(Error::NotSafe { device: facts.device.node(), why })
}

/// What the proof must know besides what it checks itself.
pub fn known(roots: &Roots, facts: &Facts, thin_ok: bool) -> Result<Known> {
    Ok(Known {
        zoned: facts.queue.zoned.known().is_some_and(|z| z != "none"),
        read_only: facts.names.read_only.is(true),
        thin: stack_members::thin(roots, facts),
        same_identity: assess::same_identity(roots, facts)?,
        thin_ok,
        granularity: plan::granularity(facts),
    })
}

/// Where temporary partitions are noted; they do not outlive the boot, nor do the notes.
pub fn ledger(roots: &Roots) -> LiveDurable {
    LiveDurable::volatile(roots.run().join("temporary"), 0o600)
}

/// Takes the temporary partition away. A partition that a child still holds stays, and is named.
pub fn drop_partition(roots: &Roots, proof: &Proof, remark: &mut dyn FnMut(&str)) {
    if let Some((number, true)) = proof.partition {
        if let Err(e) = temporary::take_away(&proof.disk, &mut ledger(roots), number) {
            remark(&format!("{e}; `zerocap recover` takes it away later"));
        }
    }
}
