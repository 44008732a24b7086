//! What is missing on this machine for zerocap to work, each with the command that mends it: the udev rule, whether udev has
//! asked about the present devices, the unit that recovers at boot, the kernel's features, the rules of the policy. It only
//! reads.

use crate::device::Device;
use crate::fact::Fact;
use crate::jobs::{policy, target};
use crate::machine::fs::root::Root;
use crate::machine::fs::stamp;
use crate::machine::udev;
use crate::machine::Roots;
use std::collections::BTreeSet;
use std::path::Path;

/// What is needed, in words, and whether it is there.
type Step = (String, bool);

/// Where udev looks for rules, and systemd for units.
const RULES: [&str; 5] =
    ["etc/udev/rules.d", "run/udev/rules.d", "usr/local/lib/udev/rules.d", "usr/lib/udev/rules.d", "lib/udev/rules.d"];
const UNITS: [&str; 4] =
    ["etc/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"];
const RULE: &str = "90-zerocap.rules";
const RECOVER: &str = "zerocap-recover.service";
/// Has udev look at every disk again.
const TRIGGER: &str = "udevadm trigger --subsystem-match=block --action=change";

/// Each thing that is needed, and whether it is there.
pub(super) fn look(roots: &Roots) -> Vec<Step> {
    let root = &roots.system;
    let mut steps = rule(roots);
    if root.exists("run/systemd/system") {
        steps.push(recovery(root));
    }
    steps.extend(kernel(root));
    steps.extend(not_compiled(root.path()).map(|file| {
        let text = format!(
            "the model entries of {file} are newer than hwdb.bin, so udev does not know them: run systemd-hwdb \
             update, then {TRIGGER}"
        );
        (text, false)
    }));
    steps.extend(rules_of_policy(roots));
    steps
}

/// The rule, the program that it calls, and whether it has spoken of the devices that are there.
fn rule(roots: &Roots) -> Vec<Step> {
    let root = &roots.system;
    let Some(file) = RULES.iter().map(|dir| format!("{dir}/{RULE}")).find(|path| root.exists(path)) else {
        return vec![("the udev rule is not installed: run make install, or install the package".to_owned(), false)];
    };
    let mut steps = vec![(format!("the udev rule is installed: /{file}"), true)];
    let text = root.text(&file);
    let calls = text.known().into_iter().flat_map(|t| t.split("IMPORT{program}=\"").skip(1));
    let called: BTreeSet<&str> = calls.filter_map(|call| call.split(' ').next()).collect();
    for program in called.into_iter().filter(|p| !root.exists(p.trim_start_matches('/'))) {
        steps.push((
            format!("the udev rule calls {program}, which does not exist: run make install with the same PREFIX"),
            false,
        ));
    }
    let disks = target::listed(roots, false).unwrap_or_default();
    let silent: Vec<String> = disks.iter().filter(|d| !was_asked(root, d)).map(|d| d.name.clone()).collect();
    steps.push(match silent.as_slice() {
        [] => (format!("udev has asked zerocap about each of the {} devices of this machine", disks.len()), true),
        some => {
            let shown = some.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
            let more = if some.len() > 4 { " and others" } else { "" };
            (
                format!(
                    "udev has not yet asked zerocap about {shown}{more}: run udevadm control --reload, then \
                      {TRIGGER}"
                ),
                false,
            )
        }
    });
    steps
}

/// Whether the rule answered for a device, or an earlier one wanted that it does not.
fn was_asked(root: &Root, device: &Device) -> bool {
    let properties = udev::properties_below(root, &device.name).unwrap_or_default();
    properties.contains_key("ZEROCAP_CLASS") || properties.contains_key("ZEROCAP_SKIP")
}

/// Whether what a test that was cut off left is put back at boot.
fn recovery(root: &Root) -> Step {
    if !UNITS.iter().any(|dir| root.exists(&format!("{dir}/{RECOVER}"))) {
        return (format!("{RECOVER} is not installed: run make install, or install the package"), false);
    }
    match UNITS.iter().any(|dir| root.link(&format!("{dir}/multi-user.target.wants/{RECOVER}")).known().is_some()) {
        true => (format!("{RECOVER} is enabled, so what an interrupted test left is put back at boot"), true),
        false => (
            format!(
                "{RECOVER} is not enabled, so what an interrupted test left is not put back at boot: run systemctl \
                 daemon-reload, then systemctl preset {RECOVER}"
            ),
            false,
        ),
    }
}

/// What the kernel has, by the files of its devices.
fn kernel(root: &Root) -> Vec<Step> {
    let names = match root.list("sys/block") {
        Fact::Known(names) => names,
        Fact::Unknown(_) => Vec::new(),
    };
    let one_has = |file: &str| names.iter().any(|n| root.exists(&format!("sys/block/{n}/{file}")));
    let knob = match one_has("queue/write_zeroes_unmap_max_bytes") {
        true => {
            ("the kernel has FALLOC_FL_WRITE_ZEROES and its tunable, write_zeroes_unmap_max_bytes".to_owned(), true)
        }
        false => {
            let text = "the kernel has no write_zeroes_unmap_max_bytes (it came with Linux 6.17): programs zero by \
                        PUNCH_HOLE, and zerocap sets nothing";
            (text.to_owned(), false)
        }
    };
    let numbered = match one_has("diskseq") {
        true => (
            "the kernel gives each disk a sequence number (diskseq), so the answer for one disk is never taken for \
              another disk"
                .to_owned(),
            true,
        ),
        false => {
            let text = "the kernel gives disks no sequence number (diskseq came with Linux 5.15), so answers for \
                        devices without an identity are dropped when the device is removed";
            (text.to_owned(), false)
        }
    };
    vec![knob, numbered]
}

