//! What is published: it fits the schema too, is replaced only where something changed, and is taken back.

use super::*;

#[test]
fn the_published_document_fits_too_and_has_no_stale_now() {
    let machine = full_machine();
    let run = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .args(["udev", "/dev/sda", "--root"])
        .arg(machine.path())
        .env("ACTION", "add")
        .output()
        .unwrap();
    assert!(run.status.success());
    let published = std::fs::read(machine.path().join("run/zerocap/8:0.json")).unwrap();
    let document: Value = serde_json::from_slice(&published).unwrap();
    assert_eq!(check(&document), [""; 0]);
    let mut names = BTreeSet::new();
    names_of_value(&document, "", &mut names);
    let mut wanted = schema_names();
    assert!(["tunables[].now", "device.names", "device.mounts"].iter().all(|n| wanted.remove(*n)));
    wanted.retain(|n| !n.starts_with("device.members[]"));
    assert_eq!(names, wanted);
    assert_eq!(document["published"]["boot_id"], "5f0e");
    assert_eq!(document["published"]["program"], concat!("zerocap ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_event_writes_only_what_is_new_and_takes_back_what_is_to_be_skipped() {
    let machine = full_machine();
    let event = |skip: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        command.args(["udev", "/dev/sda", "--root"]).arg(machine.path());
        command.env("ACTION", "change").env("MAJOR", "8").env("MINOR", "0").env("ZEROCAP_SKIP", skip);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let path = machine.path().join("run/zerocap/8:0.json");
    let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
    // Published for the first time at a change: what rests on it had no answer to begin with.
    assert!(event("").contains(".ZEROCAP_TELL=1\n"));
    // The same again: nothing is written, so the time stays.
    let first = inode();
    assert!(!event("").contains("ZEROCAP_TELL"));
    assert_eq!(inode(), first);
    // What an earlier rule wants to be skipped is taken back, and what rests on it is told, once.
    assert_eq!(event("1"), ".ZEROCAP_TELL=1\n");
    assert!(!path.exists());
    assert_eq!(event("1"), "");
}
