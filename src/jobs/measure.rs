//! `zerocap measure`: proof, journal, intent, test, put-back, kept result, publication.
//!
//! The order is the safety: nothing is written to the device before the proof holds, the intent is durable and the journal
//! is synced; nothing is put back while a child is in flight; the journal goes only after the content was read back.

use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::intent::{self, Intent};
use crate::jobs::record_result::{self, Conditions};
use crate::jobs::{find, kept, picture, policies, publish, Env};
use crate::machine::child::ChildPort;
use crate::machine::durable::{Durable, LiveDurable};
use crate::machine::journal_place::{self, Place};
use crate::machine::port::{Act, ActError, Done, Port};
use crate::machine::{clock, trigger};
use crate::measure::journal::{self, Header};
use crate::measure::recover::{self, Outcome, Trust};
use crate::measure::scratch::{self, temporary, Known, Proof, Where};
use crate::measure::stats::Sequential;
use crate::measure::trial::{self, End, Plan, Watch};
use crate::output::Document;
use crate::policy::{Measure, Policy};
use crate::units::{Nanos, MIB};
use std::path::PathBuf;

/// Bytes of one journalled span: one read, one append.
const SPAN: u64 = 4 * MIB;

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
    /// `--deadline`: seconds until a call counts as not answered; else from the device's own timeout.
    pub deadline: Option<u64>,
    /// `-v`: a line a pair on standard error.
    pub verbose: bool,
}

/// What a dry run, or a test, gave.
#[derive(Debug)]
pub enum Answer {
    /// The proof and the plan, in lines.
    Planned(Vec<String>),
    /// The verdict.
    Verdict(Box<Document>),
}

/// Runs the job. Remarks go to `remark`.
pub fn run(env: &Env, request: &Request, remark: &mut dyn FnMut(&str)) -> Result<Answer> {
    if !env.roots.is_live() {
        return Err(Error::Usage(
            "a recorded machine is never written to: measure works on the running system".to_owned(),
        ));
    }
    let device = find::whole(env, &request.device)?;
    let root = &env.roots.system;
    let facts = facts::gather(root, env.port().as_mut(), &device, Depth::Claims);
    let (policy, problems) = policies::of(env, &facts);
    problems.iter().for_each(|p| remark(p));
    refuse_by_policy(&facts, &policy)?;
    let name = intent::name(&facts);
    refuse_after_cut(env, &facts, &name)?;
    let known = known(env, &facts, request.thin_ok)?;
    let mut ledger = ledger(env);
    let ledger: Option<&mut dyn Durable> = if request.dry_run { None } else { Some(&mut ledger) };
    let proof = scratch::prove(root, &device, &request.place, &known, ledger)?;
    let result = prepared(env, request, &facts, &policy, &name, &proof, remark);
    drop_partition(env, &proof, remark);
    result
}

