//! The reader: whose file it believes, of which device, and what it makes of words that it does not know.

#![allow(clippy::unwrap_used)] // A test may panic.

use serde_json::{json, Value};
use std::fs;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::Path;
use verdict_format::{
    accept, read_below, Basis, Class, Code, Devnum, Document, FindingCode, Method, ReadError, Severity, State,
};

const DISK: Devnum = Devnum { major: 8, minor: 0 };
const PARTITION: Devnum = Devnum { major: 8, minor: 1 };

/// A document as this version writes it.
fn document() -> Value {
    json!({"format": 1, "type": "verdict", "published": null, "sustained": null,
        "data_write_bytes_per_second": null, "device": {"allocated_bytes": null, "command_path": null, "name": "sda", "node": "/dev/sda", "devnum": "8:0", "diskseq": 7, "kind": "scsi",
        "transport": null, "driver": "sd", "identity": null, "vendor": null, "model": null, "firmware": null,
        "size_bytes": null, "logical_block_bytes": 512, "physical_block_bytes": null, "members": []},
        "class": "fast", "basis": "measured", "expected": "unknown", "reason": "measured", "method": "punch-hole",
        "zeroes_verified": true, "zero_bytes_per_second": 6, "write_bytes_per_second": 2,
        "overwrite_after_zero_bytes_per_second": null, "speedup": null,
        "methods": [{"method": "punch-hole", "class": "fast", "zero_bytes_per_second": 6, "error": null,
            "verified": true}],
        "modes": [], "hints": {"claimed_granularity_bytes": null, "alignment_bytes": 4096, "chunk_bytes": null, "break_even_bytes": null}, "claims": [],
        "findings": [{"code": "knob-off", "severity": "notice", "text": "the knob is off"}], "tunables": [],
        "overwrite": null, "interference": null, "deep": null, "measured": null,
        "initial_state": {"state": "unknown", "how": null}})
}

fn parse(value: &Value) -> Document {
    accept(value.to_string().as_bytes(), Some(7), None).unwrap().unwrap()
}

/// A sysfs with one disk and its partition, and a directory with the disk's document.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(document: &str) -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("sys/devices/sda/sda1")).unwrap();
        fs::create_dir_all(at("sys/dev/block")).unwrap();
        fs::create_dir(at("run")).unwrap();
        for (path, text) in
            [("sda/dev", "8:0"), ("sda/diskseq", "7"), ("sda/sda1/dev", "8:1"), ("sda/sda1/partition", "1")]
        {
            fs::write(at("sys/devices").join(path), format!("{text}\n")).unwrap();
        }
        symlink("../../devices/sda", at("sys/dev/block/8:0")).unwrap();
        symlink("../../devices/sda/sda1", at("sys/dev/block/8:1")).unwrap();
        fs::write(at("run/8:0.json"), document).unwrap();
        fs::set_permissions(at("run/8:0.json"), fs::Permissions::from_mode(0o644)).unwrap();
        Machine(dir)
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    fn read(&self, devnum: Devnum) -> Result<Option<Document>, ReadError> {
        self.read_of(devnum, fs::metadata(self.0.path()).unwrap().uid())
    }

    fn read_of(&self, devnum: Devnum, owner: u32) -> Result<Option<Document>, ReadError> {
        read_below(&self.at("sys"), &self.at("run"), owner, devnum)
    }
}

#[test]
fn a_disk_and_its_partition_have_one_document() {
    let machine = Machine::new(&document().to_string());
    for devnum in [DISK, PARTITION] {
        assert_eq!(machine.read(devnum).unwrap().unwrap().class, Class::Fast, "{devnum}");
    }
}

#[test]
fn a_document_of_another_disk_or_none_is_no_answer() {
    let machine = Machine::new(&document().to_string());
    fs::write(machine.at("sys/devices/sda/diskseq"), "8\n").unwrap();
    assert_eq!(machine.read(DISK).unwrap(), None, "the number was used again");
    fs::remove_file(machine.at("sys/devices/sda/diskseq")).unwrap();
    assert_eq!(machine.read(DISK).unwrap(), None, "a document with a sequence number, a kernel without");
    fs::remove_file(machine.at("run/8:0.json")).unwrap();
    assert_eq!(machine.read(PARTITION).unwrap(), None, "nothing is published");
    assert!(matches!(machine.read(Devnum { major: 9, minor: 0 }), Err(ReadError::NoDevice(_))));
}