/// Whether all rules of policy count.
fn rules_of_policy(roots: &Roots) -> Vec<Step> {
    match policy::list(roots) {
        Ok(listed) if listed.problems.is_empty() => {
            vec![(format!("the policy can be read; it has {} rules", listed.rules.len()), true)]
        }
        Ok(listed) => listed.problems.into_iter().map(|problem| (problem, false)).collect(),
        Err(e) => vec![(e.to_string(), false)],
    }
}

/// Where udev looks for the compiled database: the first that is there counts (hwdb(7), `hwdb_bin_paths` of systemd).
const COMPILED: [&str; 5] = [
    "etc/systemd/hwdb/hwdb.bin",
    "etc/udev/hwdb.bin",
    "usr/lib/systemd/hwdb/hwdb.bin",
    "usr/lib/udev/hwdb.bin",
    "lib/udev/hwdb.bin",
];

/// A file with model entries that was written after the database was compiled; where none was compiled, any such file.
fn not_compiled(root: &Path) -> Option<String> {
    let compiled = COMPILED.iter().find_map(|path| stamp::modified(&root.join(path)));
    let newer = |path: &Path| stamp::modified(path).is_some_and(|m| compiled.is_none_or(|c| m > c));
    let files = Root::open(root).ok()?;
    let entries = ["etc/udev/hwdb.d", "usr/lib/udev/hwdb.d"].into_iter().flat_map(|dir| {
        let names = files.list(dir).known().cloned().unwrap_or_default();
        names.into_iter().filter(|n| n.ends_with(".hwdb")).map(move |n| format!("{dir}/{n}"))
    });
    let speaks = |path: &String| files.text(path).known().is_some_and(|t| t.contains("ZEROCAP_MODEL_"));
    let found: Vec<String> = entries.filter(|path| newer(&root.join(path)) && speaks(path)).collect();
    found.first().map(|path| format!("/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn model_entries_that_udev_does_not_know_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str, age: u64| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let when = SystemTime::now() - Duration::from_secs(age);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
        };
        put("etc/udev/hwdb.d/20-other.hwdb", "evdev:*\n KEY=1\n", 0);
        put("usr/lib/udev/hwdb.bin", "", 100);
        assert_eq!(not_compiled(dir.path()), None, "not of zerocap");
        put("usr/lib/udev/hwdb.d/90-zerocap.hwdb", "zerocap:*\n ZEROCAP_MODEL_CLASS=fast\n", 200);
        assert_eq!(not_compiled(dir.path()), None, "older");
        put("etc/udev/hwdb.d/90-fleet.hwdb", "zerocap:*\n ZEROCAP_MODEL_CLASS=fast\n", 50);
        assert_eq!(not_compiled(dir.path()).as_deref(), Some("/etc/udev/hwdb.d/90-fleet.hwdb"));
        // A database of the administrator's own hides the vendor's.
        put("etc/udev/hwdb.bin", "", 10);
        assert_eq!(not_compiled(dir.path()), None, "compiled again");
    }

    #[test]
    fn what_is_missing_is_told_with_what_mends_it() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        };
        put("sys/block/sda/size", "8\n");
        put("run/systemd/system/x", "");
        let roots = Roots::new(Some(dir.path()), None).unwrap();
        let missing = || look(&roots).into_iter().filter(|(_, there)| !there).map(|(text, _)| text).collect::<Vec<_>>();
        let says = |part: &str| missing().iter().any(|text| text.contains(part));
        for part in ["udev rule is not installed", "zerocap-recover.service is not installed", "6.17", "diskseq"] {
            assert!(says(part), "{part}: {:?}", missing());
        }
        put("usr/lib/udev/rules.d/90-zerocap.rules", "# x\nIMPORT{program}=\"/usr/bin/zerocap udev $devnode\"\n");
        put("usr/lib/systemd/system/zerocap-recover.service", "");
        for part in [
            "calls /usr/bin/zerocap, which does not exist",
            "not yet asked zerocap about sda: run udevadm",
            "is not enabled",
        ] {
            assert!(says(part), "{part}: {:?}", missing());
        }
        put("usr/bin/zerocap", "");
        put("udev/sda", "ZEROCAP_CLASS=unknown\n");
        put("sys/block/sda/diskseq", "1\n");
        put("sys/block/sda/queue/write_zeroes_unmap_max_bytes", "0\n");
        std::fs::create_dir_all(dir.path().join("etc/systemd/system/multi-user.target.wants")).unwrap();
        let link = dir.path().join("etc/systemd/system/multi-user.target.wants/zerocap-recover.service");
        std::os::unix::fs::symlink("/usr/lib/systemd/system/zerocap-recover.service", link).unwrap();
        assert_eq!(missing(), [""; 0]);
        put("etc/zerocap/policy.d/bad.toml", "class = \n");
        assert!(says("bad.toml"), "{:?}", missing());
    }
}
