//! Prints answers: table, detail, an HTML page, OpenMetrics, udev properties. The JSON is made by serde from the types in
//! `verdict-format`. The code prints what it is given and decides nothing.

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
