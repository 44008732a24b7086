//! `check --max-age`: when a measurement is too old, and that of what a stack is made of.

use super::{machine, on};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn an_old_measurement_does_not_meet_max_age() {
    let kept = machine("synthetic-kept");
    // A measurement of 2026-11-30T08:00:00Z. On a machine whose clock is before that its age is not known, which does
    // not meet the requirement either.
    let old = on(&kept, &["check", "sde", "--max-age", "0s"]);
    assert_eq!(old.code, Some(7));
    assert!(old.err.ends_with("zerocap: not met: max-age\n"), "{}", old.err);
    // The requirement comes before the class: slow by itself is exit 3.
    assert_eq!(on(&kept, &["check", "sdg"]).code, Some(3));
    assert_eq!(on(&kept, &["check", "sdg", "--max-age", "0s"]).code, Some(7));
    // Where no measurement is involved, none is too old.
    for (device, code) in [("md4", 4), ("sdd", 5)] {
        let none = on(&kept, &["check", device, "--max-age", "0s"]);
        assert_eq!((none.code, none.err.contains("not met")), (Some(code), false), "{device}: {}", none.err);
    }
    assert_eq!(on(&kept, &["check", "sde", "--max-age", "soon"]).code, Some(2));
    assert_eq!(on(&kept, &["check", "sde", "--max-age", "1"]).code, Some(2), "1 of what?");
}

/// A kept measurement that is so many seconds old by this machine's clock; a negative number lies in the future.
fn measured_ago(device: u8, seconds: i64, state: &Path) {
    let ago = format!("{} seconds {}", seconds.abs(), if seconds < 0 { "" } else { "ago" });
    let date = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ", "-d", &ago]).output().unwrap();
    let at = String::from_utf8(date.stdout).unwrap();
    let file = format!("etc/zerocap/devices/naa.500000000000000{device}.json");
    let text = fs::read_to_string(machine("synthetic-kept").join(&file)).unwrap();
    let changed = text.replace("2026-11-30T08:00:00Z", at.trim());
    assert!(date.status.success() && (changed != text || at.trim() == "2026-11-30T08:00:00Z"));
    fs::create_dir_all(state.join(&file).parent().unwrap()).unwrap();
    fs::write(state.join(file), changed).unwrap();
}

#[test]
fn max_age_counts_seconds_and_a_stack_is_as_old_as_its_oldest_member() {
    let state = tempfile::tempdir().unwrap();
    let check = |device: &str, age: &str| {
        let run = on(
            &machine("synthetic-kept"),
            &["check", device, "--max-age", age, "--state", state.path().to_str().unwrap()],
        );
        (run.code, run.err)
    };
    // sde is number 5, sdf number 6, and md0 is made of both.
    measured_ago(5, 1000, state.path());
    measured_ago(6, 90_000, state.path());
    for (device, age, code) in [
        ("sde", "1h", 0),
        ("sde", "990s", 7),
        ("sdf", "2d", 0),
        ("sdf", "1d", 7),
        ("md0", "2d", 0),
        ("md0", "1d", 7),
        ("md0", "1h", 7),
    ] {
        let (got, err) = check(device, age);
        assert_eq!(got, Some(code), "{device} {age}: {err}");
    }
    measured_ago(5, -90_000, state.path());
    let (code, err) = check("sde", "10d");
    assert_eq!(code, Some(7), "what was measured tomorrow has no age: {err}");
    assert!(err.contains("which is in the future"), "{err}");
}
