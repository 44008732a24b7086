//! `zerocap measure --all`: one line of progress for all tests, one table at the end. This file decides how the output looks and
//! what the exit code is, and nothing else.

use crate::cli::progress::pair_line;
use crate::cli::terminal::{error_columns, print, remark};
use crate::error::{exit, Result};
use crate::jobs::measure::{Pair, Request};
use crate::jobs::measure_all::{self, Ended, Listener, Row, Running};
use crate::jobs::Roots;
use std::io::{IsTerminal, Write};
use verdict_format::answers::json;

/// Runs the tests and prints what came of them.
pub(super) fn run(
    roots: &Roots,
    request: &Request,
    (everywhere, at_once): (bool, usize),
    (verbose, as_json): (bool, bool),
) -> Result<u8> {
    let mut line = Line { shown: String::new(), verbose, terminal: std::io::stderr().is_terminal() };
    let rows = measure_all::run(roots, request, everywhere, at_once, &mut line);
    line.end();
    let rows = rows?;
    print(|out| match as_json {
        true => write_json(out, &rows),
        false => write(out, &rows),
    })?;
    Ok(exit_code(&rows))
}

/// By the table: some failed, or all of those that were to be tested.
fn exit_code(rows: &[Row]) -> u8 {
    let failed = rows.iter().filter(|row| matches!(row.ended, Ended::Failed(_))).count();
    let answered = rows.iter().any(|row| matches!(row.ended, Ended::Tested(_) | Ended::Planned(_)));
    match (failed, answered) {
        (0, _) => exit::OK,
        (_, true) => exit::SOME_FAILED,
        (_, false) => exit::FAILURE,
    }
}

/// The documents of what was tested; the others on standard error.
fn write_json(out: &mut impl Write, rows: &[Row]) -> std::io::Result<()> {
    let mut before = "[";
    for row in rows {
        match &row.ended {
            Ended::Tested(document) => {
                write!(out, "{before}{}", document.json())?;
                before = ",\n";
            }
            Ended::Planned(lines) => {
                write!(out, "{before}{}", json(lines))?;
                before = ",\n";
            }
            Ended::LeftOut(why) | Ended::Failed(why) => remark(&without_node(row, why)),
        }
    }
    writeln!(out, "{}", if before == "[" { "[]" } else { "]" })
}

/// A line a device: class, ratio and place, or why there is none. The reason is the last column, as long as it is.
fn write(out: &mut impl Write, rows: &[Row]) -> std::io::Result<()> {
    let cells: Vec<[String; 4]> = rows.iter().map(cells).collect();
    let head = ["DEVICE", "CLASS", "RATIO", "PLACE"].map(str::to_owned);
    let all = || std::iter::once(&head).chain(&cells);
    let width = |i: usize| all().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [device, class, ratio, place] in all() {
        let [d, c, r] = widths;
        writeln!(out, "{device:<d$}  {class:<c$}  {ratio:>r$}  {place}")?;
    }
    for row in rows {
        if let Ended::Planned(lines) = &row.ended {
            writeln!(out, "{}:", row.name)?;
            lines.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        }
    }
    Ok(())
}

fn cells(row: &Row) -> [String; 4] {
    let dash = || "-".to_owned();
    let name = row.name.clone();
    match &row.ended {
        Ended::Tested(document) => {
            let ratio = document.speedup.as_ref().map_or_else(dash, |s| format!("{:.1}x", s.median));
            let place = document.measured.as_ref().map_or_else(dash, |m| m.scratch.clone());
            [name, document.class.to_string(), ratio, place]
        }
        Ended::Planned(_) => [name, dash(), dash(), "would be tested, see below".to_owned()],
        Ended::LeftOut(why) => [name, dash(), dash(), format!("left out: {}", without_node(row, why))],
        Ended::Failed(why) => [name, "failed".to_owned(), dash(), without_node(row, why)],
    }
}

/// An error without the node that begins it: the device stands in the first column.
fn without_node(row: &Row, why: &str) -> String {
    let node = format!("/dev/{}: ", row.name);
    why.strip_prefix(&node).unwrap_or(why).to_owned()
}

/// The line of progress.
struct Line {
    shown: String,
    verbose: bool,
    terminal: bool,
}

impl Line {
    fn end(&mut self) {
        if !std::mem::take(&mut self.shown).is_empty() {
            // Standard error may be closed; then there is nobody to tell.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Listener for Line {
    fn remark(&mut self, device: &str, text: &str) {
        self.end();
        let node = format!("/dev/{device}");
        if text.starts_with(&node) {
            remark(text);
        } else {
            remark(&format!("{node}: {text}"));
        }
    }

    fn step(&mut self, device: &str, text: &str) {
        if self.verbose {
            self.end();
            remark(&format!("{device}: {text}"));
        }
    }

    fn pair(&mut self, device: &str, pair: &Pair) {
        if self.verbose {
            self.end();
            remark(&format!("{device}: {}", pair_line(pair)));
        }
    }

    fn progress(&mut self, done: usize, of: usize, running: &[Running]) {
        // A line that is wrapped cannot be written over.
        let line: String = progress_line(done, of, running).chars().take(error_columns().saturating_sub(1)).collect();
        if self.terminal && !self.verbose && line != self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
            self.shown = line;
        }
    }
}

/// How far all of it is.
fn progress_line(done: usize, of: usize, running: &[Running]) -> String {
    let one = |(name, at_most): &Running| match at_most {
        Some(seconds) => format!("{name} at most {seconds:.0} s left"),
        None => name.clone(),
    };
    let running: Vec<String> = running.iter().map(one).collect();
    format!("{done} of {of} done; {}", running.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ended: Ended) -> Row {
        Row { name: name.to_owned(), ended }
    }

    #[test]
    fn the_table_says_what_came_of_each_and_the_code_follows_it() {
        let failed = || row("sda", Ended::Failed("/dev/sda: not tested: sda1 is mounted on /".to_owned()));
        let left = || row("nvme0n1", Ended::LeftOut("it has no offload, so there is nothing to test".to_owned()));
        let planned = || row("sdb", Ended::Planned(vec!["a check".to_owned()]));
        let mut out = Vec::new();
        write(&mut out, &[failed(), left(), planned()]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\
DEVICE   CLASS   RATIO  PLACE
sda      failed      -  not tested: sda1 is mounted on /
nvme0n1  -           -  left out: it has no offload, so there is nothing to test
sdb      -           -  would be tested, see below
sdb:
  a check
"
        );
        assert_eq!(exit_code(&[left()]), exit::OK);
        assert_eq!(exit_code(&[planned(), left()]), exit::OK);
        assert_eq!(exit_code(&[failed(), planned()]), exit::SOME_FAILED);
        assert_eq!(exit_code(&[failed(), left()]), exit::FAILURE);
    }

    #[test]
    fn the_line_of_progress_names_what_is_running() {
        let running = [("sda".to_owned(), Some(41.6)), ("nvme0n1".to_owned(), None)];
        assert_eq!(progress_line(2, 5, &running), "2 of 5 done; sda at most 42 s left, nvme0n1");
    }
}
