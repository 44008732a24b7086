//! Files: those of a system that is read below a root, and the program's own files that must survive.

pub mod attribute;
pub mod durable;
pub mod file_map;
pub mod guard;
pub mod guards;
pub mod location;
pub mod lock;
pub mod mounts;
pub mod owner;
pub mod packed;
pub mod path_info;
pub mod report_file;
pub mod root;
pub mod spill;
pub mod stamp;
pub mod to_end;
pub mod unfinished;
