//! Our fields equal those of sg3_utils on the same bytes: every VPD page, INQUIRY and READ CAPACITY(16) reply of every
//! recorded machine. NVMe pages are compared in the guest, with nvme-cli (`tests/vm/t/peers.sh`): it decodes no files.

#![allow(clippy::unwrap_used)] // A test may panic.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use zerocap::fact::Fact;
use zerocap::facts::ata;
use zerocap::facts::field::Field;
use zerocap::facts::scsi::fields as rows;
use zerocap::facts::scsi::vpd;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::{not_run, too_old};

/// What sg3_utils prints of a field: the beginning of its line, and how to read the rest.
struct Row {
    field: &'static Field,
    label: &'static str,
    read: fn(&str) -> Option<u64>,
}

/// The number at the begin of a text, decimal or 0x; `true` and `false` are bits.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(bit) = text.split_whitespace().next().and_then(|w| w.parse::<bool>().ok()) {
        return Some(bit.into());
    }
    match text.strip_prefix("0x") {
        Some(hex) => {
            let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            u64::from_str_radix(&hex[..end], 16).ok()
        }
        None => text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok(),
    }
}

/// `-1` stands for a field of all ones of 32 bits, which is our number; a 64-bit one is shown in hex.
const fn row(field: &'static Field, label: &'static str) -> Row {
    Row { field, label, read: number }
}

const B0: &[Row] = &[
    row(&rows::WSNZ, "Write same non-zero (WSNZ): "),
    row(&rows::OPTIMAL_TRANSFER_GRANULARITY, "Optimal transfer length granularity: "),
    row(&rows::MAX_TRANSFER, "Maximum transfer length: "),
    row(&rows::OPTIMAL_TRANSFER, "Optimal transfer length: "),
    row(&rows::MAX_UNMAP_LBAS, "Maximum unmap LBA count: "),
    // The words that Debian 13's version swaps where the count is all ones.
    Row {
        field: &rows::MAX_UNMAP_LBAS,
        label: "unlimited: Maximum unmap LBA count blocks",
        read: |_| Some(u32::MAX.into()),
    },
    row(&rows::MAX_UNMAP_DESCRIPTORS, "Maximum unmap block descriptor count: "),
    row(&rows::OPTIMAL_UNMAP_GRANULARITY, "Optimal unmap granularity: "),
    row(&rows::UGAVALID, "Unmap granularity alignment valid: "),
    row(&rows::UNMAP_ALIGNMENT, "Unmap granularity alignment: "),
    row(&rows::MAX_WRITE_SAME, "Maximum write same length: "),
];

/// The words of SBC-4 table 271, as sg3_utils spells them.
fn form_factor(words: &str) -> Option<u64> {
    const WORDS: [&str; 6] = ["not reported", "5.25 inch", "3.5 inch", "2.5 inch", "1.8 inch", "less th"];
    WORDS.iter().position(|w| words.starts_with(w)).and_then(|n| u64::try_from(n).ok())
}

const B1: &[Row] = &[
    Row { field: &rows::ROTATION_RATE, label: "Non-rotating medium", read: |_| Some(1) },
    Row { field: &rows::ROTATION_RATE, label: "Nominal rotation rate: ", read: number },
    Row { field: &rows::ROTATION_RATE, label: "Medium rotation rate is not reported", read: |_| Some(0) },
    Row { field: &rows::FORM_FACTOR, label: "Nominal form factor: ", read: form_factor },
    row(&rows::ZONED, "ZONED="),
];

// The long names are those of Debian 12, the short ones those of Debian 13.
const B2: &[Row] = &[
    row(&rows::LBPU, "LBPU="),
    row(&rows::LBPWS, "LBPWS="),
    row(&rows::LBPWS10, "LBPWS10="),
    row(&rows::LBPRZ_B2, "LBPRZ="),
    row(&rows::ANC_SUP, "ANC_SUP="),
    row(&rows::LBPU, "Unmap command supported (LBPU): "),
    row(&rows::LBPWS, "Write same (16) with unmap bit supported (LBPWS): "),
    row(&rows::LBPWS10, "Write same (10) with unmap bit supported (LBPWS10): "),
    row(&rows::LBPRZ_B2, "Logical block provisioning read zeros (LBPRZ): "),
    row(&rows::ANC_SUP, "Anchored LBAs supported (ANC_SUP): "),
    row(&rows::THRESHOLD_EXPONENT, "Threshold exponent: "),
    row(&rows::PROVISIONING_TYPE, "Provisioning type: "),
    row(&rows::THRESHOLD_PERCENTAGE, "Threshold percentage: "),
];

const P89: &[Row] = &[row(&ata::COMMAND_CODE, "Command code: ")];

