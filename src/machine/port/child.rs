//! Runs everything that may hang in a child process: acts, questions, writes of limits, and reads of queue files, each with a
//! deadline.
//!
//! A thread in D state would keep the caller from ever ending; a child in D state is left alone, and named. [`process`] has
//! the child itself and the protocol to it.

use crate::device::Device;
use crate::fact::{Fact, Why};
use crate::machine::port::live::LivePort;
use crate::machine::port::process::{Answer, Kept, Lost, Process, Request};
use crate::machine::port::{
    rights, Act, ActError, AskError, Attention, Done, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::machine::stuck::Stuck;
use crate::machine::udev;
use crate::units::Nanos;
use std::io;
use std::time::Duration;

/// The kernel's word for unit attention 38h/07h (`sdev_evt_send_simple`, `drivers/scsi/scsi_lib.c`).
const THIN_THRESHOLD: &str = "THIN_PROVISIONING_SOFT_THRESHOLD_REACHED";
/// Deadline for a question of a port that acts: the kernel's own timeouts are 30 s (SG_IO) and 60 s (NVMe admin).
const ASK_DEADLINE: Duration = Duration::from_secs(75);
/// Deadline for a queue file: a read takes microseconds unless the queue is frozen.
const READ_DEADLINE: Duration = Duration::from_secs(3);

/// The port over a child process.
#[derive(Debug)]
pub struct ChildPort {
    process: Kept,
    left_behind: Option<u32>,
    act_deadline: Duration,
    ask_deadline: Duration,
    /// Of a port that only asks: devices that did not answer, which are not asked again.
    stuck: Option<Stuck>,
    clock: LivePort,
    /// The node that the child has opened, or did before it ended: it may open no other one for writing.
    opened: Option<String>,
    /// Of these SCSI devices attentions are told.
    attentions: Option<(udev::ScsiAttentions, Vec<String>)>,
}

impl ChildPort {
    /// A port whose acts have this deadline each.
    pub fn new(act_deadline: Nanos) -> ChildPort {
        ChildPort {
            process: Kept::default(),
            left_behind: None,
            act_deadline: Duration::from_nanos(act_deadline.0),
            ask_deadline: ASK_DEADLINE,
            stuck: None,
            clock: LivePort::default(),
            opened: None,
            attentions: None,
        }
    }

    /// A port for questions, each with this deadline. A device that did not answer one is not asked again while the child
    /// that was left behind is there; the others are.
    pub fn for_questions(stuck: Stuck, deadline: Duration, process: Kept) -> ChildPort {
        // The deadline of acts bounds the writing of a tunable.
        ChildPort { process, stuck: Some(stuck), ask_deadline: deadline, ..ChildPort::new(Nanos::from_secs(60)) }
    }

    /// Whether a device is known not to answer.
    fn waits(&self, device: &Device) -> Option<u32> {
        self.stuck.as_ref().and_then(|stuck| stuck.waits(&device.name))
    }

    /// Remembers a device that did not answer; another one gets a new child.
    fn lost(&mut self, device: &Device, pid: u32) {
        if let Some(stuck) = &self.stuck {
            stuck.remember(&device.name, pid);
            self.left_behind = None;
        }
    }

    /// Has [`Port::attention`] tell what these SCSI devices (`2:0:0:0`) call attention to from now on.
    pub fn listen(&mut self, addresses: Vec<String>) -> io::Result<()> {
        self.attentions = Some((udev::ScsiAttentions::listen()?, addresses));
        Ok(())
    }

    fn call(&mut self, request: &Request, bytes: &[u8], deadline: Duration) -> Result<(Answer, Vec<u8>), Lost> {
        if let Some(pid) = self.left_behind {
            return Err(Lost::Deadline(pid));
        }
        let mut kept = self.process.borrow_mut();
        let process = match &mut *kept {
            Some(p) => p,
            // One that acts lives long and outlives whatever becomes of this process; one that is asked a few questions is a
            // copy.
            none if self.stuck.is_some() => none.insert(Process::copy()?),
            none => none.insert(Process::start()?),
        };
        let answer = process.call(request, bytes, deadline);
        match answer {
            Err(Lost::Deadline(pid)) => {
                self.left_behind = Some(pid);
                // Forgotten, not waited for: a child in D state cannot be ended.
                *kept = None;
            }
            // The next request starts another one, which has nothing open.
            Err(Lost::Gone(_)) => kept.take().into_iter().for_each(Process::finish),
            Ok(_) => {}
        }
        answer
    }
}

impl Port for ChildPort {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        let devnum = device.devnum.map(|d| (d.major, d.minor));
        if self.waits(device).is_some() {
            return Err(AskError::TimedOut);
        }
        let request = Request::Ask { name: device.name.clone(), devnum, question };
        match self.call(&request, &[], self.ask_deadline) {
            Ok((Answer::Ask(Ok(())), bytes)) => Ok(bytes),
            Ok((Answer::Ask(Err(e)), _)) => Err(e),
            Ok(_) => Err(AskError::Other("it answered another request".to_owned())),
            Err(Lost::Deadline(pid)) => {
                self.lost(device, pid);
                Err(AskError::TimedOut)
            }
            Err(Lost::Gone(what)) => Err(AskError::Other(what)),
        }
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        if rights::opens(act) {
            if self.opened.as_ref().is_some_and(|node| *node != range.node) {
                self.close();
            }
            self.opened = Some(range.node.clone());
        }
        let mut act = act.clone();
        let payload = match &mut act {
            Act::PutBack { bytes, .. } => std::mem::take(bytes),
            _ => Vec::new(),
        };
        let fail = |e| Timed { took: Nanos(0), value: Err(e) };
        match self.call(&Request::Act { range: range.clone(), act }, &payload, self.act_deadline) {
            Ok((Answer::Act(mut timed), bytes)) => {
                if let Ok(Done::Bytes(b)) = &mut timed.value {
                    *b = bytes;
                }
                timed
            }
            Ok(_) => fail(ActError::Protocol("it answered another request".to_owned())),
            Err(Lost::Deadline(pid)) => fail(ActError::NoAnswer(pid)),
            Err(Lost::Gone(what)) => fail(ActError::PortLost(what)),
        }
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError> {
        if let Some(pid) = self.waits(device) {
            return Err(ActError::NoAnswer(pid));
        }
        let request = Request::Set { name: device.name.clone(), path: path.clone(), value: value.to_owned() };
        match self.call(&request, &[], self.act_deadline) {
            Ok((Answer::Set(result), _)) => result,
            Ok(_) => Err(ActError::Protocol("it answered another request".to_owned())),
            Err(Lost::Deadline(pid)) => {
                self.lost(device, pid);
                Err(ActError::NoAnswer(pid))
            }
            Err(Lost::Gone(what)) => Err(ActError::PortLost(what)),
        }
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn left_behind(&self) -> Option<u32> {
        self.left_behind
    }

    fn close(&mut self) {
        self.process.take().into_iter().for_each(Process::finish);
    }

    fn attention(&mut self) -> Option<Attention> {
        let (socket, addresses) = self.attentions.as_ref()?;
        // All of them are taken, so that none is left for a later question.
        let told = socket.take();
        let ours = |(address, what): &(String, String)| what == THIN_THRESHOLD && addresses.contains(address);
        told.iter().any(ours).then_some(Attention::ThinThreshold)
    }
}

/// Reads queue files of the running system through a child. A device whose file did not come by the deadline is not asked
/// again while the child that was left behind is there.
#[derive(Debug)]
pub struct Reader {
    process: Kept,
    stuck: Stuck,
    /// Whether a file of any device did not come.
    pub timed_out: bool,
}

impl Reader {
    /// With this memory of devices that did not answer.
    pub fn new(stuck: Stuck) -> Reader {
        Reader { process: Kept::default(), stuck, timed_out: false }
    }

    /// The child that reads, for questions too.
    pub fn process(&self) -> Kept {
        self.process.clone()
    }

    /// Whether a device, by the kernel's name, is known not to answer.
    pub fn waits(&self, device: &str) -> bool {
        self.stuck.waits(device).is_some()
    }

    /// The bytes of files of one device below `/`, in this order.
    pub fn read(&mut self, device: &str, paths: &[&str]) -> Vec<Fact<Vec<u8>>> {
        let all = |why: Why| paths.iter().map(|_| Fact::Unknown(why.clone())).collect();
        if self.waits(device) {
            self.timed_out = true;
            return all(Why::TimedOut);
        }
        let mut kept = self.process.borrow_mut();
        let process = match &mut *kept {
            Some(p) => p,
            none => match Process::copy() {
                Ok(p) => none.insert(p),
                Err(Lost::Gone(what)) => return all(Why::Refused(what)),
                Err(Lost::Deadline(_)) => return all(Why::TimedOut),
            },
        };
        match process.call(
            &Request::Read { paths: paths.iter().map(|p| (*p).to_owned()).collect() },
            &[],
            READ_DEADLINE,
        ) {
            Ok((Answer::Read(lengths), bytes)) if lengths.len() == paths.len() => {
                let mut rest = bytes.as_slice();
                let one = |length: Fact<usize>| {
                    length.and_then(|length| match rest.split_at_checked(length) {
                        Some((own, others)) => {
                            rest = others;
                            Fact::Known(own.to_vec())
                        }
                        None => Fact::malformed("its answer was cut off"),
                    })
                };
                lengths.into_iter().map(one).collect()
            }
            Ok(_) => all(Why::Malformed("it answered another request".to_owned())),
            Err(lost) => {
                *kept = None;
                match lost {
                    Lost::Deadline(pid) => {
                        self.stuck.remember(device, pid);
                        self.timed_out = true;
                        all(Why::TimedOut)
                    }
                    Lost::Gone(what) => all(Why::Refused(what)),
                }
            }
        }
    }
}
