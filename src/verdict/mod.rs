//! The verdict: how a device zeroes, and what that is based on. It is pure: it reads and writes nothing.

mod claim_rules;
pub mod context;
pub mod decide;
pub mod estimate;
pub mod expected;
pub mod figures;
pub mod findings;
pub mod fingerprint;
mod kept_rules;
pub mod limit_rules;
pub mod measurement;
pub mod member;
pub mod on_file;
pub mod wants;

use crate::terms::{Basis, Class, FindingCode, Severity};
pub use context::{Context, CutOff, ModelEntry};
pub use decide::decide;
pub use figures::Figures;
pub use measurement::Measurement;
pub use member::MemberView;

/// The file that opens and shuts FALLOC_FL_WRITE_ZEROES, below `queue/`.
pub const KNOB: &str = "write_zeroes_unmap_max_bytes";
/// The file of a SCSI disk that chooses the command, below `scsi_disk/*`.
pub const MODE: &str = "zeroing_mode";

/// The answer for one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What zeroing is like.
    pub class: Class,
    /// What the class rests on; `None` for `none` from the limit and for `unknown`.
    pub basis: Option<Basis>,
    /// What the claims alone let one expect: fast, slow, none or unknown.
    pub expected: Class,
    /// Why this class, in one clause for a person: "measured, zeroing is 2.9 times as fast as writing".
    pub reason: String,
    /// The measurement that the class rests on, where its fingerprint still holds.
    pub measurement: Option<Measurement>,
    /// Whether a test of the device as it is now is kept, whatever it decided and whatever the class rests on.
    pub tested: bool,
    /// What a caller acts by: the measurement's, or of a derived class what follows from the members'.
    pub figures: Figures,
    /// What synchronous writes into files of the device gain: no part of the class, and there whatever that is.
    pub overwrite: Option<measurement::Overwrite>,
    /// Coded remarks.
    pub findings: Vec<Finding>,
    /// What device and kernel claim.
    pub claims: Vec<Claim>,
    /// What the tunables should be.
    pub wants: Vec<Want>,
}

impl Verdict {
    /// Whether the knob is wanted to be 0.
    pub fn knob_off(&self) -> bool {
        self.wants.iter().any(|w| w.name == KNOB && w.wanted == "0")
    }
}

/// A coded remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The code.
    pub code: FindingCode,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about, with the values.
    pub text: String,
}

/// What one field claims about zeroing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Where it was read: `nvme-id-ns`, `scsi-vpd-b2`, `queue`.
    pub source: String,
    /// The specification's or kernel's name: `DLFEAT`, `write_zeroes_unmap_max_hw_bytes`.
    pub field: String,
    /// The raw value as shown: `0x19`.
    pub value: String,
    /// What it says in words.
    pub says: String,
}

/// What a tunable should be, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// The name: `write_zeroes_unmap_max_bytes`.
    pub name: String,
    /// The path below the device: `queue/write_zeroes_unmap_max_bytes`.
    pub path: String,
    /// The value wanted.
    pub wanted: String,
    /// Why.
    pub why: String,
}

/// What zerocap last wrote to a tunable, and what it found before its first write.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LastWrite {
    /// What was there before the first write.
    pub found: String,
    /// What was written.
    pub wrote: String,
    /// What was wanted at the time.
    pub wanted: String,
    /// Whether `tune reset` put it back: events leave it so until something else is wanted.
    #[serde(default)]
    pub put_back: bool,
}
