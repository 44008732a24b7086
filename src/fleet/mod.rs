//! Summarizes the documents of many machines: for each model the classes, the rates, where its devices disagree, and the
//! likely cause. It opens no file and prints nothing; for a long input `machine` gives it room on disk.
//!
//! For each device and machine the newest answer counts. To find it without holding every device in memory, the answers are
//! sorted (`sort`); if there are many, sorted runs go to disk. So memory grows with the number of models and not with the
//! number of documents.

mod answer;
mod causes;
mod collect;
mod histogram;
mod interned;
mod record;
mod rows;
mod sort;

pub use collect::{Collected, Collector};
pub use rows::Tested;
