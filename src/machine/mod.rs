//! The only room that touches the system: files below a root, commands, acts, kept files, udev, child processes.

pub mod block;
pub mod cgroup;
pub mod clock;
pub mod environment;
pub mod fs;
pub mod helper;
pub mod interrupt;
pub mod io;
pub mod lvm;
pub mod machine_id;
pub mod port;
pub mod process;
pub mod simulated;
pub mod stuck;
pub mod sys;
pub mod udev;

use crate::error::Result;
use crate::machine::fs::durable::LiveDurable;
use crate::machine::fs::guard::{Guard, When};
use crate::machine::port::child::ChildPort;
use crate::machine::port::process::Kept;
use crate::machine::port::recorded::RecordedPort;
use crate::machine::port::Port;
use crate::machine::stuck::Stuck;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Deadline for a question: the kernel's own timeouts are 30 s (SG_IO) and 60 s (NVMe admin), after which it answers.
const ASK_DEADLINE: Duration = Duration::from_secs(75);
/// The same at an event, for which udevd waits, and everything behind it.
const EVENT_DEADLINE: Duration = Duration::from_secs(10);

/// Where things lie: the system that is read, and the state that is kept.
#[derive(Debug)]
pub struct Roots {
    /// What is read: `/`, or a recorded machine.
    pub system: fs::root::Root,
    /// Below which `etc/zerocap`, `var/lib/zerocap` and `run/zerocap` lie.
    pub state: PathBuf,
    /// The child that reads files which may not come, for questions too.
    child: Kept,
}

impl Roots {
    /// `--root` sets both, `--state` the second.
    pub fn new(root: Option<&Path>, state: Option<&Path>) -> Result<Roots> {
        let system = root.unwrap_or(Path::new("/"));
        Ok(Roots::of(fs::root::Root::open(system)?, state.unwrap_or(system).to_owned()))
    }

    /// Of a root that is open already.
    pub fn of(system: fs::root::Root, state: PathBuf) -> Roots {
        Roots { system, state, child: Kept::default() }
    }

    /// The same with the queue files of the running system read in a child with a deadline.
    pub fn guarded(self, when: When) -> Roots {
        let guard = Guard::new(when, Stuck::below(&self.run()));
        let child = guard.process();
        Roots { system: self.system.guarded(Box::new(guard)), state: self.state, child }
    }

    /// The port for questions: a child process for the running system, the recorded replies otherwise.
    pub fn port(&self) -> Box<dyn Port + '_> {
        if self.is_live() {
            Box::new(ChildPort::for_questions(Stuck::below(&self.run()), ASK_DEADLINE, Kept::clone(&self.child)))
        } else {
            Box::new(RecordedPort::new(&self.system))
        }
    }

    /// The same at an event, which must not wait for as long as the kernel would.
    pub fn port_at_event(&self) -> Box<dyn Port + '_> {
        if self.is_live() {
            Box::new(ChildPort::for_questions(Stuck::below(&self.run()), EVENT_DEADLINE, Kept::clone(&self.child)))
        } else {
            Box::new(RecordedPort::new(&self.system))
        }
    }

    /// Whether commands and acts reach real devices.
    pub fn is_live(&self) -> bool {
        self.system.is_system()
    }

    /// Whether the state is a part of a recorded machine: input, whose owner and modes say nothing.
    fn state_is_recorded(&self) -> bool {
        !self.is_live() && self.state == self.system.path()
    }

    /// Files of this program that must survive, in a directory below the root of state; `mode` are those of new files.
    pub fn lasting(&self, dir: impl Into<PathBuf>, mode: u32) -> LiveDurable {
        LiveDurable::new(dir, mode).recorded(self.state_is_recorded())
    }

    /// The same below `/run`.
    pub fn volatile(&self, dir: impl Into<PathBuf>, mode: u32) -> LiveDurable {
        LiveDurable::volatile(dir, mode).recorded(self.state_is_recorded())
    }

    /// `/etc/zerocap`: kept measurements, their samples, rules.
    pub fn config(&self) -> PathBuf {
        self.state.join("etc/zerocap")
    }

    /// `/etc/zerocap/devices`: kept measurements.
    pub fn devices(&self) -> PathBuf {
        self.config().join("devices")
    }

    /// `/run/zerocap`: published documents, and kept measurements of devices without an identity.
    pub fn run(&self) -> PathBuf {
        self.state.join("run/zerocap")
    }

    /// `/var/lib/zerocap`: journal and intents.
    pub fn var(&self) -> PathBuf {
        self.state.join("var/lib/zerocap")
    }
}

/// The roots with the queue files of the running system read in a child with a deadline.
pub fn guarded(roots: Roots) -> Roots {
    roots.guarded(When::Always)
}
