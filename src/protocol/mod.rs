//! A test from lock to put-back; its safety lies in this order. It works with any port, any files and any hold of a disk, so
//! the order that is tested on simulated devices is the order that runs on real ones.
//!
//! Nothing is written to the device before the intent is durable and the journal is complete. No segment is zeroed before the
//! intent names it. Nothing is put back while a call is in flight. The journal is deleted only after the content was read
//! back.

pub mod allocation;
pub mod blame;
pub mod deadline;
pub mod directory;
pub mod extras;
mod failures;
pub(crate) mod in_file;
pub mod limits;
mod mode_candidates;
pub mod modes;
mod naming;
pub(crate) mod others_io;
pub mod plan;
pub mod recovery;
mod recovery_volume;
pub mod result;
pub mod samples;
mod session;
pub mod supervise;
pub(crate) mod surroundings;
pub mod untested;

use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::machine::block::hold::{Hold, Opened};
use crate::machine::fs::durable::Durable;
use crate::machine::fs::root::Root;
use crate::machine::interrupt::Interrupt;
use crate::machine::port::Port;
use crate::measure::outcome::Outcome;
use crate::measure::scratch::{Proof, ScratchSpec};
use crate::protocol::result::Conditions;
use crate::store::intents::Intents;
use serde::{Deserialize, Serialize};
pub use session::test;
use std::path::PathBuf;
use verdict_format::Document;

/// What was asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Request {
    /// The device as typed.
    pub device: String,
    /// Where it may write.
    pub place: ScratchSpec,
    /// `--thin-ok`.
    pub thin_ok: bool,
    /// `--data-ok`, or a policy that names the scratch: content without a signature may be written over and put back.
    pub data_ok: bool,
    /// `--shared-ok`.
    pub shared_ok: bool,
    /// The device was made for this test by this process: nobody else knows of it.
    pub private: bool,
    /// `--dry-run`.
    pub dry_run: bool,
    /// `--journal DIR`.
    pub journal: Option<PathBuf>,
    /// `--max-bytes`: of all that is written, the put-back included.
    pub max_bytes: u64,
    /// `--sustained SIZE`: bytes of each part of the long stretch.
    pub sustained: Option<u64>,
    /// `--scratch-bytes`: how much of a larger place is used.
    pub scratch_bytes: Option<u64>,
    /// `--max-seconds`.
    pub max_seconds: u64,
    /// `--deadline`: seconds until a call counts as not answered; else from the device's own timeout ([`deadline`]).
    pub deadline: Option<u64>,
    /// `--restore-limits`.
    pub restore_limits: bool,
    /// `--tune`.
    pub tune: bool,
    /// `--deep`.
    pub deep: bool,
    /// `--interference`.
    pub interference: bool,
}

/// What a dry run, or a test, gave.
#[derive(Debug)]
pub enum Answer {
    /// The proof and the plan, in lines.
    Planned(Vec<String>),
    /// The verdict.
    Verdict(Box<Document>),
}

/// Everything that a test touches beside facts and plan: the seam between the order and the world.
pub struct Machine<'a> {
    /// Files of the system, to read.
    pub root: &'a Root,
    /// Commands and acts.
    pub port: &'a mut dyn Port,
    /// The disk's lock and the kernel's view of it.
    pub hold: &'a mut dyn Hold,
    /// The directory of the journal.
    pub journal: &'a mut dyn Durable,
    /// The intents.
    pub intents: &'a mut Intents,
    /// Whether somebody asked the process to end.
    pub interrupt: &'a Interrupt,
}

/// What a test works on.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The device.
    pub facts: &'a Facts,
    /// Under which journal and intent are kept.
    pub name: &'a str,
    /// The range, and the proof of it.
    pub proof: &'a Proof,
    /// `--restore-limits`.
    pub restore_limits: bool,
}

/// Keeps what a run gave.
pub type Keep<'a> = dyn FnMut(&Outcome, &Conditions) -> Result<()> + 'a;

/// Takes the lock of a disk and the name of its test, then looks at what an earlier test left. Nothing is decided on state
/// that another process may be changing.
pub fn begin(hold: &mut dyn Hold, intents: &mut Intents, node: &str, name: &str) -> Result<Opened> {
    let not_safe = |why: String| Error::NotSafe { device: node.to_owned(), why };
    let Some(opened) = hold.lock(node)? else {
        // Whoever has the lock may be a test of our own: that is another answer.
        intents.hold(name)?;
        intents.release(name);
        return Err(not_safe("another program holds its lock (flock); wait for that program or end it".to_owned()));
    };
    intents.hold(name)?;
    let earlier = intents.of(name);
    if !matches!(earlier, Ok(None)) {
        intents.release(name);
    }
    match earlier? {
        None => Ok(opened),
        Some(earlier) => {
            let call = earlier
                .left_behind
                .map_or_else(String::new, |pid| format!(" (one of its calls is still in flight, pid {pid})"));
            Err(not_safe(format!("an earlier test was cut off{call}; run `zerocap recover` first")))
        }
    }
}
