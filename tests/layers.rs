//! The house as drawn: who may use whom, and where `std::fs`, processes, `unsafe`, `udev::` and `ScratchRange { … }` may
//! stand. Reads the sources as text.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};

/// A layer and what it may use. `verdict` may use `measure::stats` alone of `measure`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("terms", &[]),
    ("units", &[]),
    ("fact", &[]),
    ("error", &[]),
    ("device", &[]),
    ("machine", &["device"]),
    ("facts", &["machine", "device"]),
    ("redact", &["machine", "device", "policy", "verdict"]),
    ("measure", &["machine", "device"]),
    ("policy", &["device"]),
    ("verdict", &["facts", "measure::stats", "policy", "device"]),
    ("tunable", &["verdict", "facts", "machine", "device"]),
    ("store", &["machine", "verdict", "device", "facts", "tunable", "assess"]),
    ("assess", &["machine", "facts", "policy", "store", "verdict", "tunable", "device"]),
    ("protocol", &["machine", "facts", "measure", "policy", "store", "verdict", "tunable", "assess", "device"]),
    ("output", &["verdict", "tunable", "facts", "device", "assess"]),
    (
        "jobs",
        &[
            "machine", "facts", "measure", "policy", "store", "assess", "protocol", "redact", "verdict", "tunable",
            "output", "device",
        ],
    ),
    ("cli", &["jobs", "output", "machine", "measure", "facts", "device", "protocol", "assess"]),
];
/// The bottom, which every layer but the bottom itself may use.
const BOTTOM: &[&str] = &["terms", "units", "fact", "error"];

/// Sources below `src/`, with their text; unit tests (behind `#[cfg(test)]`, or files of tests) cut off.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    walk(&src, &mut paths);
    paths.sort();
    assert!(paths.len() > 40, "the sources were not found");
    paths
        .into_iter()
        .filter(|p| {
            let stem = p.file_stem().unwrap().to_str().unwrap();
            stem != "tests" && !stem.ends_with("_tests") && stem != "testing"
        })
        .map(|p| {
            let text = std::fs::read_to_string(&p).unwrap();
            let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            (p.strip_prefix(&src).unwrap().to_owned(), code)
        })
        .collect()
}

/// Code lines: comments cut off, so that prose may speak of what code may not.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|l| l.split("//").next().unwrap_or(l))
}

fn layer(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn arrows_point_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let from = layer(&path);
        if matches!(from.as_str(), "lib" | "main") {
            continue;
        }
        let (_, allowed) =
            MAY_USE.iter().find(|(l, _)| *l == from).unwrap_or_else(|| panic!("{from}: not in the table"));
        for line in code_lines(&text) {
            for used in line.split("crate::").skip(1) {
                // `use crate::{facts, verdict}` would hide the names; the house writes one path a line.
                let path_text: String = used.chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
                let to = path_text.split("::").next().unwrap_or_default();
                let bottom = BOTTOM.contains(&to) && (!BOTTOM.contains(&from.as_str()) || from == to);
                let named =
                    allowed.iter().any(|a| path_text == *a || path_text.starts_with(&format!("{a}::")) || *a == to);
                if !(to == from || bottom || named) {
                    wrong.push(format!("{}: {from} may not use {path_text}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asserts that a text stands in code only in files that `allowed` admits.
fn only_in(needles: &[&str], allowed: impl Fn(&Path) -> bool) {
    let mut wrong = Vec::new();
    let mut seen = false;
    for (path, text) in sources() {
        for (number, line) in code_lines(&text).enumerate() {
            if needles.iter().any(|n| line.contains(n)) {
                seen |= allowed(&path);
                if !allowed(&path) {
                    wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen, "{needles:?} stands nowhere: the test looks for the wrong text");
}

#[test]
fn the_system_is_touched_in_machine_alone() {
    only_in(&["std::fs", "fs::File", "Command::new", "rustix::fs::open", "rustix::io::pwrite"], |p| {
        layer(p) == "machine"
    });
}

#[test]
fn unsafe_stands_in_sys_alone_and_says_why() {
    only_in(&["unsafe {", "unsafe impl", "unsafe fn"], |p| p == Path::new("machine/sys.rs"));
    let sys = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/machine/sys.rs")).unwrap();
    let lines: Vec<&str> = sys.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if line.contains("unsafe {") || line.contains("unsafe impl") {
            let reason = lines[i.saturating_sub(4)..i].iter().any(|l| l.contains("// SAFETY:"));
            assert!(reason, "machine/sys.rs:{}: no SAFETY line", i + 1);
        }
    }
}

#[test]
fn libudev_stands_in_one_file() {
    only_in(&["::udev::"], |p| p == Path::new("machine/udev.rs"));
}

#[test]
fn a_scratch_range_is_made_in_scratch_alone() {
    only_in(&["ScratchRange {"], |p| {
        // Its declaration and methods; then the one place that makes it.
        p == Path::new("machine/port/mod.rs") || p == Path::new("measure/scratch.rs")
    });
}

#[test]
fn files_fit_in_a_head() {
    for dir in ["src", "tests", "bindings/tests"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
        for entry in std::fs::read_dir(&root).unwrap().flatten() {
            check_length(&entry.path());
        }
    }
}

fn check_length(path: &Path) {
    if path.is_dir() {
        if path.ends_with("machines") || path.ends_with("target") {
            return;
        }
        for entry in std::fs::read_dir(path).unwrap().flatten() {
            check_length(&entry.path());
        }
    } else if path.extension().is_some_and(|e| e == "rs") {
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= 400, "{}: {lines} lines", path.display());
    }
}
