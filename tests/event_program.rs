//! The program of udev's rule answers every event as `zerocap udev` does, byte for byte: what it prints, what it says, and
//! every file below /run/zerocap but for the time in it. What it cannot answer it leaves to the whole program, and has
//! written nothing by then.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

#[path = "common/recorded.rs"]
mod recorded;

use recorded::machines;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

const WHOLE: &[&str] = &[env!("CARGO_BIN_EXE_zerocap"), "udev"];
const SMALL: &[&str] = &[env!("CARGO_BIN_EXE_zerocap-event")];

/// A file of rules that was just changed is read at each event: its next change may bear the same time.
const SETTLED: Duration = Duration::from_millis(1200);

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A state of its own for a machine, with what the machine keeps and the rules that are shipped.
fn state(machine: &Path) -> tempfile::TempDir {
    let state = tempfile::tempdir().unwrap();
    for part in ["etc", "var"] {
        copy(&machine.join(part), &state.path().join(part));
    }
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/policy.d");
    copy(&shipped, &state.path().join("usr/lib/zerocap/policy.d"));
    state
}

fn event(program: &[&str], machine: &Path, state: &Path, device: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg("--root").arg(machine).arg("--state").arg(state).arg(format!("/dev/{device}"));
    command.envs(environment.iter().copied()).output().unwrap()
}

/// Every file below /run/zerocap by its path, but for the compiled rules and locks; the time of publishing left out.
fn written(state: &Path) -> BTreeMap<String, String> {
    fn below(dir: &Path, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
                continue;
            }
            let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
            let text = std::fs::read_to_string(&path).unwrap();
            let masked = match text.split_once("\"published\":{\"at\":\"") {
                Some((before, after)) => format!("{before}{}", after.split_once('"').unwrap().1),
                None => text,
            };
            found.insert(path.display().to_string(), format!("{mode:o} {masked}"));
        }
    }
    let mut found = BTreeMap::new();
    below(&state.join("run/zerocap"), &mut found);
    found.retain(|path, _| !path.ends_with("run/zerocap/rules") && !path.contains("run/zerocap/lock/"));
    found
}

/// Forgets all that events wrote but the compiled rules.
fn forget(state: &Path) {
    for entry in std::fs::read_dir(state.join("run/zerocap")).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else if path.file_name().is_some_and(|n| n != "rules") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn both_programs_give_the_same_on_every_recorded_machine() {
    let states: Vec<_> = machines().into_iter().map(|machine| (state(&machine), machine)).collect();
    std::thread::sleep(SETTLED);
    let mut compared = 0;
    for (state, machine) in &states {
        let state = state.path();
        let blocks = std::fs::read_dir(machine.join("sys/block")).unwrap();
        let mut names: Vec<String> = blocks.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        for name in &names {
            let number = std::fs::read_to_string(machine.join(format!("sys/block/{name}/dev"))).unwrap_or_default();
            let (major, minor) = number.trim().split_once(':').unwrap_or(("", ""));
            let at = [("MAJOR", major), ("MINOR", minor)];
            let model = [("ZEROCAP_MODEL_CLASS", "slow"), ("ZEROCAP_MODEL_DEVICES", "7")];
            // One after the other: the first answer, the same again, an answer that changed, and the end of the device.
            let all: [Vec<(&str, &str)>; 5] = [
                [&at[..], &[("ACTION", "add")]].concat(),
                [&at[..], &[("ACTION", "change")]].concat(),
                [&at[..], &[("ACTION", "change")], &model].concat(),
                [&at[..], &[("ACTION", "change"), ("ZEROCAP_SKIP", "1")]].concat(),
                [&at[..], &[("ACTION", "remove")]].concat(),
            ];
            let run = |program: &[&str]| -> Vec<(Output, BTreeMap<String, String>)> {
                forget(state);
                all.iter().map(|e| (event(program, machine, state, name, e), written(state))).collect()
            };
            // The rules are compiled by the first of the whole program.
            let (whole, small) = (run(WHOLE), run(SMALL));
            for (i, (whole, small)) in whole.iter().zip(&small).enumerate() {
                let what = format!("{}/{name}, event {i}", machine.display());
                let text = |o: &Output| {
                    let [out, err] = [&o.stdout, &o.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
                    (o.status.code(), out, err)
                };
                assert_eq!(text(&small.0), text(&whole.0), "{what}");
                assert_eq!(small.1, whole.1, "{what}");
                assert_eq!(small.0.status.code(), Some(0), "{what}");
                compared += 1;
            }
        }
    }
    println!("{compared} events of {} machines are the same", states.len());
    assert!(compared > 500, "{compared}");
}

fn machine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/vm-nvme-6.1")
}

const OWN: &str = "etc/zerocap/policy.d/50-own.toml";
const ADD: &[(&str, &str)] = &[("ACTION", "add"), ("MAJOR", "259"), ("MINOR", "1")];

/// A state whose own rule pins the class.
fn pinned(class: &str) -> tempfile::TempDir {
    let state = state(&machine());
    let path = state.path().join(OWN);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("[[rule]]\nclass = \"{class}\"\n")).unwrap();
    state
}

