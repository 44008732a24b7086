//! What is kept, one file a kind: measurements, intents, what was written to tunables, published documents, model entries.

pub mod applied_tunables;
pub mod intents;
pub mod measurements;
pub mod model_entries;
pub mod published;
pub mod samples;
