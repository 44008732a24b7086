//! What may hang runs in a child process: acts, asks, limit writes, and reads of queue files, each with a deadline.
//!
//! A thread in D state would keep the caller from ever ending; a child in D state is left behind, and named. The child is
//! this same program, called as `zerocap port-child`; it takes one request at a time on its standard input and answers on
//! its standard output. It ends at the end of its input, so it does not outlive a killed parent by more than one act.

use crate::device::{Device, Devnum};
use crate::fact::{Fact, Why};
use crate::machine::fs::root::Root;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::live::LivePort;
use crate::machine::port::{
    rights, Act, ActError, AskError, Attention, Done, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::machine::stuck::Stuck;
use crate::machine::udev;
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The hidden first argument that makes this program the child.
pub const CHILD_VERB: &str = "port-child";

/// The kernel's word for unit attention 38h/07h (`sdev_evt_send_simple`, `drivers/scsi/scsi_lib.c`).
const THIN_THRESHOLD: &str = "THIN_PROVISIONING_SOFT_THRESHOLD_REACHED";
/// Deadline for a question of a port that acts: the kernel's own timeouts are 30 s (SG_IO) and 60 s (NVMe admin).
const ASK_DEADLINE: Duration = Duration::from_secs(75);
/// Deadline for a queue file: a read takes microseconds unless the queue is frozen.
const READ_DEADLINE: Duration = Duration::from_secs(3);

#[derive(Serialize, Deserialize)]
enum Request {
    Ask { name: String, devnum: Option<(u32, u32)>, question: Question },
    Act { range: ScratchRange, act: Act },
    Set { name: String, path: TunablePath, value: String },
    Read { path: String },
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Ask(Result<(), AskError>),
    Act(Timed<Result<Done, ActError>>),
    Set(Result<(), ActError>),
    Read(Fact<()>),
}

/// A frame: two lengths, JSON, and the bytes that would be dear as JSON.
fn send(to: &mut impl Write, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    to.write_all(&(json.len() as u64).to_le_bytes())?;
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(&json)?;
    to.write_all(bytes)?;
    to.flush()
}

fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut length = [0u8; 8];
    from.read_exact(&mut length)?;
    let json = u64::from_le_bytes(length);
    from.read_exact(&mut length)?;
    let bytes = u64::from_le_bytes(length);
    let mut message = vec![0u8; json as usize];
    from.read_exact(&mut message)?;
    let mut payload = vec![0u8; bytes as usize];
    from.read_exact(&mut payload)?;
    Ok((serde_json::from_slice(&message)?, payload))
}

/// The child's whole life: requests in, answers out, until the input ends.
pub fn serve() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    // Whoever ends a whole group (systemd does) means the parent, which has content to put back through this child.
    let _ignored = Interrupt::watch()?;
    rights::give_up();
    let mut port = LivePort::default();
    let root = Root::open(std::path::Path::new("/")).map_err(io::Error::other)?;
    while let Ok((request, payload)) = receive::<Request>(&mut input) {
        let (answer, bytes) = match request {
            Request::Ask { name, devnum, question } => {
                let devnum = devnum.map(|(major, minor)| Devnum { major, minor });
                match port.ask(&Device::new(&name, devnum), question) {
                    Ok(bytes) => (Answer::Ask(Ok(())), bytes),
                    Err(e) => (Answer::Ask(Err(e)), Vec::new()),
                }
            }
            Request::Act { range, mut act } => {
                if let Act::PutBack { bytes, .. } = &mut act {
                    *bytes = payload;
                }
                let mut timed = port.act(&range, &act);
                if rights::opens(&act) && timed.value.is_ok() {
                    rights::confine(&range.node);
                }
                let bytes = match &mut timed.value {
                    Ok(Done::Bytes(bytes)) => std::mem::take(bytes),
                    _ => Vec::new(),
                };
                (Answer::Act(timed), bytes)
            }
            Request::Set { name, path, value } => {
                (Answer::Set(port.set(&Device::new(&name, None), &path, &value)), Vec::new())
            }
            Request::Read { path } => match root.read(&path) {
                Fact::Known(bytes) => (Answer::Read(Fact::Known(())), bytes),
                Fact::Unknown(why) => (Answer::Read(Fact::Unknown(why)), Vec::new()),
            },
        };
        send(&mut output, &answer, &bytes)?;
    }
    Ok(())
}

/// A running child.
#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

/// Why a call got no answer.
enum Lost {
    /// The deadline passed; the child with this pid is left behind.
    Deadline(u32),
    /// The child could not be started, or ended.
    Gone(String),
}

