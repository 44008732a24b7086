//! What the program trusts, run as a program: names of devices that fit the rules they are copied into, files and
//! directories that are nobody else's, modes that are the same whatever the caller's umask.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
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

/// Everything below a directory, with its mode.
fn modes(dir: &Path, found: &mut Vec<(PathBuf, bool, u32)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let (path, meta) = entry.map(|e| (e.path(), e.metadata().unwrap())).unwrap();
        found.push((path.clone(), meta.is_dir(), meta.permissions().mode() & 0o7777));
        if meta.is_dir() {
            modes(&path, found);
        }
    }
}

/// Runs one verb under a umask.
fn under(umask: &str, root: &Path, state: &Path, words: &[&str]) -> (i32, String) {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("umask {umask}; exec \"$@\"")).arg("sh").arg(env!("CARGO_BIN_EXE_zerocap"));
    command.args(words).arg("--root").arg(root).arg("--state").arg(state).env("ACTION", "change");
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn file_modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "077", "0777"] {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        machine(root.path(), b"naa.5000");
        let kept = fs::read("tests/machines/synthetic-kept/etc/zerocap/devices/naa.5000000000000005.json").unwrap();
        let verbs: [&[&str]; 7] = [
            &["udev", "/dev/sda"],
            &["policy", "pin", "sda", "none"],
            &["udev", "/dev/sda"],
            &["policy", "pin", "sda", "slow", "--why", "again"],
            &["policy", "unpin", "sda"],
            &["policy", "pin", "sda", "slow"],
            &["policy", "forget", "sda"],
        ];
        for words in verbs {
            if words[1] == "forget" {
                put(state.path(), "etc/zerocap/devices/naa.5000.json", &kept);
            }
            let (code, said) = under(umask, root.path(), state.path(), words);
            assert_eq!((code, said.as_str()), (0, ""), "umask {umask}: {words:?}");
        }
        let mut found = Vec::new();
        modes(state.path(), &mut found);
        let named = |end: &str| found.iter().any(|(p, ..)| p.ends_with(end));
        assert!(named("policy.d/99-pins.toml") && named("run/zerocap/8:0.json") && named("lock/pins"), "{found:?}");
        for (path, directory, mode) in found {
            let lock = path.parent().is_some_and(|p| p.ends_with("run/zerocap/lock"));
            let wanted = if directory {
                0o755
            } else if lock {
                0o600
            } else {
                0o644
            };
            assert_eq!(mode, wanted, "umask {umask}: {}: {mode:o}", path.display());
        }
        // Everybody answers from the same rules.
        let (_, told, _) = run(root.path(), state.path(), &["policy", "test", "sda"]);
        assert!(told.contains("99-pins.toml"), "{told}");
        // A recording is the caller's own: the umask may take from it, and nobody else may write it.
        if umask != "0777" {
            let to = tempfile::tempdir().unwrap();
            let dir = to.path().join("recording");
            assert_eq!(under(umask, root.path(), state.path(), &["record", "sda", dir.to_str().unwrap()]).0, 0);
            let mut found = Vec::new();
            modes(to.path(), &mut found);
            let mask = u32::from_str_radix(umask, 8).unwrap();
            for (path, directory, mode) in found {
                let wanted = if directory { 0o755 } else { 0o644 } & !mask;
                assert_eq!(mode, wanted, "umask {umask}: {}", path.display());
            }
        }
    }
}

