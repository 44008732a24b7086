//! Tests of durable files.

use super::*;

#[test]
fn replaced_whole_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut d = LiveDurable::new(dir.path().join("a/b"), 0o644);
    assert_eq!(d.read("x").unwrap(), None);
    assert_eq!(d.list().unwrap(), Vec::<String>::new());
    d.replace("x", b"one").unwrap();
    d.replace("x", b"two").unwrap();
    d.append("j.journal", b"abc").unwrap();
    d.append("j.journal", b"def").unwrap();
    d.sync("j.journal").unwrap();
    assert_eq!(d.read("x").unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(d.read("j.journal").unwrap().as_deref(), Some(&b"abcdef"[..]));
    for (offset, length, part) in [(0, 2, "ab"), (4, 9, "ef"), (6, 1, ""), (9, 1, "")] {
        assert_eq!(d.part("j.journal", offset, length).unwrap().as_deref(), Some(part.as_bytes()));
    }
    assert_eq!(d.part("none", 0, 1).unwrap(), None);
    assert_eq!(d.list().unwrap(), ["j.journal", "x"], "no temporary file is left");
    d.remove("x").unwrap();
    d.remove("x").unwrap();
    for bad in ["../x", "", ".x", "a/b"] {
        assert!(d.replace(bad, b"").is_err(), "{bad}");
    }
}

#[test]
fn a_name_is_held_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let [mut one, mut other] = [(); 2].map(|()| LiveDurable::new(dir.path().join("intent"), 0o600));
    assert!(one.hold("x").unwrap() && one.hold("x").unwrap());
    assert!(!other.hold("x").unwrap() && other.hold("y").unwrap());
    one.release("x");
    assert!(other.hold("x").unwrap());
    drop(other);
    assert!(one.hold("x").unwrap(), "the end of a holder gives its names up");
    assert_eq!(one.list().unwrap(), Vec::<String>::new());
}

#[test]
fn a_cut_keeps_what_was_synced() {
    let mut d = SimulatedDurable::default();
    d.append("j", b"safe").unwrap();
    d.sync("j").unwrap();
    d.append("j", b"lost").unwrap();
    d.append("k", b"lost").unwrap();
    d.power_cut(|| 0);
    assert_eq!(d.read("j").unwrap().as_deref(), Some(&b"safe"[..]));
    assert_eq!(d.read("k").unwrap(), None);
    d.append("j", b"torn").unwrap();
    d.power_cut(|| 128);
    assert_eq!(d.read("j").unwrap().as_deref(), Some(&b"safeto"[..]));
}

#[test]
fn modes_are_those_that_were_asked_for() {
    use std::os::unix::fs::{symlink, PermissionsExt};
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    let mode = |path: &str| fs::metadata(at(path)).unwrap().permissions().mode() & 0o7777;
    let mut open = LiveDurable::new(at("etc/zerocap/devices"), 0o644);
    open.replace("x.json", b"1").unwrap();
    let mut private = LiveDurable::new(at("var/zerocap/journal"), 0o600);
    private.create("j.journal").unwrap();
    private.append("j.journal", b"abc").unwrap();
    let mut note = LiveDurable::volatile(at("run/zerocap/temporary"), 0o600);
    note.replace("8:0", b"{}").unwrap();
    for (path, wanted) in [
        ("etc/zerocap", 0o755),
        ("etc/zerocap/devices", 0o755),
        ("etc/zerocap/devices/x.json", 0o644),
        ("var", 0o755),
        ("var/zerocap", 0o700),
        ("var/zerocap/journal", 0o700),
        ("var/zerocap/journal/j.journal", 0o600),
        ("run/zerocap", 0o755),
        ("run/zerocap/temporary", 0o700),
        ("run/zerocap/temporary/8:0", 0o600),
    ] {
        assert_eq!(mode(path), wanted, "{path}");
    }
    // Nothing that is there is taken for a new file, and nothing is written through a link.
    assert!(private.create("j.journal").is_err());
    symlink(at("elsewhere"), at("var/zerocap/journal/l.journal")).unwrap();
    assert!(private.create("l.journal").is_err());
    assert!(private.append("l.journal", b"x").is_err());
    assert!(!at("elsewhere").exists());
}

#[test]
fn what_others_may_write_is_not_read_and_not_written_to() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("etc/zerocap/devices");
    let files = || LiveDurable::new(&place, 0o644);
    files().replace("x", b"one").unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&place.join("x"), 0o666);
    let error = files().read("x").unwrap_err().to_string();
    assert!(error.contains("devices/x: others may write it (mode 0666)"), "{error}");
    assert!(files().part("x", 0, 1).is_err());
    assert_eq!(files().recorded(true).read("x").unwrap().as_deref(), Some(&b"one"[..]), "a recording is input");
    mode(&place.join("x"), 0o644);
    mode(&place, 0o777);
    let refused = |result: Result<()>| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("etc/zerocap/devices: others may write it (mode 0777)"), "{error}");
    };
    refused(files().read("x").map(drop));
    refused(files().list().map(drop));
    refused(files().replace("x", b"two"));
    refused(files().append("y", b"two"));
    mode(&place, 0o755);
    assert_eq!(files().read("x").unwrap().as_deref(), Some(&b"one"[..]));
}

#[test]
fn locks_of_processes_that_were_killed_are_removed_and_held_ones_stay() {
    let dir = tempfile::tempdir().unwrap();
    let mut own = LiveDurable::volatile(dir.path().join("run"), 0o644);
    own.remove_free_locks().unwrap();
    assert!(own.hold("own").unwrap());
    fs::write(dir.path().join("run/.killed.lock"), "").unwrap();
    let mut other = LiveDurable::volatile(dir.path().join("run"), 0o644);
    assert!(other.hold("other").unwrap());
    own.remove_free_locks().unwrap();
    let mut left: Vec<_> = fs::read_dir(dir.path().join("run")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".other.lock", ".own.lock"]);
    assert!(!own.hold("other").unwrap() && !other.hold("own").unwrap());
}
