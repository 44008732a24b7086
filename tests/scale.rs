//! `show --json` over recorded trees of many devices: linear in time, and within 64 MiB of memory that does not grow with
//! the number of devices. The time is printed beside that of `lsblk` over the same tree.
//!
//! `ZEROCAP_SCALE=10000` for the whole tree (`make bench`, `make test-long`); fewer devices otherwise.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

#[path = "common/run.rs"]
mod run;
use run::{run, Run};

#[path = "scale/tree.rs"]
mod tree;

/// What is allowed, in KiB; the goal holds for 10 000 devices and so for fewer.
const PEAK_KIB: u64 = 64 * 1024;

/// How much longer the second half of the way takes than the first, from the times of n, 2n and 4n devices: what the first n
/// cost, and the program's start, is in none of the two. 2 where each device costs the same, 4 where each costs as much
/// as there are devices.
fn growth(times: [Duration; 3]) -> f64 {
    let [first, second, third] = times.map(|t| t.as_secs_f64());
    (third - second) / (second - first)
}

fn show(root: &Path) -> Run {
    run(Command::new(env!("CARGO_BIN_EXE_zerocap")).arg("--root").arg(root).args(["show", "--all", "--json"]))
}

#[test]
fn a_long_list_is_linear_and_small() {
    let devices: usize = std::env::var("ZEROCAP_SCALE").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    // In memory where there is one: the figure is that of the program, not of a disk.
    let shm = Path::new("/dev/shm");
    let temporary = if shm.is_dir() { tempfile::tempdir_in(shm).unwrap() } else { tempfile::tempdir().unwrap() };
    let sizes = [devices / 4, devices / 2, devices];
    let trees = sizes.map(|n| temporary.path().join(n.to_string()));
    for (tree, n) in trees.iter().zip(sizes) {
        tree::make(tree, n);
    }
    // The first pass warms the caches. Each size is then run so often that ticks are fine enough, one size after the other in
    // each of two rounds, and the least of each size counts.
    let [quarter, _, whole] = [show(&trees[0]), show(&trees[1]), show(&trees[2])];
    let times = (200 / quarter.cpu.as_millis().max(10)).max(1);
    let cpu = |tree: &Path| (0..times).map(|_| show(tree).cpu).sum::<Duration>();
    let rounds: Vec<[Duration; 3]> = (0..2).map(|_| [cpu(&trees[0]), cpu(&trees[1]), cpu(&trees[2])]).collect();
    let least = [0, 1, 2].map(|n| rounds.iter().map(|round| round[n]).min().unwrap());
    let documents: Vec<serde_json::Value> = serde_json::from_slice(&whole.output).unwrap();
    assert_eq!(documents.len(), devices);
    let fast = documents.iter().filter(|d| d["expected"] == "fast").count();
    assert!(fast * 10 >= devices * 8, "{fast} of {devices} are expected to be fast: {}", documents[0]);
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!("show --json of {devices} devices: {:.0} ms, peak {} KiB", ms(whole.took), whole.peak_kib);
    println!(
        "  processor time of {sizes:?}, {times} times: {least:?}, growth {:.2} (linear 2, quadratic 4)",
        growth(least)
    );
    if Command::new("lsblk").arg("--version").stdout(Stdio::null()).status().is_ok() {
        let lsblk = run(Command::new("lsblk").arg("--sysroot").arg(&trees[2]).args(["-J", "-O"]));
        println!(
            "  lsblk -J -O of the same tree: {:.0} ms; {:.2} of that",
            ms(lsblk.took),
            ms(whole.took) / ms(lsblk.took)
        );
    } else {
        not_run("lsblk is not installed");
    }
    assert!(whole.peak_kib < PEAK_KIB, "{} KiB", whole.peak_kib);
    assert!(whole.peak_kib > 1000, "{} KiB: not looked at in time", whole.peak_kib);
    // Documents are written as they are made, so that four times as many do not need twice the memory.
    assert!(whole.peak_kib < quarter.peak_kib * 2, "{} KiB, a quarter {}", whole.peak_kib, quarter.peak_kib);
    assert!(growth(least) < 3.0, "more than linear: {least:?} for {sizes:?} devices");
}

#[test]
fn growth_tells_linear_from_quadratic() {
    let times = |cost: fn(u32) -> u32| [250, 500, 1000].map(|n| Duration::from_micros(u64::from(cost(n))));
    assert!((growth(times(|n| 90_000 + 700 * n)) - 2.0).abs() < 1e-9, "each device costs the same");
    assert!(growth(times(|n| 90_000 + 700 * n + 2 * n * n)) > 3.0, "each device looks at all others");
}
