//! The only place that touches the system: files below a root, commands, acts, kept files, udev, child processes.

pub mod aligned;
pub mod child;
pub mod clock;
pub mod disk;
pub mod dm_status;
pub mod durable;
pub mod file_acts;
pub mod files;
pub mod interrupt;
pub mod journal_place;
pub mod live;
pub mod load;
pub mod lock;
pub mod lookup;
pub mod loop_device;
pub mod nodes;
pub mod pattern;
pub mod port;
pub mod probe_signature;
pub mod read_zero;
pub mod record;
pub mod recorded;
pub mod simulated;
pub mod stamp;
pub mod sys;
pub mod trigger;
pub mod udev;

use crate::error::Result;
use std::path::{Path, PathBuf};

/// Where things lie: the system that is read, and the state that is kept.
#[derive(Debug)]
pub struct Roots {
    /// What is read: `/`, or a recorded machine.
    pub system: files::Root,
    /// Below which `etc/zerocap`, `var/lib/zerocap` and `run/zerocap` lie.
    pub state: PathBuf,
}

impl Roots {
    /// `--root` sets both, `--state` the second.
    pub fn new(root: Option<&Path>, state: Option<&Path>) -> Result<Roots> {
        let system = root.unwrap_or(Path::new("/"));
        Ok(Roots { system: files::Root::open(system)?, state: state.unwrap_or(system).to_owned() })
    }

    /// Whether commands and acts reach real devices.
    pub fn is_live(&self) -> bool {
        self.system.is_system()
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