const RC16: &[Row] = &[
    row(&rows::PROT_EN, "Protection: prot_en="),
    row(&rows::LBPME, "Logical block provisioning: lbpme="),
    Row {
        field: &rows::LBPRZ_RC16,
        label: "Logical block provisioning: lbpme=",
        read: |rest| number(rest.split_once("lbprz=")?.1),
    },
    row(&rows::LAST_LBA, "Last LBA="),
    row(&rows::BLOCK_LENGTH, "Logical block length="),
    row(&rows::LBPPBE, "Logical blocks per physical block exponent="),
];

fn tool(name: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(name).args(arguments).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn installed(name: &str) -> bool {
    let there = Command::new(name).arg("--version").output().is_ok();
    if !there {
        not_run(&format!("{name} is not installed (package sg3-utils)"));
    }
    there
}

/// Every file of these names below the recorded machines, each content once.
fn files(names: &[&str]) -> Vec<PathBuf> {
    fn walk(dir: &Path, names: &[&str], seen: &mut BTreeSet<Vec<u8>>, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let kind = std::fs::symlink_metadata(&path).unwrap();
            if kind.is_dir() {
                walk(&path, names, seen, found);
            } else if kind.is_file() && names.iter().any(|n| path.ends_with(n)) {
                let bytes = std::fs::read(&path).unwrap();
                if seen.insert(bytes) {
                    found.push(path);
                }
            }
        }
    }
    let mut found = Vec::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    walk(&dir, names, &mut BTreeSet::new(), &mut found);
    found
}

/// Compares every line that a row knows; gives how many values agreed.
fn compare(path: &Path, page: &Fact<Vec<u8>>, said: &str, table: &[Row]) -> usize {
    let mut agreed = 0;
    for line in said.lines().map(str::trim) {
        for row in table.iter() {
            let Some(rest) = line.strip_prefix(row.label) else { continue };
            // sg3_utils shows an all-ones count of 32 bits as -1 or in words.
            let theirs = match rest.trim_start() {
                r if r.starts_with("-1") => Some(u64::from(u32::MAX)),
                _ => (row.read)(rest),
            };
            // A line of words only ("not reported") is no number to compare.
            let Some(theirs) = theirs else { continue };
            let ours = row.field.value(page);
            assert_eq!(ours, Fact::Known(theirs), "{}: {}: {line}", path.display(), row.field.spec_name);
            agreed += 1;
        }
    }
    agreed
}

#[test]
fn vital_product_data_equals_that_of_sg_vpd() {
    if !installed("sg_vpd") {
        return;
    }
    for (code, table, names, least) in [
        (0xb0u8, B0, &["vpd_pgb0", "scsi-vpd-b0.bin"], 9),
        (0xb1, B1, &["vpd_pgb1", "scsi-vpd-b1.bin"], 1),
        (0xb2, B2, &["vpd_pgb2", "scsi-vpd-b2.bin"], 6),
        (0x89, P89, &["vpd_pg89", "scsi-vpd-89.bin"], 1),
    ] {
        let (mut pages, mut agreed) = (0, 0);
        for path in files(names) {
            let page = vpd::checked(code, std::fs::read(&path).unwrap());
            // A page that is cut off or another one than it should be is refused by sg_vpd in its own ways.
            if !page
                .known()
                .is_some_and(|p| p.len() >= 4 + usize::from(u16::from_be_bytes([p[2], p[3]])) && p.len() > 7)
            {
                continue;
            }
            let inhex = format!("--inhex={}", path.display());
            let said = tool("sg_vpd", &[&format!("--page=0x{code:02x}"), "--raw", &inhex]).unwrap();
            let values = compare(&path, &page, &said, table);
            assert!(values >= least || page.known().is_some_and(|p| p.len() < 64), "{}: {said}", path.display());
            (pages, agreed) = (pages + 1, agreed + values);
        }
        println!("VPD {code:02x}: {agreed} values of {pages} pages agree");
        assert!(pages >= 3, "VPD {code:02x}: {pages} pages");
    }
}

