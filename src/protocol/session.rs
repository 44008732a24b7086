//! One test: the steps from the opened device to the content that is put back. The safety lies in the steps and their order;
//! the meaning of each step is in a file of its own.

use crate::device::Devnum;
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::block::served;
use crate::machine::port::{Act, ActError, Done, Fill};
use crate::measure::journal::{self, Header};
use crate::measure::outcome::{End, Outcome};
use crate::measure::recover::{self, Report, Rules};
use crate::measure::trial;
use crate::protocol::allocation::{self, Allocation};
use crate::protocol::failures::{act_error, ended_early, interrupted};
use crate::protocol::limits::{self, Limits};
use crate::protocol::naming::Naming;
use crate::protocol::plan::{self, Prepared};
use crate::protocol::result::Conditions;
use crate::protocol::supervise::{Attendant, Attended, Attention, Listener};
use crate::protocol::{blame, extras, others_io, recovery, recovery_volume, Keep, Machine, Subject};
use crate::store::intents::{Intent, Phase};
use crate::terms::Hazard;
use rustix::io::Errno;
use std::path::PathBuf;

/// A test that has the device open.
pub(super) struct Session<'a, 'm> {
    pub(super) on: Subject<'a>,
    pub(super) machine: &'a mut Machine<'m>,
    pub(super) prepared: &'a Prepared,
    pub(super) journal_name: String,
    pub(super) header: Header,
    pub(super) word: Intent,
    pub(super) conditions: Conditions,
    pub(super) limits: Limits,
    pub(super) allocation: Allocation,
    /// Of the last run: see [`blame::Asked::others_wrote`].
    pub(super) others_wrote: Option<u64>,
}

/// Runs a test on a range that was proved, with lock and name held ([`begin`]). `keep` is called with what it gave; nothing
/// is kept of a test that could not be made.
pub fn test(
    machine: &mut Machine<'_>,
    on: Subject<'_>,
    prepared: &Prepared,
    listener: &mut dyn Listener,
    keep: &mut Keep<'_>,
) -> Result<()> {
    let mut session = Session::open(on, machine, prepared)?;
    let result = session.steps(listener, keep);
    // On every way out: else the child may still hold the temporary partition when that is to go.
    session.machine.port.close();
    result
}

impl<'a, 'm> Session<'a, 'm> {
    fn steps(&mut self, listener: &mut dyn Listener, keep: &mut Keep<'_>) -> Result<()> {
        self.announce(Phase::Preparing)?;
        self.save_content()?;
        let mut outcome = self.run(listener);
        self.blame(&mut outcome);
        self.no_call_in_flight(&outcome, keep)?;
        self.put_back(&outcome)?;
        self.compare();
        // The child ends and closes the device: from here on nothing of the test holds it.
        self.machine.port.close();
        self.judge(&outcome, keep)
    }

    fn open(on: Subject<'a>, machine: &'a mut Machine<'m>, prepared: &'a Prepared) -> Result<Session<'a, 'm>> {
        let range = &on.proof.range;
        machine.port.act(range, &Act::Open).value.map_err(|e| act_error(&range.node, "open for writing", &e))?;
        let header = plan::header(machine.root, on.facts, on.proof, prepared);
        // Absolute: `recover` may run from another directory.
        let found = |dir: &PathBuf| std::path::absolute(dir).map_err(|e| Error::file(dir, "find", e));
        let journal = prepared.journal.as_ref().map(found).transpose()?;
        let identity = on.facts.names.identity.as_ref();
        let word = Intent {
            journal,
            volume: on.proof.made().cloned(),
            ..Intent::begun(machine.root, &on.facts.device, identity, header.run)
        };
        let conditions = Conditions {
            at: word.at.clone(),
            scratch: on.proof.place(),
            proof: on.proof.checks.clone(),
            unit: prepared.plan.unit,
            block: prepared.plan.block,
            fast_ratio: prepared.plan.fast_ratio,
            ..Conditions::default()
        };
        let limits = Limits::read(machine.root, on.facts);
        let allocation = allocation::ask(machine.port, &on, prepared);
        let journal_name = recovery::journal_name(on.name);
        let others_wrote = None;
        Ok(Session { on, machine, prepared, journal_name, header, word, conditions, limits, allocation, others_wrote })
    }

