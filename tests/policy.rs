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
fn a_pin_is_shown_with_its_file_and_line() {
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
    let (_, shown, _) = place.run(&["show", "sde"]);
    assert!(shown.starts_with("sde is treated as having no zeroing offload: pinned by "), "{shown}");
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
    assert!(!listed.contains("is not present now"), "{listed}");
    let devices = place.state.path().join("etc/zerocap/devices");
    let kept = std::fs::read_to_string(devices.join("naa.5000000000000001.json")).unwrap();
    let gone = kept.replace("naa.5000000000000001", "LVM-gone");
    std::fs::write(devices.join("LVM-gone.json"), gone).unwrap();
    let (_, listed, _) = place.run(&["policy", "list"]);
    assert!(
        listed.contains("# LVM-gone is not present now") && listed.contains("`zerocap policy forget LVM-gone`"),
        "{listed}"
    );
    assert_eq!(place.run(&["policy", "forget", "LVM-gone"]).0, 0, "of a volume that is gone");
    assert_eq!(place.run(&["policy", "forget", "naa.5000000000000001"]).0, 0, "of a device that may be gone");
    assert_eq!(place.run(&["policy", "forget", "naa.5000000000000001"]).0, 32);
}

/// A kept file that cannot be used may have held a hazard: show, events and lists all say so, and nothing is wanted.
#[test]
fn an_unusable_kept_file_is_not_treated_as_missing() {
    let place = Place::new();
    let file = place.state.path().join("etc/zerocap/devices/naa.5000000000000005.json");
    let good = std::fs::read_to_string(&file).unwrap();
    assert!(place.event("sde").contains("\nZEROCAP_WANT_"), "the knob is wanted while the file is good");
    std::fs::write(place.policy_file("20-auto.toml"), "[[rule]]\nmeasure = \"auto\"\nscratch = \"label\"\n").unwrap();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    for (text, why) in [
        (good[..good.len() / 2].to_owned(), "not a kept measurement"),
        (changed("\"format\": 1", "\"format\": 2"), "its format is 2 and not 1"),
        (changed("naa.5000000000000005", "naa.5000000000000009"), "for a device with another identity"),
        (
            changed("\"zeroes_verified\": true", "\"zeroes_verified\": false"),
            "it is fast, but its zeroes were not verified",
        ),
        (changed("\"high\": 3.12", "\"high\": 1.5"), "fast, but the speedup is surely below 2"),
        (changed("\"class\": \"fast\"", "\"class\": \"slow\""), "slow, but the speedup is surely above 2"),
        (changed("\"median\": 2.94", "\"median\": -2.94"), "-2.94 is not a ratio"),
        (changed("\"low\": 2.71", "\"low\": -1"), "-1 is not a ratio"),
        (changed("\"median\": 2.94", "\"median\": 1e999"), "number out of range"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (_, shown, told) = place.run(&["show", "--json", "sde"]);
        let documents: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let (d, reason) = (&documents[0], documents[0]["reason"].as_str().unwrap());
        assert!(reason.starts_with("its kept file cannot be used: ") && reason.contains(why), "{why}: {reason}");
        assert_eq!((d["class"].as_str(), d["tunables"].as_array().map(Vec::len)), (Some("unknown"), Some(0)), "{d}");
        assert!(told.contains(why), "{told}");
        let event = place.event("sde");
        assert!(event.starts_with("ZEROCAP_CLASS=unknown\n"), "{event}");
        assert!(!event.contains("ZEROCAP_WANT_") && !event.contains("SYSTEMD_WANTS"), "{event}");
        let (code, listed, problems) = place.run(&["policy", "list"]);
        assert!(code == 1 && problems.contains(why), "{problems}");
        assert!(!listed.contains("naa.5000000000000005.json"), "{listed}");
    }
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

/// What an administrator's slip looks like: each file is told with its name and what to do, and the others count.
#[test]
fn bad_policy_files_are_reported_and_the_others_are_used() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let file = |name: &str| place.policy_file(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(file(name), bytes).unwrap();
    write("10-regex.toml", b"[[rule]]\nmodel = \"a(b\"\nclass = \"slow\"\n");
    write("11-huge.toml", b"[[rule]]\nmodel = \"(a{1000}){1000}\"\nclass = \"slow\"\n");
    write("12-key.toml", b"[[rule]]\nmodle = \"x\"\nclass = \"slow\"\n");
    write("13-twice.toml", b"[[rule]]\nmodel = \"x\"\nmodel = \"y\"\nclass = \"slow\"\n");
    write("14-bytes.toml", b"[[rule]]\nmodel = \"\xff\"\n");
    std::fs::create_dir(file("15-dir.toml")).unwrap();
    symlink("16-ring.toml", file("16-ring.toml")).unwrap();
    symlink("nothing", file("17-gone.toml")).unwrap();
    symlink("/dev/null", file("18-masked.toml")).unwrap();
    std::fs::File::create(file("19-long.toml")).unwrap().set_len(17 << 20).unwrap();
    write("20-mib.toml", "# a remark\n".repeat(100_000).as_bytes());
    write("21-many.toml", "[[rule]]\nclass = \"fast\"\n".repeat(10_001).as_bytes());
    write("30-good.toml", b"[[rule]]\nclass = \"slow\"\n");
    let (code, rules, problems) = place.run(&["policy", "list"]);
    assert_eq!(code, 1);
    assert!(rules.contains("30-good.toml:1: every device: class=slow"), "{rules}");
    let told: Vec<&str> = problems.lines().filter_map(|l| l.split_once("policy.d/").map(|(_, what)| what)).collect();
    let unused = "the file is not used; correct it or remove it";
    let mut wanted = vec![
        "10-regex.toml:2: model: unclosed group; the rule is not used".to_owned(),
        "11-huge.toml:2: model: the expression is too large; the rule is not used".to_owned(),
        "12-key.toml:2: unknown key modle; the rule is not used".to_owned(),
        "13-twice.toml:3: duplicate key; no rule of this file is used".to_owned(),
        format!("14-bytes.toml is not UTF-8; {unused}"),
        format!("15-dir.toml: open: it is not a regular file; {unused}"),
        format!("16-ring.toml: open: Too many levels of symbolic links (os error 40); {unused}"),
        format!("17-gone.toml is a link that leads nowhere; {unused}"),
        format!("19-long.toml: read: it is longer than 2 MiB; {unused}"),
        format!("21-many.toml has 10001 rules; a file may have at most 10000, because udev events would have to wait for more; {unused}"),
    ];
    let mut told: Vec<String> = told.iter().map(|t| (*t).to_owned()).collect();
    told.sort();
    wanted.sort();
    assert_eq!(told, wanted);
    let (code, said, _) = place.run(&["policy", "test", "sda"]);
    assert!(code == 0 && said.contains("class = slow  by ") && said.contains("30-good.toml:2"), "{said}");

    std::fs::remove_dir_all(place.state.path().join("etc/zerocap/policy.d")).unwrap();
    std::fs::write(place.state.path().join("etc/zerocap/policy.d"), "a file").unwrap();
    let (code, _, problems) = place.run(&["policy", "list"]);
    assert!(code == 1 && problems.contains("policy.d: list: Not a directory"), "{problems}");
}

/// An event waits for no rule of another model: none of a hundred thousand expressions is made, and what the file came to
/// is remembered.
#[test]
fn many_rules_do_not_delay_an_event() {
    let place = Place::new();
    let rules = |n: usize| -> String {
        (0..n).map(|i| format!("[[rule]]\nmodel = \"Model {i}.(x|y)*\\\\d{{3,9}}\"\nclass = \"slow\"\n")).collect()
    };
    std::fs::write(place.policy_file("10-good.toml"), "[[rule]]\nclass = \"slow\"\n").unwrap();
    for n in [9_000, 100_000] {
        std::fs::write(place.policy_file("50-many.toml"), rules(n)).unwrap();
        let start = std::time::Instant::now();
        let first = place.event("sde");
        let took = start.elapsed();
        assert!(first.starts_with("ZEROCAP_CLASS=slow\n"), "{first}");
        // Half a second on an idle machine without optimisation; made each, the expressions took 39 s.
        assert!(took.as_secs() < 15, "{n} rules: {took:?}");
        assert_eq!(place.event("sde"), first);
    }
    let (_, _, problems) = place.run(&["policy", "list"]);
    assert!(problems.contains("50-many.toml: read: it is longer than 2 MiB"), "{problems}");
}
