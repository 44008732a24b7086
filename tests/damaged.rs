//! Damaged recordings: every file that an answer reads is emptied, cut off, filled with numbers that fit nothing, bytes that
//! are no text, quotes and control characters, or replaced by a directory, a FIFO, a file of 2 GiB, a link that leads out of
//! the root. `show` and `probe` still answer, at once: valid JSON, no control byte, and a reason for what is not known.

#![allow(clippy::unwrap_used)] // A test may panic.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use zerocap::assess;
use zerocap::facts::Depth;
use zerocap::jobs::target;
use zerocap::machine::fs::root::{Note, Root};
use zerocap::machine::Roots;
use zerocap::output::small::Glyphs;

/// Machines of each bus and each form of sysfs; the second column is the device that is probed.
const MACHINES: &[(&str, &str)] = &[
    ("kingston-fury-nvme-6.17", "nvme0n1"),
    ("three-nvme-dlfeat-9-0-8", "nvme0n1"),
    ("vm-md-raid0-7.3", "md0"),
    ("vm-scsi-7.3", "sda"),
    ("ibm-ds8870-after", "sde"),
    ("toshiba-mk1059-sata", "sda"),
    ("vm-dm-linear-6.12", "dm-0"),
    ("vm-virtio-7.3", "vda"),
    ("vm-loop-7.3", "loop0"),
];

/// No single answer may take longer; usual is a hundredth of it.
const AT_MOST: Duration = Duration::from_secs(5);

