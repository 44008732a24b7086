//! Renderers of one document: JSON, table, detail, udev properties. They write what they are given and decide nothing.

pub mod detail;
pub mod estimate;
pub mod openmetrics;
pub mod path_answer;
pub mod probe;
pub mod properties;
pub mod table;
pub mod time;