/// Everything after the proof; the caller takes the temporary partition away on every way out.
#[allow(clippy::too_many_arguments)] // one caller, and each is another thing that the proof rests on
fn prepared(
    env: &Env,
    request: &Request,
    facts: &Facts,
    policy: &Policy,
    name: &str,
    proof: &Proof,
    remark: &mut dyn FnMut(&str),
) -> Result<Answer> {
    let root = &env.roots.system;
    let device = &facts.device;
    let not_safe = |why: String| Error::NotSafe { device: device.node(), why };
    let granularity = facts.queue.discard_granularity.get().unwrap_or(0);
    let (unit, start, length) = Plan::span(&proof.range, granularity, proof.limit)
        .map_err(|why| not_safe(format!("{why}; give a larger scratch")))?;
    let dir = request.journal.clone().unwrap_or_else(|| env.roots.var().join("journal"));
    let place = journal_allowed(env, &dir, request.journal.is_some(), device).map_err(not_safe)?;
    let plan = Plan {
        seed: clock::fresh_seed().map_err(|e| Error::file("/dev/urandom", "read", e))?,
        unit,
        start,
        length,
        fast_ratio: policy.fast_ratio,
        max_bytes: request.max_bytes,
        max_time: Nanos::from_secs(request.max_seconds),
        write_zeroes: match facts.queue.unmap.get() {
            None => Err("not tried: this kernel has no FALLOC_FL_WRITE_ZEROES (before 6.17)".to_owned()),
            Some(0) => Err("gated".to_owned()),
            Some(_) => Ok(()),
        },
    };
    if request.dry_run {
        let mut lines = proof.checks.clone();
        lines.push(format!("would use bytes {start}+{length} of {} in {} segments", proof.range.node, trial::SEGMENTS));
        lines.push(format!("would journal them in {} ({place})", dir.display()));
        lines.push(format!(
            "would write at most {} bytes in pairs, for at most {} s",
            request.max_bytes, request.max_seconds
        ));
        return Ok(Answer::Planned(lines));
    }
    let mut files = LiveDurable::new(&dir, 0o600);
    let journal_name = format!("{name}.journal");
    let header = header(env, facts, proof, &plan);
    let io_timeout = facts.queue.io_timeout_ms.get().unwrap_or(30_000);
    let deadline = request.deadline.map_or(Nanos(io_timeout.max(30_000).saturating_mul(4_000_000)), Nanos::from_secs);
    let mut port = ChildPort::new(deadline);
    let opened = port.act(&proof.range, &Act::Open).value;
    opened.map_err(|e| act_error(&proof.range.node, "open for writing", &e))?;
    let at = clock::now_utc();
    let mut word = Intent {
        device: device.name.clone(),
        identity: header.identity.clone(),
        boot_id: header.boot_id.clone(),
        pid: std::process::id(),
        left_behind: None,
        at: at.clone(),
    };
    intent::begin(env, name, device.devnum, &word)?;
    let read = |offset, length| match port.act(&proof.range, &Act::Read { offset, length }).value {
        Ok(Done::Bytes(bytes)) => Ok(bytes),
        Ok(_) => Err(act_error(&proof.range.node, "read", &ActError::NotAllowed("no bytes came".to_owned()))),
        Err(e) => Err(act_error(&proof.range.node, "read the old content of", &e)),
    };
    if let Err(e) = journal::write(&mut files, &journal_name, &header, read) {
        // Nothing was written to the device yet: both words can go.
        files.remove(&journal_name)?;
        intent::end(env, name, device.devnum)?;
        return Err(e);
    }
    let mut watch = Watcher { root, facts, verbose: request.verbose, remark };
    let outcome = trial::run(&mut port, &proof.range, &plan, &mut watch);
    let mut conditions = Conditions {
        at,
        scratch: proof.kind.to_owned(),
        proof: proof.checks.clone(),
        unit,
        fast_ratio: policy.fast_ratio,
        put_back: 0,
    };
    if let Some(pid) = port.left_behind() {
        word.left_behind = Some(pid);
        intent::begin(env, name, device.devnum, &word)?;
        kept::save(env, facts, &record_result::of_run(facts, &conditions, &outcome))?;
        return Err(Error::NotPutBack {
            device: device.node(),
            what: format!(
                "a call was not answered in {:.0} s and is still in flight, pid {pid}; nothing more is written to this \
                 device in this boot. Once that process is gone, or after a restart, run `zerocap recover`",
                deadline.as_secs_f64()
            ),
            journal: dir.join(&journal_name).display().to_string(),
        });
    }
    let whole = match journal::read(&files, &journal_name)? {
        journal::Read::Whole(journal) => journal,
        _ => {
            return Err(Error::Malformed {
                path: dir.join(&journal_name).display().to_string(),
                what: "the journal is gone or damaged".to_owned(),
            })
        }
    };
    match recover::put_back(&mut port, &proof.range, &whole, Trust::Held) {
        Ok(Outcome::Back(bytes)) => conditions.put_back = bytes,
        Ok(Outcome::Foreign(offset)) => {
            return Err(not_put_back(facts, &dir, &journal_name, format!("byte {offset} was written by somebody else")))
        }
        Err(e) => {
            kept::save(env, facts, &record_result::of_run(facts, &conditions, &outcome))?;
            return Err(not_put_back(facts, &dir, &journal_name, format!("{}: {}", e.operation, e.error)));
        }
    }
    // The child ends and closes the device: from here on nothing of the test holds it.
    port.close();
    if let End::Failed(operation, error) = &outcome.end {
        files.remove(&journal_name)?;
        intent::end(env, name, device.devnum)?;
        return Err(act_error(&device.node(), operation, error));
    }
    kept::save(env, facts, &record_result::of_run(facts, &conditions, &outcome))?;
    files.remove(&journal_name)?;
    intent::end(env, name, device.devnum)?;
    let picture = picture::of(env, env.port().as_mut(), device, Depth::Claims, remark);
    publish::write(env, device.devnum, &picture.document)?;
    if let Err(e) = trigger::change(device) {
        remark(&e.to_string());
    }
    Ok(Answer::Verdict(Box::new(picture.document)))
}

