//! What the documents of many machines say together: for each model the classes, the rates, where its devices disagree and
//! why that may be. Opens no file of others and prints nothing; a long input needs room on disk, which `machine` gives.
//!
//! One answer a device and machine counts, the newest. To know the newest without holding every device in memory the answers
//! are sorted (`sort`), in runs that go to disk where there are many: memory grows with the number of models, not of documents.

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