    fn devnum(&self) -> Option<Devnum> {
        self.on.facts.device.devnum
    }

    /// The durable word of how far the test is.
    fn announce(&mut self, phase: Phase) -> Result<()> {
        self.word.phase = phase;
        self.write_word()
    }

    pub(super) fn write_word(&mut self) -> Result<()> {
        self.machine.intents.write(self.on.name, self.devnum(), &self.word)
    }

    /// Takes journal and word away: nothing of the test is left on the device.
    fn clear(&mut self) -> Result<()> {
        self.announce(Phase::Done)?;
        self.drop_journal()?;
        recovery_volume::end_word(self.machine.intents, self.on.name, &self.word)
    }

    /// Takes the journal away, where the test made one: another of that name is an earlier test's.
    fn drop_journal(&mut self) -> Result<()> {
        recovery::drop_journal(self.machine.journal, self.on.name, Some(&self.word))
    }

    /// The old content goes to the journal, where it is anybody's.
    fn save_content(&mut self) -> Result<()> {
        if self.on.proof.ownerless {
            return self.announce(Phase::Journalled);
        }
        let (on, interrupt) = (self.on, self.machine.interrupt);
        let (port, range) = (&mut *self.machine.port, &on.proof.range);
        let read = |offset, length| {
            if interrupt.seen() {
                return Err(interrupted(on.facts, "nothing was written"));
            }
            match port.act(range, &Act::Read { offset, length }).value {
                Ok(Done::Bytes(bytes)) => Ok(bytes),
                Ok(_) => Err(act_error(&range.node, "read", &ActError::Protocol("no bytes were returned".to_owned()))),
                Err(e) => Err(act_error(&range.node, "read the old content of", &e)),
            }
        };
        match journal::write(self.machine.journal, &self.journal_name, &self.header, read) {
            Ok(digest) => {
                self.word.journal_digest = Some(digest);
                self.announce(Phase::Journalled)
            }
            Err(e) => {
                // Nothing was written to the device yet: the word goes. A journal that is there is an earlier test's.
                self.machine.intents.end(self.on.name)?;
                Err(e)
            }
        }
    }

    /// The witness, then the run. Whatever fails here is an end of the run, and the content is put back.
    fn run(&mut self, listener: &mut dyn Listener) -> Outcome {
        if let Err(end) = self.witness() {
            return Outcome { end, ..Outcome::new(&self.prepared.plan) };
        }
        if self.prepared.modes.is_empty() {
            self.one(&self.prepared.plan, listener)
        } else {
            self.tuned(listener)
        }
    }

    /// Writes the witness: the proof of the medium, there before anything else of the test is.
    fn witness(&mut self) -> std::result::Result<(), End> {
        let (length, fill) = (self.header.witness_block(), Fill::Witness(self.header.run));
        // Where nothing is put back no medium has to be found again; a volume that was made is known by it when it is removed.
        let witnesses = self.header.witnesses().into_iter().filter(|_| self.on.proof.needs_witness());
        for offset in witnesses {
            let act = Act::Write { offset, length, fill };
            let written = self.machine.port.act(&self.on.proof.range, &act).value;
            written.map_err(|e| End::Failed(format!("write the witness at byte {offset}"), e))?;
        }
        self.word.volume.iter_mut().for_each(|own| own.witness = self.header.witness_places());
        let refused =
            |e: Error| End::Failed("record that the test begins".to_owned(), ActError::Refused(e.to_string()));
        self.announce(Phase::Writing).map_err(refused)
    }

