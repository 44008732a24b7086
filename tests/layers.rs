//! The house as drawn: who may use whom, without circles, and where the system may be touched. The imports of every source
//! file are read by a parser (`use` trees and inline paths), so that no spelling hides one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "layers/imports.rs"]
mod imports;

use imports::{House, Named, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A room and what it may use beside [`BOTTOM`] and itself (DESIGN 3).
const MAY_USE: &[(&str, &[&str])] = &[
    ("machine", &[]),
    ("facts", &["machine"]),
    ("redact", &["machine"]),
    ("measure", &["machine", "facts"]),
    ("policy", &["machine::fs"]),
    ("verdict", &["facts", "policy", "measure::stats"]),
    ("tunable", &["machine", "facts", "policy", "verdict"]),
    ("store", &["machine", "verdict"]),
    // The documents of other machines: files and room on disk, no facts of this one.
    ("fleet", &["machine"]),
    ("assess", &["machine", "facts", "policy", "store", "verdict", "tunable"]),
    ("protocol", &["machine", "facts", "measure", "policy", "store", "verdict", "tunable", "assess"]),
    ("output", &["verdict", "tunable", "measure"]),
    (
        "jobs",
        &[
            "machine", "facts", "measure", "policy", "store", "verdict", "tunable", "assess", "protocol", "output",
            "redact", "fleet",
        ],
    ),
    ("cli", &["jobs", "output"]),
];
/// Every room may use these; they use one another without a circle.
const BOTTOM: &[&str] = &["terms", "units", "fact", "error", "device"];

fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    let sources = SOURCES.get_or_init(|| imports::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")));
    assert!(sources.len() > 40, "the sources were not found");
    sources
}

/// The path without `crate`, where it leads into a room of this crate.
fn inside(named: &Named) -> Option<&[String]> {
    named.path.strip_prefix(&["crate".to_owned()]).filter(|rest| !rest.is_empty())
}

fn is_face(source: &Source) -> bool {
    matches!(source.file.to_str(), Some("lib.rs" | "main.rs" | "event.rs"))
}

/// That nothing was found; each has a short name and the whole story.
fn hold(rule: &str, found: &BTreeMap<String, BTreeSet<String>>) {
    let told: Vec<String> = found
        .iter()
        .map(|(name, story)| format!("{name}: {}", story.iter().map(String::as_str).collect::<Vec<_>>().join(", ")))
        .collect();
    assert!(told.is_empty(), "{rule}:\n{}", told.join("\n"));
}

#[test]
fn each_room_uses_only_what_the_design_lets_it_use() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources().iter().filter(|s| !is_face(s)) {
        let room = &source.module[0];
        let allowed: Vec<&str> = match MAY_USE.iter().find(|(r, _)| r == room) {
            Some((_, allowed)) => [BOTTOM, allowed].concat(),
            None if BOTTOM.contains(&room.as_str()) => BOTTOM.to_vec(),
            None => panic!("{room}: no such room in DESIGN 3"),
        };
        for named in &source.named {
            let Some(path) = inside(named).filter(|p| p[0] != *room) else { continue };
            let text = path.join("::");
            let may = |a: &&str| text == **a || text.starts_with(&format!("{a}::"));
            if !allowed.iter().any(may) {
                let story = format!("{}:{}", source.file.display(), named.line);
                found.entry(format!("{room} uses {}", path[0])).or_default().insert(story);
            }
        }
    }
    hold("may use", &found);
}

