//! Limits on I/O that the kernel sets for this process by its control group. A test in such a group measures the limit and
//! not the device. It reads files only.
//!
//! cgroup v2: `io.max` and `io.latency` of every group from the process's own up, and `io.cost.qos` of the root. cgroup v1:
//! `blkio.throttle.*_device` (kernel documentation, admin-guide/cgroup-v2 and cgroup-v1/blkio-controller).

use crate::device::Devnum;
use crate::fact::{Fact, Why};
use crate::machine::fs::mounts;
use crate::machine::fs::root::Root;

/// The groups of this process, a line a hierarchy.
const OWN: &str = "proc/self/cgroup";
/// The own namespace of groups, and what it is called on the machine itself (`PROC_CGROUP_INIT_INO`,
/// `include/linux/proc_ns.h`).
const NAMESPACE: (&str, &str) = ("proc/self/ns/cgroup", "cgroup:[4026531835]");
/// Files of cgroup v2 in which a line for a device limits its I/O.
const UNIFIED: [&str; 2] = ["io.max", "io.latency"];
/// The same of cgroup v1.
const THROTTLE: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// A limit, as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The file.
    pub file: String,
    /// The line of it that is about the device.
    pub line: String,
}

/// The limits on the I/O of this process to these devices. Not known where a group above or its files cannot be seen: in a
/// container, whose own root has groups above it, and where the hierarchy is not mounted.
pub fn limits(root: &Root, devices: &[Devnum]) -> Fact<Vec<Limit>> {
    let own = match root.text(OWN) {
        Fact::Known(own) => own,
        // A kernel without control groups limits nothing by them.
        Fact::Unknown(Why::Absent) => return Fact::Known(Vec::new()),
        Fact::Unknown(why) => return Fact::Unknown(why),
    };
    // Kernels without such namespaces have no such file.
    if root.link(NAMESPACE.0).known().is_some_and(|name| name != NAMESPACE.1) {
        return unseen("zerocap runs in a control group namespace of its own, as in a container");
    }
    let mounts = match mounts::complete(root) {
        Fact::Known(mounts) => mounts,
        Fact::Unknown(why) => return Fact::Unknown(why),
    };
    let mut found = Vec::new();
    for line in own.lines() {
        // "0::/user.slice", "4:blkio:/group"
        let Some((controllers, path)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(':')) else {
            continue;
        };
        let unified = controllers.is_empty();
        let is_hierarchy = |m: &&mounts::Mount| match unified {
            true => m.kind == "cgroup2",
            false => m.kind == "cgroup" && m.options.iter().any(|o| o == "blkio"),
        };
        if !unified && !controllers.split(',').any(|c| c == "blkio") {
            continue;
        }
        if path.split('/').any(|part| part == "..") {
            return unseen("the control group of zerocap lies outside of this namespace");
        }
        // No limit can be set on the root of a hierarchy.
        let Some(mount) = mounts.iter().find(is_hierarchy) else {
            match path {
                "/" => continue,
                _ => return unseen("the hierarchy of the control group of zerocap is not mounted"),
            }
        };
        let files: &[&str] = if unified { &UNIFIED } else { &THROTTLE };
        for group in upward(&mount.point, path) {
            for file in files {
                if let Err(why) = in_file(root, &format!("{group}/{file}"), devices, &mut found) {
                    return Fact::Unknown(why);
                }
            }
        }
        // Only the root has it, and only switched on it does anything.
        let mut cost = Vec::new();
        if let Err(why) = in_file(root, &format!("{}/io.cost.qos", mount.point), devices, &mut cost) {
            return Fact::Unknown(why);
        }
        found.extend(cost.into_iter().filter(|l| l.line.contains("enable=1")));
    }
    Fact::Known(found)
}

fn unseen(why: &str) -> Fact<Vec<Limit>> {
    Fact::Unknown(Why::Refused(why.to_owned()))
}

/// The directories of a group and of all above it.
fn upward(mount: &str, path: &str) -> Vec<String> {
    let mut groups = vec![mount.to_owned()];
    for part in path.split('/').filter(|part| !part.is_empty()) {
        groups.push(format!("{}/{part}", groups[groups.len() - 1]));
    }
    groups
}