impl Process {
    fn start() -> Result<Process, Lost> {
        // /proc/self/exe and not the name: the file may have been replaced by an upgrade while this process runs.
        let mut child = Command::new("/proc/self/exe")
            .arg(CHILD_VERB)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // One that is left behind must not hold what the caller's caller waits for: cron and udevd read to the end.
            .stderr(Stdio::null())
            // An interrupt at the terminal is the parent's to answer: it has content to put back.
            .process_group(0)
            .spawn()
            .map_err(|e| Lost::Gone(format!("the acting child could not be started: {e}")))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Process { child, input, output }),
            _ => Err(Lost::Gone("the acting child has no pipes".to_owned())),
        }
    }

    fn call(&mut self, request: &Request, bytes: &[u8], deadline: Duration) -> Result<(Answer, Vec<u8>), Lost> {
        let gone = |e: io::Error| Lost::Gone(format!("the acting child ended: {e}"));
        send(&mut self.input, request, bytes).map_err(gone)?;
        let until = Instant::now() + deadline;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match rustix::event::poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&wait)) {
                Ok(0) => return Err(Lost::Deadline(self.child.id())),
                Ok(_) => return receive(&mut self.output).map_err(gone),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(gone(e.into())),
            }
        }
    }

    /// Ends a child that answered: its input ends, and it with it.
    fn finish(self) {
        let Process { mut child, input, output } = self;
        drop((input, output));
        // It only has to see the end of its input; a failure leaves nothing to do.
        let _ = child.wait();
    }
}

/// The port over a child process.
#[derive(Debug)]
pub struct ChildPort {
    process: Option<Process>,
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
            process: None,
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
    pub fn for_questions(stuck: Stuck, deadline: Duration) -> ChildPort {
        // The deadline of acts bounds the writing of a tunable.
        ChildPort { stuck: Some(stuck), ask_deadline: deadline, ..ChildPort::new(Nanos::from_secs(60)) }
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
        let process = match &mut self.process {
            Some(p) => p,
            none => none.insert(Process::start()?),
        };
        let answer = process.call(request, bytes, deadline);
        match answer {
            Err(Lost::Deadline(pid)) => {
                self.left_behind = Some(pid);
                // Forgotten, not waited for: a child in D state cannot be ended.
                self.process = None;
            }
            // The next request starts another one, which has nothing open.
            Err(Lost::Gone(_)) => self.close(),
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
            Ok(_) => Err(AskError::Other("an answer to another request".to_owned())),
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
            Ok(_) => fail(ActError::Protocol("an answer to another request".to_owned())),
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
            Ok(_) => Err(ActError::Protocol("an answer to another request".to_owned())),
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
        if let Some(process) = self.process.take() {
            process.finish();
        }
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
    process: Option<Process>,
    stuck: Stuck,
    /// Whether a file of any device did not come.
    pub timed_out: bool,
}

impl Reader {
    /// With this memory of devices that did not answer.
    pub fn new(stuck: Stuck) -> Reader {
        Reader { process: None, stuck, timed_out: false }
    }

    /// Whether a device, by the kernel's name, is known not to answer.
    pub fn waits(&self, device: &str) -> bool {
        self.stuck.waits(device).is_some()
    }

    /// The bytes of a file of a device below `/`.
    pub fn read(&mut self, device: &str, relative: &str) -> Fact<Vec<u8>> {
        if self.waits(device) {
            self.timed_out = true;
            return Fact::Unknown(Why::TimedOut);
        }
        let process = match &mut self.process {
            Some(p) => p,
            none => match Process::start() {
                Ok(p) => none.insert(p),
                Err(Lost::Gone(what)) => return Fact::Unknown(Why::Refused(what)),
                Err(Lost::Deadline(_)) => return Fact::Unknown(Why::TimedOut),
            },
        };
        match process.call(&Request::Read { path: relative.to_owned() }, &[], READ_DEADLINE) {
            Ok((Answer::Read(fact), bytes)) => fact.map(|()| bytes),
            Ok(_) => Fact::malformed("an answer to another request"),
            Err(lost) => {
                self.process = None;
                match lost {
                    Lost::Deadline(pid) => {
                        self.stuck.remember(device, pid);
                        self.timed_out = true;
                        Fact::Unknown(Why::TimedOut)
                    }
                    Lost::Gone(what) => Fact::Unknown(Why::Refused(what)),
                }
            }
        }
    }
}