    /// One run, and what was asked for beside it.
    pub(super) fn one(&mut self, plan: &crate::measure::plan::Plan, listener: &mut dyn Listener) -> Outcome {
        let (on, prepared, devnum) = (self.on, self.prepared, self.devnum());
        let Session { machine, word, conditions, .. } = self;
        let Machine { root, port, hold, intents, interrupt, .. } = &mut **machine;
        let mut name_it = |span| {
            word.zeroed.push(span);
            intents.write(on.name, devnum, word)
        };
        let mut naming = Naming::new(&mut **port, plan, &mut name_it);
        let before = served::so_far(root, &on.facts.device);
        let budget = (plan.max_time, plan.max_bytes.saturating_sub(plan.put_back));
        let attendant = Attendant::new(root, (on.facts, on.proof), interrupt, budget, listener, &mut **hold);
        let mut port = Attended::new(&attendant, &mut naming, plan);
        let mut outcome = trial::run(&mut port, &on.proof.range, plan, &mut Attention(&attendant));
        let extras = extras::run(&mut port, &on.proof.range, prepared, plan.max_time, &mut outcome);
        // A pool without space is no fault of the device: it is said and put back, and the device is not broken by it.
        if let Some(operation) = attendant.out_of_space().filter(|_| on.proof.thin) {
            outcome.end = End::Failed(operation, ActError::Os(Errno::NOSPC.raw_os_error()));
        }
        // Nor is a pool that is running short; what the device did wrong until then holds.
        if let Some((operation, what)) = attendant.attention().filter(|_| !matches!(outcome.end, End::Wrong(_))) {
            outcome.end = End::Failed(operation, ActError::Refused(what.to_string()));
        }
        // After a call that is still in flight nothing more is asked; where nothing is kept, nothing needs to be.
        let look = match &outcome.end {
            End::Complete | End::NotSupported => true,
            End::Wrong(wrong) => wrong.hazard != Hazard::NoAnswer,
            End::Failed(..) => false,
        };
        if let Some(why) = attendant.disturbed(look) {
            outcome.end = End::Failed("hold the disk".to_owned(), ActError::Refused(why));
        }
        (conditions.interference, conditions.deep) = (extras.interference, extras.deep);
        // Where the device does not count, nothing is said.
        let others = match (before, served::so_far(root, &on.facts.device)) {
            (Fact::Known(before), Fact::Known(now)) => Some(now.since(before, attendant.own())),
            _ => None,
        };
        conditions.found.extend(others.and_then(others_io::finding));
        self.others_wrote = others.map(|o| o.written);
        outcome
    }

    /// Whether what the run took for the device's fault is the device's.
    fn blame(&mut self, outcome: &mut Outcome) {
        let end = std::mem::replace(&mut outcome.end, End::Complete);
        let asked = |journal| blame::Asked {
            root: self.machine.root,
            facts: self.on.facts,
            run: self.header.run,
            journal,
            in_file: self.on.proof.file.is_some(),
            others_wrote: self.others_wrote,
        };
        outcome.end = match self.journal() {
            _ if self.on.proof.ownerless => blame::settle(end, &asked(None), &self.on.proof.range),
            Ok(journal::Read::There(journal)) => blame::settle(end, &asked(Some(&journal)), &self.on.proof.range),
            // What cannot be compared with the old content accuses nobody of leaving it.
            _ => match end {
                End::Wrong(wrong) => {
                    End::Failed(wrong.text, ActError::Refused("the journal cannot be read any more".to_owned()))
                }
                end => end,
            },
        };
    }

