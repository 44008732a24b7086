//! The recorded machines of the tests.

#![allow(clippy::unwrap_used)] // All of it is test.

use std::path::{Path, PathBuf};

/// The directories of the recorded machines, sorted.
pub fn machines() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    found.sort();
    found
}
