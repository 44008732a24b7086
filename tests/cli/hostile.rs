//! Recorded machines whose files hold what no kernel writes: control bytes, quotes, newlines, numbers without end, files that
//! are none, links that lead out. Every verb that reads answers, in time, without a raw control byte.

use super::{on, Run};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Text that injects wherever it is printed raw: a terminal sequence, a line of its own, JSON, a udev property, C1 controls,
/// a bidirectional override and mark, a soft hyphen, a tag, a byte that is no UTF-8.
const EVIL: &[u8] = b"a\"b'\\c\x1b]0;t\x07\x1b[31m\nZEROCAP_CLASS=fast\r{}\x7f\xc2\x9b2J\xe2\x80\xae\xd8\x9c\xc2\xad\xf3\xa0\x81\x81\xff";

/// A machine under construction.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        machine.file("proc/sys/kernel/osrelease", b"6.17.0\n");
        machine
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn place(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> PathBuf {
        let path = self.path().join(Path::new(path.as_ref()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn file(&self, path: &(impl AsRef<OsStr> + ?Sized), bytes: &[u8]) {
        fs::write(self.place(path), bytes).unwrap();
    }

    fn fifo(&self, path: &str) {
        let place = self.place(path);
        assert!(std::process::Command::new("mkfifo").arg(place).status().unwrap().success());
    }

    /// A file of 2 GiB that takes no space.
    fn huge(&self, path: &str) {
        fs::File::create(self.place(path)).unwrap().set_len(2 << 30).unwrap();
    }

    fn link(&self, path: &str, target: &str) {
        symlink(target, self.place(path)).unwrap();
    }

    /// A disk with limits that make sense.
    fn disk(&self, name: &str) {
        for (file, value) in [
            ("size", "2097152"),
            ("queue/logical_block_size", "512"),
            ("queue/write_zeroes_max_bytes", "2097152"),
            ("queue/write_zeroes_unmap_max_hw_bytes", "2097152"),
            ("queue/write_zeroes_unmap_max_bytes", "2097152"),
        ] {
            self.file(&format!("sys/block/{name}/{file}"), format!("{value}\n").as_bytes());
        }
    }
}

/// Nothing but printable UTF-8 and the ends of lines.
fn is_clean(run: &Run, call: &[&str]) {
    let text = std::str::from_utf8(&run.out).unwrap_or_else(|e| panic!("{call:?}: {e}"));
    for (stream, text) in [("stdout", text), ("stderr", &run.err)] {
        let raw = text.chars().find(|c| *c != '\n' && zerocap::device::display::is_deceptive(*c));
        assert_eq!(raw, None, "{call:?}: {stream}: {text:?}");
    }
    assert!(!text.lines().any(|l| l == "ZEROCAP_CLASS=fast"), "{call:?}: {text}");
}

/// Every verb that reads; the documents of all devices.
fn every_reading_verb(machine: &Machine) -> Vec<Value> {
    const COLUMNS: &str = "DEVICE,CLASS,BASIS,MODEL,FIRMWARE,IDENTITY,KIND,SIZE,MEASURED,METHOD,FINDINGS";
    let mut calls = vec![vec!["show", "--all"], vec!["show", "--all", "-o", COLUMNS], vec!["show", "--jsonl"]];
    let all = ["show", "--all", "--json"];
    let listed = on(machine.path(), &all);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    is_clean(&listed, &all);
    let documents: Vec<Value> = serde_json::from_slice(&listed.out).unwrap();
    assert!(!documents.is_empty());
    let names: Vec<String> = fs::read_dir(machine.path().join("sys/block"))
        .unwrap()
        .filter_map(|e| e.unwrap().file_name().into_string().ok())
        .filter(|n| n.chars().all(|c| c.is_ascii_alphanumeric()))
        .collect();
    assert!(!names.is_empty());
    for name in &names {
        calls.extend([vec!["show", name], vec!["probe", name], vec!["probe", name, "--json"], vec!["check", name]]);
        calls.extend([vec!["check", name, "--json"], vec!["udev", name]]);
    }
    for call in &calls {
        let run = on(machine.path(), call);
        is_clean(&run, call);
        // A link that leads nowhere is listed, and is no device when it is named.
        let there = call[1].starts_with('-') || machine.path().join("sys/block").join(call[1]).exists();
        let allowed: &[i32] = match call[0] {
            "udev" => &[0],
            _ if !there => &[32],
            "check" => &[0, 3, 4, 5, 6],
            _ => &[0],
        };
        assert!(run.code.is_some_and(|c| allowed.contains(&c)), "{call:?}: {:?} {}", run.code, run.err);
        if call.contains(&"--json") && there {
            serde_json::from_slice::<Value>(&run.out).unwrap_or_else(|e| panic!("{call:?}: {e}"));
        }
    }
    documents
}

fn of<'a>(documents: &'a [Value], name: &str) -> &'a Value {
    documents.iter().find(|d| d["device"]["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn texts_of_a_device_are_escaped() {
    let machine = Machine::new();
    machine.disk("sda");
    for file in ["vendor", "model", "rev", "wwid"] {
        machine.file(&format!("sys/block/sda/device/{file}"), EVIL);
    }
    machine.file("sys/block/sda/diskseq", EVIL);
    machine.file("sys/block/sda/dev", EVIL);
    machine.file("sys/block/sda/queue/zoned", EVIL);
    machine.file("udev/sda", EVIL);
    machine.file("proc/sys/kernel/osrelease", EVIL);
    machine.disk("nvme0n1");
    for file in ["model", "firmware_rev", "serial", "transport", "quirks"] {
        machine.file(&format!("sys/block/nvme0n1/device/{file}"), EVIL);
    }
    machine.file("sys/block/nvme0n1/wwid", EVIL);
    machine.disk("vda");
    machine.file("sys/block/vda/serial", EVIL);
    machine.disk("md0");
    machine.file("sys/block/md0/md/level", EVIL);
    machine.file("sys/block/md0/md/uuid", EVIL);
    let documents = every_reading_verb(&machine);
    for name in ["sda", "nvme0n1"] {
        let model = of(&documents, name)["device"]["model"].as_str().unwrap();
        assert!(model.starts_with("a\"b'\\\\c\\x1b]0;t\\x07\\x1b[31m\\x0aZEROCAP_CLASS=fast"), "{model}");
        assert_eq!(of(&documents, name)["class"], "unknown");
    }
    assert_eq!(of(&documents, "sda")["device"]["diskseq"], Value::Null);
}

#[test]
fn names_are_escaped() {
    let machine = Machine::new();
    machine.disk("sda");
    for name in [&b"sd\x1b[2J"[..], b"sd\nZEROCAP_CLASS=fast\n", b"sd\xff", b"sd\"'\\", b" ", "sd\u{202e}".as_bytes()] {
        let mut path = b"sys/block/".to_vec();
        path.extend(name);
        path.extend(b"/queue/write_zeroes_max_bytes");
        machine.file(OsStr::from_bytes(&path), b"0\n");
    }
    machine.link("sys/block/dm-0/slaves/sd\x1b[2J", "../../sda");
    let documents = every_reading_verb(&machine);
    let names: Vec<&str> = documents.iter().map(|d| d["device"]["name"].as_str().unwrap()).collect();
    for name in ["sda", "dm-0", r"sd\x1b[2J", r"sd\x0aZEROCAP_CLASS=fast\x0a", "sd\"'\\\\", " ", r"sd\xe2\x80\xae"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    // A name that is no UTF-8 is none that a kernel gives, and is passed over.
    assert_eq!(names.len(), 7, "{names:?}");
}

#[test]
fn invalid_numbers_are_not_known() {
    let machine = Machine::new();
    for (i, number) in [
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "1e9",
        "0x10",
        "٣",
        "",
        "99999999999999999999999",
        " 7 7",
    ]
    .iter()
    .enumerate()
    {
        let name = format!("sd{}", char::from(b'a' + i as u8));
        for file in [
            "size",
            "diskseq",
            "queue/logical_block_size",
            "queue/physical_block_size",
            "queue/discard_granularity",
            "queue/discard_max_bytes",
            "queue/write_zeroes_max_bytes",
            "queue/write_zeroes_unmap_max_hw_bytes",
            "queue/write_zeroes_unmap_max_bytes",
            "queue/io_timeout",
            "device/scsi_disk/0:0:0:0/max_write_same_blocks",
        ] {
            machine.file(&format!("sys/block/{name}/{file}"), format!("{number}\n").as_bytes());
        }
    }
    let documents = every_reading_verb(&machine);
    for document in &documents {
        assert_ne!(document["device"]["size_bytes"], 0, "{document}");
        assert_eq!(document["device"]["size_bytes"], Value::Null, "{document}");
        assert_eq!(document["class"], "unknown");
    }
    assert_eq!(of(&documents, "sda")["device"]["diskseq"], u64::MAX);
    assert_eq!(of(&documents, "sdb")["device"]["diskseq"], Value::Null);
}

#[test]
fn files_that_are_not_regular_are_not_known_and_do_not_hang() {
    let machine = Machine::new();
    machine.disk("sda");
    fs::create_dir_all(machine.place("sys/block/sda/device/model/x")).unwrap();
    machine.fifo("sys/block/sda/device/vendor");
    machine.huge("sys/block/sda/device/rev");
    machine.huge("sys/block/sda/device/vpd_pgb2");
    machine.huge("commands/sda/scsi-read-capacity-16.bin");
    machine.fifo("commands/sda/scsi-vpd-b0.bin");
    fs::remove_file(machine.place("sys/block/sda/queue/write_zeroes_max_bytes")).unwrap();
    machine.fifo("sys/block/sda/queue/write_zeroes_max_bytes");
    machine.fifo("udev/sda");
    machine.disk("nvme0n1");
    machine.huge("commands/nvme0n1/nvme-id-ns.bin");
    machine.file("commands/nvme0n1/nvme-id-ctrl.bin", b"short");
    machine.fifo("commands/nvme0n1/nvme-id-ctrl-nvm.err");
    machine.file("commands/nvme0n1/nvme-id-ns-nvm.err", EVIL);
    machine.fifo("sys/block/sdz");
    machine.file("sys/block/sdy", b"a file where a directory is expected");
    let documents = every_reading_verb(&machine);
    let device = &of(&documents, "sda")["device"];
    assert_eq!((&device["model"], &device["vendor"], &device["firmware"]), (&Value::Null, &Value::Null, &Value::Null));
}

#[test]
fn links_do_not_lead_out_of_the_root() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, "LEAKED").unwrap();
    let machine = Machine::new();
    machine.disk("sda");
    machine.link("sys/block/sda/device/model", secret.to_str().unwrap());
    machine.link("sys/block/sda/device/vendor", &format!("../../../../../../../../../..{}", secret.display()));
    machine.link("sys/block/sda/device/rev", "rev");
    machine.link("sys/block/sda/device/wwid", "/proc/self/root/etc/hostname");
    machine.link("sys/block/sdb", "/zerocap-nowhere");
    machine.link("sys/block/sdc", "sdc");
    machine.link("sys/block/md0/slaves/sda", "/dev/sda");
    machine.link("sys/block/md0/slaves/md0", "..");
    let documents = every_reading_verb(&machine);
    for field in ["model", "vendor", "firmware", "identity"] {
        assert_eq!(of(&documents, "sda")["device"][field], Value::Null, "{field}");
    }
}

#[test]
fn a_stack_that_lies_on_itself_does_not_loop() {
    let machine = Machine::new();
    meshed(&machine, 2);
    let documents = every_reading_verb(&machine);
    assert!(documents.iter().all(|d| d["class"] == "unknown"));
}

#[test]
fn a_mesh_of_stacks_is_answered_in_time() {
    let machine = Machine::new();
    meshed(&machine, 4);
    let documents = every_reading_verb(&machine);
    assert_eq!(documents.len(), 5);
    assert!(documents.iter().all(|d| d["class"] == "unknown" && d["basis"].is_null()), "{documents:?}");
}

/// Stacks of which each is made of all, itself too.
fn meshed(machine: &Machine, count: usize) {
    machine.disk("sda");
    for i in 0..count {
        machine.disk(&format!("dm-{i}"));
        for below in 0..count {
            machine.link(&format!("sys/block/dm-{i}/slaves/dm-{below}"), &format!("../../dm-{below}"));
        }
    }
}

#[test]
fn invalid_kept_files_are_named_and_not_used() {
    let machine = Machine::new();
    let kept = |name: &str| format!("etc/zerocap/devices/naa.{name}.json");
    for name in ["sda", "sdb", "sdc", "sdd", "sde"] {
        machine.disk(name);
        machine.file(&format!("sys/block/{name}/device/wwid"), format!("naa.{name}\n").as_bytes());
    }
    machine.file(&kept("sda"), EVIL);
    machine.huge(&kept("sdb"));
    fs::create_dir_all(machine.place(&kept("sdc"))).unwrap();
    machine.file(&kept("sdd"), b"{\"format\":2}");
    machine.file(&kept("sde"), &[b'['; 100_000]);
    machine.file("etc/zerocap/policy.d/10.toml", EVIL);
    fs::create_dir_all(machine.place("etc/zerocap/policy.d/20.toml")).unwrap();
    let documents = every_reading_verb(&machine);
    assert!(documents.iter().all(|d| d["class"] == "unknown" && d["measured"].is_null()));
    let said = on(machine.path(), &["show"]).err;
    for name in ["sda", "sdb", "sdc", "sdd", "sde"] {
        assert!(said.contains(&kept(name)), "{name}: {said}");
    }
}

#[test]
fn a_rule_file_without_end_is_named_and_not_used() {
    let machine = Machine::new();
    machine.disk("sda");
    machine.huge("etc/zerocap/policy.d/30.toml");
    let run = on(machine.path(), &["check", "sda"]);
    assert_eq!(run.code, Some(5));
    assert!(run.err.contains("etc/zerocap/policy.d/30.toml"), "{}", run.err);
}

#[test]
fn texts_of_a_kept_file_are_escaped() {
    let machine = Machine::new();
    machine.disk("sda");
    machine.file("sys/block/sda/device/wwid", b"naa.5000000000000001\n");
    machine.file("sys/block/sda/device/rev", b"1\n");
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/synthetic-kept/etc/zerocap/devices");
    let mut kept: Value = serde_json::from_slice(&fs::read(real.join("naa.5000000000000001.json")).unwrap()).unwrap();
    let evil = String::from_utf8_lossy(EVIL).into_owned();
    for field in ["at", "kernel", "baseline", "scratch", "inconclusive"] {
        kept[field] = Value::from(evil.clone());
    }
    kept["proof"] = Value::from(vec![evil.clone()]);
    kept["hazard"]["text"] = Value::from(evil.clone());
    kept["findings"] = serde_json::json!([{"code": "deferred-cost", "text": evil}]);
    kept["methods"] = serde_json::json!([{"method": "punch-hole", "class": null, "zero_bytes_per_second": null, "error": evil, "verified": null}]);
    machine.file("etc/zerocap/devices/naa.5000000000000001.json", &serde_json::to_vec(&kept).unwrap());
    let documents = every_reading_verb(&machine);
    assert_eq!(documents[0]["class"], "broken");
}

#[test]
fn a_fifo_among_the_kept_files_does_not_hang() {
    for path in [
        "etc/zerocap/devices/naa.1.json",
        "etc/zerocap/policy.d/10.toml",
        "run/zerocap/8:0.json",
        "var/lib/zerocap/intent/naa.1",
    ] {
        let machine = Machine::new();
        machine.disk("sda");
        machine.file("sys/block/sda/dev", b"8:0\n");
        machine.file("sys/block/sda/device/wwid", b"naa.1\n");
        machine.fifo(path);
        let documents = every_reading_verb(&machine);
        assert_eq!((&documents[0]["class"], &documents[0]["basis"]), (&Value::from("unknown"), &Value::Null), "{path}");
    }
}