/// What is done to a file.
#[derive(Debug, Clone)]
enum Damage {
    Bytes(Vec<u8>),
    /// Only the first bytes are left.
    Cut(usize),
    Directory,
    Fifo,
    Huge,
    Link(&'static str),
}

/// What is done to text.
fn of_text() -> Vec<Damage> {
    let texts: [&[u8]; 9] = [
        b"",
        b"\n",
        b"18446744073709551616\n",
        b"99999999999999999999999999999999999999999\n",
        b"-1\n",
        b"0x10\n",
        b"\xff\xfe\x80\n",
        b"\"},{'\\\x1b]0;x\x07\x1b[2J\x9b\r\n$(id)\n",
        b"\0\0\0\0",
    ];
    let mut all: Vec<Damage> = texts.iter().map(|t| Damage::Bytes(t.to_vec())).collect();
    all.push(Damage::Bytes(vec![b'7'; 300 * 1024]));
    all.extend([Damage::Directory, Damage::Fifo, Damage::Huge]);
    all.extend(["/etc/hostname", "../../../../../../../../../../etc/passwd", "nowhere", "."].map(Damage::Link));
    all
}

/// What is done to the bytes of a page: every length at which a field may begin to be missing, and bytes of one kind.
fn of_page(length: usize) -> Vec<Damage> {
    let lengths =
        [0, 1, 2, 3, 4, 5, 7, 8, 12, 13, 14, 16, 25, 32, 33, 36, 44, 64, 100, 128, 130, 200, 256, 520, 521, 1024];
    let mut all: Vec<Damage> = lengths.into_iter().filter(|n| *n < length).map(Damage::Cut).collect();
    all.push(Damage::Cut(length.saturating_sub(1)));
    all.extend([0x00, 0xff, 0x1b, b'"'].map(|byte| Damage::Bytes(vec![byte; length])));
    all.extend([Damage::Directory, Damage::Fifo, Damage::Huge, Damage::Link("/etc/passwd")]);
    all
}

fn is_page(path: &str) -> bool {
    path.starts_with("commands/") || path.contains("/vpd_pg") || path.ends_with("/inquiry")
}

/// A copy of a machine in a directory of its own, links kept.
fn copy(machine: &str, to: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines").join(machine);
    let copied = Command::new("cp").arg("-a").arg(&from).arg(to).status().unwrap();
    assert!(copied.success());
    to.join(machine).canonicalize().unwrap()
}

fn roots(root: &Path) -> Roots {
    Roots::new(Some(root), None).unwrap()
}

/// The files that `show` and `probe` read of a machine, without links, below its root.
fn files_read(root: &Path, device: &str) -> BTreeSet<String> {
    let mut roots = roots(root);
    roots.system = Root::open(root).unwrap().noting();
    let device = target::named(&roots, device).unwrap();
    assess::look_at(&roots, roots.port().as_mut(), &device, Depth::All, &mut |_| ());
    let path = |note: Note| match note {
        Note::Read(path, _) => root.join(path).canonicalize().ok(),
        _ => None,
    };
    let found = roots.system.trail().into_iter().filter_map(path).filter(|p| p.is_file());
    found.map(|p| p.strip_prefix(root).unwrap().to_str().unwrap().to_owned()).collect()
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(m) if m.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn damage(path: &Path, original: &[u8], how: &Damage) {
    remove(path);
    match how {
        Damage::Bytes(bytes) => fs::write(path, bytes).unwrap(),
        Damage::Cut(length) => fs::write(path, &original[..(*length).min(original.len())]).unwrap(),
        Damage::Directory => fs::create_dir_all(path.join("x")).unwrap(),
        Damage::Fifo => {
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        }
        Damage::Huge => fs::File::create(path).unwrap().set_len(2 << 30).unwrap(),
        Damage::Link(to) => symlink(to, path).unwrap(),
    }
}

/// Text that a person or a program reads: printable, in lines.
fn check_text(text: &[u8], what: &str) {
    let text = std::str::from_utf8(text).unwrap_or_else(|e| panic!("{what}: {e}"));
    let raw = text.chars().find(|c| *c != '\n' && zerocap::device::display::is_deceptive(*c));
    assert_eq!(raw, None, "{what}");
    assert!(!text.contains("root:x:0"), "{what}: a file outside the root");
}

/// Readings have a value or a reason.
fn check_probe(json: &str, what: &str) -> Value {
    check_text(json.as_bytes(), what);
    let value: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{what}: {e}"));
    for reading in value["readings"].as_array().unwrap() {
        let reason = reading["unknown"].as_str().is_some_and(|r| !r.is_empty());
        assert_ne!(reading["raw"].is_string(), reason, "{what}: {reading}");
    }
    value
}

/// All answers about a device, in this process.
fn answers(root: &Path, device: &str, what: &str) -> Value {
    let began = Instant::now();
    let roots = roots(root);
    let device = target::named(&roots, device).unwrap();
    let picture = assess::look_at(&roots, roots.port().as_mut(), &device, Depth::All, &mut |_| ());
    let mut shown = Vec::new();
    let answer = assess::document::probe(&picture.facts, &picture.document);
    zerocap::output::probe::write(&mut shown, &answer, &picture.document).unwrap();
    zerocap::output::detail::write(&mut shown, &picture.document, None, Glyphs::PLAIN).unwrap();
    check_text(&shown, what);
    let json = picture.document.json();
    check_text(json.as_bytes(), what);
    serde_json::from_str::<Value>(&json).unwrap_or_else(|e| panic!("{what}: {e}"));
    let probe = check_probe(&verdict_format::answers::json(&answer), what);
    assert!(began.elapsed() < AT_MOST, "{what}: {:?}", began.elapsed());
    probe
}

/// One file at a time: the rest of the machine is as it was.
#[test]
fn one_damaged_file_is_a_fact_that_says_so() {
    let temporary = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (machine, device) in MACHINES {
        let root = copy(machine, temporary.path());
        for file in files_read(&root, device) {
            let path = root.join(&file);
            let original = fs::read(&path).unwrap();
            let ways = if is_page(&file) { of_page(original.len()) } else { of_text() };
            for how in ways {
                damage(&path, &original, &how);
                let what = format!("{machine}: {file}: {}", format!("{how:?}").chars().take(80).collect::<String>());
                let probe = answers(&root, device, &what);
                // A limit that is no number is not known, and never taken for 0.
                let own = file.rsplit_once("/queue/").filter(|(disk, _)| disk.ends_with(&format!("/{device}")));
                let number = matches!(&how, Damage::Bytes(b) if b.starts_with(b"0") && b.len() < 3);
                if let Some((_, name)) = own.filter(|(_, n)| n.ends_with("_bytes") && !number) {
                    let readings = probe["readings"].as_array().unwrap();
                    let reading = readings.iter().find(|r| r["source"] == "queue" && r["field"] == name);
                    assert!(reading.is_some_and(|r| r["raw"].is_null()), "{what}: {reading:?}");
                }
                count += 1;
            }
            remove(&path);
            fs::write(&path, &original).unwrap();
        }
    }
    println!("{count} damaged machines");
    assert!(count > 2000, "{count}");
}

/// Every file of a machine at once, through the program itself: its exit code is 0.
#[test]
fn a_completely_damaged_machine_still_gets_an_answer() {
    let temporary = tempfile::tempdir().unwrap();
    for (machine, device) in MACHINES.iter().take(4) {
        for (n, how) in of_text().iter().enumerate() {
            let root = copy(
                machine,
                &fs::create_dir(temporary.path().join(format!("{machine}{n}")))
                    .map(|()| temporary.path().join(format!("{machine}{n}")))
                    .unwrap(),
            );
            for file in files_read(&root, device) {
                damage(&root.join(&file), b"", how);
            }
            for verb in [
                &["show", "--all", "--json"][..],
                &["show", "--all"],
                &["show", device],
                &["probe", "--json", device],
                &["probe", device],
            ] {
                let output =
                    Command::new(env!("CARGO_BIN_EXE_zerocap")).arg("--root").arg(&root).args(verb).output().unwrap();
                let what = format!("{machine}: {verb:?}: {how:.60?}");
                assert_eq!(output.status.code(), Some(0), "{what}: {}", String::from_utf8_lossy(&output.stderr));
                check_text(&output.stdout, &what);
                check_text(&output.stderr, &what);
                if verb.contains(&"--json") {
                    serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|e| panic!("{what}: {e}"));
                }
            }
        }
    }
}

/// Directories too: a file, a link out of the root or to itself where a directory is expected.
#[test]
fn damaged_directories_are_facts_that_say_so() {
    let temporary = tempfile::tempdir().unwrap();
    let (mut count, mut had) = (0, 0);
    for (machine, device) in MACHINES {
        let root = copy(machine, temporary.path());
        let disk = root.join("sys/block").join(device).canonicalize().unwrap();
        let known = |probe: &Value, source: &str| {
            let readings = probe["readings"].as_array().unwrap();
            readings.iter().filter(|r| r["source"] == source && r["raw"].is_string()).count()
        };
        had += usize::from(known(&answers(&root, device, machine), "queue") > 0);
        for name in ["queue", "device", "slaves", "md", "dm", "loop", "device/scsi_disk", "device/driver", "multipath"]
        {
            let path = disk.join(name);
            if fs::symlink_metadata(&path).is_err() {
                continue;
            }
            let aside = disk.join("aside");
            fs::rename(&path, &aside).unwrap();
            for how in [
                Damage::Bytes(b"x".to_vec()),
                Damage::Bytes(b"../../../../../../../../etc".to_vec()),
                Damage::Fifo,
                Damage::Link("/etc"),
                Damage::Link("../../../../../../../../../.."),
                Damage::Link("."),
                Damage::Link("queue"),
            ] {
                damage(&path, b"", &how);
                let what = format!("{machine}: {name}: {how:?}");
                let probe = answers(&root, device, &what);
                assert!(name != "queue" || known(&probe, "queue") == 0, "{what}: {probe}");
                count += 1;
            }
            remove(&path);
            fs::rename(&aside, &path).unwrap();
        }
    }
    println!("{count} damaged directories");
    assert!(count > 100, "{count}");
    assert!(had >= 6, "of {had} machines only anything of the queue was known before the damage");
}
