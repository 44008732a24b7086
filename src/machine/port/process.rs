//! The child process itself: how it starts, its requests and answers, and its whole life. It decides nothing about devices.
//!
//! For acts it is this same program, called as `zerocap port-child`. For questions only, of which `check` and `show` ask a
//! few and then end, it is a copy of this process (fork without exec), which costs a tenth of a program start. The copy
//! closes everything that it had open, so a copy that is left behind holds no lock and no pipe. The child takes one request
//! at a time on its standard input and answers on its standard output. It ends at the end of its input, so it outlives a
//! killed parent by at most one act.

use crate::device::{Device, Devnum};
use crate::fact::Fact;
use crate::machine::fs::root::Root;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::live::LivePort;
use crate::machine::port::{rights, Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use crate::machine::sys;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, WaitOptions};
use rustix::thread;
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The hidden first argument that makes this program the child; also the name of a copy in the table of processes.
pub const CHILD_VERB: &str = "port-child";

/// What a child is asked.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// A question.
    Ask {
        /// The kernel's name of the device.
        name: String,
        /// Its number.
        devnum: Option<(u32, u32)>,
        /// The question.
        question: Question,
    },
    /// An act; the bytes of a put-back come behind it.
    Act {
        /// Where.
        range: ScratchRange,
        /// What.
        act: Act,
    },
    /// A tunable is to be set.
    Set {
        /// The kernel's name of the device.
        name: String,
        /// Which.
        path: TunablePath,
        /// To what.
        value: String,
    },
    /// Files below `/`, in this order.
    Read {
        /// Their paths.
        paths: Vec<String>,
    },
}

/// What it answers.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// The bytes come behind it.
    Ask(Result<(), AskError>),
    /// The bytes of a reading act come behind it.
    Act(Timed<Result<Done, ActError>>),
    /// Whether it was set.
    Set(Result<(), ActError>),
    /// The length of each file; the bytes of all come behind it, one after the other.
    Read(Vec<Fact<usize>>),
}

/// A frame: two lengths, JSON, and the bytes that would be dear as JSON.
fn send(to: &mut impl Write, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    // One write, unless there is much: who only reads a few files pays for each call.
    let mut frame = Vec::with_capacity(HEADER + json.len());
    frame.extend_from_slice(&(json.len() as u64).to_le_bytes());
    frame.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    frame.extend_from_slice(&json);
    if bytes.len() <= FEW {
        frame.extend_from_slice(bytes);
        return to.write_all(&frame);
    }
    to.write_all(&frame)?;
    to.write_all(bytes)
}

/// The length of a frame's two lengths.
const HEADER: usize = 16;
/// So much of a frame is read at once: all of most.
const FRAME: usize = 8 * 1024;
/// So many bytes behind a message are copied rather than written by a call of their own.
const FEW: usize = 64 * 1024;

fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut lengths = [0u8; HEADER];
    from.read_exact(&mut lengths)?;
    let [json, bytes] = [0, 8].map(|at| {
        let mut length = [0u8; 8];
        length.copy_from_slice(&lengths[at..at + 8]);
        u64::from_le_bytes(length) as usize
    });
    let mut message = vec![0u8; json.saturating_add(bytes)];
    from.read_exact(&mut message)?;
    let payload = message.split_off(json);
    Ok((serde_json::from_slice(&message)?, payload))
}

/// A standard stream without the standard library's buffer.
struct Stream(BorrowedFd<'static>);

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0, into)?)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(self.0, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The child's whole life: requests in, answers out, until the input ends.
pub fn serve() -> io::Result<()> {
    serve_below(Root::open(Path::new("/")).map_err(io::Error::other)?)
}

fn serve_below(root: Root) -> io::Result<()> {
    // The standard streams themselves: what a copy of a process finds in their buffers is its parent's.
    let mut input = BufReader::with_capacity(FRAME, Stream(rustix::stdio::stdin()));
    let mut output = Stream(rustix::stdio::stdout());
    // Whoever ends a whole group (systemd does) means the parent, which has content to put back through this child.
    let _ignored = Interrupt::watch()?;
    rights::give_up();
    let mut port = LivePort::default();
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
            Request::Read { paths } => {
                let mut all = Vec::new();
                let mut one = |path: &String| {
                    root.read(path).map(|bytes| {
                        all.extend_from_slice(&bytes);
                        bytes.len()
                    })
                };
                let lengths = paths.iter().map(&mut one).collect();
                (Answer::Read(lengths), all)
            }
        };
        send(&mut output, &answer, &bytes)?;
    }
    Ok(())
}

