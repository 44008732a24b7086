//! The only place that touches the system: files below a root, commands, acts, kept files, udev, child processes.

pub mod block;
pub mod clock;
pub mod fs;
pub mod interrupt;
pub mod io;
pub mod port;
pub mod simulated;
pub mod sys;
pub mod udev;

use crate::error::Result;
use crate::machine::fs::durable::LiveDurable;
use crate::machine::port::child::ChildPort;
use crate::machine::port::recorded::RecordedPort;
use crate::machine::port::Port;
use crate::units::Nanos;
use std::path::{Path, PathBuf};

/// Where things lie: the system that is read, and the state that is kept.
#[derive(Debug)]
pub struct Roots {
    /// What is read: `/`, or a recorded machine.
    pub system: fs::root::Root,
    /// Below which `etc/zerocap`, `var/lib/zerocap` and `run/zerocap` lie.
    pub state: PathBuf,
}

impl Roots {
    /// `--root` sets both, `--state` the second.
    pub fn new(root: Option<&Path>, state: Option<&Path>) -> Result<Roots> {
        let system = root.unwrap_or(Path::new("/"));
        Ok(Roots { system: fs::root::Root::open(system)?, state: state.unwrap_or(system).to_owned() })
    }

    /// The port for questions: a child process for the running system, the recorded replies otherwise.
    pub fn port(&self) -> Box<dyn Port + '_> {
        if self.is_live() {
            // The deadline is that of acts, of which this port gets none.
            Box::new(ChildPort::new(Nanos::from_secs(60)))
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

    /// `/etc/zerocap/devices`: kept measurements.
    pub fn devices(&self) -> PathBuf {
        self.state.join("etc/zerocap/devices")
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

/// The number of this process.
pub fn process_id() -> u32 {
    std::process::id()
}
