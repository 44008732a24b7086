//! What accompanies the run: it counts bytes, reads limits, reports the progress to the caller, and stops at an interrupt or
//! when the device raises an attention about its pool.
//!
//! It decides nothing about the device. After a stop no further act begins, except a zeroing that is due: its refusal would
//! be taken for the answer of the device. The put-back bypasses all this and uses the port directly.

use crate::device::Device;
use crate::error::Error;
use crate::fact::Fact;
use crate::facts::Facts;
use crate::machine::block::devices::{self, Partition};
use crate::machine::block::hold::{Hold, Opened};
use crate::machine::block::served::Served;
use crate::machine::fs::root::Root;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::stretch::Does;
use crate::machine::port::{
    Act, ActError, AskError, Attention as Call, Done, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::measure::plan::Plan;
use crate::measure::scratch::{self, Asked, Proof};
use crate::measure::stats::Sequential;
use crate::measure::trial::{Watch, SEGMENTS};
use crate::protocol::failures::described;
use crate::protocol::{others_io, surroundings};
use crate::units::Nanos;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// The part of what the run may use that is used, 0 to 1: of its time, or of its bytes where that is more.
    pub share: f64,
    /// It takes no longer than this: what is left of the time, or what the bytes that are left take at the rate so far.
    pub at_most: Nanos,
    /// The last pair that was done.
    pub pair: Option<Pair>,
}

/// One pair, and what the pairs say so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Its number, from 1.
    pub number: usize,
    /// Its write.
    pub write: Nanos,
    /// Its zeroing.
    pub zero: Nanos,
    /// Median of the ratios so far.
    pub median: Option<f64>,
    /// The interval so far.
    pub low: Option<f64>,
    /// See above.
    pub high: Option<f64>,
}

/// Who is told.
pub trait Listener {
    /// A remark, one line.
    fn remark(&mut self, text: &str);
    /// A part of the test begins.
    fn step(&mut self, _: &str) {}
    /// A pair is done.
    fn pair(&mut self, _: &Pair) {}
    /// An act is done.
    fn progress(&mut self, _: &Progress) {}
    /// From now on a call may take so long before it counts as not answered.
    fn deadline(&mut self, _: Nanos) {}
}

impl<F: FnMut(&str)> Listener for F {
    fn remark(&mut self, text: &str) {
        self(text);
    }
}

/// Shared by the two sides of a run: its port and its watch.
pub(crate) struct Attendant<'a> {
    root: &'a Root,
    facts: &'a Facts,
    proof: &'a Proof,
    interrupt: &'a Interrupt,
    max_time: Nanos,
    /// Bytes that the run may write.
    max_bytes: u64,
    /// Bytes that it wrote.
    written: Cell<u64>,
    listener: RefCell<&'a mut dyn Listener>,
    progress: Cell<Progress>,
    out_of_space: RefCell<Option<String>>,
    /// What the device called attention to, and during which act.
    attention: RefCell<Option<(String, Call)>>,
    hold: RefCell<&'a mut dyn Hold>,
    /// The kernel's partitions of the disk when the run began.
    partitions: Fact<Vec<Partition>>,
    /// Why the disk is no longer held as it was.
    disturbed: RefCell<Option<String>>,
    /// What the run asked of the device.
    own: Cell<Served>,
}

/// The lock is given up for a moment once it was held for so long: udevd gives up a disk's event after three minutes.
const LOCK_TURN: Duration = Duration::from_secs(25);

impl<'a> Attendant<'a> {
    pub(crate) fn new(
        root: &'a Root,
        (facts, proof): (&'a Facts, &'a Proof),
        interrupt: &'a Interrupt,
        (max_time, max_bytes): (Nanos, u64),
        listener: &'a mut dyn Listener,
        hold: &'a mut dyn Hold,
    ) -> Self {
        let progress = Progress { at_most: max_time, ..Progress::default() };
        let (listener, progress) = (RefCell::new(listener), Cell::new(progress));
        let (out_of_space, attention) = (RefCell::default(), RefCell::default());
        let (hold, disturbed) = (RefCell::new(hold), RefCell::default());
        let partitions = devices::partitions(root, &facts.device);
        Attendant {
            root,
            facts,
            proof,
            interrupt,
            max_time,
            max_bytes,
            written: Cell::default(),
            listener,
            progress,
            out_of_space,
            attention,
            hold,
            partitions,
            disturbed,
            own: Cell::default(),
        }
    }

    /// What the run asked of the device, all told.
    pub(crate) fn own(&self) -> Served {
        self.own.get()
    }

    /// Why the disk was not held as it was, or is used by others now: asked when the run is over, before anything is made of
    /// it. `look`: whether the disk may still be asked.
    pub(crate) fn disturbed(&self, look: bool) -> Option<String> {
        let seen = self.disturbed.take();
        seen.or_else(|| look.then(|| self.not_alone(&mut **self.hold.borrow_mut(), self.proof.opened)).flatten())
    }

