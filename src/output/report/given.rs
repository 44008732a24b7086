//! What a report is drawn from. This file has the form only.

use verdict_format::samples::{Pair, Samples};
use verdict_format::Document;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The answer.
    pub document: &'a Document,
    /// The single times of its test, where they are kept.
    pub samples: Option<&'a Samples>,
    /// Why there are none.
    pub without: Option<&'a str>,
    /// The kernel that runs now.
    pub kernel: Option<&'a str>,
    /// When it is drawn, RFC 3339.
    pub at: &'a str,
}

impl Report<'_> {
    /// The pairs that are kept.
    pub fn pairs(&self) -> &[Pair] {
        self.samples.map_or(&[], |s| &s.pairs)
    }
}