#[test]
fn designators_and_serial_numbers_equal_those_of_sg_vpd() {
    if !installed("sg_vpd") {
        return;
    }
    let mut agreed = 0;
    for path in files(&["vpd_pg83", "scsi-vpd-83.bin"]) {
        let page = vpd::checked(0x83, std::fs::read(&path).unwrap());
        let inhex = format!("--inhex={}", path.display());
        let said = tool("sg_vpd", &["--page=di_lu", "--raw", &inhex]).unwrap();
        let Fact::Known(ours) = vpd::designators(&page) else { continue };
        let mut t10 = false;
        // Debian 13's version goes on with the target port's and the target's, which are not the logical unit's.
        for line in said.lines().map(str::trim).take_while(|l| !l.starts_with("Target ")) {
            t10 = if line.starts_with("designator type:") { line.contains("T10") } else { t10 };
            if let Some(digits) = line.strip_prefix("0x") {
                let known = |kind: &str| ours.contains(&format!("{kind}.{digits}"));
                assert!(known("naa") || known("eui"), "{}: {line}: {ours:?}", path.display());
                agreed += 1;
            } else if let Some(text) = line.strip_prefix("vendor specific: ").filter(|_| t10) {
                let tail = text.trim_end();
                assert!(ours.iter().any(|o| o.starts_with("t10.") && o.ends_with(tail)), "{line}: {ours:?}");
                agreed += 1;
            }
        }
    }
    for path in files(&["vpd_pg80", "scsi-vpd-80.bin"]) {
        let inhex = format!("--inhex={}", path.display());
        let said = tool("sg_vpd", &["--page=sn", "--raw", &inhex]).unwrap();
        let theirs = said.lines().find_map(|l| l.trim().strip_prefix("Unit serial number: ").map(str::trim));
        let page = vpd::checked(0x80, std::fs::read(&path).unwrap());
        let ours = page.and_then(|b| zerocap::facts::field::text_of(b.get(4..).unwrap_or_default()));
        if let (Some(theirs), Fact::Known(ours)) = (theirs, ours) {
            assert_eq!(ours, theirs, "{}", path.display());
            agreed += 1;
        }
    }
    println!("{agreed} designators and serial numbers agree");
    assert!(agreed > 8, "{agreed}");
}

#[test]
fn inquiry_equals_that_of_sg_inq() {
    if !installed("sg_inq") {
        return;
    }
    let mut agreed = 0;
    for path in files(&["inquiry", "scsi-inquiry.bin"]) {
        let page = Fact::Known(std::fs::read(&path).unwrap());
        let said = tool("sg_inq", &["--raw", &format!("--inhex={}", path.display())]).unwrap();
        for (label, field) in [
            ("Vendor identification: ", &rows::VENDOR),
            ("Product identification: ", &rows::PRODUCT),
            ("Product revision level: ", &rows::REVISION),
        ] {
            let theirs = said.lines().find_map(|l| l.trim_start().strip_prefix(label).map(str::trim));
            if let (Some(theirs), Fact::Known(ours)) = (theirs, field.text(&page)) {
                assert_eq!(ours, theirs, "{}", path.display());
                agreed += 1;
            }
        }
    }
    println!("{agreed} texts of INQUIRY agree");
    assert!(agreed >= 3, "{agreed}");
}

/// How to call an sg_readcap that decodes files, which 1.46 (Debian 12) does not: the installed one, else that of the
/// guests' root, by that root's own loader.
fn sg_readcap() -> Option<Vec<String>> {
    let decodes = |command: &[String]| {
        let help = Command::new(&command[0]).args(&command[1..]).arg("--help").output();
        help.is_ok_and(|o| [o.stdout, o.stderr].iter().any(|t| String::from_utf8_lossy(t).contains("--inhex")))
    };
    let installed = vec!["sg_readcap".to_owned()];
    let guests = match std::env::var("ZEROCAP_VM_DIR") {
        Ok(dir) => PathBuf::from(dir),
        Err(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join("target/vm"),
    };
    let in_root = |path: &str| guests.join("root").join(path).display().to_string();
    let library = in_root("usr/lib/x86_64-linux-gnu");
    let of_guests =
        [in_root("usr/lib64/ld-linux-x86-64.so.2"), "--library-path".into(), library, in_root("usr/bin/sg_readcap")];
    // A root without its stamp is still being built.
    let whole = guests.join("stamp").exists();
    [Some(installed), whole.then(|| of_guests.to_vec())].into_iter().flatten().find(|c| decodes(c))
}

#[test]
fn capacity_equals_that_of_sg_readcap() {
    let Some(command) = sg_readcap() else {
        too_old("no sg_readcap here decodes a file", "tests/vm/t/peers.sh");
        return;
    };
    let (mut pages, mut agreed) = (0, 0);
    for path in files(&["scsi-read-capacity-16.bin"]) {
        let bytes = std::fs::read(&path).unwrap();
        // Of a reply that is cut off sg_readcap prints what happens to lie behind it.
        if bytes.len() < 32 {
            continue;
        }
        let inhex = format!("--inhex={}", path.display());
        let arguments = [&command[1..], &["--16".to_owned(), "--raw".to_owned(), inhex]].concat();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = tool(&command[0], &arguments).unwrap();
        let values = compare(&path, &Fact::Known(bytes), &said, RC16);
        assert_eq!(values, RC16.len(), "{}: every field is on a line of its own in: {said}", path.display());
        (pages, agreed) = (pages + 1, agreed + values);
    }
    println!("READ CAPACITY(16): {agreed} values of {pages} replies agree");
    assert!(pages >= 10, "{pages} replies");
}
