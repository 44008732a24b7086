//! What reading the answer of a running system's device costs: system calls of `check`, `show` and `estimate`, those of the
//! child included, beside an event of the same device and `lsblk -D`. The goals are 250 calls and 1.5 events for `check`, and
//! `lsblk -D` for a `show` of all; the ratios are printed (`make bench`). Counted by strace; where that is not installed, or
//! there is no device, the test says so.
//!
//! That an answer costs the same beside 200 disks as beside one is measured in a guest: `tests/vm/run read-cost`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::Path;
use std::process::Command;
use zerocap::assess;
use zerocap::facts::Depth;
use zerocap::machine::block::devices;
use zerocap::machine::Roots;
use zerocap::verdict::fingerprint;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

/// What a bound allows, so that another release of the loader or of libudev breaks nothing: the goal and a tenth.
const CHECK: usize = 250 + 25;

/// strace's record of a program, children included; none where strace is not installed.
fn trace(state: &Path, program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let record = state.join("strace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-s", "200", "-o"]).arg(&record).arg(program).args(arguments);
    // Cargo's own library path would make the loader look in places no installed program looks.
    command.env("ACTION", "change").env_remove("LD_LIBRARY_PATH");
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("strace:"), "{said}");
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
        Err(e) => panic!("strace: {e}"),
    }
    // A call that another process interrupted stands in two lines; F_GETFD is asked only by a build with debug assertions.
    let is_call = |l: &&str| l.contains('(') && !l.contains("resumed>") && !l.contains("F_GETFD") && !l.contains("+++");
    Some(std::fs::read_to_string(record).unwrap().lines().filter(is_call).map(str::to_owned).collect())
}

/// A device of this machine that is not empty, and that root may open.
fn device() -> Option<String> {
    let names = std::fs::read_dir("/sys/block").ok()?.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let whole = |name: &String| {
        let size = std::fs::read_to_string(format!("/sys/block/{name}/size")).unwrap_or_default();
        size.trim() != "0" && Path::new("/dev").join(name).exists()
    };
    names.filter(whole).min()
}

#[test]
fn the_cost_of_an_answer_and_of_a_list_is_bounded() {
    let Some(name) = device() else { return not_run("this machine has no block device") };
    let (state, program) = (tempfile::tempdir().unwrap(), env!("CARGO_BIN_EXE_zerocap"));
    let at = state.path().to_str().unwrap();
    let of = |arguments: &[&str]| trace(state.path(), program, &[arguments, &["--state", at]].concat());
    let node = format!("/dev/{name}");
    let Some(event) = of(&["udev", &node]) else { return not_run("strace is not installed") };
    let [check, show, estimate, all] =
        [&["check", &node][..], &["show", &node], &["estimate", &node, "512"], &["show"]].map(|a| of(a).unwrap());
    let ratio = |calls: &[String], to: usize| calls.len() as f64 / to as f64;
    println!("system calls for {name}: an event {}", event.len());
    println!("  check {} (goal 250), {:.2} of an event (goal 1.5)", check.len(), ratio(&check, event.len()));
    println!("  show {}, estimate {}", show.len(), estimate.len());
    let lsblk = Command::new("lsblk").arg("--version").output().is_ok();
    match trace(state.path(), "lsblk", &["-D"]).filter(|_| lsblk) {
        Some(lsblk) => println!(
            "  show of all {}, lsblk -D {}: {:.2} (goal 1.0)",
            all.len(),
            lsblk.len(),
            ratio(&all, lsblk.len())
        ),
        None => not_run("lsblk is not installed"),
    }
    for (verb, calls) in [("check", &check), ("estimate", &estimate)] {
        assert!(calls.len() > 60, "{verb}: {} calls are too few to be all", calls.len());
        assert!(calls.len() <= CHECK, "{verb}: {}: {calls:#?}", calls.len());
    }
}

/// The copy that reads what may never come has nothing of its parent's open, and is no second start of the program.
#[test]
fn the_reading_child_closed_all_descriptors_of_its_parent() {
    let Some(name) = device() else { return not_run("this machine has no block device") };
    let state = tempfile::tempdir().unwrap();
    let arguments = ["show", "--state", state.path().to_str().unwrap(), &name];
    let Some(calls) = trace(state.path(), env!("CARGO_BIN_EXE_zerocap"), &arguments) else {
        return not_run("strace is not installed");
    };
    let process = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    let parent = process(&calls[0]);
    let child: Vec<&String> = calls.iter().filter(|l| process(l) != parent).collect();
    assert_eq!(calls.iter().filter(|l| l.contains("execve(")).count(), 1, "{calls:#?}");
    let at =
        |part: &str| child.iter().position(|l| l.contains(part)).unwrap_or_else(|| panic!("no {part}: {child:#?}"));
    // Before it reads anything: streams of its own, all else closed, a group of its own, few rights.
    let queue = at("queue/");
    for part in ["dup2(", "close_range(3, ", "setpgid(0, 0", "PR_SET_NO_NEW_PRIVS"] {
        assert!(at(part) < queue, "{part} comes late: {child:#?}");
    }
    let of_parent = calls.iter().filter(|l| process(l) == parent && l.contains("queue/")).collect::<Vec<_>>();
    let opened = of_parent.iter().filter(|l| l.contains("openat(")).count();
    assert_eq!(opened, 0, "queue files are read by the child alone: {of_parent:#?}");
}

/// An answer reads less than the proof of a test does, and what it leaves out is in no document.
#[test]
fn what_an_answer_does_not_read_is_in_no_document() {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut compared = 0;
    for machine in std::fs::read_dir(machines).unwrap() {
        let root = machine.unwrap().path();
        let Ok(roots) = Roots::new(Some(&root), None) else { continue };
        for device in devices::disks(&roots.system).unwrap_or_default() {
            let of = |depth| {
                let picture = assess::look_at(&roots, roots.port().as_mut(), &device, depth, &mut |_| ());
                (picture.document.json(), fingerprint::lines(&picture.facts))
            };
            assert_eq!(of(Depth::Answer), of(Depth::Claims), "{}: {}", root.display(), device.name);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} devices");
}