/// The groups of nodes that lead back to one another, each in order.
fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reach = |from: &String| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(node) = waiting.pop() {
            for next in edges.get(&node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    waiting.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = edges.keys().map(|n| (n, reach(n))).collect();
    let circle = |n: &String| -> BTreeSet<String> {
        reached[n].iter().filter(|m| reached.get(m).is_some_and(|r| r.contains(n))).cloned().collect()
    };
    let mut all: Vec<BTreeSet<String>> = edges.keys().map(circle).filter(|c| c.len() > 1).collect();
    all.sort();
    all.dedup();
    all
}

/// Which files name something of which others.
fn edges(sources: &[Source], node: impl Fn(&Source) -> String) -> BTreeMap<String, BTreeSet<String>> {
    let house = House::new(sources);
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources.iter().filter(|s| !is_face(s)) {
        let from = node(source);
        // A face that hands names of its own rooms on does not use them.
        let used = source.named.iter().filter(|n| !(n.handed_on && is_below(source, n)));
        let to = used.filter_map(|n| house.file_of(&n.path)).filter(|s| !is_face(s)).map(&node);
        let to: BTreeSet<String> = to.filter(|to| *to != from).collect();
        edges.entry(from).or_default().extend(to);
    }
    edges
}

fn is_below(source: &Source, named: &Named) -> bool {
    inside(named).is_some_and(|path| path.starts_with(&source.module))
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let module =
        |file: &String| sources().iter().find(|s| s.file.display().to_string() == *file).unwrap().module.clone();
    let mut found = BTreeMap::new();
    for circle in circles(&edges(sources(), |s| s.file.display().to_string())) {
        // Known by the room that holds it all.
        let mut modules = circle.iter().map(module);
        let first = modules.next().unwrap();
        let room = modules
            .fold(first, |room, m| room.iter().zip(&m).take_while(|(a, b)| a == b).map(|(a, _)| a.clone()).collect());
        found.entry(room.join("::")).or_insert_with(BTreeSet::new).extend(circle);
    }
    hold("circle of files", &found);
}

#[test]
fn no_rooms_import_each_other_in_a_circle() {
    let circles = circles(&edges(sources(), |s| s.module[0].clone()));
    let name = |c: &BTreeSet<String>| c.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    hold("circle of rooms", &circles.into_iter().map(|c| (name(&c), c)).collect());
}

/// Asserts that paths of other crates that `is_it` knows stand only in files that `allowed` admits.
fn only_in(rule: &str, is_it: impl Fn(&[&str]) -> bool, allowed: impl Fn(&Path) -> bool) {
    let (mut found, mut seen) = (BTreeMap::new(), false);
    for source in sources().iter().filter(|s| !is_face(s)) {
        for named in &source.named {
            let path: Vec<&str> = named.path.iter().map(String::as_str).collect();
            if is_it(&path) {
                seen |= allowed(&source.file);
                if !allowed(&source.file) {
                    let story = BTreeSet::from([named.line.to_string()]);
                    found.insert(format!("{} names {}", source.file.display(), path.join("::")), story);
                }
            }
        }
    }
    assert!(seen, "{rule}: stands nowhere, the test looks for the wrong name");
    hold(rule, &found);
}

fn in_machine(file: &Path) -> bool {
    file.starts_with("machine")
}

#[test]
fn files_environment_processes_and_ids_are_reached_in_machine_alone() {
    only_in(
        "the system",
        |path| match path {
            ["std", "fs" | "env" | "net" | "os", ..] => true,
            ["std", "process", what, ..] => *what != "ExitCode",
            ["rustix", "io", "Errno", ..] => false,
            ["rustix" | "libc" | "signal_hook", ..] => true,
            _ => false,
        },
        in_machine,
    );
}

#[test]
fn only_one_file_uses_libudev() {
    only_in("libudev", |path| path.len() > 1 && path[0] == "udev", |f| f == Path::new("machine/udev.rs"));
}

#[test]
fn only_sys_has_unsafe_and_each_says_why() {
    let (mut found, mut seen) = (BTreeMap::new(), 0);
    let sys = Path::new("machine/sys.rs");
    for source in sources() {
        for (line, _) in &source.unsafe_lines {
            if source.file == sys {
                seen += 1;
            } else {
                found.insert(source.file.display().to_string(), BTreeSet::from([line.to_string()]));
            }
        }
    }
    assert!(seen > 0, "no unsafe in machine/sys.rs: the test looks for the wrong thing");
    hold("unsafe", &found);
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(sys)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for source in sources().iter().filter(|s| s.file == sys) {
        for (line, _) in source.unsafe_lines.iter().filter(|(_, ours)| *ours) {
            let reason = lines[line.saturating_sub(5)..line - 1].iter().any(|l| l.contains("// SAFETY:"));
            assert!(reason, "machine/sys.rs:{line}: no SAFETY line");
        }
    }
}

#[test]
fn only_the_proof_makes_a_scratch_range() {
    let (mut found, mut seen) = (BTreeMap::new(), false);
    for source in sources() {
        for (_, line) in source.made.iter().filter(|(name, _)| name == "ScratchRange") {
            let proof = source.file.starts_with("measure/scratch") || source.file == Path::new("measure/scratch.rs");
            seen |= proof;
            if !proof {
                found.insert(source.file.display().to_string(), BTreeSet::from([line.to_string()]));
            }
        }
    }
    assert!(seen, "a scratch range is made nowhere: the test looks for the wrong name");
    hold("scratch range", &found);
}

#[test]
fn the_reader_of_imports_sees_every_spelling() {
    let text = "
        use std::{env::var, fs as files};
        use crate::machine::{self, port::Port};
        mod place;
        fn f() -> super::Facts {
            files::read(1); place::here(); machine::sys::x();
            println!(\"{}\", crate::output::table(std::process::id()));
            let a = Self {}; unsafe { b() }
        }
        #[cfg(test)]
        mod tests { use crate::cli::Cli; }
    ";
    let source = imports::source(Path::new("facts/queue.rs"), &syn::parse_file(text).unwrap());
    let paths: BTreeSet<String> = source.named.iter().map(|n| n.path.join("::")).collect();
    for wanted in [
        "std::env::var",
        "std::fs",
        "std::fs::read",
        "crate::machine",
        "crate::machine::port::Port",
        "crate::facts::queue::place::here",
        "crate::facts::Facts",
        "crate::machine::sys::x",
        "crate::output::table",
        "std::process::id",
    ] {
        assert!(paths.contains(wanted), "{wanted}: {paths:?}");
    }
    assert!(!paths.contains("crate::cli::Cli"), "unit tests may use all");
    assert_eq!(source.unsafe_lines.len(), 1);
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    let edges = edges.map(|(from, to)| (from.to_owned(), BTreeSet::from([to.to_owned()])));
    let circle = BTreeSet::from(["b".to_owned(), "c".to_owned()]);
    assert_eq!(circles(&BTreeMap::from(edges)), [circle]);
}

#[test]
fn files_fit_in_a_head() {
    let mut found = BTreeMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for dir in ["src", "tests", "bindings/tests"] {
        too_long(root, &root.join(dir), &mut found);
    }
    hold("over 400 lines", &found);
}

fn too_long(root: &Path, path: &Path, found: &mut BTreeMap<String, BTreeSet<String>>) {
    if path.is_dir() {
        if path.ends_with("machines") || path.ends_with("target") {
            return;
        }
        let below: Vec<PathBuf> = std::fs::read_dir(path).unwrap().flatten().map(|e| e.path()).collect();
        below.iter().for_each(|p| too_long(root, p, found));
    } else if path.extension().is_some_and(|e| e == "rs") {
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        if lines > 400 {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, BTreeSet::from([format!("{lines} lines")]));
        }
    }
}
