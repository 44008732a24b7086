//! What is kept, one file for each kind: measurements, samples, intents, values written to tunables, published documents,
//! model entries, and which device has which identity.

pub mod applied_tunables;
pub mod bearers;
pub mod intents;
pub mod measurements;
pub mod model_entries;
pub mod published;
pub mod samples;
