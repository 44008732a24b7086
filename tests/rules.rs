//! The udev rule, the units, the shipped policy and the model entries, as text: what the program says and what the files
//! say is the same. Their behaviour is tested in guests (tests/vm).
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use zerocap::policy::{format, matcher};
use zerocap::tunable;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::{not_run, too_old};

const RULE: &str = include_str!("../rules/90-zerocap.rules");

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(dir: &str) -> Vec<(PathBuf, String)> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(repository().join("rules").join(dir)).unwrap().map(|e| e.unwrap().path()).collect();
    found.sort();
    assert!(!found.is_empty(), "{dir}");
    found.into_iter().map(|p| (p.clone(), std::fs::read_to_string(p).unwrap())).collect()
}

/// Lines that are no comment.
fn rule_lines() -> impl Iterator<Item = &'static str> {
    RULE.lines().filter(|l| !l.starts_with('#') && !l.is_empty())
}

#[test]
fn every_managed_tunable_has_its_line_and_no_other_has() {
    let set: Vec<&str> = rule_lines().filter(|l| l.contains("ZEROCAP_SET_")).collect();
    assert_eq!(set.len(), tunable::managed().count());
    for row in tunable::managed() {
        let key = format!("ZEROCAP_SET_{}", row.name.to_uppercase());
        let line = format!("ENV{{{key}}}==\"?*\", ATTR{{{}}}=\"$env{{{key}}}\"", row.path);
        assert!(set.contains(&line.as_str()), "{line}");
    }
    let assigned = rule_lines().filter(|l| l.contains("}=\"") && l.contains(", ATTR{")).count();
    assert_eq!(assigned, set.len(), "nothing else of sysfs is written");
}

#[test]
fn guards_come_before_the_program_and_every_jump_has_its_label() {
    let lines: Vec<&str> = rule_lines().collect();
    let program = lines.iter().position(|l| l.starts_with("IMPORT{program}")).unwrap();
    let label = lines.iter().position(|l| *l == "LABEL=\"zerocap_remove\"").unwrap();
    assert!(program < label);
    for guard in ["ATTR{hidden}==\"1\"", "DM_UDEV_DISABLE_OTHER_RULES_FLAG", "DM_MULTIPATH_DEVICE_PATH", "ZEROCAP_SKIP"]
    {
        assert!(lines[..program].iter().any(|l| l.contains(guard) && l.contains("GOTO=")), "{guard}");
    }
    for line in &lines {
        if let Some(target) = line.split("GOTO=\"").nth(1) {
            let target = target.split('"').next().unwrap();
            assert!(lines.contains(&format!("LABEL=\"{target}\"").as_str()), "{line}");
        }
    }
}

#[test]
fn only_plain_names_are_looked_up_in_hwdb() {
    let line = rule_lines().find(|l| l.contains("hwdb")).unwrap();
    let plain = "*[!A-Za-z0-9 ._+/()-]*";
    for key in ["ID_MODEL", "ID_REVISION"] {
        assert!(line.contains(&format!("ENV{{{key}}}!=\"{plain}\"")), "{line}");
    }
    for (path, text) in files("hwdb") {
        for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
            let entry = line.strip_prefix("zerocap:model:").is_some_and(|l| l.contains(":fw:") && l.ends_with(':'));
            let property = line.starts_with(" ZEROCAP_MODEL_") && line.contains('=');
            assert!(entry || property, "{}: {line}", path.display());
        }
    }
}

#[test]
fn the_shipped_policy_is_sound_and_each_rule_gives_its_reason() {
    for (path, text) in files("policy.d") {
        let (rules, problems) = format::parse(&path.display().to_string(), &text);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(matcher::check(&rules), Vec::<String>::new());
        for rule in &rules {
            let wishes = &rule.wishes;
            assert!(wishes.hazard.is_some() || wishes.measure.is_some(), "{}", rule.from);
            assert!(wishes.class.is_none() && !rule.patterns.is_empty(), "{}", rule.from);
            assert!(rule.why.as_ref().is_some_and(|w| w.contains('(')), "{}: the source", rule.from);
        }
    }
    let (rules, _) = format::parse("", &files("policy.d")[0].1);
    let hazard = |vendor, model| {
        let subject =
            matcher::Subject { kind: Some("scsi"), vendor: Some(vendor), model: Some(model), ..Default::default() };
        matcher::resolve(&rules, &subject).0.hazard.is_some()
    };
    assert!(hazard("LIO-ORG", "TCMU device"));
    assert!(!hazard("LIO-ORG", "block"), "other targets of LIO are not meant");
}

#[test]
fn the_units_call_existing_verbs() {
    for (path, text) in files("units").into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "service"))
    {
        let start = text.lines().find(|l| l.starts_with("ExecStart=")).unwrap();
        // The words behind the program; one unit has a shell put them into a file.
        let (_, call) = start.split_once("@BINDIR@/zerocap ").unwrap();
        let words = call.split(" >").next().unwrap().replace("%i", "8:0");
        // A machine without such a device: the words are understood, which a usage text would deny.
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/block")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        let run = command.args(words.split(' ')).arg("--root").arg(root.path()).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        let understood = run.status.success() || said.starts_with("zerocap: ");
        assert!(understood && !said.contains("Usage"), "{}: {said}", path.display());
        for hardening in ["ProtectSystem=strict", "PrivateNetwork=yes", "NoNewPrivileges=yes", "Type=oneshot"] {
            assert!(text.contains(&format!("\n{hardening}\n")), "{}: {hardening}", path.display());
        }
    }
}

