//! What an event costs: `zerocap udev` on recorded devices makes at most 100 system calls of its own and no child process; the
//! program that the rule calls no more.
//! Counted by strace; where that is not installed the test says so.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

fn machine_dir(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines").join(machine)
}

/// The system calls of one event, by strace's own record of each, from the first of the program's own (the standard library
/// begins with a poll of the standard streams). What the loader does before that differs between releases: Debian 13's
/// libudev brings a library that Debian 12's does not.
fn calls(program: &[&str], machine: &str, device: &str, state: &Path) -> Option<usize> {
    let record = state.join("strace");
    let root = machine_dir(machine);
    let run = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&record)
        .args(program)
        .arg("--root")
        .arg(root)
        .arg("--state")
        .arg(state)
        .arg(format!("/dev/{device}"))
        .env("ACTION", "add")
        // Cargo's own library path would make the loader look in places no installed program looks.
        .env_remove("LD_LIBRARY_PATH")
        .output();
    let output = match run {
        Ok(output) => output,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
        Err(e) => panic!("strace: {e}"),
    };
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.starts_with("ZEROCAP_CLASS="), "{lines}{}", String::from_utf8_lossy(&output.stderr));
    let record = std::fs::read_to_string(record).unwrap();
    assert!(!record.contains("clone(") && !record.contains("fork(") && !record.contains("clone3("), "a child process");
    // A line that tells of a signal or an exit is no call; F_GETFD is asked only by a debug build of the standard library.
    let counted = |l: &&str| l.contains('(') && !l.contains("+++") && !l.contains("F_GETFD");
    // The program of the rule has no such begin: it counts from the directory that stands for `/`.
    let begins = |l: &&str| !l.contains(" poll(") && !l.contains("O_PATH|O_DIRECTORY");
    Some(record.lines().skip_while(begins).filter(counted).count())
}

const WHOLE: &[&str] = &[env!("CARGO_BIN_EXE_zerocap"), "udev"];
const SMALL: &[&str] = &[env!("CARGO_BIN_EXE_zerocap-event")];

/// A unit with RestrictSUIDSGID=yes gets ENOSYS for openat2: systemd-udevd.service is one, and so are the project's own.
#[test]
fn nothing_of_the_running_system_is_opened_by_openat2() {
    let names = std::fs::read_dir("/sys/block").into_iter().flatten();
    let names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
    // A loop without a file has nothing to tell.
    let size = |name: &String| std::fs::read_to_string(format!("/sys/block/{name}/size")).unwrap();
    let Some(name) = names.filter(|name| size(name).trim() != "0").min() else {
        not_run("this machine has no block device");
        return;
    };
    let state = tempfile::tempdir().unwrap();
    let record = state.path().join("strace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&record).arg(env!("CARGO_BIN_EXE_zerocap"));
    strace.args(["udev", "--state"]).arg(state.path()).arg(format!("/dev/{name}")).env("ACTION", "change");
    match strace.output() {
        Ok(output) => assert!(output.stdout.starts_with(b"ZEROCAP_CLASS="), "{output:?}"),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            not_run("strace is not installed");
            return;
        }
        Err(e) => panic!("strace: {e}"),
    }
    let record = std::fs::read_to_string(record).unwrap();
    assert!(record.contains(&format!("\"sys/block/{name}\"")), "sysfs was read: {record}");
    assert!(!record.contains("openat2("), "{record}");
}

#[test]
fn at_most_100_system_calls_and_no_child() {
    for (machine, device) in [
        ("kingston-fury-nvme-6.17", "nvme0n1"),
        ("kingston-hyperx-sata-6.17", "sda"),
        ("ibm-ds8870-after", "sde"),
        ("virtio-blk-raw-file", "vdb"),
        ("loop-and-lvm-4.16", "dm-0"),
    ] {
        let state = tempfile::tempdir().unwrap();
        // The first one compiles the rules.
        let all = [WHOLE, WHOLE, SMALL].map(|program| calls(program, machine, device, state.path()));
        let [Some(_), Some(count), Some(small)] = all else {
            not_run("strace is not installed");
            return;
        };
        eprintln!("{machine}/{device}: {count} system calls, {small} of the program of the rule");
        assert!(small <= count, "{machine}/{device}: {small} of the program of the rule, {count} of the whole one");
        assert!(count > 20, "{machine}/{device}: {count} calls are too few to be all");
        // A stack answers for its members too: the bound is for one device.
        if machine != "loop-and-lvm-4.16" {
            assert!(count <= 100, "{machine}/{device}: {count}");
        }
    }
}

/// A kept measurement is used only where no other device has the same identity: three calls for each that there is.
#[test]
fn a_kept_measurement_costs_a_look_at_each_other_device() {
    let (machine, device) = ("synthetic-kept", "sda");
    let state = tempfile::tempdir().unwrap();
    let devices = state.path().join("etc/zerocap/devices");
    std::fs::create_dir_all(&devices).unwrap();
    for entry in std::fs::read_dir(machine_dir(machine).join("etc/zerocap/devices")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), devices.join(entry.file_name())).unwrap();
    }
    let others = std::fs::read_dir(machine_dir(machine).join("sys/block")).unwrap().count() - 1;
    let Some(count) = calls(WHOLE, machine, device, state.path()) else {
        not_run("strace is not installed");
        return;
    };
    eprintln!("{machine}/{device}: {count} system calls beside {others} devices");
    assert!(others > 5 && count <= 100 + 3 * others, "{count}");
}