fn class(output: &Output) -> Option<String> {
    let out = String::from_utf8(output.stdout.clone()).unwrap();
    out.lines().next()?.strip_prefix("ZEROCAP_CLASS=").map(str::to_owned)
}

/// The small program leaves an event to the whole one and has written nothing; the whole one gives this class.
fn leaves(state: &Path, wanted: &str, why: &str) {
    let before = written(state);
    let small = event(SMALL, &machine(), state, "nvme0n1", ADD);
    assert_eq!((small.status.code(), small.stdout.as_slice()), (Some(1), &b""[..]), "{why}");
    assert_eq!(written(state), before, "{why}: nothing is written");
    assert_eq!(class(&event(WHOLE, &machine(), state, "nvme0n1", ADD)).as_deref(), Some(wanted), "{why}");
}

#[test]
fn compiled_rules_hold_only_for_the_files_they_were_made_of() {
    type Change = (&'static str, &'static str, fn(&Path));
    let changes: &[Change] = &[
        ("another text of the same length", "fast", |state| {
            let path = state.join(OWN);
            let then = path.metadata().unwrap().modified().unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, b"[[rule]]\nclass = \"fast\"\n", 0).unwrap();
            file.set_times(std::fs::FileTimes::new().set_modified(then)).unwrap();
        }),
        ("another file in its place", "fast", |state| {
            std::fs::write(state.join("new"), "[[rule]]\nclass = \"fast\"\n").unwrap();
            std::fs::rename(state.join("new"), state.join(OWN)).unwrap();
        }),
        ("one more file", "fast", |state| {
            std::fs::write(state.join(OWN).with_file_name("60-more.toml"), "[[rule]]\nclass = \"fast\"\n").unwrap();
        }),
        ("a file that is gone", "unknown", |state| std::fs::remove_file(state.join(OWN)).unwrap()),
        ("a directory that is gone", "unknown", |state| {
            std::fs::rename(state.join("etc/zerocap/policy.d"), state.join("etc/zerocap/x")).unwrap();
        }),
        ("a directory that comes", "fast", |state| {
            let dir = state.join("usr/local/lib/zerocap/policy.d");
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("99-last.toml"), "[[rule]]\nclass = \"fast\"\n").unwrap();
        }),
        ("a file that others may write", "unknown", |state| {
            std::fs::set_permissions(state.join(OWN), PermissionsExt::from_mode(0o666)).unwrap();
        }),
        ("a directory that others may write", "unknown", |state| {
            std::fs::set_permissions(state.join("etc/zerocap/policy.d"), PermissionsExt::from_mode(0o777)).unwrap();
        }),
        ("a directory above that others may write", "unknown", |state| {
            std::fs::set_permissions(state.join("etc/zerocap"), PermissionsExt::from_mode(0o777)).unwrap();
        }),
    ];
    let states: Vec<_> = changes.iter().map(|_| pinned("slow")).collect();
    leaves(states[0].path(), "slow", "a file that was just written");
    assert!(!states[0].path().join("run/zerocap/rules").exists(), "its next change may bear the same time");
    std::thread::sleep(SETTLED);
    for (state, (why, then, change)) in states.iter().zip(changes) {
        let state = state.path();
        leaves(state, "slow", "nothing is compiled");
        let small = event(SMALL, &machine(), state, "nvme0n1", ADD);
        assert_eq!((small.status.code(), class(&small).as_deref()), (Some(0), Some("slow")), "{why}: compiled");
        change(state);
        leaves(state, then, why);
    }
    std::thread::sleep(SETTLED);
    for (state, (why, then, _)) in states.iter().zip(changes) {
        leaves(state.path(), then, why);
        let small = event(SMALL, &machine(), state.path(), "nvme0n1", ADD);
        assert_eq!((small.status.code(), class(&small).as_deref()), (Some(0), Some(*then)), "{why}: compiled anew");
    }
}

