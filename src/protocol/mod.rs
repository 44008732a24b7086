//! The part of the job that writes: open, intent, journal, run, put-back, keep.
//!
//! The order is the safety: nothing is written to the device before the intent is durable and the journal is synced;
//! nothing is put back while a call is in flight; the journal goes only after the content was read back.

pub mod allocation;
pub mod deadline;
pub mod directory;
pub mod extras;
pub mod limits;
pub mod modes;
pub mod plan;
pub mod result;
pub mod supervise;
pub mod untested;

use crate::assess::stack_members;
use crate::device::Devnum;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::machine::clock;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::interrupt::Interrupt;
use crate::machine::port::child::ChildPort;
use crate::machine::port::{Act, ActError, Done, Port};
use crate::machine::Roots;
use crate::measure::journal::{self, Header};
use crate::measure::outcome::{End, Outcome};
use crate::measure::recover::{self, Trust};
use crate::measure::scratch::Proof;
use crate::measure::scratch::Where;
use crate::measure::trial;
use crate::protocol::allocation::Allocation;
use crate::protocol::limits::Limits;
use crate::protocol::plan::Prepared;
use crate::protocol::result::Conditions;
use crate::protocol::supervise::{Attendant, Attended, Attention, Listener};
use crate::store::intents::{self, Intent};
use crate::store::measurements;
use crate::store::published;
use crate::terms::Class;
use crate::verdict::measurement::TestFinding;
use rustix::io::Errno;
use std::path::PathBuf;
use verdict_format::Document;

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

/// What a test works on.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) facts: &'a Facts,
    /// `--restore-limits`.
    pub(crate) restore_limits: bool,
    /// Under which journal and intent are kept.
    pub(crate) name: &'a str,
    pub(crate) proof: &'a Proof,
    pub(crate) interrupt: &'a Interrupt,
}

/// A test that has the device open.
struct Guarded<'a> {
    on: Subject<'a>,
    prepared: &'a Prepared,
    port: ChildPort,
    files: LiveDurable,
    journal_name: String,
    header: Header,
    word: Intent,
    conditions: Conditions,
    limits: Limits,
    allocation: Allocation,
    /// What was found, once it is kept.
    found: Vec<TestFinding>,
}

/// Runs the test and gives the verdict.
pub(crate) fn test(on: Subject<'_>, prepared: &Prepared, listener: &mut dyn Listener) -> Result<Box<Document>> {
    let mut test = Guarded::open(on, prepared)?;
    let document = test.steps(listener);
    // On every way out: else the child may still hold the temporary partition when that is to go.
    test.port.close();
    document
}

impl<'a> Guarded<'a> {
    fn steps(&mut self, listener: &mut dyn Listener) -> Result<Box<Document>> {
        self.announce()?;
        self.save_content()?;
        let outcome = self.run(listener);
        self.no_call_in_flight(&outcome)?;
        self.put_back(&outcome)?;
        self.compare();
        // The child ends and closes the device: from here on nothing of the test holds it.
        self.port.close();
        self.judge(&outcome)?;
        self.publish(listener)
    }

