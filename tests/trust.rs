//! What the program trusts, run as a program: names of devices that fit the rules they are copied into, files and
//! directories that are nobody else's, modes that are the same whatever the caller's umask.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Writes below a directory, making what is above.
fn put(dir: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A recorded machine of one disk with this identity.
fn machine(dir: &Path, wwid: &[u8]) {
    put(dir, "proc/sys/kernel/osrelease", "6.17.0\n");
    for (file, text) in [
        ("dev", &b"8:0"[..]),
        ("size", b"2048"),
        ("device/wwid", wwid),
        ("device/vendor", b"Linux"),
        ("queue/write_zeroes_max_bytes", b"33553920"),
        ("queue/write_zeroes_unmap_max_hw_bytes", b"33553920"),
        ("queue/write_zeroes_unmap_max_bytes", b"33553920"),
    ] {
        put(dir, &format!("sys/block/sda/{file}"), text);
    }
}

fn run(root: &Path, state: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    command.args(words).arg("--root").arg(root).arg("--state").arg(state);
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn an_odd_identity_fits_the_rule_that_it_is_copied_into() {
    for wwid in [
        &b"naa.5000"[..],
        b"t10.ODD a\\b",
        b"t10.ODD \x1b[31m",
        "t10.ODD \u{61c}x\u{e0041}é".as_bytes(),
        b"t10.\xff\xfe\"'",
    ] {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        machine(root.path(), wwid);
        let (_, shown, _) = run(root.path(), state.path(), &["show", "--json"]);
        let documents: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let identity = documents[0]["device"]["identity"].as_str().unwrap();
        // A string of JSON is one of TOML.
        let rule = format!("[[rule]]\nidentity = {}\nclass = \"slow\"\n", serde_json::to_string(identity).unwrap());
        put(state.path(), "etc/zerocap/policy.d/50-copied.toml", rule);
        let (code, told, error) = run(root.path(), state.path(), &["policy", "test", "sda"]);
        assert!(code == 0 && told.contains("50-copied.toml:3"), "{identity}: {told} {error}");
        // The device's name in a list is the same text too.
        assert_eq!(run(root.path(), state.path(), &["policy", "pin", "sda", "none"]).0, 0);
        let (_, listed, _) = run(root.path(), state.path(), &["policy", "list"]);
        assert!(listed.matches(identity).count() >= 2, "{identity}: {listed}");
        let (_, table, _) = run(root.path(), state.path(), &["show", "-o", "IDENTITY"]);
        assert!(table.contains(identity), "{identity}: {table}");
    }
}
