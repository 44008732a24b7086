//! Faults of the machine around the program: a full disk, a full /run, state that cannot be written, a clock at 1970 and one
//! that jumps, no udevd. Each ends in the old or the new state, with a line that names the path and what failed.
//!
//! Small file systems in a mount namespace of their own; nothing of the machine is changed.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

#[path = "common/not_run.rs"]
mod not_run;

use not_run::not_run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the machine hides its process 1 even from root (a sandbox), the shell is shown in its place: a process that cannot
/// be looked at may have the disk open, and refuses every test.
const SHOW_FIRST: &str = "cat /proc/1/maps >/dev/null 2>&1 || mount --bind /proc/$$ /proc/1 || exit 9";

/// Runs a script in a mount namespace of its own; `None` where this machine allows none.
fn apart(script: &str) -> Option<(i32, String, String)> {
    let script = format!("{SHOW_FIRST}\n{script}");
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if err.contains("unshare") || err.contains("mount:") || err.contains("losetup:") {
        not_run(&format!("no mounts of its own: {err}"));
        return None;
    }
    Some((output.status.code().unwrap(), out, err))
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { dir: tempfile::tempdir().unwrap() };
        for (path, text) in [
            ("root/proc/sys/kernel/osrelease", "6.17.0"),
            ("root/sys/block/sda/dev", "8:0"),
            ("root/sys/block/sda/size", "2048"),
            ("root/sys/block/sda/diskseq", "1"),
            ("root/sys/block/sda/device/wwid", "naa.5000000000000005"),
            ("root/sys/block/sda/queue/write_zeroes_max_bytes", "33553920"),
            ("state/etc/zerocap/.keep", ""),
            ("state/run/zerocap/.keep", ""),
            ("state/var/lib/zerocap/.keep", ""),
        ] {
            let path = place.at(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// The program on the recorded machine, as words of a shell.
    fn call(&self, words: &str) -> String {
        let (root, state) = (self.at("root"), self.at("state"));
        let program = env!("CARGO_BIN_EXE_zerocap");
        format!("{program} {words} --root {} --state {}", root.display(), state.display())
    }
}

/// Mounts a small file system over a directory.
fn small(dir: &Path) -> String {
    format!("mount -t tmpfs -o size=64k,mode=755 none {}", dir.display())
}

/// Fills a file system to its last byte.
fn fill(dir: &Path) -> String {
    format!("cat /dev/zero >{}/filler 2>/dev/null; true", dir.display())
}

#[test]
fn a_full_disk_keeps_the_old_rules() {
    let place = Place::new();
    let etc = place.at("state/etc/zerocap");
    let script = [
        small(&etc),
        place.call("policy pin sda slow"),
        format!("cp {0}/policy.d/99-pins.toml {0}/../before", etc.display()),
        fill(&etc),
        format!("{}; echo code=$?", place.call("policy pin sda fast --why \"$(head -c 9000 /dev/zero | tr '\\0' x)\"")),
        format!("cmp {0}/policy.d/99-pins.toml {0}/../before && echo same", etc.display()),
        format!("ls -A {}/policy.d", etc.display()),
        place.call("show sda"),
    ];
    let Some((_, out, err)) = apart(&script.join("\n")) else { return };
    assert!(out.contains("code=1\nsame\n99-pins.toml\n"), "no old file is lost, no temporary one is left: {out} {err}");
    assert!(err.contains("99-pins.toml") && err.contains("No space left on device"), "{err}");
    assert!(out.contains("zeroes slowly"), "the old pin holds: {out}");
}

#[test]
fn a_full_run_directory_does_not_fail_the_event() {
    let place = Place::new();
    let run = place.at("state/run/zerocap");
    let event = format!("ACTION=change {}", place.call("udev /dev/sda"));
    let script = [
        small(&run),
        fill(&run),
        format!("{event}; echo code=$?"),
        format!("ls -A {}", run.display()),
        format!("rm {}/filler; {event} >/dev/null; ls -A {0}", run.display()),
    ];
    let Some((_, out, err)) = apart(&script.join("\n")) else { return };
    assert!(out.starts_with("ZEROCAP_CLASS=") && out.contains("code=0\nfiller\n"), "{out} {err}");
    assert!(err.contains("8:0.json") && err.contains("No space left on device"), "{err}");
    let after = "code=0\nfiller\nlock\n8:0.json\nlock\n";
    assert!(out.ends_with(after), "no temporary file is left, and the next event publishes: {out}");
}

#[test]
fn a_file_that_cannot_be_written_is_left_as_it_is() {
    let place = Place::new();
    for (dir, words) in [("etc", "policy pin sda slow"), ("run", "policy pin sda slow")] {
        let below = place.at(&format!("state/{dir}"));
        let script = [
            format!("mount --bind {0} {0} && mount -o remount,bind,ro {0}", below.display()),
            format!("{}; echo code=$?", place.call(words)),
            place.call("show sda"),
        ];
        let Some((_, out, err)) = apart(&script.join("\n")) else { return };
        assert!(out.starts_with("code=1\n") && out.contains("sda"), "{out} {err}");
        assert!(err.contains(&format!("state/{dir}/zerocap")) && err.contains("Read-only file system"), "{err}");
        assert!(!place.at("state/etc/zerocap/policy.d/99-pins.toml").exists());
    }
}

/// A test needs its intent and its journal on the medium before it writes: without them the device is not touched.
#[test]
fn no_test_without_a_place_for_its_journal() {
    let place = Place::new();
    let (image, state, journal) = (place.at("image"), place.at("state"), place.at("journal"));
    fs::create_dir(&journal).unwrap();
    let mut content: Vec<u8> = (0..32u32 << 20).map(|n| (n >> 9) as u8 | 1).collect();
    content[8 << 20..16 << 20].fill(0);
    fs::write(&image, &content).unwrap();
    let measure = format!(
        "{} measure $loop --data-ok --scratch 8MiB+8MiB --max-bytes 32MiB --state {} --journal {}",
        env!("CARGO_BIN_EXE_zerocap"),
        state.display(),
        journal.display()
    );
    let with_loop = |before: &str| {
        let after = "code=$?; losetup -d $loop; echo code=$code";
        let image = image.display();
        apart(&format!("loop=$(losetup -f --show {image}) || exit 9\n{before}\n{measure}\n{after}"))
    };
    let (var, full) = (place.at("state/var"), format!("{}\n{}", small(&journal), fill(&journal)));
    let read_only = format!("mount --bind {0} {0} && mount -o remount,bind,ro {0}", var.display());
    // Anybody could put a file, or a link, where the journal is to be.
    let open = format!("chmod 1777 {}", journal.display());
    for (before, what, path) in [
        (read_only, "Read-only file system", "state/var"),
        (full, "the journal needs 8.0 MiB, but only 0 B are free", "journal"),
        (open, "others may write it (mode 1777)", "journal"),
    ] {
        let Some((_, out, err)) = with_loop(&before) else { return };
        assert!(out.ends_with("code=1\n"), "{what}: {out} {err}");
        assert!(err.contains(what) && err.contains(path), "{what}: {err}");
        assert!(fs::read(&image).unwrap() == content, "{what}: the device was written to");
        let intents = fs::read_dir(var.join("lib/zerocap/intent")).into_iter().flatten().flatten();
        let left: Vec<_> = intents.filter(|e| !e.file_name().to_string_lossy().starts_with('.')).collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

/// What a test leaves has its modes whatever the caller's umask: nothing that others may write, the journal root's alone.
#[test]
fn a_test_leaves_its_modes_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    for umask in ["000", "077"] {
        let dir = tempfile::tempdir().unwrap();
        let (image, state) = (dir.path().join("image"), dir.path().join("state"));
        fs::File::create(&image).unwrap().set_len(32 << 20).unwrap();
        let (program, image, at) = (env!("CARGO_BIN_EXE_zerocap"), image.display(), state.display());
        let measure = format!("{program} measure $loop --data-ok --scratch 8MiB+8MiB --max-bytes 24MiB --state {at}");
        let script = format!(
            "umask {umask}\nloop=$(losetup -f --show {image}) || exit 9\n{measure}\ncode=$?; losetup -d $loop; exit $code"
        );
        let Some((code, out, err)) = apart(&script) else { return };
        assert_eq!(code, 0, "{out} {err}");
        let mut waiting = vec![state.clone()];
        let mut looked_at = 0;
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let (path, meta) = entry.map(|e| (e.path(), e.metadata().unwrap())).unwrap();
                let mode = meta.permissions().mode() & 0o7777;
                let below = path.strip_prefix(&state).unwrap().display().to_string();
                let private = below.starts_with("var/lib/zerocap") || below.contains("/temporary");
                let lock = below.ends_with(".lock") || below.contains("/lock/");
                let wanted = match (meta.is_dir(), private || lock) {
                    (true, true) => 0o700,
                    (true, false) => 0o755,
                    (false, true) => 0o600,
                    (false, false) => 0o644,
                };
                assert_eq!(mode, wanted, "umask {umask}: {below}: {mode:o}");
                looked_at += 1;
                if meta.is_dir() {
                    waiting.push(path);
                }
            }
        }
        assert!(looked_at > 8, "{looked_at}");
    }
}

/// A clock says when something was measured, and nothing else rests on it.
#[test]
fn a_clock_that_jumps_changes_no_verdict() {
    let place = Place::new();
    let kept =
        fs::read_to_string("tests/machines/synthetic-kept/etc/zerocap/devices/naa.5000000000000005.json").unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let file = place.at("state/etc/zerocap/devices/naa.5000000000000005.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut classes = Vec::new();
    for at in [parsed["at"].as_str().unwrap(), "1970-01-01T00:00:00Z", "2199-12-31T23:59:59Z"] {
        fs::write(&file, kept.replace(parsed["at"].as_str().unwrap(), at)).unwrap();
        let output = Command::new("sh").arg("-c").arg(place.call("show --json sda")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let documents: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        classes.push(documents[0]["class"].clone());
        assert_eq!(documents[0]["measured"]["at"], at);
    }
    assert!(classes.iter().all(|c| *c == classes[0]), "{classes:?}");
}
