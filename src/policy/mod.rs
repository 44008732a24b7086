//! What the administrator wants: the rules in `policy.d`, pins, thresholds. It has no effect by itself and reads no file.
//!
//! `assess` reads the files through `machine` and gives their text to [`format::parse`]. `matcher` selects the rules that
//! match a device; the result is a [`Policy`], which `verdict::decide` uses.

pub mod edit;
pub mod format;
pub mod matcher;

use crate::terms::{Class, Hazard, ZeroingMode};
use serde::{Deserialize, Serialize};

/// What the administrator wants for one device. The default is no wish at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The class is pinned.
    pub class: Option<Sourced<Class>>,
    /// A hazard that a rule declares (a shipped entry for devices that lie or hang).
    pub hazard: Option<Sourced<Hazard>>,
    /// A hazard that the pin accepts: the pin then overrides it.
    pub accept: Option<Sourced<Hazard>>,
    /// Whether a timed test is allowed: `never` or `auto`.
    pub measure: Option<Sourced<Measure>>,
    /// The scratch for an automatic test.
    pub scratch: Option<Sourced<String>>,
    /// The directory of an automatic test's journal.
    pub journal: Option<Sourced<String>>,
    /// From this speedup on zeroing is fast.
    pub fast_ratio: f64,
    /// The knob is turned off when the speedup's upper end is below this.
    pub knob_off_below: f64,
    /// Whether the knob is managed at all.
    pub manage_knob: bool,
    /// The `zeroing_mode` that a SCSI disk is to have.
    pub zeroing_mode: Option<Sourced<ZeroingMode>>,
    /// From this age on, in seconds, a measurement is stale; where there is no such wish, only that of a device whose backend
    /// may change is, from [`BACKEND_MAX_AGE`] on.
    pub max_age: Option<Sourced<u64>>,
}

/// How long what was measured of a virtual disk, or of a volume of an array, is believed, in seconds: 30 days.
pub const BACKEND_MAX_AGE: u64 = 30 * 86_400;

impl Default for Policy {
    fn default() -> Self {
        Policy {
            class: None,
            hazard: None,
            accept: None,
            measure: None,
            scratch: None,
            journal: None,
            fast_ratio: 2.0,
            knob_off_below: 1.0,
            manage_knob: true,
            zeroing_mode: None,
            max_age: None,
        }
    }
}

/// A wish, and which file and line it came from (`99-pins.toml:3`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sourced<T> {
    /// The wish.
    pub value: T,
    /// File and line.
    pub from: String,
}

/// Whether a timed test is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// Never, not even by hand.
    Never,
    /// By a unit, once, when the device appears and there is no verdict.
    Auto,
}
