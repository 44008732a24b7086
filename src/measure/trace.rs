//! Every single time of a run, beside its result: it is used for a report and not for the answer. This file has the forms
//! only.

use crate::measure::stats::sustained::Sustained;
use verdict_format::samples::{Call, Edge, Pair, Screened};

/// What a run timed, in the order of time; the calls of several lengths are in [`super::outcome::Outcome::rungs`].
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// Pairs of the deciding method.
    pub pairs: Vec<Pair>,
    /// Pairs of the others.
    pub screened: Vec<Screened>,
    /// The ladder of writes.
    pub first_writes: Vec<Call>,
    /// The ladder of zeroing calls.
    pub first_zeroings: Vec<Call>,
    /// Ragged spans.
    pub edges: Vec<Edge>,
    /// Long stretches that came to their end.
    pub stretches: Vec<Sustained>,
}
