//! What the program does, one job a file: each ties layers together and gives a result that `cli` renders.

mod answer;
pub mod check;
pub mod check_age;
pub mod check_target;
pub mod estimate;
pub mod find;
pub mod is_zero;
pub mod measure;
pub mod measure_auto;
pub mod policy;
pub mod record;
pub mod recover;
pub mod selftest;
pub mod show;
pub mod tune;
pub mod udev_event;
