//! A program run to its end: how long it took, what it held, what it said.

#![allow(clippy::unwrap_used)] // All of it is test.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[allow(dead_code)] // Each test program looks at some of it.
pub struct Run {
    pub took: Duration,
    /// Processor time, which other work on the machine changes less than the time that passes.
    pub cpu: Duration,
    /// The peak of the resident set as the kernel counted it while the program still ran.
    pub peak_kib: u64,
    pub output: Vec<u8>,
}

/// Runs a program to its end, and looks at its memory as long as it lives.
pub fn run(command: &mut Command) -> Run {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let before = of_children();
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        stdout.read_to_end(&mut output).unwrap();
        output
    });
    // The kernel keeps the peak; what is missed is what grew after the last look.
    let mut peak_kib = 0;
    while !reader.is_finished() {
        let held = std::fs::read_to_string(&status).unwrap_or_default();
        let line = held.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = reader.join().unwrap();
    assert!(child.wait().unwrap().success());
    Run { took: start.elapsed(), cpu: of_children() - before, peak_kib, output }
}

/// The processor time of all children that have ended (fields 16 and 17 of stat, in ticks of a hundredth of a second).
fn of_children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[13..15].iter().map(|f| f.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}
