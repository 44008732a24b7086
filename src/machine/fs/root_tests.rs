//! Odd files and links below a root.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn files_that_stand_for_links_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("sys/block/sda", "../devices/sda");
    write("sys/devices/sda/size", "8\n");
    write("sys/devices/sda/device", "../../../../../../etc");
    write("sys/devices/sda/round", "../sda/round");
    let root = Root::open(dir.path()).unwrap();
    assert_eq!(root.number("sys/block/sda/size"), Fact::Known(8));
    assert_eq!(root.link_name("sys/block/sda"), Fact::Known("sda".to_owned()));
    assert_eq!(root.read("sys/block/sda/device/passwd"), Fact::ABSENT, "never out of the root");
    assert!(root.read("sys/block/sda/round/x").known().is_none());
    assert!(root.link("sys/devices/sda/size").known().is_none());
}

#[test]
fn odd_files_give_an_unknown_fact() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("d")).unwrap();
    std::fs::write(at("n"), "42\n\0\0").unwrap();
    std::fs::write(at("minus"), "-1\n").unwrap();
    std::fs::write(at("bad"), b"\xff\xfe").unwrap();
    std::fs::write(at("empty"), "").unwrap();
    std::fs::File::create(at("huge")).unwrap().set_len(2 << 30).unwrap();
    symlink("/etc/passwd", at("out")).unwrap();
    symlink("../../../../../etc/passwd", at("dots")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("/n", at("inside")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let root = Root::open(dir.path()).unwrap();
    assert_eq!(root.number("n"), Fact::Known(42));
    assert_eq!(root.number("inside"), Fact::Known(42), "an absolute link resolves inside the root");
    for outside in ["out", "dots", "nothing", "n/below", "dev/sda"] {
        assert_eq!(root.read(outside), Fact::ABSENT, "{outside}");
    }
    for malformed in ["minus", "bad", "empty", "d", "huge", "loop", "fifo"] {
        assert!(matches!(root.number(malformed).why(), Some(Why::Malformed(_))), "{malformed}");
    }
    assert_eq!(root.link_name("out"), Fact::Known("passwd".to_owned()));
    assert!(root.link("n").known().is_none());
    assert_eq!(root.list("d"), Fact::Known(vec![]));
}
