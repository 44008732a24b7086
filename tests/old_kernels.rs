//! What kernels of servers lack, on recorded machines, run as a program: no sequence number of a disk before Linux 5.15, so
//! that a device without an identity is told from the next one of its number by boot, number and size.
#![allow(clippy::unwrap_used)] // A test may panic.

use std::fs;
use std::path::Path;
use std::process::Command;

const BOOT: &str = "86e0b6d6-aa36-4a04-adbc-5e4ce1cedae9";

fn put(dir: &Path, path: &str, text: impl AsRef<str>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{}\n", text.as_ref())).unwrap();
}

/// A virtual disk without a serial number, on the kernel of Debian 11.
fn machine(dir: &Path) {
    put(dir, "proc/sys/kernel/osrelease", "5.10.0-32-amd64");
    put(dir, "proc/sys/kernel/random/boot_id", BOOT);
    for (file, text) in [("dev", "254:0"), ("size", "131072"), ("queue/write_zeroes_max_bytes", "2147483136")] {
        put(dir, &format!("sys/block/vda/{file}"), text);
    }
}

/// A kept file of it: fast, or that it left old data.
fn kept(state: &Path, name: &str, hazard: bool, ties: &[(&str, serde_json::Value)]) {
    let text = fs::read_to_string("tests/fuzz/corpus/kept/good").unwrap();
    let mut kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    kept["identity"] = serde_json::Value::Null;
    kept["fingerprint_of"] = serde_json::json!({"command_path": "VIRTIO_BLK_T_WRITE_ZEROES"});
    kept["fingerprint"] =
        zerocap::verdict::fingerprint::digest(&serde_json::from_value(kept["fingerprint_of"].clone()).unwrap()).into();
    if hazard {
        kept["class"] = "broken".into();
        kept["zeroes_verified"] = false.into();
        kept["hazard"] =
            serde_json::json!({"hazard": "old-data-left", "method": "punch-hole", "text": "old data at byte 0"});
    }
    ties.iter().for_each(|(key, value)| kept[*key] = value.clone());
    put(state, &format!("run/zerocap/kept/{name}.json"), kept.to_string());
}

fn class(root: &Path, state: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    let output =
        command.args(["show", "vda", "--json", "--root"]).arg(root).arg("--state").arg(state).output().unwrap();
    let documents: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    documents[0]["class"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_sequence_number_boot_number_and_size_tell_a_device_from_the_next() {
    let boot = || serde_json::Value::from(BOOT);
    let size = |bytes: u64| serde_json::Value::from(bytes);
    for (name, ties, fast, broken) in [
        ("254:0", vec![("boot_id", boot()), ("size_bytes", size(131_072 * 512))], "fast", "broken"),
        // It may have grown, or be another one: not good enough for fast, and too bad to be trusted.
        ("254:0", vec![("boot_id", boot()), ("size_bytes", size(512))], "unknown", "broken"),
        ("254:0", vec![("boot_id", boot())], "unknown", "broken"),
        ("254:0", vec![], "unknown", "broken"),
        ("254:0", vec![("boot_id", "another".into()), ("size_bytes", size(131_072 * 512))], "unknown", "unknown"),
        ("254:16", vec![("boot_id", boot()), ("size_bytes", size(131_072 * 512))], "unknown", "unknown"),
    ] {
        for (hazard, want) in [(false, fast), (true, broken)] {
            let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            machine(root.path());
            kept(state.path(), name, hazard, &ties);
            assert_eq!(class(root.path(), state.path()), want, "{name} {hazard} {ties:?}");
        }
    }
}

#[test]
fn where_the_kernel_has_a_sequence_number_nothing_else_counts() {
    for (diskseq, fast, broken) in [(7, "fast", "broken"), (8, "unknown", "unknown")] {
        for (hazard, want) in [(false, fast), (true, broken)] {
            let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            machine(root.path());
            put(root.path(), "sys/block/vda/diskseq", "7");
            kept(state.path(), "254:0", hazard, &[("diskseq", diskseq.into()), ("boot_id", BOOT.into())]);
            assert_eq!(class(root.path(), state.path()), want, "{diskseq} {hazard}");
        }
    }
}

#[test]
fn the_remove_event_drops_what_was_kept_under_the_number() {
    let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    machine(root.path());
    kept(state.path(), "254:0", true, &[("boot_id", BOOT.into())]);
    let mut event = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    event.args(["udev", "/dev/vda", "--root"]).arg(root.path()).arg("--state").arg(state.path());
    event.env("ACTION", "remove").env("MAJOR", "254").env("MINOR", "0");
    assert!(event.status().unwrap().success());
    assert_eq!(class(root.path(), state.path()), "unknown");
}

#[test]
fn a_loop_without_a_sequence_number_is_measured_anew_with_another_file() {
    let root = tempfile::tempdir().unwrap();
    machine(root.path());
    let of = |file: &str| {
        put(root.path(), "sys/block/loop0/dev", "7:0");
        put(root.path(), "sys/block/loop0/size", "2048");
        put(root.path(), "sys/block/loop0/queue/write_zeroes_max_bytes", "4096");
        put(root.path(), "sys/block/loop0/loop/backing_file", file);
        let root = zerocap::machine::fs::root::Root::open(root.path()).unwrap();
        let device = zerocap::machine::block::devices::device(&root, "loop0");
        let mut port = zerocap::machine::port::recorded::RecordedPort::new(&root);
        let facts = zerocap::facts::gather(&root, &mut port, &device, zerocap::facts::Depth::Event);
        zerocap::verdict::fingerprint::lines(&facts)["backing_file"].clone()
    };
    assert_eq!(of("/var/one"), of("/var/one"));
    assert_ne!(of("/var/one"), of("/var/two"));
    assert!(!of("/home/anna/disk").contains("anna"), "a kept file is readable by all");
}
