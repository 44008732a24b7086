//! What `show DEV` and `probe DEV` print of every device of every recorded machine, word for word. `expect.json` names only
//! what must hold; this holds the rest still: each text, each value, each reason why something is not known.
//!
//! The texts lie beside `expect.json`, as `expect.txt`. `BLESS=1 cargo test --test goldens` writes them anew. Whoever does
//! that reads the difference: a line that says something wrong is a defect of the program, not a new expectation.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

#[path = "common/recorded.rs"]
mod recorded;

use recorded::machines;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// How wide the lines are in which the readings of a probe are gathered.
const WIDTH: usize = 140;

fn run(machine: &Path, verb: &str, device: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .args([verb, device, "--root"])
        .arg(machine)
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    for line in String::from_utf8(output.stderr).unwrap().lines() {
        writeln!(text, "stderr: {line}").unwrap();
    }
    match output.status.code() {
        Some(0) => {}
        code => writeln!(text, "exit: {code:?}").unwrap(),
    }
    text
}

/// A probe in fewer lines, with nothing left out: the readings of a section stand side by side, those that are not known for
/// the same reason together. `shown` is the detail view: lines that stand there already are told as "as shown".
fn compact(probe: &str, shown: &str) -> String {
    let known = |line: &str| shown.lines().any(|s| same_words(s, line));
    let (mut text, mut items) = (String::new(), Vec::new());
    for line in probe.lines() {
        if line.starts_with("  ") && !text.is_empty() {
            items.push(if known(line) { "(as shown)".to_owned() } else { line.trim().to_owned() });
            continue;
        }
        if !items.is_empty() {
            gather(&mut text, &mut items);
        }
        text.push_str(if known(line) { "(as shown)" } else { line });
        text.push('\n');
    }
    if !items.is_empty() {
        gather(&mut text, &mut items);
    }
    text
}

/// The same line but for the width of its columns.
fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Puts the readings of a section in lines of the usual width.
fn gather(text: &mut String, items: &mut Vec<String>) {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    let mut told = Vec::new();
    for item in items.drain(..) {
        match item.split_once(": unknown, ") {
            Some((name, why)) => match reasons.iter_mut().find(|(reason, _)| reason == why) {
                Some((_, names)) => names.push(name.to_owned()),
                None => reasons.push((why.to_owned(), vec![name.to_owned()])),
            },
            None if item == "(as shown)" && told.last().is_some_and(|last| *last == item) => {}
            None => told.push(item),
        }
    }
    told.extend(reasons.into_iter().map(|(why, names)| format!("unknown, {why}: {}", names.join(" "))));
    // Behind the heading of the section, as far as there is room.
    let heading = text.trim_end_matches('\n').rfind('\n').map_or(0, |newline| newline + 1);
    let mut line = text.split_off(heading).trim_end().to_owned();
    for item in told {
        if line.len() + item.len() > WIDTH {
            writeln!(text, "{line}").unwrap();
            line = format!("  {item}");
        } else {
            write!(line, " | {item}").unwrap();
        }
    }
    writeln!(text, "{line}").unwrap();
}

fn devices(machine: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(machine.join("sys/block")).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn golden(machine: &Path) -> String {
    let mut text = String::new();
    let here = format!("{}/", machine.display());
    for device in devices(machine) {
        let (shown, probed) = (run(machine, "show", &device), run(machine, "probe", &device));
        write!(text, "=== {device}: show\n{shown}--- {device}: probe\n{}", compact(&probed, &shown)).unwrap();
    }
    // A file of the recording is told with its path on this machine.
    text.replace(&here, "")
}

/// The lines of one text that the other has not, in order; a few of them.
fn only_in(a: &str, b: &str, mark: char) -> String {
    let there: std::collections::BTreeSet<&str> = b.lines().collect();
    let lines = a.lines().filter(|line| !there.contains(line)).take(12);
    lines.fold(String::new(), |text, line| format!("{text}  {mark} {line}\n"))
}

#[test]
fn every_recorded_machine_prints_its_golden_text() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut wrong, mut lines) = (String::new(), 0);
    let machines = machines();
    assert!(machines.len() >= 50, "{} machines", machines.len());
    for machine in &machines {
        let (path, now) = (machine.join("expect.txt"), golden(machine));
        assert!(!now.is_empty(), "{}: no device", machine.display());
        lines += now.lines().count();
        if bless {
            std::fs::write(&path, now).unwrap();
            continue;
        }
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        if before != now {
            let (gone, new) = (only_in(&before, &now, '-'), only_in(&now, &before, '+'));
            // Lines that are all there, in another order.
            let order = if gone.is_empty() && new.is_empty() { "  the order of lines\n" } else { "" };
            write!(wrong, "{}:\n{gone}{new}{order}", path.display()).unwrap();
        }
    }
    println!("{lines} lines of {} machines", machines.len());
    assert!(wrong.is_empty(), "\n{wrong}BLESS=1 writes these texts anew; read the difference before keeping it\n");
}

#[test]
fn a_compact_probe_leaves_nothing_out() {
    let probe =
        "sda is fast.\n  expected: fast\nqueue\n  a: 1  (one)\n  b: unknown, absent\n  c: 3\n  d: unknown, absent\n";
    assert_eq!(
        compact(probe, ""),
        "sda is fast. | expected: fast\nqueue | a: 1  (one) | c: 3 | unknown, absent: b d\n"
    );
    assert_eq!(compact(probe, "sda is fast.\n"), compact(probe, "").replace("sda is fast.", "(as shown)"));
    let long = format!("x\n  {}\n  {}\ny\n", "a".repeat(WIDTH), "b".repeat(WIDTH));
    assert_eq!(compact(&long, ""), long);
}
