//! `src/generated.rs` is what bindgen makes of the stamped headers, to the byte: nobody
//! has edited it, and a change of the allowlist has been followed by `bindings/generate`.
//!
//! Needs the feature `generate`, libclang, and the headers from `bindings/fetch`, in
//! `$BINDINGS_HEADERS` or in `bindings-headers` of cargo's target directory, all in the
//! stamped versions. Where one is missing the test says so and passes: other versions
//! give another text without anything being wrong (see `tests/headers.rs` for what must
//! hold everywhere).

use std::io::Write as _;

#[cfg(feature = "generate")]
#[path = "../generator/mod.rs"]
mod generator;

/// Past the test harness, which keeps what a passing test prints to itself.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "generated.rs is current: {line}");
}

#[cfg(not(feature = "generate"))]
#[test]
fn generated_is_current() {
    say("not run: built without the feature `generate`");
}

#[cfg(feature = "generate")]
#[test]
fn generated_is_current() {
    use std::path::{Path, PathBuf};

    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let headers = std::env::var_os("BINDINGS_HEADERS")
        .map_or_else(|| temporary.with_file_name("bindings-headers"), PathBuf::from);
    if !headers.join("versions").exists() {
        return say("not run: no fetched headers; bindings/fetch gets them");
    }

    let checked_in = include_str!("../src/generated.rs");
    let stamp = generator::Stamp::of(checked_in).expect("generated.rs has a stamp line");
    // bindgen panics where there is no libclang.
    let here = match std::panic::catch_unwind(|| generator::Stamp::here(&headers)) {
        Ok(Ok(here)) => here,
        Ok(Err(reason)) => return say(&format!("not run: {reason}")),
        Err(_) => return say("not run: no libclang; bindings/generate installs it"),
    };
    let differences = here.differences(&stamp);
    if !differences.is_empty() {
        return say(&format!("not run: {}", differences.join("; ")));
    }

    let made = generator::generate(&headers, temporary).expect("bindgen runs");
    // The first two lines name the versions, among them rustfmt's, which may differ.
    let body = |text: &str| text.splitn(3, '\n').nth(2).map(str::to_owned);
    if body(&made) != body(checked_in) {
        let kept = temporary.join("generated.rs");
        std::fs::write(&kept, &made).expect("the target directory can be written");
        panic!("src/generated.rs is not what bindings/generate makes: see {}", kept.display());
    }
    say("checked: identical");
}
