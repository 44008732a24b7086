//! `zerocap measure`: proof, plan, then journal, intent, test, put-back, kept result, publication (`guarded`).
//!
//! This file is the order of the steps; each stands in a file of its own. Writes nothing to the device itself.

mod allocation;
pub mod attend;
mod below;
pub mod deadline;
mod directory;
mod extras;
mod guarded;
mod limits;
mod plan;
mod untested;

use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::{find, intent, picture, policies, Env};
use crate::machine::durable::{Durable, LiveDurable};
use crate::machine::interrupt::Interrupt;
use crate::measure::scratch::{self, temporary, Known, Proof, Where};
use crate::output::Document;
use crate::policy::{Measure, Policy};
use attend::Listener;
use guarded::Subject;
use plan::Intended;
use std::path::PathBuf;

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The device as typed.
    pub device: String,
    /// Where it may write.
    pub place: Where,
    /// `--thin-ok`.
    pub thin_ok: bool,
    /// `--dry-run`.
    pub dry_run: bool,
    /// `--journal DIR`.
    pub journal: Option<PathBuf>,
    /// `--max-bytes`.
    pub max_bytes: u64,
    /// `--max-seconds`.
    pub max_seconds: u64,
    /// `--deadline`: seconds until a call counts as not answered; else from the device's own timeout ([`deadline`]).
    pub deadline: Option<u64>,
    /// `--restore-limits`.
    pub restore_limits: bool,
    /// `--tune`.
    pub tune: bool,
    /// `--deep`.
    pub deep: bool,
    /// `--interference`.
    pub interference: bool,
}

/// What a dry run, or a test, gave.
#[derive(Debug)]
pub enum Answer {
    /// The proof and the plan, in lines.
    Planned(Vec<String>),
    /// The verdict.
    Verdict(Box<Document>),
}

/// Runs the job.
pub fn run(env: &Env, request: &Request, listener: &mut dyn Listener) -> Result<Answer> {
    if !env.roots.is_live() {
        return Err(Error::Usage(
            "a recorded machine is never written to: measure works on the running system".to_owned(),
        ));
    }
    let device = find::whole(env, &request.device)?;
    let root = &env.roots.system;
    let facts = facts::gather(root, env.port().as_mut(), &device, Depth::Claims);
    let (policy, problems) = policies::of(env, &facts);
    problems.iter().for_each(|p| listener.remark(p));
    refuse_by_policy(&facts, &policy)?;
    let name = intent::name(&facts);
    refuse_after_cut(env, &facts, &name)?;
    if let Some(located) = directory::named(&request.place)? {
        if request.tune {
            return Err(Error::Usage(
                "--tune tries a device's modes: name a scratch on the device, not a directory".to_owned(),
            ));
        }
        return directory::run(env, request, &facts, &name, &located, listener);
    }
    let known = known(env, &facts, request.thin_ok)?;
    // From here on a signal does not end the process: there may be a partition, then content, to put back.
    let interrupt = Interrupt::watch().map_err(|e| Error::file("SIGINT, SIGTERM, SIGHUP", "handle", e))?;
    let mut ledger = ledger(env);
    let ledger: Option<&mut dyn Durable> = if request.dry_run { None } else { Some(&mut ledger) };
    let proof = scratch::prove(root, &device, &request.place, &known, ledger)?;
    let result = plan::of(env, request, &facts, &policy, &proof).and_then(|intended| {
        if request.dry_run {
            return Ok(Answer::Planned(plan::lines(request, &proof, &intended)));
        }
        let (proof, interrupt) = (&proof, &interrupt);
        // A mode that was tried may have taken others along.
        let restore_limits = request.restore_limits || request.tune;
        let on = Subject { env, facts: &facts, name: &name, proof, interrupt, restore_limits };
        match intended {
            Intended::Test(prepared) => guarded::test(on, &prepared, listener),
            Intended::TooCoarse(why) => untested::answer(on, &why, listener),
        }
        .map(Answer::Verdict)
    });
    drop_partition(env, &proof, &mut |text| listener.remark(text));
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
fn refuse_after_cut(env: &Env, facts: &Facts, name: &str) -> Result<()> {
    let Some(earlier) = intent::of(env, name)? else { return Ok(()) };
    let why = match earlier.left_behind {
        Some(pid) => format!("an earlier test is still in flight (pid {pid}) or not cleared up; run `zerocap recover`"),
        None => "an earlier test was cut off; run `zerocap recover` first".to_owned(),
    };
    Err(Error::NotSafe { device: facts.device.node(), why })
}

/// What the proof must know besides what it checks itself.
pub fn known(env: &Env, facts: &Facts, thin_ok: bool) -> Result<Known> {
    Ok(Known {
        zoned: facts.queue.zoned.known().is_some_and(|z| z != "none"),
        read_only: facts.names.read_only.is(true),
        thin: below::thin(env, facts),
        same_identity: picture::same_identity(env, facts)?,
        thin_ok,
        granularity: plan::granularity(facts),
    })
}

/// Where temporary partitions are noted; they do not outlive the boot, nor do the notes.
pub fn ledger(env: &Env) -> LiveDurable {
    LiveDurable::volatile(env.roots.run().join("temporary"), 0o600)
}

/// Takes the temporary partition away. A partition that a child still holds stays, and is named.
pub fn drop_partition(env: &Env, proof: &Proof, remark: &mut dyn FnMut(&str)) {
    if let Some((number, true)) = proof.partition {
        if let Err(e) = temporary::take_away(&proof.disk, &mut ledger(env), number) {
            remark(&format!("{e}; `zerocap recover` takes it away later"));
        }
    }
}
