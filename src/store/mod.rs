//! What is kept, one file a kind: measurements, intents, what was written to tunables, published documents, model entries,
//! who bears which identity.

pub mod applied_tunables;
pub mod bearers;
pub mod intents;
pub mod measurements;
pub mod model_entries;
pub mod published;
pub mod samples;