#[test]
fn compiled_rules_that_are_damaged_or_of_somebody_else_are_made_anew() {
    type Damage = (&'static str, fn(&Path));
    let damages: &[Damage] = &[
        ("cut off", |rules| {
            let text = std::fs::read(rules).unwrap();
            std::fs::write(rules, &text[..text.len() - 1]).unwrap();
        }),
        ("empty", |rules| std::fs::write(rules, "").unwrap()),
        ("one bit", |rules| {
            let mut text = std::fs::read(rules).unwrap();
            let at = text.len() - 20;
            text[at] ^= 1;
            std::fs::write(rules, text).unwrap();
        }),
        ("a first line alone", |rules| {
            let text = std::fs::read_to_string(rules).unwrap();
            std::fs::write(rules, text.lines().next().unwrap()).unwrap();
        }),
        ("of another program", |rules| {
            let text = std::fs::read_to_string(rules).unwrap();
            std::fs::write(rules, text.replacen("zerocap ", "zerocap 9", 1)).unwrap();
        }),
        ("others may write it", |rules| {
            std::fs::set_permissions(rules, PermissionsExt::from_mode(0o666)).unwrap();
        }),
        ("somebody else's", |rules| {
            // Root may give a file away; nobody else can in a test.
            if std::os::unix::fs::chown(rules, Some(65534), None).is_err() {
                std::fs::remove_file(rules).unwrap();
            }
        }),
        ("a link", |rules| {
            let to = rules.with_file_name("elsewhere");
            std::fs::rename(rules, &to).unwrap();
            std::fs::write(&to, "{}\n[]").unwrap();
            std::os::unix::fs::symlink(to, rules).unwrap();
        }),
    ];
    let state = pinned("slow");
    let state = state.path();
    std::thread::sleep(SETTLED);
    leaves(state, "slow", "nothing is compiled");
    let rules = state.join("run/zerocap/rules");
    assert_eq!(rules.metadata().unwrap().permissions().mode() & 0o7777, 0o644);
    for (why, damage) in damages {
        damage(&rules);
        leaves(state, "slow", why);
        let small = event(SMALL, &machine(), state, "nvme0n1", ADD);
        assert_eq!((small.status.code(), class(&small).as_deref()), (Some(0), Some("slow")), "{why}: made anew");
        assert!(rules.symlink_metadata().unwrap().is_file(), "{why}");
    }
}

#[test]
fn what_fails_no_event_fails_none_here() {
    let state = tempfile::tempdir().unwrap();
    let gone = event(SMALL, &machine(), state.path(), "nothing", ADD);
    assert_eq!((gone.status.code(), gone.stdout.as_slice()), (Some(0), &b""[..]), "a device that is not there");
    let none = Command::new(SMALL[0]).output().unwrap();
    assert_eq!(none.status.code(), Some(0));
    assert!(String::from_utf8(none.stderr).unwrap().starts_with("zerocap: udev: usage: "));
}
