//! The answers of `zerocap` in format 1, as types: what other programs read (zerocap-verdict(5)).
//!
//! zerocap writes its answers through this package, so these types are what is printed and published. The form changes only
//! by its promise: fields and words are added, but none is renamed or removed, and none changes its meaning or unit. A value
//! that is not known is null; it is never 0 and never a guess.
//!
//! A document may come from a newer zerocap than the program that reads it, so the reader accepts words that it does not
//! know: a class counts as `unknown`, a basis as `model`, a severity as `warning`, a state as `unknown`; a method, a plan and
//! a `how` count as null; the code of a finding is kept as text ([`Code::Other`]). Fields that it does not know are ignored.
//!
//! [`read`] gives the published document of a device by its number, and only if the document is about the present device.

pub mod answers;
mod document;
mod finding;
pub mod fleet;
mod number;
mod open;
mod reader;
pub mod samples;
mod words;

pub use document::{
    Beside, Claim, Deep, Device, Document, Finding, Hints, Initial, Interference, Latencies, Measured, Member,
    MethodResult, ModeResult, Overwrite, Published, Speedup, Sustained, Tunable,
};
pub use finding::{Code, FindingCode};
pub use number::Devnum;
pub use reader::{accept, read, read_below, ReadError, DIRECTORY};
pub use words::{Basis, Class, Effect, Kind, Method, PathCode, Plan, Severity, State, UnknownWord};

/// The number of the form that this package reads and writes.
pub const FORMAT: u32 = 1;

/// The form as a JSON Schema (2020-12).
pub const SCHEMA: &str = include_str!("../verdict.schema.json");
