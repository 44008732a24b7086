//! The command line from outside: help, exit codes, streams; and in `hostile` machines recorded by somebody who means harm.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use clap::CommandFactory;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zerocap::cli::Cli;
use zerocap::terms::Class;

#[path = "cli/age.rs"]
mod age;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/names.rs"]
mod names;

/// Nothing here takes a second; a call that is not over by then hangs.
const LIMIT: Duration = Duration::from_secs(20);

/// What a run gave.
struct Run {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Run {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }
}

/// Runs the program with a time limit. Its streams are files, so that nothing blocks on a pipe.
fn run<S: AsRef<OsStr>>(arguments: &[S], environment: &[(&str, &str)]) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let (out, err) = (dir.path().join("out"), dir.path().join("err"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begin.elapsed() > LIMIT => {
                child.kill().unwrap();
                let shown: Vec<_> = arguments.iter().map(|a| a.as_ref().to_owned()).collect();
                panic!("{shown:?} was not over after {LIMIT:?}");
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let err = String::from_utf8_lossy(&fs::read(err).unwrap()).into_owned();
    Run { code: status.code(), out: fs::read(out).unwrap(), err }
}

/// The program on a recorded machine.
fn on(machine: &Path, arguments: &[&str]) -> Run {
    let mut all: Vec<OsString> = arguments.iter().map(Into::into).collect();
    all.extend([OsString::from("--root"), machine.into()]);
    run(&all, &[])
}

fn machine(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines").join(name)
}

fn verbs() -> Vec<String> {
    Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect()
}

#[test]
fn help_is_narrow_and_goes_to_standard_output() {
    let mut calls = vec![vec!["--help".to_owned()], vec!["-h".to_owned()]];
    assert!(verbs().len() >= 7);
    for verb in verbs() {
        calls.push(vec!["help".to_owned(), verb.clone()]);
        // The event's verb does not go through the parser.
        if verb != "udev" {
            calls.push(vec![verb.clone(), "--help".to_owned()]);
            calls.push(vec![verb, "-h".to_owned()]);
        }
    }
    for call in calls {
        let run = run(&call, &[("COLUMNS", "200")]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{call:?}");
        assert!(run.text().contains("Usage: zerocap"), "{call:?}");
        let widest = run.text().lines().max_by_key(|l| l.chars().count()).unwrap();
        assert!(widest.chars().count() <= 80, "{call:?}: {widest}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let run = run(&["--version"], &[]);
    assert_eq!((run.code, run.text()), (Some(0), concat!("zerocap ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn invalid_arguments_exit_with_2() {
    for call in [
        &[][..],
        &["frobnicate"],
        &["show", "--no-such-option"],
        &["show", "--json", "--jsonl"],
        &["show", "--json", "-o", "CLASS"],
        &["check"],
        &["check", "sda", "--require", "luck"],
        &["check", "sda", "--quiet", "--json"],
        &["probe"],
        &["measure"],
        &["measure", "sda", "--scratch", "somewhere"],
        &["measure", "sda", "--scratch", "1MiB+0"],
        &["measure", "sda", "--scratch", "label", "--max-bytes", "many"],
        &["measure", "sda", "--scratch", "label", "--max-seconds", "-1"],
        &["recover", "a", "b"],
        &["record", "sda"],
    ] {
        let run = run(call, &[]);
        assert_eq!(run.code, Some(2), "{call:?}");
        assert!(run.out.is_empty() && !run.err.is_empty(), "{call:?}: {}", run.text());
    }
}

#[test]
fn a_missing_device_exits_with_32() {
    let machine = machine("synthetic-kept");
    for call in [&["show", "none"][..], &["show", "none", "--json"], &["check", "none"], &["probe", "none"]] {
        let run = on(&machine, call);
        assert_eq!(run.code, Some(32), "{call:?}");
        assert_eq!(run.err, "zerocap: none: no such recorded block device\n", "{call:?}");
    }
    for live in ["/dev/zerocap-no-such-device", "/dev/null", "/zerocap-no-such-file", "/proc/self/status", "/dev/shm"] {
        assert_eq!(run(&["check", live], &[]).code, Some(32), "{live}");
    }
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(on(empty.path(), &["show"]).code, Some(32));
    assert_eq!(on(Path::new("/zerocap-no-such-root"), &["show"]).code, Some(1));
}

#[test]
fn if_some_devices_fail_the_exit_code_is_64_and_the_others_are_shown() {
    let run = on(&machine("synthetic-kept"), &["show", "sde", "none", "--json"]);
    assert_eq!(run.code, Some(64));
    let documents: Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(documents[0]["device"]["name"], "sde");
    assert_eq!(documents.as_array().unwrap().len(), 1);
    assert!(run.err.contains("none"));
}

#[test]
fn the_columns_are_those_asked_for_and_an_unknown_one_exits_with_2() {
    let kept = machine("synthetic-kept");
    let run = on(&kept, &["show", "sde", "-o", "class,DEVICE"]);
    assert_eq!((run.code, run.text()), (Some(0), "CLASS  DEVICE\nfast   sde\n"));
    let run = on(&kept, &["show", "-o", "DEVICE,NOPE"]);
    assert_eq!((run.code, run.text()), (Some(2), ""));
    assert!(run.err.contains("no column is called NOPE"), "{}", run.err);
    for empty in ["", "+", ",DEVICE"] {
        let run = on(&kept, &["show", "-o", empty]);
        assert_eq!((run.code, run.text()), (Some(2), ""), "{empty}");
        assert!(run.err.contains("a column name is empty; the columns are DEVICE"), "{}", run.err);
    }
    let help = on(&kept, &["show", "-o", "help"]);
    for asked in [["-o", "+help"], ["--sort", "help"]] {
        assert_eq!(on(&kept, &[&["show"][..], &asked].concat()).text(), help.text());
    }
    let none = on(&kept, &["tune", "show", "no-such"]);
    assert_eq!((none.code, none.text()), (Some(32), ""));
    let headings: Vec<&str> = help.text().lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert!(headings.len() >= 9 && headings.iter().all(|h| run.err.contains(h)), "{headings:?}");
    assert!(help.text().lines().all(|l| l.chars().count() <= 80 && l.split_whitespace().count() > 1));
}

#[test]
fn check_says_the_class_of_every_recorded_device() {
    let code = |class: &str| match class.parse::<Class>().unwrap() {
        Class::Fast => 0,
        Class::Slow => 3,
        Class::None => 4,
        Class::Unknown => 5,
        Class::Broken => 6,
    };
    let mut seen = std::collections::BTreeSet::new();
    for entry in fs::read_dir(machine("")).unwrap() {
        let dir = entry.unwrap().path();
        if !dir.is_dir() || fs::metadata(dir.join("expect.json")).is_err() {
            continue;
        }
        let listed = on(&dir, &["show", "--all", "--json"]);
        assert_eq!(listed.code, Some(0));
        for document in serde_json::from_slice::<Value>(&listed.out).unwrap().as_array().unwrap().iter().take(8) {
            let (name, class) = (document["device"]["name"].as_str().unwrap(), document["class"].as_str().unwrap());
            let wanted = code(class);
            assert_eq!(on(&dir, &["check", name, "-q"]).code, Some(wanted), "{} {name}", dir.display());
            seen.insert(wanted);
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 3, 4, 5, 6]);
}

#[test]
fn requirements_of_check() {
    let kept = machine("synthetic-kept");
    for (device, require, code) in [
        ("sde", "fast", 0),
        ("sde", "measured", 0),
        ("sde", "verified", 0),
        ("sde", "knob-on", 0),
        ("sde", "write-zeroes", 7), // never tried there
        ("md0", "measured", 7),
        ("sdg", "fast", 7),
        ("sdg", "measured", 3),
        ("sda", "verified", 7),
        ("sdd", "verified", 7),
    ] {
        let run = on(&kept, &["check", device, "--require", require]);
        assert_eq!(run.code, Some(code), "{device} {require}");
        assert_eq!(run.err == format!("zerocap: not met: {require}\n"), code == 7, "{device} {require}: {}", run.err);
    }
    let quiet = on(&kept, &["check", "md0", "--require", "measured", "--quiet"]);
    assert_eq!((quiet.code, quiet.text(), quiet.err.as_str()), (Some(7), "", ""));
    let json = on(&kept, &["check", "sde", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&json.out).unwrap()["class"], "fast");
}

#[test]
fn a_recorded_machine_is_never_written_to() {
    let kept = machine("synthetic-kept");
    for call in [
        &["measure", "sde", "--scratch", "label"][..],
        &["measure", "sde", "--scratch", "label", "--dry-run"],
        &["recover"],
        &["selftest"],
    ] {
        let run = on(&kept, call);
        assert_eq!((run.code, run.text()), (Some(2), ""), "{call:?}");
        assert!(run.err.contains("never written to"), "{}", run.err);
    }
}

#[test]
fn an_event_never_fails() {
    let kept = machine("synthetic-kept");
    let state = tempfile::tempdir().unwrap();
    let event = |node: &str, action: &str| {
        let arguments: [&OsStr; 6] = [
            "udev".as_ref(),
            node.as_ref(),
            "--root".as_ref(),
            kept.as_ref(),
            "--state".as_ref(),
            state.path().as_ref(),
        ];
        run(&arguments, &[("ACTION", action), ("MAJOR", "8"), ("MINOR", "64")])
    };
    let known = event("/dev/sde", "add");
    assert_eq!(known.code, Some(0));
    assert!(known.text().starts_with("ZEROCAP_CLASS="), "{}", known.text());
    for (node, action) in [("/dev/none", "add"), ("/dev/../../etc", "add"), ("--frob", "add"), ("/dev/sde", "remove")] {
        let run = event(node, action);
        assert_eq!((run.code, run.text()), (Some(0), ""), "{node} {action}");
    }
    assert_eq!(run(&["udev"], &[]).code, Some(0));
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let listing = machine("synthetic-limits-6.17");
    for call in [&["show", "--all"][..], &["show", "--all", "--json"], &["show", "--all", "--jsonl"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zerocap"))
            .args(call)
            .arg("--root")
            .arg(&listing)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{call:?}");
    }
}

#[test]
fn a_full_standard_output_is_a_failure() {
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .args(["show", "--root"])
        .arg(machine("synthetic-kept"))
        .stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("zerocap: standard output: write to: "));
}

#[test]
fn no_argument_or_closed_stream_makes_it_panic() {
    let raw = OsStr::from_bytes(b"\xff");
    assert_eq!(run(&[raw], &[]).code, Some(2));
    assert_eq!(run(&["show".as_ref(), raw], &[]).code, Some(2));
    assert_eq!(run(&["udev".as_ref(), raw], &[("ACTION", "add")]).code, Some(0));
    let kept = machine("synthetic-kept");
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let call = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        command.args(arguments).arg("--root").arg(&kept).stdin(Stdio::null());
        command
    };
    assert_eq!(call(&["show", "none"]).stderr(full()).status().unwrap().code(), Some(32));
    let state = tempfile::tempdir().unwrap();
    let event = call(&["udev", "/dev/sde", "--state"]).arg(state.path()).stdout(full()).status().unwrap();
    assert_eq!(event.code(), Some(0), "an event never fails");
}

#[test]
fn the_verb_of_events_takes_devices_and_help_only() {
    let kept = machine("synthetic-kept");
    for node in ["", "/dev/", "..", "/dev/.."] {
        let state = tempfile::tempdir().unwrap();
        let arguments: [&OsStr; 6] = [
            "udev".as_ref(),
            node.as_ref(),
            "--root".as_ref(),
            kept.as_ref(),
            "--state".as_ref(),
            state.path().as_ref(),
        ];
        let run = run(&arguments, &[("ACTION", "change")]);
        assert_eq!((run.code, run.text()), (Some(0), ""), "{node:?}");
    }
    assert!(run(&["udev", "--help"], &[]).text().contains("Usage: zerocap udev"));
    let mut rooted = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    let state = tempfile::tempdir().unwrap();
    rooted.arg("--root").arg(&kept).arg("--state").arg(state.path()).args(["udev", "/dev/sde"]).env("ACTION", "add");
    let output = rooted.output().unwrap();
    assert!(output.stdout.starts_with(b"ZEROCAP_CLASS="), "global options may stand before the verb");
}