    fn journal(&self) -> Result<journal::Read<'_>> {
        journal::read(self.machine.journal, &self.journal_name)
    }

    /// What is not as before although the content is: limits, which may be put back, and which blocks are mapped.
    fn compare(&mut self) {
        let on = self.on;
        if on.restore_limits {
            let found = limits::restore(&self.limits, self.machine.root, on.facts, self.machine.port);
            self.conditions.found.extend(found);
        }
        let now = allocation::ask(self.machine.port, &on, self.prepared);
        self.conditions.found.extend(allocation::changed(&self.allocation, &now));
    }

    /// The child that did not answer, if one did not; from then on the intent names it.
    fn left_behind(&mut self) -> Result<Option<u32>> {
        let pid = self.machine.port.left_behind();
        if pid.is_some() && self.word.left_behind != pid {
            self.word.left_behind = pid;
            self.write_word()?;
        }
        Ok(pid)
    }

    /// A call that was not answered: where that is the device's fault it is a hazard, kept at once; nothing more is written
    /// to that queue.
    fn no_call_in_flight(&mut self, outcome: &Outcome, keep: &mut Keep<'_>) -> Result<()> {
        let Some(pid) = self.left_behind()? else { return Ok(()) };
        if matches!(outcome.end, End::Wrong(_)) {
            keep(outcome, &self.conditions)?;
        }
        let what = format!(
            "a call was not answered in {:.0} s and is still in flight, pid {pid}; zerocap writes nothing more to \
             this device in this boot. Run `zerocap recover` once that process is gone, or after a restart",
            self.prepared.deadline.as_secs_f64()
        );
        if self.on.proof.ownerless {
            return Err(Error::Act { device: self.on.facts.device.node(), operation: "test".to_owned(), what });
        }
        Err(self.not_put_back(what))
    }

    fn put_back(&mut self, outcome: &Outcome) -> Result<()> {
        if self.on.proof.ownerless {
            return Ok(());
        }
        let again = "run `zerocap recover` once the device answers again";
        // The content comes first: recovery does the same in both phases, so a word that cannot be written ends nothing.
        let _ = self.announce(Phase::Restoring);
        let lost = |error: &ActError| matches!(error, ActError::PortLost(_) | ActError::Closed);
        if matches!(&outcome.end, End::Failed(_, error) if lost(error)) {
            self.reopen(again)?;
        }
        let mut result = self.restore(outcome);
        // The process that acts may have ended unseen, or end while it puts back: once more by a new one.
        if matches!(&result, Ok(Err(failed)) if lost(&failed.error)) {
            self.reopen(again)?;
            result = self.restore(outcome);
        }
        match result? {
            Ok(report) if report.is_whole() => {
                self.conditions.put_back = report.restored;
                Ok(())
            }
            Ok(report) => Err(self.not_put_back(recovery::remains(&report, &self.header))),
            Err(e) => {
                self.left_behind()?;
                Err(self.not_put_back(format!("{}: {}; {again}", e.operation, e.error)))
            }
        }
    }

    fn reopen(&mut self, again: &str) -> Result<()> {
        match self.machine.port.act(&self.on.proof.range, &Act::Open).value {
            Ok(_) => Ok(()),
            Err(e) => Err(self.not_put_back(format!("open for writing again: {e}; {again}"))),
        }
    }

    fn restore(&mut self, outcome: &Outcome) -> Result<std::result::Result<Report, recover::Failed>> {
        let path = self.journal_path();
        let seen = match &outcome.end {
            End::Wrong(wrong) => wrong.seen.as_ref(),
            _ => None,
        };
        let reads_ones = seen.is_some_and(|seen| seen.bytes.iter().all(|b| *b == 0xff));
        match journal::read(self.machine.journal, &self.journal_name)? {
            journal::Read::There(journal) => {
                // The range was bounded and held since the witness was written: zeroes in what was named are the test's. A
                // device that was seen to zero more than it was told has zeroed who knows how much.
                let overshot = seen.is_some_and(|seen| seen.bytes.iter().all(|b| *b == 0));
                let span = [self.header.span];
                let zeroed = if overshot { &span[..] } else { &self.word.zeroed };
                let rules = Rules { zeroed, medium_is_proved: true, reads_ones };
                Ok(recover::put_back(self.machine.port, &self.on.proof.range, &journal, &rules))
            }
            _ => {
                Err(Error::Malformed { path, what: "the journal is gone or damaged; nothing was put back".to_owned() })
            }
        }
    }

    /// What came of the run, the content being back: kept, or nothing is kept and the error says why.
    fn judge(&mut self, outcome: &Outcome, keep: &mut Keep<'_>) -> Result<()> {
        if let Some(pid) = self.left_behind()? {
            // A limit that was to be put back: the content is back already, but the queue is not to be touched.
            self.announce(Phase::Done)?;
            self.drop_journal()?;
            let (device, error) = (self.on.facts.device.node(), ActError::NoAnswer(pid));
            return Err(act_error(&device, "put back a limit of", &error));
        }
        let wrong = matches!(outcome.end, End::Wrong(_));
        // What a device did wrong holds whoever interrupts it.
        if self.machine.interrupt.seen() && !wrong {
            self.clear()?;
            return Err(ended_early(&self.on));
        }
        if let End::Failed(operation, error) = &outcome.end {
            self.clear()?;
            return Err(act_error(&self.on.facts.device.node(), operation, error));
        }
        keep(outcome, &self.conditions)?;
        self.clear()
    }

    fn journal_path(&self) -> String {
        self.machine.journal.shown(&self.journal_name).display().to_string()
    }

    fn not_put_back(&self, what: String) -> Error {
        Error::NotPutBack { device: self.on.facts.device.node(), what, journal: self.journal_path() }
    }
}