/// The lines of a file that begin with the number of one of the devices.
fn in_file(root: &Root, file: &str, devices: &[Devnum], found: &mut Vec<Limit>) -> Result<(), Why> {
    let text = match root.text(file.trim_start_matches('/')) {
        Fact::Known(text) => text,
        Fact::Unknown(Why::Absent) => return Ok(()),
        Fact::Unknown(why) => return Err(why),
    };
    for line in text.lines() {
        let number: Option<Devnum> = line.split_whitespace().next().and_then(|number| number.parse().ok());
        if number.is_some_and(|n| devices.contains(&n)) {
            found.push(Limit { file: file.to_owned(), line: line.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 0:21 / / rw - tmpfs tmpfs rw\n30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                          31 22 0:27 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";

    fn limits_with(own: &str, files: &[(&str, &str)]) -> Fact<Vec<Limit>> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [&[("proc/self/cgroup", own), ("proc/self/mountinfo", MOUNTS)], files].concat() {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        limits(&Root::open(dir.path()).unwrap(), &[Devnum { major: 8, minor: 16 }])
    }

    #[test]
    fn every_level_of_the_own_group_counts_and_no_other_device() {
        let found = limits_with(
            "0::/a/b\n",
            &[
                ("sys/fs/cgroup/a/io.max", "8:0 wbps=1\n8:16 wbps=20971520\n"),
                ("sys/fs/cgroup/a/b/io.latency", "8:16 target=75000\n"),
                ("sys/fs/cgroup/c/io.max", "8:16 wbps=1\n"),
                ("sys/fs/cgroup/io.cost.qos", "8:16 enable=0 ctrl=auto\n"),
            ],
        );
        let limit = |file: &str, line: &str| Limit { file: file.to_owned(), line: line.to_owned() };
        let wanted = [
            limit("/sys/fs/cgroup/a/io.max", "8:16 wbps=20971520"),
            limit("/sys/fs/cgroup/a/b/io.latency", "8:16 target=75000"),
        ];
        assert_eq!(found, Fact::Known(wanted.to_vec()));
    }

    #[test]
    fn the_older_hierarchy_and_the_cost_model() {
        let found = limits_with(
            "4:cpu,cpuacct:/x\n5:blkio:/x\n0::/\n",
            &[
                ("sys/fs/cgroup/blkio/x/blkio.throttle.write_iops_device", "8:16 10\n"),
                ("sys/fs/cgroup/io.cost.qos", "8:16 enable=1 ctrl=user\n"),
            ],
        );
        let files: Vec<String> = found.known().unwrap().iter().map(|l| l.file.clone()).collect();
        assert_eq!(files, ["/sys/fs/cgroup/blkio/x/blkio.throttle.write_iops_device", "/sys/fs/cgroup/io.cost.qos"]);
    }

    #[test]
    fn control_groups_that_cannot_be_seen_are_not_known() {
        assert_eq!(limits_with("0::/\n", &[]), Fact::Known(Vec::new()));
        for own in ["0::/../other\n", "5:blkio:/../..\n", "0::/\n7:name=x,blkio:/a/../b\n"] {
            assert!(limits_with(own, &[]).known().is_none(), "{own}");
        }
        let unmounted = |own: &str, namespace: &str| {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("proc/self/ns")).unwrap();
            std::fs::write(dir.path().join("proc/self/cgroup"), own).unwrap();
            let tmpfs = "22 1 0:21 / / rw - tmpfs tmpfs rw\n";
            std::fs::write(dir.path().join("proc/self/mountinfo"), tmpfs).unwrap();
            std::os::unix::fs::symlink(namespace, dir.path().join(NAMESPACE.0)).unwrap();
            limits(&Root::open(dir.path()).unwrap(), &[]).known().is_some()
        };
        assert!(unmounted("0::/\n", NAMESPACE.1));
        assert!(!unmounted("0::/a\n", NAMESPACE.1));
        assert!(!unmounted("0::/\n", "cgroup:[4026532222]"));
    }

    #[test]
    fn without_control_groups_there_is_no_limit() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert_eq!(limits(&root, &[]), Fact::Known(Vec::new()));
        std::fs::create_dir_all(dir.path().join("proc/self")).unwrap();
        std::fs::write(dir.path().join("proc/self/cgroup"), "0::/\n").unwrap();
        assert!(limits(&root, &[]).known().is_none());
    }
}
