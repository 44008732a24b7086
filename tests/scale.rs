//! `show --json` over a recorded tree of many devices: linear in time, and within 64 MiB of memory. The time is printed
//! beside that of `lsblk` over the same tree, not asserted.
//!
//! `ZEROCAP_SCALE=10000` for the whole tree (`make bench`, `make test-long`); fewer devices otherwise.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "scale/tree.rs"]
mod tree;

/// What is allowed, in KiB; the goal holds for 10 000 devices and so for fewer.
const PEAK_KIB: u64 = 64 * 1024;

struct Run {
    took: Duration,
    /// The peak of the resident set as the kernel counted it while the program still ran.
    peak_kib: u64,
    output: Vec<u8>,
}

/// Runs a program to its end, and looks at its memory as long as it lives.
fn run(command: &mut Command) -> Run {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut output, mut chunk, mut peak_kib) = (Vec::new(), vec![0u8; 256 * 1024], 0);
    loop {
        // The program waits for its output to be read, so the last look comes while it has little left to do.
        let held = std::fs::read_to_string(&status).unwrap_or_default();
        let line = held.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        match stdout.read(&mut chunk).unwrap() {
            0 => break,
            n => output.extend_from_slice(&chunk[..n]),
        }
    }
    assert!(child.wait().unwrap().success());
    Run { took: start.elapsed(), peak_kib, output }
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
    let (small, large) = (temporary.path().join("small"), temporary.path().join("large"));
    tree::make(&small, devices / 4);
    tree::make(&large, devices);
    show(&small);
    let (quarter, whole) = (show(&small), show(&large));
    let documents: Vec<serde_json::Value> = serde_json::from_slice(&whole.output).unwrap();
    assert_eq!(documents.len(), devices);
    let fast = documents.iter().filter(|d| d["expected"] == "fast").count();
    assert!(fast * 10 >= devices * 8, "{fast} of {devices} are expected to be fast: {}", documents[0]);
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!("show --json of {devices} devices: {:.0} ms, peak {} KiB", ms(whole.took), whole.peak_kib);
    println!(
        "  a quarter of them: {:.0} ms, {:.1}x as long for 4x",
        ms(quarter.took),
        ms(whole.took) / ms(quarter.took)
    );
    if Command::new("lsblk").arg("--version").stdout(Stdio::null()).status().is_ok() {
        let lsblk = run(Command::new("lsblk").arg("--sysroot").arg(&large).args(["-J", "-O"]));
        println!(
            "  lsblk -J -O of the same tree: {:.0} ms; {:.2} of that",
            ms(lsblk.took),
            ms(whole.took) / ms(lsblk.took)
        );
    } else {
        println!("  not run: lsblk is not installed");
    }
    assert!(whole.peak_kib < PEAK_KIB, "{} KiB", whole.peak_kib);
    assert!(whole.peak_kib > 1000, "{} KiB: not looked at in time", whole.peak_kib);
    // Twice the memory of a quarter would be 4x growth; documents are written as they are made.
    assert!(whole.took < quarter.took * 16, "more than linear: {:?} for {:?}", whole.took, quarter.took);
}
