//! What a recording may show.

pub mod allowed;
pub mod hide;
pub mod pages;
pub mod secrets;
