use super::*;
use crate::device::Devnum;
use crate::machine::block::stack;
use std::fs;
use std::os::unix::fs::symlink;

/// A machine with these files and links.
fn machine(files: &[(&str, &str)], links: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let place = |relative: &str| {
        let path = dir.path().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    files.iter().for_each(|(path, text)| fs::write(place(path), text).unwrap());
    links.iter().for_each(|(path, target)| symlink(target, place(path)).unwrap());
    let root = Root::open(dir.path()).unwrap();
    (dir, root)
}

const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,discard
30 22 0:40 / /mnt/b rw - btrfs /dev/sdb rw,space_cache=v2
31 22 0:41 / /dev/shm rw,nosuid - tmpfs tmpfs rw
32 22 0:42 / /srv rw - nfs4 host:/export rw,vers=4.2
33 22 252:0 / /with\\040space ro - xfs /dev/dm-0 ro
34 22 0:43 / /m ro - overlay overlay ro,lowerdir=/a:/b
";

fn files(release: &'static str, knob: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("proc/self/mountinfo", MOUNTS),
        ("proc/sys/kernel/osrelease", release),
        ("sys/block/sda/sda1/partition", "1"),
        ("sys/block/sda/sda1/start", "2048"),
        ("sys/block/sda/sda1/size", "2048"),
        ("sys/block/sda/queue/write_zeroes_unmap_max_hw_bytes", "33553920"),
        ("sys/block/sda/queue/write_zeroes_unmap_max_bytes", knob),
        ("sys/block/sdb/size", "8"),
        ("sys/block/sdc/sdc2/partition", "2"),
        ("sys/block/sdc/sdc2/start", "2048"),
        ("sys/block/sdc/sdc2/size", "2048"),
        ("sys/block/dm-0/queue/write_zeroes_unmap_max_hw_bytes", "4096"),
        ("sys/block/dm-0/queue/write_zeroes_unmap_max_bytes", "4096"),
        ("sys/block/dm-0/slaves/sda1", ""),
        ("sys/block/dm-0/slaves/sdb", ""),
        ("sys/fs/btrfs/features/x", ""),
        ("sys/fs/btrfs/1-2/devices/sdb", ""),
        ("sys/fs/btrfs/1-2/devices/sdc2", ""),
        ("sys/fs/btrfs/3-4/devices/sdx", ""),
    ]
}

const LINKS: &[(&str, &str)] =
    &[("sys/dev/block/8:1", "../../block/sda/sda1"), ("sys/dev/block/252:0", "../../block/dm-0")];

fn at(path: &str, filesystem: (u32, u32), mount: u64) -> Located {
    Located {
        path: path.to_owned(),
        what: What::File,
        filesystem: Devnum { major: filesystem.0, minor: filesystem.1 },
        mount: Some(mount),
        marks: Marks { extents: Some(true), encrypted: Some(false), ..Marks::default() },
    }
}

