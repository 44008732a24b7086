//! `zerocap measure --all`: tests many devices, at most one on each controller at a time. It decides which devices are tested
//! and when each test starts. Each test is a process of its own ([`measure_child`]), so a test whose device hangs, is
//! unplugged or lies does not affect the others.

use crate::assess::policies;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::measure::{self, Pair, Request};
use crate::jobs::measure_child::{self, Order, Word};
use crate::jobs::{measure_auto, target};
use crate::machine::block::controller;
use crate::machine::helper::Helper;
use crate::machine::interrupt::Interrupt;
use crate::machine::Roots;
use crate::policy::{Measure, Policy};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use verdict_format::Document;

/// What came of a device.
#[derive(Debug)]
pub enum Ended {
    /// It was tested: the verdict.
    Tested(Box<Document>),
    /// A dry run: proof and plan.
    Planned(Vec<String>),
    /// It was not to be tested, or there is no place for it: why.
    LeftOut(String),
    /// It was to be tested, and there is no answer: why.
    Failed(String),
}

/// A device of the list.
#[derive(Debug)]
pub struct Row {
    /// The kernel's name.
    pub name: String,
    /// What came of it.
    pub ended: Ended,
}

/// A test that is running: the kernel's name of its device, and the seconds that it takes at most, once that is known.
pub type Running = (String, Option<f64>);

/// Who is told.
pub trait Listener {
    /// A remark on a device, one line.
    fn remark(&mut self, device: &str, text: &str);
    /// A part of a device's test begins.
    fn step(&mut self, device: &str, text: &str);
    /// A pair of a device's test is done.
    fn pair(&mut self, device: &str, pair: &Pair);
    /// How far all of it is: how many of how many are done, and what is running.
    fn progress(&mut self, done: usize, of: usize, running: &[Running]);
}

/// How often the caller is told how far it is.
const TURN: Duration = Duration::from_millis(200);
/// So long nothing may be heard of a test before it has said how long its calls may take: proof and plan have deadlines of their
/// own, all of them shorter.
const PATIENCE: Duration = Duration::from_secs(300);
/// What a test may take beyond a call: the put-back, which says nothing, on a machine that is busy. A call that is not answered
/// ends a test by itself and long before; this is for a process that hangs outside of one.
const BESIDE_CALLS: Duration = Duration::from_secs(600);

/// Tests every device that policy allows, or with `everywhere` every device on which a place is found; so many at once.
/// `request` holds for each of them. In the order of the list.
pub fn run(
    roots: &Roots,
    request: &Request,
    everywhere: bool,
    at_once: usize,
    listener: &mut dyn Listener,
) -> Result<Vec<Row>> {
    measure::live(roots)?;
    let mut rows = Vec::new();
    let mut waiting = Vec::new();
    for device in target::listed(roots, false)? {
        let number = rows.len();
        match wanted(roots, &device, request, everywhere) {
            None => continue,
            Some(Err(ended)) => rows.push((device.name, Some(ended))),
            Some(Ok(request)) => {
                let controllers = controller::of(&roots.system, &device);
                waiting.push(Job { number, name: device.name.clone(), controllers, request });
                rows.push((device.name, None));
            }
        }
    }
    if rows.is_empty() {
        return Err(Error::Usage(
            "no rule of the policy asks for a test (measure = \"auto\" and a scratch) of any device; `zerocap policy \
             test DEV` shows the rules of a device, and `--scratch auto` tests every device on which a place is found"
                .to_owned(),
        ));
    }
    let interrupt = Interrupt::watch().map_err(|e| Error::file("SIGINT, SIGTERM, SIGHUP", "handle", e))?;
    let (said, heard) = mpsc::channel();
    let mut all = All { roots, waiting, running: Vec::new(), ended: Vec::new(), said, of: 0 };
    all.of = all.waiting.len();
    all.work(at_once.max(1), &interrupt, &heard, listener);
    for (number, ended) in all.ended {
        if let Some((_, row)) = rows.get_mut(number) {
            *row = Some(ended);
        }
    }
    let never = || Ended::Failed("it gave no result".to_owned());
    Ok(rows.into_iter().map(|(name, ended)| Row { name, ended: ended.unwrap_or_else(never) }).collect())
}

/// The request for a device; why it is left out; or `None` where it is no matter here.
fn wanted(
    roots: &Roots,
    device: &Device,
    request: &Request,
    everywhere: bool,
) -> Option<std::result::Result<Request, Ended>> {
    let facts = facts::gather(&roots.system, roots.port().as_mut(), device, Depth::Event);
    let (policy, _) = policies::resolve(roots, &facts);
    let mut request = Request { device: device.node(), ..request.clone() };
    if !everywhere {
        match measure_auto::of_policy(&policy, device)? {
            Ok(wanted) => {
                request.data_ok |= wanted.names_the_bytes;
                request.place = wanted.place;
                request.journal = request.journal.or(wanted.journal);
            }
            Err(e) => return Some(Err(Ended::Failed(e.to_string()))),
        }
    }
    Some(match left_out(&facts, &policy) {
        Some(why) => Err(Ended::LeftOut(why)),
        None => Ok(request),
    })
}

fn left_out(facts: &Facts, policy: &Policy) -> Option<String> {
    if facts.queue.write_zeroes_max.is(0) {
        return Some("it has no offload, so there is nothing to test".to_owned());
    }
    let never = policy.measure.as_ref().filter(|wish| wish.value == Measure::Never)?;
    Some(format!("a rule of the policy says measure = \"never\" ({})", never.from))
}

/// A test that is to be made.
struct Job {
    number: usize,
    name: String,
    controllers: Vec<String>,
    request: Request,
}