/// The files below a directory with their permission bits, by their paths from it.
fn installed(dir: &Path, below: &Path, found: &mut BTreeMap<String, u32>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in std::fs::read_dir(below).unwrap() {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_dir() {
            assert_eq!(mode, 0o755, "{}", entry.path().display());
            installed(dir, &entry.path(), found);
        } else {
            found.insert(entry.path().strip_prefix(dir).unwrap().to_str().unwrap().to_owned(), mode);
        }
    }
}

#[test]
fn install_puts_everything_at_its_place() {
    for prefix in ["/usr", "/usr/local"] {
        let dir = tempfile::tempdir().unwrap();
        let dest = dir.path().join("D");
        // Under the umask of a careful root, which must not show in what others have to read.
        let make = Command::new("sh")
            .args(["-c", "umask 077; exec make -s install \"$@\"", "sh"])
            .arg(format!("DESTDIR={}", dest.display()))
            .arg(format!("PREFIX={prefix}"))
            .arg(format!("BIN={}", env!("CARGO_BIN_EXE_zerocap")))
            .arg(format!("EVENT={}", env!("CARGO_BIN_EXE_zerocap-event")))
            .current_dir(repository())
            .env_remove("MAKEFLAGS")
            .output()
            .unwrap();
        if make.status.code() == Some(127) {
            not_run("make is not installed");
            return;
        }
        assert!(make.status.success() && make.stderr.is_empty(), "{}", String::from_utf8_lossy(&make.stderr));
        let mut found = BTreeMap::new();
        installed(&dest, &dest.join(&prefix[1..]), &mut found);
        let wanted = [
            ("bin/zerocap", 0o755),
            ("lib/systemd/system-preset/90-zerocap.preset", 0o644),
            ("lib/systemd/system/zerocap-export.service", 0o644),
            ("lib/systemd/system/zerocap-export.timer", 0o644),
            ("lib/systemd/system/zerocap-measure@.service", 0o644),
            ("lib/systemd/system/zerocap-recover.service", 0o644),
            ("lib/udev/hwdb.d/60-zerocap-model.hwdb", 0o644),
            ("lib/udev/rules.d/90-zerocap.rules", 0o644),
            ("lib/udev/zerocap", 0o755),
            ("lib/zerocap/policy.d/10-public-record.toml", 0o644),
            ("share/bash-completion/completions/zerocap", 0o644),
            ("share/doc/zerocap/examples/hooks/libvirt-qemu", 0o644),
            ("share/doc/zerocap/examples/hooks/proxmox", 0o644),
            ("share/doc/zerocap/examples/policy.d/10-never-test.toml", 0o644),
            ("share/doc/zerocap/examples/policy.d/20-measure-when-added.toml", 0o644),
            ("share/doc/zerocap/examples/policy.d/30-thin-array.toml", 0o644),
            ("share/doc/zerocap/examples/policy.d/40-pinned-class.toml", 0o644),
            ("share/doc/zerocap/examples/prometheus/zerocap-dashboard.json", 0o644),
            ("share/doc/zerocap/examples/prometheus/zerocap.yml", 0o644),
            ("share/fish/vendor_completions.d/zerocap.fish", 0o644),
            ("share/man/man5/zerocap-policy.5", 0o644),
            ("share/man/man5/zerocap-verdict.5", 0o644),
            ("share/man/man7/zerocap.7", 0o644),
            ("share/man/man8/zerocap.8", 0o644),
            ("share/zsh/vendor-completions/_zerocap", 0o644),
        ];
        let wanted = wanted.map(|(place, mode)| (format!("{}/{place}", &prefix[1..]), mode));
        assert_eq!(found, BTreeMap::from(wanted));
        assert!(dest.join("etc/zerocap/policy.d").is_dir());
        for place in found.keys().filter(|p| p.contains(".rules") || p.contains(".service")) {
            let text = std::fs::read_to_string(dest.join(place)).unwrap();
            assert!(text.contains(&format!("{prefix}/bin/zerocap ")) && !text.contains("DIR@"), "{place}");
        }
        let rule =
            std::fs::read_to_string(dest.join(format!("{}/lib/udev/rules.d/90-zerocap.rules", &prefix[1..]))).unwrap();
        assert!(rule.contains(&format!("\"{prefix}/lib/udev/zerocap $devnode\"")), "{rule}");
        // The shipped rules are found where they were put.
        let list = Command::new(env!("CARGO_BIN_EXE_zerocap"))
            .args(["policy", "list", "--root"])
            .arg(repository().join("tests/machines/synthetic-kept"))
            .arg("--state")
            .arg(&dest)
            .output()
            .unwrap();
        let list = String::from_utf8(list.stdout).unwrap();
        assert!(list.contains(&format!("{prefix}/lib/zerocap/policy.d/10-public-record.toml:")), "{list}");
    }
}

#[test]
fn udev_itself_accepts_the_rule() {
    let dir = tempfile::tempdir().unwrap();
    let rule = dir.path().join("90-zerocap.rules");
    std::fs::write(&rule, RULE.replace("@BINDIR@", "/usr/bin").replace("@UDEVDIR@", "/usr/lib/udev")).unwrap();
    // `verify` is in udevadm 254 and later.
    match Command::new("udevadm").arg("verify").arg("--no-summary").arg(&rule).output() {
        Ok(o) if String::from_utf8_lossy(&o.stderr).contains("Unknown command verb") => {
            too_old("udevadm has no verify", "tests/vm/t/policy.sh");
        }
        Ok(o) => assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr)),
        Err(e) => too_old(&format!("udevadm: {e}"), "tests/vm/t/policy.sh"),
    }
}
