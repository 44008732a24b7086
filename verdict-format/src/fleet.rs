//! What a fleet sends to one place: a document as a line, with what is needed to tell it from those of other machines.

use crate::Document;
use serde::{Deserialize, Serialize};

/// One line of `zerocap show --jsonl --fleet`: a [`Document`] with a few fields more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetLine {
    /// Which machine it is of: 32 hex digits that tell neither its name nor its machine-id; null where it has no machine-id.
    pub machine: Option<String>,
    /// When the line was made, RFC 3339 in UTC.
    pub collected: String,
    /// Under which name udev looks the device up in hwdb; null where udev gives it none.
    pub hwdb: Option<HwdbName>,
    /// What stands behind the device, where that may be exchanged unseen ("a virtual disk"): then what was measured is no
    /// property of its model. Null for a medium of its own.
    pub backend: Option<String>,
    /// The document, its fields beside these.
    #[serde(flatten)]
    pub document: Document,
}

/// What the rule looks up in hwdb.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HwdbName {
    /// udev's ID_MODEL.
    pub model: String,
    /// udev's ID_REVISION; empty where there is none.
    pub revision: String,
}