    fn open(on: Subject<'a>, prepared: &'a Prepared) -> Result<Guarded<'a>> {
        let mut port = ChildPort::new(prepared.deadline);
        if on.proof.thin {
            let devices = stack_members::addresses(on.roots, on.facts);
            port.listen(devices).map_err(|e| Error::file("the kernel's events (netlink)", "listen to", e))?;
        }
        let range = &on.proof.range;
        port.act(range, &Act::Open).value.map_err(|e| act_error(&range.node, "open for writing", &e))?;
        let header = plan::header(on.roots, on.facts, on.proof, prepared);
        let at = clock::now_utc();
        let word = Intent {
            device: on.facts.device.name.clone(),
            identity: header.identity.clone(),
            boot_id: header.boot_id.clone(),
            pid: std::process::id(),
            left_behind: None,
            // Absolute: `recover` may run from another directory.
            journal: std::path::absolute(&prepared.journal).ok(),
            at: at.clone(),
        };
        let conditions = Conditions {
            at,
            scratch: on.proof.kind.to_owned(),
            proof: on.proof.checks.clone(),
            unit: prepared.plan.unit,
            fast_ratio: prepared.plan.fast_ratio,
            ..Conditions::default()
        };
        let limits = Limits::read(&on.roots.system, on.facts);
        let allocation = ask_allocation(&on, prepared);
        let files = LiveDurable::new(&prepared.journal, 0o600);
        let journal_name = format!("{}.journal", on.name);
        Ok(Guarded {
            on,
            prepared,
            port,
            files,
            journal_name,
            header,
            word,
            conditions,
            limits,
            allocation,
            found: Vec::new(),
        })
    }

    fn devnum(&self) -> Option<Devnum> {
        self.on.facts.device.devnum
    }

    /// The durable word that a test has begun.
    fn announce(&self) -> Result<()> {
        intents::begin(self.on.roots, self.on.name, self.devnum(), &self.word)
    }

    /// Takes journal and word away: nothing of the test is left on the device.
    fn clear(&mut self) -> Result<()> {
        self.files.remove(&self.journal_name)?;
        intents::end(self.on.roots, self.on.name, self.devnum())
    }

    /// The old content goes to the journal.
    fn save_content(&mut self) -> Result<()> {
        let Guarded { on, port, files, .. } = self;
        let range = &on.proof.range;
        let read = |offset, length| {
            if on.interrupt.seen() {
                return Err(interrupted(on.facts, "nothing was written"));
            }
            match port.act(range, &Act::Read { offset, length }).value {
                Ok(Done::Bytes(bytes)) => Ok(bytes),
                Ok(_) => Err(act_error(&range.node, "read", &ActError::NotAllowed("no bytes came".to_owned()))),
                Err(e) => Err(act_error(&range.node, "read the old content of", &e)),
            }
        };
        let written = journal::write(files, &self.journal_name, &self.header, read);
        if written.is_err() {
            // Nothing was written to the device yet, so the word can go. Not the journal: an unfinished one is gone, and a
            // whole one is an earlier test's, all that is left of that content.
            intents::end(self.on.roots, self.on.name, self.devnum())?;
        }
        written
    }

    fn run(&mut self, listener: &mut dyn Listener) -> Outcome {
        if self.prepared.modes.is_empty() {
            self.one(&self.prepared.plan, listener)
        } else {
            self.tuned(listener)
        }
    }

    /// One run, and what was asked for beside it.
    fn one(&mut self, plan: &crate::measure::plan::Plan, listener: &mut dyn Listener) -> Outcome {
        let on = self.on;
        let attendant = Attendant::new(&on.roots.system, on.facts, on.interrupt, plan.max_time, listener);
        let mut port = Attended::new(&attendant, &mut self.port);
        let mut outcome = trial::run(&mut port, &on.proof.range, plan, &mut Attention(&attendant));
        let extras = extras::run(&mut port, &on.proof.range, self.prepared, plan.max_time, &mut outcome);
        // A pool without space is no fault of the device: it is said and put back, and the device is not broken by it.
        if let Some(operation) = attendant.out_of_space().filter(|_| on.proof.thin) {
            outcome.end = End::Failed(operation, ActError::Os(Errno::NOSPC.raw_os_error()));
        }
        // Nor is a pool that is running short; what the device did wrong until then holds.
        if let Some((operation, what)) = attendant.attention().filter(|_| !matches!(outcome.end, End::Wrong(_))) {
            outcome.end = End::Failed(operation, ActError::NotAllowed(what.to_string()));
        }
        (self.conditions.interference, self.conditions.deep) = (extras.interference, extras.deep);
        outcome
    }

    /// What is not as before although the content is: limits, which may be put back, and which blocks are mapped.
    fn compare(&mut self) {
        let on = self.on;
        if on.restore_limits {
            let found = limits::restore(&self.limits, &on.roots.system, on.facts, &mut self.port);
            self.conditions.found.extend(found);
        }
        let now = ask_allocation(&on, self.prepared);
        self.conditions.found.extend(allocation::changed(&self.allocation, &now));
    }

    fn keep(&mut self, outcome: &Outcome) -> Result<()> {
        let (roots, facts) = (self.on.roots, self.on.facts);
        let mut measurement = result::of_run(facts, &self.conditions, outcome);
        self.found.clone_from(&measurement.findings);
        let now = facts.scsi().and_then(|s| s.zeroing_mode.known());
        if let Some(before) = measurements::load(roots, facts).ok().flatten() {
            // What can decide nothing takes no hazard back either.
            if before.hazard.is_some()
                && measurement.class == Class::Unknown
                && u64::from(measurement.trials) < trial::LEAST_PAIRS
            {
                return Ok(());
            }
            // What was found in files of this device is not asked anew here.
            measurement.overwrite = before.overwrite;
            // A test in the mode that an earlier one chose speaks of that mode, which stays wanted.
            if self.prepared.modes.is_empty() && before.zeroing_mode.as_ref().is_some_and(|mode| Some(mode) == now) {
                (measurement.zeroing_mode, measurement.modes) = (before.zeroing_mode, before.modes);
            }
        }
        // So does one in the mode that the policy wishes for: the rule leads back to it after every close.
        if self.prepared.modes.is_empty()
            && self.prepared.wished_mode.is_some_and(|w| now.is_some_and(|m| m == w.as_str()))
        {
            measurement.zeroing_mode = now.cloned();
        }
        measurements::save(roots, facts, &measurement).map(drop)
    }

    /// The child that did not answer, if one did not; from then on the intent names it.
    fn left_behind(&mut self) -> Result<Option<u32>> {
        let pid = self.port.left_behind();
        if pid.is_some() && self.word.left_behind != pid {
            self.word.left_behind = pid;
            self.announce()?;
        }
        Ok(pid)
    }

    /// A call that was not answered is a hazard, kept at once; nothing more is written to that queue.
    fn no_call_in_flight(&mut self, outcome: &Outcome) -> Result<()> {
        let Some(pid) = self.left_behind()? else { return Ok(()) };
        self.keep(outcome)?;
        Err(self.not_put_back(format!(
            "a call was not answered in {:.0} s and is still in flight, pid {pid}; nothing more is written to this \
             device in this boot. Once that process is gone, or after a restart, run `zerocap recover`",
            self.prepared.deadline.as_secs_f64()
        )))
    }

    fn put_back(&mut self, outcome: &Outcome) -> Result<()> {
        let again = "run `zerocap recover` once the device answers again";
        let back = match journal::read(&self.files, &self.journal_name)? {
            journal::Read::Whole(journal) => {
                recover::put_back(&mut self.port, &self.on.proof.range, &journal, Trust::Held)
            }
            _ => {
                let what = "the journal is gone or damaged".to_owned();
                return Err(Error::Malformed { path: self.journal_path(), what });
            }
        };
        match back {
            Ok(recover::Outcome::Back(bytes)) => {
                self.conditions.put_back = bytes;
                Ok(())
            }
            Ok(recover::Outcome::Foreign { offset, .. }) => {
                Err(self.not_put_back(format!("byte {offset} was written by somebody else; {again}")))
            }
            Err(e) => {
                self.left_behind()?;
                self.keep(outcome)?;
                Err(self.not_put_back(format!("{}: {}; {again}", e.operation, e.error)))
            }
        }
    }

    /// What came of the run, the content being back: kept, or nothing is kept and the error says why.
    fn judge(&mut self, outcome: &Outcome) -> Result<()> {
        if let Some(pid) = self.left_behind()? {
            // A limit that was to be put back: the content is back already, but the queue is not to be touched.
            self.files.remove(&self.journal_name)?;
            let (device, error) = (self.on.facts.device.node(), ActError::NoAnswer(pid));
            return Err(act_error(&device, "put back a limit of", &error));
        }
        let wrong = matches!(outcome.end, End::Wrong(_));
        // What a device did wrong holds whoever interrupts it.
        if self.on.interrupt.seen() && !wrong {
            self.clear()?;
            return Err(interrupted(self.on.facts, "the content was put back"));
        }
        if let End::Failed(operation, error) = &outcome.end {
            self.clear()?;
            return Err(act_error(&self.on.facts.device.node(), operation, error));
        }
        self.keep(outcome)?;
        self.clear()
    }

    fn publish(&self, listener: &mut dyn Listener) -> Result<Box<Document>> {
        let mut remark = |text: &str| listener.remark(text);
        let document = published::with_event(self.on.roots, &self.on.facts.device, &mut remark)?;
        // A test that took the offload away leaves a device whose verdict no longer speaks of the test.
        let told = |f: &&TestFinding| document.findings.iter().any(|told| told.code == f.code);
        self.found.iter().filter(|f| !told(f)).for_each(|f| remark(&format!("{}: {}", f.code, f.text)));
        Ok(Box::new(document))
    }

    fn journal_path(&self) -> String {
        self.files.shown(&self.journal_name).display().to_string()
    }

    fn not_put_back(&self, what: String) -> Error {
        Error::NotPutBack { device: self.on.facts.device.node(), what, journal: self.journal_path() }
    }
}

fn ask_allocation(on: &Subject<'_>, prepared: &Prepared) -> Allocation {
    let range = &on.proof.range;
    let span = (range.node_offset + prepared.plan.start, prepared.journalled);
    allocation::of(on.roots.port().as_mut(), on.facts, range.logical_block, span)
}

fn act_error(device: &str, operation: &str, error: &ActError) -> Error {
    Error::Act { device: device.to_owned(), operation: operation.to_owned(), what: error.to_string() }
}

fn interrupted(facts: &Facts, what: &str) -> Error {
    Error::Interrupted { device: facts.device.node(), what: what.to_owned() }
}
