//! `zerocap fleet summarize` over a fleet of known truth: the counts are those of a plain program that holds everything, the
//! causes are those that were put in, and no damage of the input is fatal.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

#[path = "fleet/generate.rs"]
mod generate;
#[path = "fleet/plain.rs"]
mod plain;

use generate::{Fleet, Why};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn made(fleet: Fleet) -> (Vec<u8>, u64) {
    let mut lines = Vec::new();
    let damaged = generate::write(&mut lines, fleet).unwrap();
    (lines, damaged)
}

fn summarize(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .args(["fleet", "summarize"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    // Whoever does not read standard input lets it break.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn summary(input: &[u8]) -> Value {
    let output = summarize(&["--json", "-"], input);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn fleet_counts_equal_those_of_a_simple_program() {
    let (lines, damaged) = made(Fleet { documents: 8_000, damaged: 12, seed: 1 });
    let found = summary(&lines);
    assert!(damaged > 50, "{damaged}");
    assert_eq!((found["bad"].as_u64(), found["lines"].as_u64()), (Some(damaged), Some(8_000 + damaged)));
    let wanted = plain::models(&lines);
    let models = found["models"].as_array().unwrap();
    assert_eq!(models.len(), wanted.len());
    assert!(models.len() > 100, "{}", models.len());
    for (row, wanted) in models.iter().zip(&wanted) {
        assert_eq!(row, wanted);
    }
    // In another order, and packed, they are the same.
    let mut backwards: Vec<&[u8]> = lines.split_inclusive(|b| *b == b'\n').collect();
    backwards.reverse();
    assert_eq!(summary(&backwards.concat())["models"], found["models"]);
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, &lines).unwrap();
    for packer in ["gzip", "zstd"] {
        let packed = Command::new(packer).arg("-kq").arg(&plain).status();
        if !packed.is_ok_and(|s| s.success()) {
            continue;
        }
        let file = std::fs::read_dir(dir.path()).unwrap().flatten().map(|e| e.path()).find(|p| *p != plain).unwrap();
        let output = summarize(&["--json", file.to_str().unwrap()], b"");
        let found_packed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found_packed["models"], found["models"], "{packer}");
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn the_reported_causes_are_those_of_the_generated_fleet() {
    let (lines, _) = made(Fleet { documents: 30_000, damaged: 0, seed: 2 });
    let found = summary(&lines);
    let causes: BTreeMap<String, &str> = found["disagreements"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|d| Some((d["model"].as_str()?.to_owned(), d["cause"].as_str().unwrap())))
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    for model in generate::models().iter().filter(|m| m.kind != "virtio") {
        let cause = causes.get(&format!("Model {}", model.number)).copied();
        let wanted = match model.why {
            Why::Nothing => None,
            Why::Firmware => Some("firmware"),
            // One way to attach it: nothing differs.
            Why::Transport if model.kind == "nvme" => None,
            Why::Transport => Some("transport"),
            Why::Kernel => Some("kernel"),
            Why::Machine | Why::Busy => Some("surroundings"),
            Why::Unit => Some("unexplained"),
        };
        assert_eq!(cause, wanted, "{model:?}");
        seen.insert(wanted);
    }
    assert_eq!(seen.len(), 6, "every cause but the command is there: {seen:?}");
}

#[test]
fn entries_stand_only_where_enough_devices_on_enough_machines_agree() {
    let (lines, _) = made(Fleet { documents: 30_000, damaged: 0, seed: 3 });
    let entries = |more: &[&str]| {
        let output = summarize(&[&["--hwdb", "-"], more].concat(), &lines);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = entries(&[]);
    let matched: Vec<&str> = text.lines().filter(|l| l.starts_with("zerocap:model:")).collect();
    assert!(matched.len() > 60, "{text}");
    for model in generate::models() {
        let of_model: Vec<&&str> =
            matched.iter().filter(|l| l.starts_with(&format!("zerocap:model:MODEL_{}:", model.number))).collect();
        match model.why {
            Why::Nothing if model.kind != "virtio" => assert_eq!(of_model.len(), 3, "an entry a firmware: {model:?}"),
            // What stands behind a virtual disk is no property of its model.
            Why::Nothing | Why::Unit | Why::Machine | Why::Busy | Why::Kernel => {
                assert_eq!(of_model.len(), 0, "{model:?}")
            }
            Why::Firmware | Why::Transport => {}
        }
    }
    assert!(text.contains("no entry: its devices are of different classes"), "{text}");
    assert!(text.contains("no entry: it is a virtual disk"), "{text}");
    // The form is that of `policy model`, which the rule reads.
    let record: Vec<&str> =
        text.split("\n\n").find(|r| r.contains("zerocap:model:MODEL_1:fw:F1:")).unwrap().lines().collect();
    assert!(record[0].starts_with("# measured under ") && record[0].ends_with(" machines"), "{record:?}");
    assert_eq!(&record[1..3], ["zerocap:model:MODEL_1:fw:F1:", " ZEROCAP_MODEL_CLASS=fast"]);
    assert!(record[3].starts_with(" ZEROCAP_MODEL_DEVICES=") && record[4].starts_with(" ZEROCAP_MODEL_SPEEDUP="));
    let none = entries(&["--devices", "100000"]);
    assert!(!none.contains("\nzerocap:model:") && none.contains("at least 100000 are needed"), "{none}");
    assert!(entries(&["--machines", "100000"]).contains("machines; at least 100000 are needed"));
}

/// A line of a device by its machine, identity, time and class.
fn line(machine: &str, identity: &str, collected: &str, class: &str) -> String {
    json!({"format": 1, "type": "verdict", "machine": machine, "collected": collected, "hwdb": {"model": "M", "revision": "1"},
        "backend": null, "device": {"name": "sda", "kind": "scsi", "identity": identity, "model": "M", "firmware": "1"},
        "class": class, "basis": "measured", "zero_bytes_per_second": 8_000_000_000u64, "write_bytes_per_second": 1_000_000_000,
        "speedup": {"median": 8.0}, "findings": [], "measured": {"at": "2026-11-01T00:00:00Z", "kernel": "7.3.4"}})
    .to_string()
        + "\n"
}

#[test]
fn the_newest_document_of_a_device_on_a_machine_counts() {
    let (old, new) = ("2026-10-01T00:00:00Z", "2026-11-30T00:00:00Z");
    let classes = |lines: &[String]| {
        let found = summary(lines.concat().as_bytes());
        let [row] = found["models"].as_array().unwrap().as_slice() else { panic!("{found}") };
        (
            row["classes"]["fast"].as_u64().unwrap(),
            row["classes"]["slow"].as_u64().unwrap(),
            row["devices"].as_u64().unwrap(),
        )
    };
    let (first, second) = (line("m1", "naa.1", old, "slow"), line("m1", "naa.1", new, "fast"));
    assert_eq!(classes(&[first.clone(), second.clone()]), (1, 0, 1));
    assert_eq!(classes(&[second.clone(), first.clone(), second.clone()]), (1, 0, 1), "whatever the order");
    // A device that two machines see has an answer on each, and is one device.
    assert_eq!(classes(&[first.clone(), line("m2", "naa.1", new, "fast")]), (1, 1, 1));
    assert_eq!(classes(&[first.clone(), line("m1", "naa.2", new, "fast")]), (1, 1, 2));
    // Two of one second: the class that comes first in the alphabet.
    assert_eq!(classes(&[line("m1", "naa.1", old, "fast"), first]), (1, 0, 1));
    let found = summary((line("m1", "naa.1", old, "fast") + &line("m2", "naa.2", new, "fast")).as_bytes());
    assert_eq!(
        (&found["models"][0]["silent"], &found["machines"], &found["latest"]),
        (&json!(1), &json!(2), &json!(new))
    );
}

#[test]
fn bad_lines_are_counted_and_named_and_never_fatal() {
    let good = line("m1", "naa.1", "2026-11-30T00:00:00Z", "fast");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.jsonl");
    let mut bytes = good.clone().into_bytes();
    bytes.extend(b"{\"format\":1\n\xff\xfe\n\x1b[31mred\n{\"format\":7}\n");
    bytes.extend("y".repeat(3 << 20).bytes());
    bytes.push(b'\n');
    bytes.extend(good.trim_end().bytes());
    std::fs::write(&file, &bytes).unwrap();
    let name = file.to_str().unwrap();
    let output = summarize(&[name], b"");
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0));
    assert!(text.starts_with("1 device on 1 machine, of 1 model; no model disagrees with itself.\n"), "{text}");
    for (number, what) in [(2, "EOF"), (3, ""), (4, "expected value"), (5, "format 7"), (6, "longer than")] {
        let wanted = format!("zerocap: {name}:{number}: ");
        assert!(said.lines().any(|l| l.starts_with(&wanted) && l.contains(what)), "{wanted}{what}\n{said}");
    }
    assert!(said.contains("5 of 7 lines are not valid documents"), "{said}");
    assert!(!said.contains('\u{1b}'));
    // A packed file that ends too early: what was read of it counts.
    if let Ok(packed) = Command::new("gzip").args(["-c", name]).output() {
        let cut = dir.path().join("cut.gz");
        std::fs::write(&cut, &packed.stdout[..packed.stdout.len() - 12]).unwrap();
        let output = summarize(&[cut.to_str().unwrap()], b"");
        assert_eq!(output.status.code(), Some(64));
        let wanted = format!("zerocap: {}: read to the end: ", cut.display());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&wanted), "{said}");
        assert!(output.stdout.starts_with(b"1 device on 1 machine"));
    }
    // A file that is not there is told, and the others count.
    let none = Path::new("/zerocap-no-such-file").to_str().unwrap();
    let output = summarize(&[none, name], b"");
    assert_eq!((output.status.code(), output.stdout.starts_with(b"1 device")), (Some(64), true));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/zerocap-no-such-file: open: "));
    assert_eq!(summarize(&[none], b"").status.code(), Some(1));
    assert_eq!(summarize(&[], b"").status.code(), Some(2));
    assert_eq!(summarize(&["-"], b"").stdout, b"There is no line to read.\n");
    assert_eq!(summarize(&["-"], b"x\ny\n").stdout, b"None of 2 lines is a document.\n");
}

#[test]
fn no_text_of_a_line_reaches_a_terminal_or_hwdb_raw() {
    let nasty =
        line("m1", "naa.1", "2026-11-30T00:00:00Z", "fast").replace("\"M\"", "\"M\\u001b[2J\\n zerocap:model:*:\"");
    let output = summarize(&["-"], nasty.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{1b}') && text.lines().count() == 4, "{text:?}");
    let output = summarize(&["--hwdb", "--devices", "1", "--machines", "1", "-"], nasty.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|l| l.is_empty() || l.starts_with('#')), "{text:?}");
}