#[test]
fn without_sequence_numbers_the_size_tells_a_disk_from_the_next() {
    let mut old = document();
    old["device"]["diskseq"] = json!(null);
    old["device"]["size_bytes"] = json!(1 << 20);
    let machine = Machine::new(&old.to_string());
    assert_eq!(machine.read(DISK).unwrap(), None, "a kernel with sequence numbers, a document without");
    fs::remove_file(machine.at("sys/devices/sda/diskseq")).unwrap();
    fs::write(machine.at("sys/devices/sda/size"), "2048\n").unwrap();
    assert_eq!(machine.read(PARTITION).unwrap().unwrap().class, Class::Fast);
    fs::write(machine.at("sys/devices/sda/size"), "2049\n").unwrap();
    assert_eq!(machine.read(DISK).unwrap(), None);
}

#[test]
fn only_a_file_that_the_owner_alone_may_write_is_trusted() {
    let machine = Machine::new(&document().to_string());
    let owner = fs::metadata(machine.0.path()).unwrap().uid();
    let path = machine.at("run/8:0.json");
    assert!(matches!(machine.read_of(DISK, owner + 1), Err(ReadError::NotTrusted(p)) if p == path));
    for mode in [0o664, 0o646] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(machine.read(DISK), Err(ReadError::NotTrusted(_))), "{mode:o}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let elsewhere = machine.at("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(matches!(machine.read(DISK), Err(ReadError::NotTrusted(_))), "a link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(machine.read(DISK), Err(ReadError::NotTrusted(_))), "a directory");
}

#[test]
fn a_file_of_another_format_is_an_error() {
    for text in ["", "{", "[]", "{}", "{\"format\": \"1\"}", "{\"format\": 1}", "null"] {
        let machine = Machine::new(text);
        assert!(matches!(machine.read(DISK), Err(ReadError::NotADocument(..))), "{text}");
    }
    let mut other = document();
    other["format"] = json!(2);
    assert!(matches!(Machine::new(&other.to_string()).read(DISK), Err(ReadError::OtherFormat(_, 2))));
}

#[test]
fn a_document_of_a_newer_version_is_read_and_never_better_than_it_says() {
    let mut newer = document();
    newer["class"] = json!("quick");
    newer["expected"] = json!("quick");
    newer["basis"] = json!("rumour");
    newer["method"] = json!("sanitize");
    newer["methods"][0]["method"] = json!("sanitize");
    newer["methods"][0]["class"] = json!("quick");
    newer["findings"][0] = json!({"code": "new-code", "severity": "fatal", "text": "t", "more": 1});
    newer["initial_state"] = json!({"state": "half", "how": "asked"});
    newer["a_field_of_a_later_version"] = json!({"deep": [1]});
    let d = parse(&newer);
    assert_eq!((d.class, d.expected, d.basis, d.method), (Class::Unknown, Class::Unknown, Some(Basis::Model), None));
    assert_eq!((d.methods[0].method, d.methods[0].class), (None, Some(Class::Unknown)));
    assert_eq!((&d.findings[0].code, d.findings[0].severity), (&Code::Other("new-code".to_owned()), Severity::Warning));
    assert_eq!(d.codes(), ["new-code"]);
    assert_eq!(d.initial_state.state, State::Unknown);
}

#[test]
fn a_document_that_is_read_is_written_unchanged() {
    let d = parse(&document());
    assert_eq!((d.class, d.basis, d.method), (Class::Fast, Some(Basis::Measured), Some(Method::PunchHole)));
    assert!(d.findings[0].code == FindingCode::KnobOff);
    assert_eq!(serde_json::from_str::<Value>(&d.json()).unwrap(), document());
    // Words of a wrong type are no words of the future.
    let mut wrong = document();
    wrong["class"] = json!(1);
    assert!(accept(wrong.to_string().as_bytes(), Some(7), None).is_err());
}

#[test]
fn the_device_files_of_this_machine_are_told_from_others() {
    assert!(Devnum::of_node(Path::new("/dev/null")).is_err());
    assert!(Devnum::of_node(Path::new("/dev/does-not-exist")).is_err());
}
