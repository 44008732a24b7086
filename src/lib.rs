//! `zerocap`: does a block device zero fast, and are the zeroes real?
//!
//! Everything flows in one direction: `machine -> facts, measure (+ policy) -> verdict -> tunable, output`. `jobs` tie them
//! together; `cli` parses, calls one job and prints. Only `machine` touches the system; `verdict::decide` is pure. The port
//! (`machine::port`) passes bytes and `facts` makes typed facts from them, so the same code answers for a live, a recorded
//! and a simulated device.

pub mod assess;
pub mod cli;
pub mod device;
pub mod error;
pub mod fact;
pub mod facts;
pub mod fleet;
pub mod jobs;
pub mod machine;
pub mod measure;
pub mod output;
pub mod policy;
pub mod protocol;
pub mod redact;
pub mod store;
pub mod terms;
pub mod tunable;
pub mod units;
pub mod verdict;
