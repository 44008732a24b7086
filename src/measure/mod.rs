//! The timed and verified test: where it may write (`scratch`), in what order (`order`), one run of it (`trial`), when it
//! stops (`stats`), what is tried beside it (`deep`, `interference`, over `spans`; `overwrite` in files), and how the content
//! comes back (`journal`, `recover`).
//!
//! Knows nothing of verdicts: numbers and what happened come out. Every write to a device starts in `scratch` with a proof.

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
