//! A check that cannot be made on this machine is told and counted, and never passes for one that was made.
//!
//! `make test` counts the files below [`DIR`] and prints them at its end. The line goes past the test harness, which shows
//! the output of a test only when it fails.

#![allow(clippy::expect_used)] // all of it is test

use std::io::Write;
use std::path::Path;

/// One file for each check that was not run; `make test` empties it first.
const DIR: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/not-run");

/// What is needed is missing. Where `CI=true` this is a failure: `make setup-test` installs all that is needed.
pub fn not_run(why: &str) {
    tell(why);
    assert!(std::env::var("CI").as_deref() != Ok("true"), "not run, although this is CI: {why}");
}

/// The program that is needed is there in too old a version, so that nothing installs the right one here: no failure
/// even in CI. `instead` names the test that makes the same check elsewhere.
#[allow(dead_code)] // Only some of the test programs need it.
pub fn too_old(why: &str, instead: &str) {
    tell(&format!("{why}; {instead} makes this check"));
}

fn tell(why: &str) {
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    let line = format!("not run: {}: {test}: {why}\n", env!("CARGO_CRATE_NAME"));
    // Best effort: a line that is lost here stands in the file, whose loss would be a failure.
    let _ = std::io::stderr().write_all(line.as_bytes());
    std::fs::create_dir_all(DIR).expect("a directory below the build's");
    let file = Path::new(DIR).join(format!("{}-{}", env!("CARGO_CRATE_NAME"), test.replace("::", "-")));
    std::fs::write(file, line).expect("a file below the build's directory");
}
