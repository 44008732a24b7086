//! The words of the answer. Those that other programs read are in `verdict-format`; this file has those of zerocap alone.
//!
//! It is at the bottom of the crate and uses nothing of it.

use serde::{Deserialize, Serialize};
use verdict_format::words;
pub use verdict_format::{Basis, Class, Effect, FindingCode, Method, PathCode, Plan, Severity, UnknownWord};

words! {
    /// sd's `zeroing_mode`, as the kernel spells it (fieldguide 4.4), in the order that is safe to try them in.
    ZeroingMode {
        /// WRITE SAME(16) with UNMAP.
        Writesame16Unmap = "writesame_16_unmap",
        /// WRITE SAME(10) with UNMAP.
        Writesame10Unmap = "writesame_10_unmap",
        /// WRITE SAME without UNMAP.
        Writesame = "writesame",
        /// The same command while the limit stands.
        Write = "write",
    }
}

words! {
    /// A hazard that a test recorded, or an administrator declared.
    Hazard {
        /// Zeroing reported success and old data was still read.
        OldDataLeft = "old-data-left",
        /// Zeroing failed with an error other than "not supported".
        ZeroingError = "zeroing-error",
        /// A command was not answered by its deadline.
        NoAnswer = "no-answer",
    }
}

impl Hazard {
    /// The finding that reports this hazard.
    pub const fn finding(self) -> FindingCode {
        match self {
            Hazard::OldDataLeft => FindingCode::OldDataLeft,
            Hazard::ZeroingError => FindingCode::ZeroingError,
            Hazard::NoAnswer => FindingCode::NoAnswer,
        }
    }
}