    /// Lets udev handle what waits for the lock, where it has waited long, between timed acts. What the proof rested on is
    /// looked at again.
    fn take_turns(&self) {
        let mut hold = self.hold.borrow_mut();
        if hold.held_for() < LOCK_TURN {
            return;
        }
        let wrong = match hold.let_udev_in() {
            Ok(Some(opened)) if opened.diskseq != self.facts.names.diskseq.get().or(opened.diskseq) => {
                Some("the disk was replaced during the test".to_owned())
            }
            Ok(Some(opened)) => self.not_alone(&mut **hold, opened),
            Ok(None) => Some("another program took the disk's lock (flock) during the test".to_owned()),
            Err(e) => Some(e.to_string()),
        };
        if wrong.is_some() {
            *self.disturbed.borrow_mut() = wrong;
        }
    }

    /// Why the disk is not used by the test alone any more.
    fn not_alone(&self, hold: &mut dyn Hold, opened: Opened) -> Option<String> {
        if devices::partitions(self.root, &self.facts.device) != self.partitions {
            return Some("the partitions of the disk changed during the test".to_owned());
        }
        let mut asked = Asked { root: self.root, hold, opened };
        let alone = scratch::look_again(&mut asked, &self.facts.device, self.proof);
        match alone.and_then(|()| surroundings::unlimited(self.root, self.facts)) {
            Ok(()) => None,
            Err(Error::NotSafe { why, .. }) => Some(why),
            Err(e) => Some(e.to_string()),
        }
    }

    /// Looks again before the test writes where it has not written yet. Whether it may.
    fn may_begin_to_write(&self) -> bool {
        let wrong = self.not_alone(&mut **self.hold.borrow_mut(), self.proof.opened);
        let alone = wrong.is_none();
        if !alone {
            *self.disturbed.borrow_mut() = wrong;
        }
        alone
    }

    /// What was being done when the device had no space left.
    pub(crate) fn out_of_space(&self) -> Option<String> {
        self.out_of_space.take()
    }

    /// What the device called attention to, and during which act.
    pub(crate) fn attention(&self) -> Option<(String, Call)> {
        self.attention.take()
    }

    /// Whether nothing more is to begin.
    fn stops(&self) -> bool {
        self.interrupt.seen() || self.attention.borrow().is_some() || self.disturbed.borrow().is_some()
    }

    /// An act is done, so long after the run began. After an interrupt what follows is the put-back.
    fn done(&self, elapsed: Nanos) {
        if self.interrupt.seen() {
            return;
        }
        let share = |used: u64, of: u64| if of == 0 { 1.0 } else { (used as f64 / of as f64).min(1.0) };
        let (of_time, of_bytes) = (share(elapsed.0, self.max_time.0), share(self.written.get(), self.max_bytes));
        let (left, mut now) = (self.max_time.0.saturating_sub(elapsed.0), self.progress.get());
        now.share = of_time.max(of_bytes);
        // What was used up in this time, the rest is used up in that at the earliest: the budget that ends first ends it.
        let at_this_rate = if of_bytes > 0.0 { elapsed.0 as f64 * (1.0 - of_bytes) / of_bytes } else { f64::MAX };
        now.at_most = Nanos((at_this_rate as u64).min(left));
        self.progress.set(now);
        self.listener.borrow_mut().progress(&now);
    }
}

/// The run's watch.
pub(crate) struct Attention<'a>(pub(crate) &'a Attendant<'a>);

impl Watch for Attention<'_> {
    fn limits(&mut self) -> Vec<String> {
        self.0.facts.limit_lines(self.0.root)
    }

    fn pair(&mut self, number: usize, write: Nanos, zero: Nanos, so_far: &Sequential) {
        let interval = so_far.interval();
        let pair = Pair { number, write, zero, median: so_far.median(), low: interval.low, high: interval.high };
        self.0.progress.set(Progress { pair: Some(pair), ..self.0.progress.get() });
        self.0.listener.borrow_mut().pair(&pair);
    }

    fn stop(&mut self) -> bool {
        self.0.take_turns();
        self.0.stops()
    }
}

/// The run's port: the real one, until an interrupt.
pub(crate) struct Attended<'a> {
    attendant: &'a Attendant<'a>,
    port: &'a mut dyn Port,
    start: Nanos,
    /// First byte and length of a segment on the node.
    segment: (u64, u64),
    /// The segments that were written to, counted from the first; what lies before or behind them has a number too.
    begun: Vec<u64>,
}

