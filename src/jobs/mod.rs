//! What the program does, one job a file: each ties layers together and gives a result that `cli` renders.

pub mod check;
pub mod check_age;
pub mod check_target;
pub mod estimate;
pub mod find;
pub mod intent;
pub mod is_zero;
pub mod kept;
pub mod measure;
pub mod measure_auto;
pub mod model;
pub mod picture;
pub mod policies;
pub mod policy;
pub mod publish;
pub mod record;
pub mod record_result;
pub mod recover;
pub mod selftest;
pub mod settings;
pub mod show;
pub mod tune;
pub mod udev_event;

use crate::machine::child::ChildPort;
use crate::machine::port::Port;
use crate::machine::recorded::RecordedPort;
use crate::machine::Roots;
use crate::units::Nanos;

/// What every job works in.
#[derive(Debug)]
pub struct Env {
    /// Where things lie.
    pub roots: Roots,
}

impl Env {
    /// The port for questions: a child process for the running system, the recorded replies otherwise.
    pub fn port(&self) -> Box<dyn Port + '_> {
        if self.roots.is_live() {
            // The deadline is that of acts, of which this port gets none.
            Box::new(ChildPort::new(Nanos::from_secs(60)))
        } else {
            Box::new(RecordedPort::new(&self.roots.system))
        }
    }
}