/// A test that is being made.
struct Test {
    job: Job,
    helper: Helper,
    /// When something was last heard of it,
    heard: Instant,
    /// and for how long nothing need be.
    patience: Duration,
    at_most: Option<f64>,
}

/// A line of a test, or its end, with the test's number.
type Line = (usize, Option<String>);

struct All<'a> {
    roots: &'a Roots,
    waiting: Vec<Job>,
    running: Vec<Test>,
    ended: Vec<(usize, Ended)>,
    said: Sender<Line>,
    of: usize,
}

/// The first that meets none of those that run on a controller.
fn next<'a>(waiting: impl Iterator<Item = &'a [String]>, busy: &[&String]) -> Option<usize> {
    let free = |controllers: &[String]| !controllers.iter().any(|c| busy.contains(&c));
    waiting.enumerate().find(|(_, controllers)| free(controllers)).map(|(at, _)| at)
}

impl All<'_> {
    fn work(&mut self, at_once: usize, interrupt: &Interrupt, heard: &Receiver<Line>, listener: &mut dyn Listener) {
        let mut asked_to_end = false;
        while !(self.waiting.is_empty() && self.running.is_empty()) {
            if interrupt.seen() && !asked_to_end {
                asked_to_end = true;
                self.running.iter().for_each(|test| test.helper.interrupt());
                let untested = self.waiting.drain(..).map(|job| {
                    (job.number, Ended::Failed("not tested: the program was interrupted before its turn".to_owned()))
                });
                self.ended.extend(untested);
            }
            while self.running.len() < at_once && self.begin_one() {}
            match heard.recv_timeout(TURN) {
                Ok((number, line)) => self.hear(number, line, listener),
                // The sender is this one's own: it stays open.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.leave_silent_ones();
            let running: Vec<Running> = self.running.iter().map(|t| (t.job.name.clone(), t.at_most)).collect();
            listener.progress(self.ended.len(), self.of, &running);
        }
    }

    /// Begins the next test that can be; whether there was one.
    fn begin_one(&mut self) -> bool {
        let busy: Vec<&String> = self.running.iter().flat_map(|test| &test.job.controllers).collect();
        let Some(at) = next(self.waiting.iter().map(|job| job.controllers.as_slice()), &busy) else { return false };
        let job = self.waiting.remove(at);
        let order = Order { state: self.roots.state.clone(), request: job.request.clone() };
        let (number, said) = (job.number, self.said.clone());
        let started = serde_json::to_vec(&order).map_err(std::io::Error::from).and_then(|order| {
            // The one who listens may have gone home: then nobody is left to be told.
            Helper::start(measure_child::VERB, &order, move |line| drop(said.send((number, line))))
        });
        match started {
            Ok(helper) => {
                let heard = Instant::now();
                self.running.push(Test { job, helper, heard, patience: PATIENCE, at_most: None });
            }
            Err(e) => self.ended.push((number, Ended::Failed(format!("its test could not be started: {e}")))),
        }
        true
    }

    fn hear(&mut self, number: usize, line: Option<String>, listener: &mut dyn Listener) {
        // Of one that was left behind a late word changes nothing.
        let Some(at) = self.running.iter().position(|test| test.job.number == number) else { return };
        let test = &mut self.running[at];
        test.heard = Instant::now();
        let name = test.job.name.as_str();
        let word = line.map(|line| serde_json::from_str::<Word>(&line));
        let ended = match word {
            Some(Ok(Word::Remark(text))) => return listener.remark(name, &text),
            Some(Ok(Word::Step(text))) => return listener.step(name, &text),
            Some(Ok(Word::Pair(pair))) => return listener.pair(name, &pair),
            Some(Ok(Word::AtMost(seconds))) => {
                test.at_most = Some(seconds);
                return;
            }
            Some(Ok(Word::Deadline(deadline))) => {
                test.patience = Duration::from_nanos(deadline.0) + BESIDE_CALLS;
                return;
            }
            Some(Ok(Word::Verdict(document))) => Ended::Tested(document),
            Some(Ok(Word::Planned(lines))) => Ended::Planned(lines),
            Some(Ok(Word::NoPlace(why))) => Ended::LeftOut(why),
            Some(Ok(Word::Failed(why))) => Ended::Failed(why),
            Some(Err(e)) => Ended::Failed(format!("the process that tests it printed a line that cannot be read: {e}")),
            None => {
                Ended::Failed("the process that tests it ended without an answer; run `zerocap recover`".to_owned())
            }
        };
        let test = self.running.remove(at);
        test.helper.ended();
        self.ended.push((number, ended));
    }

    /// What has not been heard of for too long is left to itself: it may have content to put back, so nobody ends it.
    fn leave_silent_ones(&mut self) {
        let silent = |test: &Test| test.heard.elapsed() > test.patience;
        while let Some(at) = self.running.iter().position(silent) {
            let test = self.running.remove(at);
            let why = format!(
                "the process that tests it (pid {1}) has said nothing for {0} s and is left alone; run `zerocap \
                 recover` once that process is gone",
                test.patience.as_secs(),
                test.helper.id()
            );
            self.ended.push((test.job.number, Ended::Failed(why)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_device_a_controller_at_a_time_and_none_waits_for_another_without_need() {
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect::<Vec<String>>();
        let jobs = [names(&["host0"]), names(&["host0", "host1"]), names(&["nvme0"])];
        let with = |busy: &[&str]| {
            let busy = names(busy);
            next(jobs.iter().map(Vec::as_slice), &busy.iter().collect::<Vec<_>>())
        };
        assert_eq!(with(&[]), Some(0));
        assert_eq!(with(&["host1"]), Some(0));
        assert_eq!(with(&["host0"]), Some(2), "the stack has a member there");
        assert_eq!(with(&["host0", "nvme0"]), None);
        assert_eq!(with(&["host9"]), Some(0));
    }
}
