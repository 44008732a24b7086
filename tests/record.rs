//! `zerocap record`: a recording answers as the machine did, byte for byte; without serial numbers, the same up to them.

#![allow(clippy::unwrap_used)] // A test may panic.

#[path = "common/recorded.rs"]
mod recorded;

use recorded::machines;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

fn zerocap(root: Option<&Path>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    if let Some(root) = root {
        command.arg("--root").arg(root);
    }
    command.args(arguments).output().unwrap()
}

/// A detail or a document without what people call the device and where it is mounted: a recording tells nobody's names.
fn without_names(text: &str) -> String {
    if let Ok(Value::Array(mut documents)) = serde_json::from_str(text) {
        for document in &mut documents {
            if let Some(device) = document.get_mut("device").and_then(Value::as_object_mut) {
                device.remove("names");
                device.remove("mounts");
            }
        }
        return serde_json::to_string(&documents).unwrap();
    }
    let rows = ["  called ", "  mounted ", "  links "];
    let mut in_row = false;
    let is_other = |line: &&str| {
        let goes_on = in_row && line.starts_with("               ");
        in_row = goes_on || rows.iter().any(|row| line.starts_with(row));
        !in_row
    };
    text.lines().filter(is_other).fold(String::new(), |kept, line| kept + line + "\n")
}

/// What the verbs that a recording must repeat print of a device, with their exit codes; without the machine's own place.
fn answers(root: Option<&Path>, device: &str) -> Vec<(String, Option<i32>)> {
    let verbs: [&[&str]; 4] = [&["probe"], &["probe", "--json"], &["show"], &["show", "--json"]];
    let answer = |verb: &[&str]| {
        let output = zerocap(root, &[verb, &[device]].concat());
        let text = without_names(&String::from_utf8(output.stdout).unwrap());
        (root.map_or(text.clone(), |root| text.replace(root.to_str().unwrap(), "")), output.status.code())
    };
    verbs.iter().map(|v| answer(v)).collect()
}

