//! Renderers of answers: table, detail, a page of HTML, OpenMetrics, udev properties. The JSON is serde's, of the types in
//! `verdict-format`. They write what they are given and decide nothing.

pub mod detail;
pub mod estimate;
pub mod explain;
pub mod fleet;
mod grid;
pub mod openmetrics;
pub mod path_answer;
pub mod probe;
pub mod properties;
pub mod report;
pub mod small;
pub mod table;
pub mod tree;
