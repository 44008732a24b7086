//! What packages are made of says the same everywhere: the version, the crates whose licence is told, the samples of rules.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use zerocap::policy::format;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(in_repository(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, start) in [
        ("bindings/Cargo.toml", format!("version = \"{version}\"")),
        ("verdict-format/Cargo.toml", format!("version = \"{version}\"")),
        ("packaging/zerocap.spec", format!("Version:        {version}")),
        ("CHANGELOG.md", format!("## {version}")),
    ] {
        assert!(read(file).lines().any(|l| l == start), "{file}: no line {start}");
    }
    let changes = read("debian/changelog");
    assert!(changes.starts_with(&format!("zerocap ({version})")), "{}", changes.lines().next().unwrap());
    let newest = read("CHANGELOG.md").lines().find_map(|l| l.strip_prefix("## ").map(str::to_owned)).unwrap();
    assert_eq!(newest, version, "the newest part of CHANGELOG.md");
}

#[test]
fn the_copyright_file_lists_the_licence_of_every_crate_and_of_no_other() {
    let lock = read("Cargo.lock");
    let ours = |name: &&str| !name.starts_with("zerocap");
    let locked: BTreeSet<&str> =
        lock.lines().filter_map(|l| l.strip_prefix("name = \"")?.strip_suffix('"')).filter(ours).collect();
    let told = read("debian/copyright");
    let told: BTreeSet<&str> = told.lines().filter_map(|l| l.strip_prefix(" vendor/")?.strip_suffix("-*")).collect();
    assert!(locked.len() > 40);
    assert_eq!(told, locked);
}

#[test]
fn the_samples_of_rules_are_rules() {
    let mut wishes = 0;
    for entry in std::fs::read_dir(in_repository("rules/examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (rules, problems) = format::parse(name, &std::fs::read_to_string(&path).unwrap());
        assert_eq!(problems, Vec::<String>::new());
        assert!(!rules.is_empty(), "{name}");
        wishes += rules.len();
    }
    assert!(wishes >= 4);
}

/// A package of cargo's holds no file whose name has a character that other systems refuse.
#[test]
fn the_packages_of_the_workspace_can_be_made() {
    let listed = std::process::Command::new(env!("CARGO"))
        .args(["package", "--workspace", "--list", "--allow-dirty", "--offline", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let files = String::from_utf8(listed.stdout).unwrap();
    for file in ["src/main.rs", "rules/90-zerocap.rules", "man/zerocap.7", "verdict.schema.json", "LICENSE-MIT"] {
        assert!(files.lines().any(|l| l == file), "{file} is not in\n{files}");
    }
    let odd: Vec<&str> = files.lines().filter(|l| l.contains(|c: char| "<>:\"|?*\\".contains(c))).collect();
    assert_eq!(odd, Vec::<&str>::new());
    assert!(!files.contains("tests/machines"), "recordings stay out");
}