/// The child of a caller, once there is one; the readings and the questions of one call share it.
pub type Kept = Rc<RefCell<Option<Process>>>;

/// A running child.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    input: File,
    output: BufReader<File>,
}

/// Why a call got no answer.
pub(super) enum Lost {
    /// The deadline passed; the child with this pid is left behind.
    Deadline(u32),
    /// The child could not be started, or ended.
    Gone(String),
}

fn not_started(e: io::Error) -> Lost {
    Lost::Gone(format!("the acting child could not be started: {e}"))
}

impl Process {
    fn new(pid: Pid, input: OwnedFd, output: OwnedFd) -> Process {
        Process { pid, input: File::from(input), output: BufReader::with_capacity(FRAME, File::from(output)) }
    }

    /// Starts this program anew as the child.
    pub(super) fn start() -> Result<Process, Lost> {
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
            .map_err(not_started)?;
        match (Pid::from_raw(child.id() as i32), child.stdin.take(), child.stdout.take()) {
            (Some(pid), Some(input), Some(output)) => {
                Ok(Process::new(pid, OwnedFd::from(input), OwnedFd::from(output)))
            }
            _ => Err(Lost::Gone("the acting child has no pipes".to_owned())),
        }
    }

    /// Copies this process as a child for questions; starts it anew where this process has several threads, of which a copy
    /// would have one.
    pub(super) fn copy() -> Result<Process, Lost> {
        let (asked, input) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|e| not_started(e.into()))?;
        let (output, answered) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|e| not_started(e.into()))?;
        match sys::fork_alone(|| live_as_copy(&asked, &answered)) {
            Ok(Some(pid)) => Ok(Process::new(pid, input, output)),
            Ok(None) => Process::start(),
            Err(e) => Err(not_started(e)),
        }
    }

    /// Has it answer one request, by the deadline.
    pub(super) fn call(
        &mut self,
        request: &Request,
        bytes: &[u8],
        deadline: Duration,
    ) -> Result<(Answer, Vec<u8>), Lost> {
        let gone = |e: io::Error| Lost::Gone(format!("the acting child ended: {e}"));
        send(&mut self.input, request, bytes).map_err(gone)?;
        let until = Instant::now() + deadline;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match rustix::event::poll(&mut [PollFd::new(self.output.get_ref(), PollFlags::IN)], Some(&wait)) {
                Ok(0) => return Err(Lost::Deadline(self.pid.as_raw_nonzero().get() as u32)),
                Ok(_) => return receive(&mut self.output).map_err(gone),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(gone(e.into())),
            }
        }
    }

    /// Ends a child that answered: its input ends, and it with it.
    pub(super) fn finish(self) {
        let Process { pid, input, output } = self;
        drop((input, output));
        // It only has to see the end of its input; a failure leaves nothing to do.
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
    }
}

/// What a copy of this process does: nothing of it that was open stays so.
fn live_as_copy(asked: &OwnedFd, answered: &OwnedFd) -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(asked)?;
    rustix::stdio::dup2_stdout(answered)?;
    rustix::stdio::dup2_stderr(&null)?;
    // Closed with all the others.
    std::mem::forget(null);
    sys::close_others();
    // An interrupt at the terminal is the parent's to answer.
    rustix::process::setpgid(None, None)?;
    if let Ok(name) = std::ffi::CString::new(CHILD_VERB) {
        let _ = thread::set_name(&name);
    }
    serve_below(Root::open(Path::new("/")).map_err(io::Error::other)?.fleeting())
}
