//! The errors of a test that gave no answer, in words. It decides nothing.

use crate::error::Error;
use crate::facts::Facts;
use crate::machine::port::{Act, ActError};
use crate::protocol::Subject;

/// An act that failed.
pub(super) fn act_error(device: &str, operation: &str, error: &ActError) -> Error {
    Error::Act { device: device.to_owned(), operation: operation.to_owned(), what: error.to_string() }
}

/// Somebody asked the process to end; `what`: in what state the device is.
pub(super) fn interrupted(facts: &Facts, what: &str) -> Error {
    Error::Interrupted { device: facts.device.node(), what: what.to_owned() }
}

/// Somebody asked the process to end while the test ran, and it has ended as it should.
pub(super) fn ended_early(on: &Subject<'_>) -> Error {
    interrupted(on.facts, if on.proof.ownerless { "nothing had to be put back" } else { "the content was put back" })
}

/// What was being done.
pub(super) fn described(act: &Act) -> String {
    match act {
        Act::Zero { method, offset, length } => format!("{method} of {length} bytes at byte {offset}"),
        Act::Write { offset, .. } | Act::PutBack { offset, .. } => format!("write at byte {offset}"),
        Act::Stretch(stretch) => format!("a long stretch at byte {}", stretch.offset),
        _ => "act".to_owned(),
    }
}