fn names(place: &Place) -> Vec<&str> {
    match place {
        Place::Devices(devices) => devices.iter().map(|d| d.name.as_str()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_partition_leads_to_its_disk_and_the_knob_decides() {
    for (release, knob, can) in [
        ("6.17.0", "33553920", Some(Can::Yes)),
        ("7.3.4+deb13-amd64", "33553920", Some(Can::Yes)),
        ("99.0.0", "33553920", Some(Can::Yes)),
        ("6.17.0", "0", None),
        ("6.16.9", "0", None),
    ] {
        let (_dir, root) = machine(&files(release, knob), LINKS);
        let on = resolve(&root, &at("/home/x", (8, 1), 22));
        assert_eq!((on.filesystem.as_str(), on.mount_point.as_str(), names(&on.place)), ("ext4", "/", vec!["sda"]));
        let told = can_write_zeroes(&root, &on);
        match can {
            Some(can) => assert_eq!(told, can, "{release} {knob}"),
            None => assert!(matches!(&told, Can::No(why) if why.contains("forbids it")), "{release} {knob}: {told:?}"),
        }
    }
}

#[test]
fn the_file_is_asked_before_the_release() {
    let told = |release: &'static str, knob: &'static str, path: &str, mount: u64, fs: (u32, u32)| {
        let mut files = files(release, knob);
        files.push(("sys/block/sda/queue/write_zeroes_max_bytes", "33553920"));
        if knob.is_empty() {
            files.retain(|(path, _)| !path.contains("unmap"));
        }
        let (_dir, root) = machine(&files, LINKS);
        let mut on = resolve(&root, &at(path, fs, mount));
        on.read_only = false;
        can_write_zeroes(&root, &on)
    };
    let ext4 = |release, knob| told(release, knob, "/home/x", 22, (8, 1));
    let xfs = |release, knob| told(release, knob, "/with space/file", 33, (252, 0));
    // A distribution's kernel that has the knob earlier: nothing is claimed of what its file systems have.
    for release in ["5.14.0-570.el9", "6.16.9"] {
        assert!(matches!(ext4(release, "33553920"), Can::Unknown(why) if why.contains("calls itself")), "{release}");
        assert!(matches!(xfs(release, "33553920"), Can::Unknown(_)), "{release}");
    }
    assert!(matches!(xfs("7.2.9", "33553920"), Can::No(why) if why.contains("calls itself 7.2")));
    // Without the knob there is no such call, whatever the release says.
    for release in ["4.18.0", "6.16.9", "6.17.0", "99.0.0"] {
        assert!(matches!(ext4(release, ""), Can::No(why) if why.contains("came with Linux 6.17")), "{release}");
    }
    assert_eq!(ext4("no number", "33553920"), Can::Unknown("the kernel's release cannot be read".to_owned()));
}

#[test]
fn every_device_of_a_btrfs_counts_and_it_has_no_such_call() {
    let (_dir, root) = machine(&files("7.3.0", "0"), LINKS);
    let on = resolve(&root, &at("/mnt/b/file", (0, 55), 30));
    assert_eq!(names(&on.place), ["sdb", "sdc"]);
    assert_eq!(can_write_zeroes(&root, &on), Can::No("btrfs has no FALLOC_FL_WRITE_ZEROES".to_owned()));
}

#[test]
fn what_lies_on_no_device_says_so() {
    let (_dir, root) = machine(&files("7.3.0", "0"), LINKS);
    let text = |located: &Located| match resolve(&root, located).place {
        Place::NoDevice(_, why) | Place::Unknown(why) => why,
        Place::Devices(devices) => panic!("{devices:?}"),
    };
    assert_eq!(text(&at("/dev/shm/x", (0, 41), 31)), "tmpfs keeps its files in memory, on no block device");
    assert!(text(&at("/srv/x", (0, 42), 32)).contains("on another host"));
    assert!(text(&at("/m/x", (0, 43), 34)).contains("without an upper layer"));
    assert!(text(&at("/m/x", (0, 43), 99)).contains("mountinfo"));
}

#[test]
fn a_stack_is_followed_to_its_disks_and_xfs_came_later() {
    for (release, read_only) in [("7.2.9", false), ("7.3.0", true)] {
        let (_dir, root) = machine(&files(release, "0"), LINKS);
        let mut on = resolve(&root, &at("/with space/file", (252, 0), 33));
        assert_eq!((on.mount_point.as_str(), on.read_only), ("/with space", true));
        let Place::Devices(devices) = on.place.clone() else { panic!("{on:?}") };
        assert_eq!(
            (devices[0].name.as_str(), stack::leaves(&root, &devices[0])),
            ("dm-0", vec!["sda".into(), "sdb".into()])
        );
        on.read_only = read_only;
        let Can::No(why) = can_write_zeroes(&root, &on) else { panic!("{on:?}") };
        assert!(
            why.contains(if read_only { "read-only" } else { "xfs has FALLOC_FL_WRITE_ZEROES since Linux 7.3" }),
            "{why}"
        );
        on.read_only = false;
        if release == "7.3.0" {
            assert_eq!(can_write_zeroes(&root, &on), Can::Yes);
        }
    }
}

#[test]
fn marks_of_a_file_decide_before_its_device() {
    let (_dir, root) = machine(&files("7.3.0", "33553920"), LINKS);
    let with = |marks: Marks| {
        let on = resolve(&root, &Located { marks, ..at("/x", (8, 1), 22) });
        can_write_zeroes(&root, &on)
    };
    let usual = Marks { extents: Some(true), encrypted: Some(false), ..Marks::default() };
    assert_eq!(with(usual), Can::Yes);
    assert!(matches!(with(Marks { encrypted: Some(true), ..usual }), Can::Written(_)));
    assert!(matches!(with(Marks { encrypted: None, ..usual }), Can::Unknown(_)));
    assert!(matches!(with(Marks { immutable: true, ..usual }), Can::No(_)));
    assert!(matches!(with(Marks { append_only: true, ..usual }), Can::No(_)));
    assert!(matches!(with(Marks { extents: Some(false), ..usual }), Can::No(_)));
}

#[test]
fn without_a_mount_number_the_longest_mount_point_is_taken() {
    let (_dir, root) = machine(&files("7.3.0", "33553920"), LINKS);
    let on = resolve(&root, &Located { mount: None, ..at("/home/x", (8, 1), 0) });
    assert_eq!(on.mount_point, "/");
}
