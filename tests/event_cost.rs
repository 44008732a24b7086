//! What an event costs with 10 000 kept devices and 1000 policy rules, against an empty state: the ratio is printed, not
//! asserted (`make bench`; fewer of both otherwise).
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time of one event.
fn event(root: &Path, state: &Path) -> Duration {
    let start = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .arg("udev")
        .arg("--root")
        .arg(root)
        .arg("--state")
        .arg(state)
        .arg("/dev/sda")
        .env("ACTION", "change")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    start.elapsed()
}

#[test]
fn an_event_with_much_kept_costs_what_one_without_does() {
    let large = std::env::var("ZEROCAP_SCALE").is_ok();
    let (kept, rules, runs) = if large { (10_000, 1000, 200) } else { (200, 50, 5) };
    let machine = tempfile::tempdir().unwrap();
    let own = "etc/zerocap/devices/naa.5000000000000005.json";
    let text = include_bytes!("machines/synthetic-kept/etc/zerocap/devices/naa.5000000000000005.json");
    for (file, content) in [
        ("dev", "8:0"),
        ("size", "2048"),
        ("diskseq", "1"),
        ("device/wwid", "naa.5000000000000005"),
        ("device/vendor", "Linux"),
        ("device/model", "disk"),
        ("queue/write_zeroes_max_bytes", "33553920"),
        ("queue/write_zeroes_unmap_max_hw_bytes", "33553920"),
        ("queue/write_zeroes_unmap_max_bytes", "33553920"),
    ] {
        let path = machine.path().join("sys/block/sda").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{content}\n")).unwrap();
    }
    let root = machine.path();
    let (empty, full, only_kept) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for state in [&empty, &full, &only_kept] {
        std::fs::create_dir_all(state.path().join("etc/zerocap/devices")).unwrap();
        std::fs::create_dir_all(state.path().join("etc/zerocap/policy.d")).unwrap();
        std::fs::write(state.path().join(own), text).unwrap();
    }
    for state in [&full, &only_kept] {
        for i in 0..kept {
            std::fs::write(state.path().join(format!("etc/zerocap/devices/naa.6{i:015}.json")), text).unwrap();
        }
    }
    let rule = |i: usize| {
        format!("[[rule]]\nvendor = \"V{i}\"\nmodel = \"Model {i}.*\"\nclass = \"slow\"\nwhy = \"r{i}\"\n\n")
    };
    let all: String = (0..rules).map(rule).collect();
    std::fs::write(full.path().join("etc/zerocap/policy.d/50-many.toml"), all).unwrap();
    // Interleaved, minimum against minimum: what else the machine does is in both.
    let mut least = [Duration::MAX; 3];
    for _ in 0..runs {
        for (least, state) in least.iter_mut().zip([&empty, &only_kept, &full]) {
            *least = (*least).min(event(root, state.path()));
        }
    }
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    // The first event after a change of the rules reads them all.
    std::fs::remove_dir_all(full.path().join("run")).unwrap();
    let first = event(root, full.path());
    println!("an event: {:.2} ms with nothing else kept", ms(least[0]));
    println!("  {kept} devices kept: {:.2} ms, {:.2}x", ms(least[1]), ms(least[1]) / ms(least[0]));
    println!("  and {rules} rules: {:.2} ms, {:.2}x (goal 1.2x)", ms(least[2]), ms(least[2]) / ms(least[0]));
    println!("  the first event after a change of the rules: {:.2} ms", ms(first));
}