#[test]
fn what_others_may_write_is_refused_and_named() {
    let kept = fs::read("tests/machines/synthetic-kept/etc/zerocap/devices/naa.5000000000000005.json").unwrap();
    let rule = "[[rule]]\nclass = \"slow\"\n";
    for (bad, mode) in [
        ("etc/zerocap/devices/naa.5000000000000005.json", 0o666),
        ("etc/zerocap/devices", 0o777),
        ("etc/zerocap", 0o775),
        ("etc/zerocap/policy.d/50-mine.toml", 0o646),
        ("etc/zerocap/policy.d", 0o1777),
        ("var/lib/zerocap/intent/naa.5000000000000005", 0o666),
        ("run/zerocap/intent/8:0", 0o666),
    ] {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        machine(root.path(), b"naa.5000000000000005");
        put(state.path(), "etc/zerocap/devices/naa.5000000000000005.json", &kept);
        put(state.path(), "etc/zerocap/policy.d/50-mine.toml", rule);
        if bad.contains("intent") {
            put(
                state.path(),
                bad,
                r#"{"device":"sda","boot_id":null,"pid":1,"left_behind":null,"at":"x","identity":null}"#,
            );
        }
        let show = || {
            let (_, shown, told) = run(root.path(), state.path(), &["show", "--json", "sda"]);
            let documents: serde_json::Value = serde_json::from_str(&shown).unwrap();
            (
                documents[0]["class"].as_str().unwrap().to_owned(),
                format!("{told}{}{}", documents[0]["reason"], documents[0]["findings"]),
            )
        };
        // All is believed while it is root's (here: the caller's own): a rule pins the class.
        if !bad.contains("intent") {
            assert_eq!(show().0, "slow", "{bad}");
        }
        fs::set_permissions(state.path().join(bad), fs::Permissions::from_mode(mode)).unwrap();
        if bad.contains("policy.d") {
            let (class, told) = show();
            assert_ne!(class, "slow", "{bad}: the rule is not used");
            assert!(told.contains(bad) && told.contains("others may write it"), "{bad}: {told}");
            if bad.ends_with(".d") {
                let (code, _, error) = run(root.path(), state.path(), &["policy", "pin", "sda", "fast"]);
                assert!(code == 1 && error.contains("others may write it"), "{error}");
            }
            continue;
        }
        fs::remove_file(state.path().join("etc/zerocap/policy.d/50-mine.toml")).unwrap();
        if bad.starts_with("run/") {
            // A forged word of an open test costs nothing but that the queue is left alone.
            let out = Command::new(env!("CARGO_BIN_EXE_zerocap"))
                .args(["udev", "/dev/sda", "--root"])
                .arg(root.path())
                .arg("--state")
                .arg(state.path())
                .env("ACTION", "change")
                .output()
                .unwrap();
            assert!(out.status.success());
            continue;
        }
        let (class, told) = show();
        assert_eq!(class, "unknown", "{bad}: {told}");
        assert!(told.contains(bad) && told.contains("others may write it"), "{bad}: {told}");
    }
}

#[test]
fn a_recorded_machine_is_input_whoever_owns_it() {
    let root = tempfile::tempdir().unwrap();
    machine(root.path(), b"naa.5000");
    put(root.path(), "etc/zerocap/policy.d/50-mine.toml", "[[rule]]\nclass = \"slow\"\n");
    let mode = |path: &str| fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(0o777)).unwrap();
    ["etc/zerocap", "etc/zerocap/policy.d", "etc/zerocap/policy.d/50-mine.toml"].into_iter().for_each(mode);
    let out = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(["show", "sda", "--root"]).arg(root.path()).output();
    let out = out.unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).starts_with("sda zeroes slowly: pinned by"), "{out:?}");
    assert!(out.stderr.is_empty(), "{out:?}");
}

#[test]
fn what_was_published_goes_with_the_file_of_a_loop() {
    let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (file, text) in [("dev", "7:0"), ("size", "2048"), ("diskseq", "5"), ("queue/write_zeroes_max_bytes", "0")] {
        put(root.path(), &format!("sys/block/loop0/{file}"), format!("{text}\n"));
    }
    put(root.path(), "proc/sys/kernel/osrelease", "6.17.0\n");
    for kept in ["kept/7:0.json", "set/7:0", "policy/7:0", "stuck/loop0", "kept/7:1.json"] {
        put(state.path(), &format!("run/zerocap/{kept}"), "{}");
    }
    let event = || under("022", root.path(), state.path(), &["udev", "/dev/loop0"]);
    event();
    assert!(state.path().join("run/zerocap/7:0.json").is_file());
    // `losetup -d`: a change event, and nothing behind the number.
    put(root.path(), "sys/block/loop0/size", "0\n");
    assert_eq!(event(), (0, String::new()));
    let mut found = Vec::new();
    modes(&state.path().join("run"), &mut found);
    let files = found.iter().filter(|(_, directory, _)| !directory).map(|(p, ..)| p.file_name());
    // The compiled rules of policy, and their lock, are of no device.
    let files: Vec<_> = files.filter(|name| *name != Some(std::ffi::OsStr::new("rules"))).collect();
    assert_eq!(files, [Some(std::ffi::OsStr::new("7:1.json"))], "what is kept of another number stays");
}
