//! `zerocap policy` and `zerocap tune` as a program, on a recorded machine with its state elsewhere: pins of many processes
//! at once beside events, kept verdicts forgotten, the automatic test asked for once, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

struct Place {
    root: PathBuf,
    state: tempfile::TempDir,
}

impl Place {
    /// The machine with kept measurements, and a copy of its state that may be written.
    fn new() -> Place {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/synthetic-kept");
        let state = tempfile::tempdir().unwrap();
        let devices = state.path().join("etc/zerocap/devices");
        std::fs::create_dir_all(&devices).unwrap();
        for entry in std::fs::read_dir(root.join("etc/zerocap/devices")).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), devices.join(entry.file_name())).unwrap();
        }
        Place { root, state }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        command.args(words).arg("--root").arg(&self.root).arg("--state").arg(self.state.path());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    fn start(&self, words: &[&str]) -> Child {
        self.command(words).env("ACTION", "change").stdout(Stdio::null()).spawn().unwrap()
    }

    fn policy_file(&self, name: &str) -> PathBuf {
        let dir = self.state.path().join("etc/zerocap/policy.d");
        std::fs::create_dir_all(&dir).unwrap();
        dir.join(name)
    }

    fn event(&self, device: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        command.arg("udev").arg("--root").arg(&self.root).arg("--state").arg(self.state.path());
        let output = command.arg(format!("/dev/{device}")).env("ACTION", "change").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Disks of the machine that have an identity of their own.
const DISKS: [&str; 5] = ["sda", "sdb", "sdc", "sdd", "sde"];

#[test]
fn pins_of_many_processes_at_once_are_all_kept() {
    let place = Place::new();
    for round in 0..4 {
        let class = ["slow", "fast"][round % 2];
        let mut children: Vec<Child> = Vec::new();
        for disk in DISKS {
            children.push(place.start(&["policy", "pin", disk, class, "--why", "at once"]));
            children.push(place.start(&["udev", &format!("/dev/{disk}")]));
        }
        children.iter_mut().for_each(|c| assert!(c.wait().unwrap().success()));
        let text = std::fs::read_to_string(place.policy_file("99-pins.toml")).unwrap();
        assert_eq!(text.matches("[[rule]]").count(), DISKS.len(), "one pin a disk, none lost:\n{text}");
        assert_eq!(text.matches(&format!("class = \"{class}\"")).count(), DISKS.len(), "{text}");
    }
    let (code, listed, problems) = place.run(&["policy", "list"]);
    assert_eq!((code, problems.as_str()), (0, ""), "{listed}");
    let mut children: Vec<Child> = DISKS.iter().map(|d| place.start(&["policy", "unpin", d])).collect();
    children.iter_mut().for_each(|c| assert!(c.wait().unwrap().success()));
    let text = std::fs::read_to_string(place.policy_file("99-pins.toml")).unwrap();
    assert!(!text.contains("[[rule]]"), "{text}");
    assert_eq!(place.run(&["policy", "unpin", "sda"]).0, 1, "nothing is pinned any more");
}

#[test]
fn a_pin_shows_where_it_stands() {
    let place = Place::new();
    std::fs::write(place.policy_file("20-mine.toml"), "[[rule]]\nkind = \"scsi\"\nclass = \"slow\"\nfast_ratio = 3\n")
        .unwrap();
    assert_eq!(place.run(&["policy", "pin", "sde", "none", "--why", "a \"reason\"\nwith lines"]).0, 0);
    let (code, told, _) = place.run(&["policy", "test", "sde"]);
    assert_eq!(code, 0);
    assert!(told.contains("/etc/zerocap/policy.d/99-pins.toml:5 (a \"reason\"\\x0awith lines)"), "{told}");
    assert!(told.contains("fast_ratio = 3  by "), "{told}");
    assert!(told.contains("20-mine.toml:4"), "{told}");
    assert!(!told.contains("class = slow"), "the last that fits wins: {told}");
    assert!(place.event("sde").starts_with("ZEROCAP_CLASS=none\n"));
}

#[test]
fn what_was_kept_is_forgotten_by_device_or_identity() {
    let place = Place::new();
    assert!(place.event("sde").starts_with("ZEROCAP_CLASS=fast\n"));
    let (_, listed, _) = place.run(&["policy", "list"]);
    assert!(listed.contains("naa.5000000000000005.json: naa.5000000000000005 "), "{listed}");
    assert_eq!(place.run(&["policy", "forget", "sde"]).0, 0);
    assert!(place.event("sde").starts_with("ZEROCAP_CLASS=unknown\n"));
    let (code, _, error) = place.run(&["policy", "forget", "sde"]);
    assert!(code == 1 && error.contains("nothing is kept"), "{error}");
    assert_eq!(place.run(&["policy", "forget", "naa.5000000000000001"]).0, 0, "of a device that may be gone");
    assert_eq!(place.run(&["policy", "forget", "naa.5000000000000001"]).0, 32);
}

#[test]
fn an_automatic_test_is_asked_for_where_nothing_is_known() {
    let mut place = Place::new();
    let machine = tempfile::tempdir().unwrap();
    for (file, text) in
        [("dev", "8:0"), ("diskseq", "1"), ("device/wwid", "naa.5"), ("queue/write_zeroes_max_bytes", "4096")]
    {
        let path = machine.path().join("sys/block/sda").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place.root = machine.path().to_owned();
    let auto = |more: &str| {
        std::fs::write(
            place.policy_file("20-auto.toml"),
            format!("[[rule]]\nkind = \"scsi\"\nmeasure = \"auto\"\n{more}"),
        )
        .unwrap();
    };
    let wants = || place.event("sda").lines().find_map(|l| l.strip_prefix("SYSTEMD_WANTS=").map(str::to_owned));
    assert_eq!(wants(), None, "no policy");
    auto("scratch = \"label\"\n");
    assert_eq!(wants().as_deref(), Some("zerocap-measure@8:0.service"));
    assert_eq!(place.run(&["policy", "pin", "sda", "slow"]).0, 0);
    assert_eq!(wants(), None, "an administrator has said what it is");
    assert_eq!(place.run(&["policy", "unpin", "sda"]).0, 0);
    auto("");
    assert_eq!(wants(), None, "without a scratch there is nowhere to test");
    auto("scratch = \"label\"\n");
    std::fs::write(machine.path().join("sys/block/sda/queue/write_zeroes_max_bytes"), "0").unwrap();
    assert_eq!(wants(), None, "there is no offload to test");
}

#[test]
fn a_model_entry_from_the_event_gives_the_class() {
    let place = Place::new();
    assert_eq!(place.run(&["policy", "forget", "sde"]).0, 0);
    let with = |class: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        command.arg("udev").arg("--root").arg(&place.root).arg("--state").arg(place.state.path()).arg("/dev/sde");
        command.env("ACTION", "add").env("ZEROCAP_MODEL_CLASS", class).env("ZEROCAP_MODEL_DEVICES", "3");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let lines = with("fast");
    assert!(lines.starts_with("ZEROCAP_CLASS=fast\n") && lines.contains("\nZEROCAP_BASIS=model\n"), "{lines}");
    assert!(with("quick").starts_with("ZEROCAP_CLASS=unknown\n"));
}

#[test]
fn a_recorded_machine_is_planned_for_and_never_written() {
    let place = Place::new();
    std::fs::write(place.policy_file("20-mine.toml"), "[[rule]]\npath = \"/dev/sde\"\nclass = \"broken\"\n").unwrap();
    let (code, told, _) = place.run(&["tune", "apply", "--dry-run", "sde"]);
    assert!(code == 0 && told.contains("queue/write_zeroes_unmap_max_bytes: would write 0 over "), "{told}");
    for words in [&["tune", "apply", "sde"][..], &["tune", "reset"]] {
        let (code, _, error) = place.run(words);
        assert!(code == 2 && error.contains("never written"), "{error}");
    }
    let (code, lines, _) = place.run(&["tune", "show", "--json", "sde"]);
    let lines: Vec<serde_json::Value> = serde_json::from_str(&lines).unwrap();
    assert_eq!(code, 0);
    let knob = lines.iter().find(|l| l["tunable"] == "write_zeroes_unmap_max_bytes").unwrap();
    assert_eq!((knob["wanted"].as_str(), knob["set_by"].as_str()), (Some("0"), Some("kernel")), "{knob}");
    assert_eq!(place.run(&["tune", "show", "no-such"]).0, 32);
}
