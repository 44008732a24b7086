//! The timed and verified test: where it may write (`scratch`), in which order (`order`), one run (`trial`), when it stops
//! (`stats`), what else is tried (`deep`, `interference`, `overwrite` in files), and how the content is put back (`journal`,
//! `recover`).
//!
//! It knows nothing about verdicts: it gives figures and what happened. Every write to a device starts in `scratch` with a
//! proof.

pub mod conclusion;
pub mod deep;
pub mod holding;
pub mod interference;
pub mod journal;
pub mod order;
pub mod outcome;
pub mod overwrite;
pub mod partition_table;
pub mod plan;
pub mod range_io;
pub mod recover;
pub mod scratch;
pub mod stats;
pub mod trace;
pub mod trial;