impl<'a> Attended<'a> {
    pub(crate) fn new(attendant: &'a Attendant<'a>, port: &'a mut dyn Port, plan: &Plan) -> Self {
        let (start, segment) = (port.now(), (plan.start, (plan.length / SEGMENTS).max(1)));
        Attended { attendant, port, start, segment, begun: Vec::new() }
    }

    /// Whether an act may go to where it goes: before the first write to each segment everybody else is looked at again.
    fn may(&mut self, act: &Act) -> bool {
        let offset = match act {
            Act::Write { offset, .. } | Act::Zero { offset, .. } => *offset,
            Act::Stretch(stretch) => stretch.offset,
            _ => return true,
        };
        let number = offset.checked_sub(self.segment.0).map_or(u64::MAX, |from| from / self.segment.1);
        if self.begun.contains(&number) {
            return true;
        }
        self.begun.push(number);
        self.attendant.may_begin_to_write()
    }
}

impl Port for Attended<'_> {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        self.port.ask(device, question)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        let zeroing = matches!(act, Act::Zero { .. });
        if self.attendant.stops() && !zeroing || !self.may(act) {
            return Timed { took: Nanos(0), value: Err(ActError::Stopped) };
        }
        let (own, asked) = (self.attendant.own.get(), others_io::asked(act));
        self.attendant.own.set(own.plus(asked));
        let timed = self.port.act(range, act);
        if let Some(what) = self.port.attention() {
            self.attendant.attention.borrow_mut().get_or_insert_with(|| (described(act), what));
        }
        if timed.value == Err(ActError::Os(Errno::NOSPC.raw_os_error())) {
            *self.attendant.out_of_space.borrow_mut() = Some(described(act));
        }
        let bytes = match act {
            Act::Write { length, .. } if timed.value.is_ok() => *length,
            Act::Stretch(stretch) if timed.value.is_ok() && matches!(stretch.does, Does::Write(_)) => stretch.length,
            _ => 0,
        };
        self.attendant.written.set(self.attendant.written.get() + bytes);
        self.attendant.done(self.port.now().since(self.start));
        timed
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError> {
        self.port.set(device, path, value)
    }

    fn now(&self) -> Nanos {
        self.port.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::simulated::disk::{opened, Shared, SimulatedHold};
    use crate::machine::simulated::{Model, SimulatedPort};
    use crate::measure::outcome::End;
    use crate::measure::plan::Plan;
    use crate::measure::scratch::simulated;
    use crate::measure::trial;
    use crate::units::MIB;

    /// A run on a device that calls at this act; what the run and the attendant say, and how many acts there were.
    fn run(threshold_at: Option<u64>) -> (trial::Outcome, Option<(String, Call)>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let root = crate::machine::simulated::disk::tree(dir.path(), &opened(MIB)).unwrap();
        let mut port = SimulatedPort::new(Model::steady(8_000_000, 1_000_000), vec![7; MIB as usize], 1);
        let facts = crate::facts::testing::with(crate::machine::simulated::disk::NAME, &[]);
        let proof = Proof { thin: true, ..Proof::of(simulated(MIB), "range", Vec::new(), opened(MIB)) };
        port.threshold_at = threshold_at;
        let (interrupt, mut listener) = (Interrupt::default(), |_: &str| {});
        let disk = Shared::new(port.clone());
        let mut hold = SimulatedHold::new(disk, opened(MIB));
        let budget = (Nanos::from_secs(60), 8 * MIB);
        let attendant = Attendant::new(&root, (&facts, &proof), &interrupt, budget, &mut listener, &mut hold);
        let plan = Plan {
            seed: 7,
            unit: 4096,
            start: 0,
            length: MIB,
            fast_ratio: 2.0,
            max_bytes: 8 * MIB,
            max_time: Nanos::from_secs(60),
            deciding: crate::measure::order::DECIDING,
            not_tried: Vec::new(),
            first_trial: 0,
            screened: crate::measure::order::SCREENED,
            area: MIB,
            block: 512,
            put_back: 0,
            sustained: MIB,
        };
        let outcome = trial::run(
            &mut Attended::new(&attendant, &mut port, &plan),
            &simulated(MIB),
            &plan,
            &mut Attention(&attendant),
        );
        (outcome, attendant.attention(), port.acts())
    }

    #[test]
    fn a_threshold_stops_the_run_whenever_it_is_called() {
        let (whole, none, acts) = run(None);
        assert_eq!((whole.end, none), (End::Complete, None));
        for at in 1..=acts {
            let (outcome, called, did) = run(Some(at));
            assert_eq!(called.map(|(_, what)| what), Some(Call::ThinThreshold), "{at}");
            // The zeroing that was due in the same pair, at most.
            assert!(did <= at + 1, "{at}: {did}");
            assert!(!matches!(outcome.end, End::Wrong(_) | End::NotSupported), "{at}: {:?}", outcome.end);
        }
    }
}