fn record(root: Option<&Path>, device: &str, dir: &Path, options: &[&str]) -> String {
    let output = zerocap(root, &[&["record", device, dir.to_str().unwrap()], options].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{device}: {said}");
    said
}

fn devices(machine: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(machine.join("sys/block"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_recording_of_a_recording_answers_byte_for_byte() {
    let temporary = tempfile::tempdir().unwrap();
    let mut count = 0;
    for machine in machines() {
        let name = machine.file_name().unwrap().to_str().unwrap();
        // A machine of many small devices is covered by a few of each form.
        for device in devices(&machine).into_iter().take(5) {
            let dir = temporary.path().join(format!("{name}-{device}"));
            record(Some(&machine), &device, &dir, &["--with-serials"]);
            let (was, is) = (answers(Some(&machine), &device), answers(Some(&dir), &device));
            assert_eq!(was, is, "{name}: {device}");
            count += 1;
        }
    }
    assert!(count > 50, "{count} devices");
}

/// Where two documents differ, as paths; arrays are compared by place.
fn differences(a: &Value, b: &Value, path: &str, found: &mut BTreeSet<String>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{path}");
            a.iter().for_each(|(k, v)| differences(v, &b[k], &format!("{path}/{k}"), found));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{path}");
            a.iter().zip(b).for_each(|(a, b)| differences(a, b, path, found));
        }
        (a, b) if a != b => {
            found.insert(path.to_owned());
        }
        _ => {}
    }
}

/// What may differ where serial numbers are replaced: names, and texts that hold them. No number, class, code or rate.
const MAY_DIFFER: &[&str] =
    &["/device/identity", "/readings/raw", "/findings/text", "/reason", "/measured/fingerprint"];

/// Fields of a reading that hold names.
const NAMES: &[&str] = &["serial", "SN", "SUBNQN", "NGUID", "EUI64", "DESIGNATOR", "dm/uuid", "loop/backing_file"];

#[test]
fn a_recording_without_serials_changes_only_the_names() {
    let temporary = tempfile::tempdir().unwrap();
    for machine in machines() {
        let name = machine.file_name().unwrap().to_str().unwrap();
        for device in devices(&machine).into_iter().take(5) {
            let dir = temporary.path().join(format!("{name}-{device}"));
            record(Some(&machine), &device, &dir, &[]);
            let (was, is) = (answers(Some(&machine), &device), answers(Some(&dir), &device));
            for (was, is) in was.iter().zip(&is) {
                assert_eq!(was.1, is.1, "{name}: {device}");
                let (Ok(was), Ok(is)) = (serde_json::from_str(&was.0), serde_json::from_str::<Value>(&is.0)) else {
                    continue;
                };
                let mut found = BTreeSet::new();
                differences(&was, &is, "", &mut found);
                assert!(found.iter().all(|f| MAY_DIFFER.contains(&f.as_str())), "{name}: {device}: {found:?}");
                let readings = |v: &Value| v["readings"].as_array().cloned().unwrap_or_default();
                for (was, is) in readings(&was).iter().zip(readings(&is)) {
                    let field = was["field"].as_str().unwrap();
                    assert!(was == &is || NAMES.contains(&field), "{name}: {device}: {was} {is}");
                }
            }
        }
    }
}

/// All bytes of all files and link targets below a directory, with the paths themselves.
fn everything(dir: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap();
        if kind.is_symlink() {
            all.push((path.clone(), std::fs::read_link(&path).unwrap().to_str().unwrap().as_bytes().to_vec()));
        } else if kind.is_dir() {
            everything(&path, all);
        } else {
            all.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|w| w.eq_ignore_ascii_case(part))
}

/// A machine of an NVMe head, a SATA disk and a volume over it, that names itself in every place there is.
fn named_machine(dir: &Path) {
    let put = |path: &str, bytes: &[u8]| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let sda = "sys/devices/pci0/ata1/host0/target0:0:0/0:0:0:0";
    put(&format!("{sda}/block/sda/dev"), b"8:0\n");
    put(&format!("{sda}/block/sda/queue/write_zeroes_max_bytes"), b"33553920\n");
    put(&format!("{sda}/vendor"), b"ATA     \n");
    put(&format!("{sda}/model"), b"WDC WD40EFRX-68W\n");
    put(&format!("{sda}/wwid"), b"naa.50014ee2b1c2d3e4\n");
    let mut p80 = vec![0, 0x80, 0, 20];
    p80.extend(b"     WD-WCC4E1234567");
    put(&format!("{sda}/vpd_pg80"), &p80);
    let mut p83 = vec![0, 0x83, 0, 12 + 72];
    p83.extend([1, 3, 0, 8, 0x50, 0x01, 0x4e, 0xe2, 0xb1, 0xc2, 0xd3, 0xe4]);
    p83.extend([2, 1, 0, 68]);
    p83.extend(format!("{:8}{:40}{:20}", "ATA", "WDC WD40EFRX-68WT0N0", "     WD-WCC4E1234567").bytes());
    put(&format!("{sda}/vpd_pg83"), &p83);
    std::os::unix::fs::symlink("../devices/pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda", {
        std::fs::create_dir_all(dir.join("sys/block")).unwrap();
        dir.join("sys/block/sda")
    })
    .unwrap();
    std::os::unix::fs::symlink("../..", dir.join(format!("{sda}/block/sda/device"))).unwrap();
    put(
        "udev/sda",
        b"ID_SERIAL=WDC_WD40EFRX-68WT0N0_WD-WCC4E1234567\nID_SERIAL_SHORT=WD-WCC4E1234567\n\
          ID_WWN=0x50014ee2b1c2d3e4\nID_FS_UUID=0c8a3f1e-5b6d-4c7e-8f90-a1b2c3d4e5f6\n\
          DEVLINKS=/dev/disk/by-id/wwn-0x50014ee2b1c2d3e4 /dev/disk/by-uuid/0c8a3f1e-5b6d-4c7e-8f90-a1b2c3d4e5f6\n",
    );
    put("sys/block/dm-0/dev", b"253:0\n");
    put("sys/block/dm-0/dm/name", b"payroll-archive\n");
    put("sys/block/dm-0/dm/uuid", b"LVM-kd83JdmcUeHvX0aPq2LmNb7Rs5TtYwZcQ1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6\n");
    std::fs::create_dir_all(dir.join("sys/block/dm-0/slaves")).unwrap();
    std::os::unix::fs::symlink("../../sda", dir.join("sys/block/dm-0/slaves/sda")).unwrap();
    put("udev/dm-0", b"DM_NAME=payroll-archive\nDM_VG_NAME=payroll\nDM_LV_NAME=archive\n");
    put("proc/sys/kernel/osrelease", b"6.12.1\n");
}

#[test]
fn no_name_stays_in_any_file() {
    let temporary = tempfile::tempdir().unwrap();
    let (machine, dir) = (temporary.path().join("m"), temporary.path().join("r"));
    named_machine(&machine);
    record(Some(&machine), "dm-0", &dir, &[]);
    let mut all = Vec::new();
    everything(&dir, &mut all);
    assert!(all.len() > 12, "{}", all.len());
    let wwn = [0x50, 0x01, 0x4e, 0xe2, 0xb1, 0xc2, 0xd3, 0xe4];
    let secrets: [&[u8]; 7] =
        [b"WCC4E1234567", b"50014ee2b1c2d3e4", &wwn, b"0c8a3f1e", b"payroll", b"archive", b"kd83Jdmc"];
    for (path, bytes) in &all {
        for secret in secrets {
            let inside = path.strip_prefix(&dir).unwrap().to_str().unwrap();
            assert!(!holds(bytes, secret) && !holds(inside.as_bytes(), secret), "{}", path.display());
        }
    }
    // The disk is one and the same everywhere.
    let read = |path: &str| std::fs::read(dir.join(path)).unwrap();
    let sda = "sys/devices/pci0/ata1/host0/target0:0:0/0:0:0:0";
    let serial = String::from_utf8(read(&format!("{sda}/vpd_pg80"))[4..].to_vec()).unwrap();
    let (p83, udev) = (read(&format!("{sda}/vpd_pg83")), String::from_utf8(read("udev/sda")).unwrap());
    assert!(holds(&p83, serial.trim().as_bytes()) && udev.contains(serial.trim()), "{serial} {udev}");
    let wwid = String::from_utf8(read(&format!("{sda}/wwid"))).unwrap();
    let digits = wwid.trim().strip_prefix("naa.").unwrap();
    assert_eq!(digits.len(), 16);
    assert_eq!(udev.matches(digits).count(), 2, "{udev}");
    let probe = answers(Some(&dir), "sda").remove(0).0;
    assert!(probe.contains(&format!("DESIGNATOR: naa.{digits}")), "{probe}");
    let listed = zerocap(Some(&dir), &["show", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2, "the volume and its disk");
}

#[test]
fn only_the_mount_line_of_a_loop_file_is_recorded() {
    let temporary = tempfile::tempdir().unwrap();
    let at = |name: &str| temporary.path().join(name);
    let put = |path: &str, text: &str| {
        let path = at("m").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "proc/self/mountinfo",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         29 22 0:50 / /home/other rw - nfs4 secrethost:/export rw\n\
         30 22 0:40 /subvolume /srv/acme rw,relatime - btrfs /dev/sdb rw,subvol=/acmevolume\n\
         31 30 8:1 / /srv/acme/below rw - ext4 /dev/sda1 rw\n",
    );
    put("sys/block/loop0/loop/backing_file", "/srv/acme/payroll.img\n");
    put("sys/block/sda/size", "8\n");
    put("sys/block/sdb/queue/write_zeroes_max_bytes", "0\n");
    let btrfs = at("m/sys/fs/btrfs/0c8a3f1e-5b6d-4c7e-8f90-a1b2c3d4e5f6/devices");
    std::fs::create_dir_all(&btrfs).unwrap();
    std::os::unix::fs::symlink("../../../../block/sdb", btrfs.join("sdb")).unwrap();
    put("proc/sys/kernel/osrelease", "6.12.1\n");
    record(Some(&at("m")), "loop0", &at("with"), &["--with-serials"]);
    record(Some(&at("m")), "loop0", &at("without"), &[]);
    let (was, with) = (answers(Some(&at("m")), "loop0"), answers(Some(&at("with")), "loop0"));
    assert_eq!(was, with);
    assert!(was[0].0.contains("/srv/acme/payroll.img  (a file in btrfs on sdb)"), "{}", was[0].0);
    let without = answers(Some(&at("without")), "loop0").remove(0).0;
    assert!(without.contains("(a file in btrfs on sdb)"), "{without}");
    let table = |name: &str| std::fs::read_to_string(at(name).join("proc/self/mountinfo")).unwrap();
    assert_eq!(table("with"), "30 22 0:40 / /srv/acme rw - btrfs /dev/sdb\n");
    let mut all = Vec::new();
    everything(&at("without"), &mut all);
    for (path, bytes) in &all {
        let inside = path.strip_prefix(at("without")).unwrap().to_str().unwrap();
        for secret in [&b"acme"[..], b"payroll", b"0c8a3f1e", b"secrethost", b"other", b"subvolume"] {
            assert!(!holds(bytes, secret) && !holds(inside.as_bytes(), secret), "{}", path.display());
        }
    }
    // What the loop stands on is recorded too.
    assert_eq!(devices(&at("without")), ["loop0", "sdb"]);
}

#[test]
fn only_policy_rules_of_recorded_devices_are_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let (machine, dir) = (temporary.path().join("m"), temporary.path().join("r"));
    named_machine(&machine);
    let rules = machine.join("etc/zerocap/policy.d");
    std::fs::create_dir_all(&rules).unwrap();
    std::fs::write(
        rules.join("99-pins.toml"),
        "# of host db01.example\n[[rule]]\nidentity = \"naa.5000c500deadbe02\"\nclass = \"slow\"\nwhy = \"db01\"\n\n\
         [[rule]]\nidentity = \"naa.50014ee2b1c2d3e4\"\nwhy = \"db01 of payroll\"\nclass = \"slow\"\n\
         [[rule]]\nserial = \"WD-WCC4E.*|OTHER77.*\"\nmodel = \"WDC .*\"\nmeasure = \"never\"\n\
         [[rule]]\nfast_ratio = 3\nscratch = \"/srv/tenant/scratch\"\n",
    )
    .unwrap();
    std::fs::write(rules.join("50-other.toml"), "[[rule]]\nserial = \"OTHER77\"\nclass = \"fast\"\n").unwrap();
    record(Some(&machine), "sda", &dir, &[]);
    let mut all = Vec::new();
    everything(&dir, &mut all);
    for (path, bytes) in &all {
        for secret in [&b"deadbe02"[..], b"db01", b"payroll", b"50014ee2b1c2d3e4", b"WCC4E", b"OTHER77", b"tenant"] {
            assert!(!holds(bytes, secret), "{}", path.display());
        }
    }
    assert!(!dir.join("etc/zerocap/policy.d/50-other.toml").exists());
    let text = std::fs::read_to_string(dir.join("etc/zerocap/policy.d/99-pins.toml")).unwrap();
    assert_eq!(text.matches("[[rule]]").count(), 3, "{text}");
    // Every wish holds again, and comes from the same line.
    let wishes = |root: &Path| {
        let text = zerocap(Some(root), &["policy", "test", "sda"]).stdout;
        String::from_utf8(text).unwrap().replace(root.to_str().unwrap(), "")
    };
    let (was, is) = (wishes(&machine), wishes(&dir));
    for (key, line) in [("class", 10), ("measure", 14), ("fast_ratio", 16), ("scratch", 17)] {
        for text in [&was, &is] {
            let found = text.lines().find(|l| l.contains(key)).unwrap_or_else(|| panic!("{key}: {text}"));
            assert!(found.contains(&format!("99-pins.toml:{line}")), "{key}: {text}");
        }
    }
    let shown = |root: &Path| answers(Some(root), "sda")[2].0.lines().next().unwrap().to_owned();
    assert_eq!(shown(&machine), shown(&dir));
    assert!(shown(&dir).contains("pinned by /etc/zerocap/policy.d/99-pins.toml:10"), "{}", shown(&dir));
}

#[test]
fn a_missing_parent_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let machine = &machines()[0];
    let below = dir.path().join("no/such");
    let output = zerocap(Some(machine), &["record", &devices(machine)[0], below.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!dir.path().join("no").exists());
}

#[test]
fn a_directory_that_holds_something_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "mine").unwrap();
    let machine = &machines()[0];
    let output = zerocap(Some(machine), &["record", &devices(machine)[0], dir.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(zerocap(Some(machine), &["record", "nosuch", "/nonexistent/x"]).status.code(), Some(32));
}

#[test]
fn a_live_device_answers_the_same_from_its_recording() {
    let names = std::fs::read_dir("/sys/block").map(|d| d.map(|e| e.unwrap().file_name().into_string().unwrap()));
    let mut names: Vec<String> = names.into_iter().flatten().filter(|n| Path::new("/dev").join(n).exists()).collect();
    names.sort();
    // Devices whose questions may be slow or refused in a container are few; the guests cover the rest.
    let kinds = ["vda", "loop0", "nvme0n1", "sda", "dm-0", "md0"];
    let mut tried = 0;
    for name in names.iter().filter(|n| kinds.contains(&n.as_str())) {
        let dir = tempfile::tempdir().unwrap();
        let before = answers(None, name);
        record(None, name, dir.path(), &["--with-serials"]);
        assert_eq!(before, answers(Some(dir.path()), name), "{name}");
        tried += 1;
    }
    println!("{tried} live devices");
    if tried == 0 {
        not_run(&format!("none of {kinds:?} is here"));
    }
}
