//! What people call their devices: shown, found, and refused where two have one name. On a recorded machine.

use super::*;

fn names() -> PathBuf {
    machine("synthetic-names-6.17")
}

/// The device that a name leads to, and what is said of it.
fn found(typed: &str) -> (Option<i32>, String, String) {
    let run = on(&names(), &["show", typed, "-o", "DEVICE", "--no-headings"]);
    (run.code, run.text().trim().to_owned(), run.err)
}

#[test]
fn a_device_is_found_by_every_name_that_people_use() {
    for (typed, device) in [
        ("dm-0", "dm-0"),
        ("/dev/dm-0", "dm-0"),
        ("vg0/root", "dm-0"),
        ("/dev/vg0/root", "dm-0"),
        ("vg0-root", "dm-0"),
        ("/dev/mapper/vg0-root", "dm-0"),
        ("/dev/disk/by-id/dm-name-vg0-root", "dm-0"),
        ("vg0/my-data", "dm-4"),
        ("vg0-my--data", "dm-4"),
        ("vault", "dm-5"),
        ("/dev/md/home", "md127"),
        ("home", "md127"),
        ("ata-ACME_DISK_S1", "sda"),
        ("/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "sda"),
    ] {
        assert_eq!(found(typed), (Some(0), device.to_owned(), String::new()), "{typed}");
    }
}

#[test]
fn a_partition_or_mount_point_stands_for_its_disk() {
    let (partition, mounted) = (" is a partition of /dev/sda; /dev/sda is used", ": its file system is on");
    for (typed, device, says) in [
        ("sda1", "sda", partition.to_owned()),
        ("ata-ACME_DISK_S1-part1", "sda", partition.to_owned()),
        ("/dev/disk/by-label/boot", "sda", partition.to_owned()),
        ("/boot", "sda", format!("{mounted} /dev/sda; /dev/sda is used")),
        ("/", "dm-0", format!("{mounted} /dev/dm-0; /dev/dm-0 is used")),
        ("/srv/my data", "dm-4", format!("{mounted} /dev/dm-4; /dev/dm-4 is used")),
        ("/home", "dm-5", format!("{mounted} /dev/dm-5; /dev/dm-5 is used")),
    ] {
        assert_eq!(found(typed), (Some(0), device.to_owned(), format!("zerocap: {typed}{says}\n")), "{typed}");
    }
    // A caller of `check` asked for what a partition is worth, and has the answer in the exit code.
    assert_eq!(on(&names(), &["check", "sda1"]).err, "");
    assert_eq!(on(&names(), &["check", "vg0/root"]).code, Some(5));
}

#[test]
fn a_name_of_two_devices_is_refused_and_both_are_named() {
    for (typed, says) in [
        ("sdb", "sdb is a name of /dev/sdb and /dev/dm-6; name one of them"),
        ("twice", "twice is a name of /dev/sdb and /dev/sdc; name one of them"),
        ("/pool", "/pool has its file system on /dev/sdb and /dev/sdc; name one of them"),
    ] {
        for call in [&["show", typed][..], &["check", typed], &["probe", typed]] {
            let run = on(&names(), call);
            assert_eq!(
                (run.code, run.text().to_owned(), run.err),
                (Some(2), String::new(), format!("zerocap: {says}\n")),
                "{call:?}"
            );
        }
    }
    // A node is one device's.
    assert_eq!(found("/dev/sdb"), (Some(0), "sdb".to_owned(), String::new()));
    for none in ["vg0", "vg0/none", "/srv", "/dev/vg0", "part1", "/run", ""] {
        assert_eq!(found(none).0, Some(32), "{none:?}");
    }
}

#[test]
fn names_are_shown_and_escaped_once() {
    let columns = on(&names(), &["show", "-o", "DEVICE,NAMES,MOUNTS,BY-ID"]);
    let rows: Vec<Vec<&str>> =
        columns.text().lines().map(|l| l.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect()).collect();
    for row in [
        ["dm-0", "vg0/root", "/", "-"],
        ["dm-4", "vg0/my-data", "/srv/my data", "-"],
        ["dm-5", "vault", "/home", "-"],
        ["dm-7", "odd\\x1b[31m", "-", "-"],
        ["md127", "md/home", "-", "-"],
        ["sda", "-", "/boot", "ata-ACME_DISK_S1"],
        ["sdb", "-", "/pool", "twice"],
    ] {
        assert!(rows.contains(&row.to_vec()), "{row:?}\n{}", columns.text());
    }
    let detail = on(&names(), &["show", "vg0/root"]);
    assert!(detail.text().contains("\n  called       vg0/root, vg0-root\n  mounted      /\n"), "{}", detail.text());
    let json = on(&names(), &["show", "--json", "/dev/dm-7"]);
    let document: Value = serde_json::from_slice(&json.out).unwrap();
    assert_eq!(document[0]["device"]["names"], serde_json::json!(["odd\\x1b[31m"]));
    // What goes to a fleet tells nobody's directories.
    let fleet = on(&names(), &["show", "--jsonl", "--fleet"]);
    assert!(!fleet.text().contains("vg0") && !fleet.text().contains("/boot"), "{}", fleet.text());
}

#[test]
fn parts_of_volumes_are_listed_with_all_only_and_a_disk_without_a_size_always() {
    let listed = |all: &[&str]| {
        let run = on(&names(), &[&["show", "--no-headings", "-o", "DEVICE"], all].concat());
        run.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let usual = listed(&[]);
    assert_eq!(usual, ["dm-0", "dm-4", "dm-5", "dm-6", "dm-7", "md127", "sda", "sdb", "sdc", "sdd"]);
    let all = listed(&["--all"]);
    assert!(["dm-1", "dm-2", "dm-3", "sde"].iter().all(|d| all.iter().any(|a| a == d)), "{all:?}");
}

#[test]
fn a_tree_has_each_stack_below_what_it_stands_on() {
    let tree = |arguments: &[&str]| {
        let run = on(&names(), &[&["show", "--tree", "--no-headings", "-o", "DEVICE,NAMES"], arguments].concat());
        assert_eq!(run.code, Some(0));
        run.text().to_owned()
    };
    assert_eq!(
        tree(&["--all", "/dev/sda"]),
        "\
sda         -
|-dm-0      vg0/root
| `-dm-6    sdb
|-dm-1      vg0-pool_tmeta
| `-dm-3    vg0-pool-tpool
|   `-dm-4  vg0/my-data
`-dm-2      vg0-pool_tdata
  `-dm-3    vg0-pool-tpool
"
    );
    let array = tree(&["vault"]);
    assert_eq!(array, "sdb       -\n`-md127   md/home\n  `-dm-5  vault\nsdc       -\n`-md127   md/home\n");
    // Where a part of a volume is not listed, what stands on it stands below the disk.
    assert!(tree(&["/dev/sda"]).contains("vg0/my-data"));
}
