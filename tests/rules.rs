//! The udev rule, the units, the shipped policy and the model entries, as text: what the program says and what the files
//! say is the same. Their behaviour is tested in guests (tests/vm).
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::{Path, PathBuf};
use std::process::Command;
use zerocap::policy::{format, matcher};
use zerocap::tunable;

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
fn the_units_call_verbs_that_are_there() {
    for (path, text) in files("units") {
        let call = text.lines().find_map(|l| l.strip_prefix("ExecStart=@BINDIR@/zerocap ")).unwrap();
        let words = call.replace("%i", "8:0");
        // A machine without such a device: the words are understood, which a usage text would deny.
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/block")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        let run = command.args(words.split(' ')).arg("--root").arg(root.path()).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(said.starts_with("zerocap: ") && !said.contains("Usage"), "{}: {said}", path.display());
        for hardening in ["ProtectSystem=strict", "PrivateNetwork=yes", "NoNewPrivileges=yes", "Type=oneshot"] {
            assert!(text.contains(&format!("\n{hardening}\n")), "{}: {hardening}", path.display());
        }
    }
}

#[test]
fn install_puts_everything_at_its_place() {
    let plan =
        Command::new("make").args(["-n", "install", "DESTDIR=/D", "PREFIX=/P"]).current_dir(repository()).output();
    let Ok(plan) = plan else {
        eprintln!("not run: make is not installed");
        return;
    };
    let plan = String::from_utf8(plan.stdout).unwrap();
    for place in [
        "/D/P/bin/zerocap",
        "/D/P/lib/udev/rules.d/90-zerocap.rules",
        "/D/P/lib/udev/hwdb.d",
        "/D/P/lib/systemd/system/",
        "/D/P/lib/zerocap/policy.d",
        "/D/P/share/man/man8/",
        "/D/P/share/man/man5/",
    ] {
        assert!(plan.contains(place), "{place}: {plan}");
    }
}

#[test]
fn udev_itself_accepts_the_rule() {
    let dir = tempfile::tempdir().unwrap();
    let rule = dir.path().join("90-zerocap.rules");
    std::fs::write(&rule, RULE.replace("@BINDIR@", "/usr/bin")).unwrap();
    // `verify` is in udevadm 254 and later.
    match Command::new("udevadm").arg("verify").arg("--no-summary").arg(&rule).output() {
        Ok(o) if String::from_utf8_lossy(&o.stderr).contains("Unknown command verb") => {
            eprintln!("not run: udevadm has no verify (the guest test policy.sh runs it)");
        }
        Ok(o) => assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr)),
        Err(e) => eprintln!("not run: udevadm: {e}"),
    }
}