fn act_error(device: &str, operation: &str, error: &ActError) -> Error {
    Error::Act { device: device.to_owned(), operation: operation.to_owned(), what: error.to_string() }
}

fn not_put_back(facts: &Facts, dir: &std::path::Path, journal: &str, what: String) -> Error {
    let what = format!("{what}; run `zerocap recover` once the device answers again");
    Error::NotPutBack { device: facts.device.node(), what, journal: dir.join(journal).display().to_string() }
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
    let not_safe = |why: String| Error::NotSafe { device: facts.device.node(), why };
    match intent::of(env, name)? {
        None => Ok(()),
        Some(i) => Err(not_safe(match i.left_behind {
            Some(pid) => {
                format!("an earlier test is still in flight (pid {pid}) or not cleared up; run `zerocap recover`")
            }
            None => "an earlier test was cut off; run `zerocap recover` first".to_owned(),
        })),
    }
}

/// What the proof must know besides what it checks itself.
pub fn known(env: &Env, facts: &Facts, thin_ok: bool) -> Result<Known> {
    Ok(Known {
        zoned: facts.queue.zoned.known().is_some_and(|z| z != "none"),
        read_only: facts.names.read_only.is(true),
        thin: facts.thin(),
        same_identity: picture::same_identity(env, facts)?,
        thin_ok,
    })
}

/// Whether a journal may lie in a directory; gives where that is, in words.
fn journal_allowed(
    env: &Env,
    dir: &std::path::Path,
    named: bool,
    device: &crate::device::Device,
) -> std::result::Result<String, String> {
    match journal_place::of(&env.roots.system, dir) {
        Place::Devices(names) if names.contains(&device.name) => Err(format!(
            "the journal {} lies on the device itself; name another place with --journal DIR",
            dir.display()
        )),
        Place::Devices(names) => Ok(format!("on {}", names.join(", "))),
        Place::Elsewhere(kind) => Ok(format!("on {kind}")),
        Place::Memory if named => Ok("in memory: a power cut loses the content".to_owned()),
        Place::Memory => Err(format!(
            "the journal {} would lie in memory, where a power cut loses the content; accept that with --journal {}",
            dir.display(),
            dir.display()
        )),
        Place::Unknown(why) if named => Ok(format!("it cannot be told on what: {why}")),
        Place::Unknown(why) => Err(format!(
            "it cannot be told on which device the journal {} lies ({why}); name a safe place with --journal DIR",
            dir.display()
        )),
    }
}

fn header(env: &Env, facts: &Facts, proof: &Proof, plan: &Plan) -> Header {
    let range = &proof.range;
    let spans =
        (0..plan.length.div_ceil(SPAN)).map(|i| (plan.start + i * SPAN, SPAN.min(plan.length - i * SPAN))).collect();
    Header {
        seed: plan.seed,
        at: clock::now_utc(),
        boot_id: clock::boot_id(&env.roots.system),
        device: facts.device.name.clone(),
        identity: facts.names.identity.as_ref().map(|i| i.as_str().to_owned()),
        diskseq: proof.disk.diskseq,
        size_bytes: proof.disk.size,
        logical_block: proof.disk.logical_block,
        node_offset: range.node_offset,
        node_length: proof.partition.map(|_| range.length),
        partition: proof.partition.map(|(number, _)| number),
        temporary: proof.partition.is_some_and(|(_, made)| made),
        spans,
        thin: proof.thin,
    }
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

struct Watcher<'a> {
    root: &'a crate::machine::files::Root,
    facts: &'a Facts,
    verbose: bool,
    remark: &'a mut dyn FnMut(&str),
}

impl Watch for Watcher<'_> {
    fn limits(&mut self) -> Vec<String> {
        self.facts.limit_lines(self.root)
    }

    fn pair(&mut self, number: usize, write: Nanos, zero: Nanos, so_far: &Sequential) {
        if self.verbose {
            let ratio = so_far.median().unwrap_or(0.0);
            let ms = |n: Nanos| n.0 as f64 / 1e6;
            (self.remark)(&format!(
                "pair {number}: write {:.2} ms, zero {:.2} ms, median ratio {ratio:.2}",
                ms(write),
                ms(zero)
            ));
        }
    }

    fn stop(&mut self) -> bool {
        false
    }
}
