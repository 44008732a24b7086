//! The verbs of the program, one file for each: each ties rooms together and gives a result that `cli` prints.

mod answer;
pub mod check;
pub(crate) mod directories;
pub mod estimate;
pub mod fleet;
mod instead;
pub mod is_zero;
pub mod measure;
pub mod measure_all;
pub mod measure_auto;
pub mod measure_child;
pub mod measure_directory;
pub mod measure_places;
pub mod measured;
pub mod policy;
pub mod probe;
pub mod record;
pub mod recover;
pub mod report;
pub mod selftest;
pub mod show;
pub mod target;
pub mod tune;
pub mod udev_event;
pub mod volume;

/// Where things lie, for a caller that names no layer below this one.
pub use crate::machine::{guarded, Roots};
