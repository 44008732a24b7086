//! `zerocap fleet summarize`: reads files of lines and gives their summary. It decides what a line is and which bad lines are
//! named.

use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::fleet::{Collector, Tested};
use crate::machine::fs::packed;
use crate::store::model_entries::{self, Candidate};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use verdict_format::fleet::{BadLine, Summary};

pub use crate::store::model_entries::{Least, FLEET};

/// So many bad lines are named; all are counted.
const NAMED: usize = 10;
/// A longer line is no document: none comes near it.
const LONGEST: u64 = 1 << 20;

/// What the files say together.
#[derive(Debug)]
pub struct Summarized {
    /// The summary.
    pub summary: Summary,
    /// What may become an entry of hwdb.
    pub tested: Vec<Tested>,
    /// Files that could not be opened, or not be read to their end; what was read of these counts.
    pub errors: Vec<Error>,
    /// Whether there was a file to read.
    pub any: bool,
}

/// Reads all files, one after the other, each once.
pub fn summarize(files: &[String]) -> Result<Summarized> {
    let mut reader = Lines::default();
    let (mut errors, mut any) = (Vec::new(), false);
    for file in files {
        match packed::open(file) {
            Ok(lines) => {
                any = true;
                errors.extend(reader.read(file, lines)?.err().map(|e| Error::file(file, "read to the end", e)));
            }
            Err(e) => errors.push(e),
        }
    }
    let (summary, tested) = reader.finish()?;
    Ok(Summarized { summary, tested, errors, any })
}

/// The lines of one file after the other.
#[derive(Debug, Default)]
pub struct Lines {
    collector: Collector,
    lines: u64,
    bad: u64,
    named: Vec<BadLine>,
}

impl Lines {
    /// Reads a file to its end. The inner error: it cannot be read any further; what was read of it counts. The outer one: there
    /// is no room on disk.
    pub fn read(&mut self, file: &str, mut from: impl BufRead) -> Result<std::io::Result<()>> {
        let mut line = Vec::new();
        for number in 1.. {
            match next_line(&mut from, &mut line) {
                Ok(Length::Nothing) => break,
                Ok(Length::Fits) => {
                    if let Err(why) = self.collector.line(&line)? {
                        self.note(file, number, why);
                    }
                }
                Ok(Length::TooLong) => self.note(file, number, format!("it is longer than {LONGEST} bytes")),
                Err(e) => return Ok(Err(e)),
            }
            self.lines += 1;
        }
        Ok(Ok(()))
    }

    fn note(&mut self, file: &str, line: u64, why: String) {
        self.bad += 1;
        if self.named.len() < NAMED {
            self.named.push(BadLine { file: escape_str(file), line, why });
        }
    }

    /// What all lines say together, and what may become an entry of hwdb.
    pub fn finish(self) -> Result<(Summary, Vec<Tested>)> {
        let collected = self.collector.finish()?;
        Ok((collected.summary(self.lines, self.bad, self.named), collected.tested()))
    }
}

enum Length {
    Nothing,
    Fits,
    TooLong,
}

/// The next line without its end. Of a line that is too long nothing is kept, and it is read over.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Length> {
    let mut part = |line: &mut Vec<u8>| {
        line.clear();
        // One byte more than fits, and the end.
        from.by_ref().take(LONGEST + 2).read_until(b'\n', line)
    };
    if part(line)? == 0 {
        return Ok(Length::Nothing);
    }
    let mut fits = true;
    while line.last() != Some(&b'\n') && line.len() as u64 == LONGEST + 2 {
        fits = false;
        part(line)?;
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(if fits && line.len() as u64 <= LONGEST { Length::Fits } else { Length::TooLong })
}

/// Entries for hwdb, where enough devices on enough machines agree.
pub fn entries(tested: &[Tested], least: Least) -> String {
    // Sorted by what hwdb is searched for.
    let candidates: BTreeMap<_, Candidate> =
        tested.iter().map(|t| ((t.name.clone(), t.shown.clone()), candidate(t))).collect();
    model_entries::records(candidates.values(), least)
}

fn candidate(tested: &Tested) -> Candidate {
    Candidate {
        shown: escape_str(&tested.shown),
        name: tested.name.clone().map(|n| (n.model, n.revision)),
        backend: tested.backend.clone(),
        classes: tested.classes.clone(),
        different: tested.devices,
        machines: Some(tested.machines),
        devices: tested.devices,
        kernels: tested.kernels.clone(),
        speedup: tested.ratio,
        ends: tested.ends,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_end_and_a_long_one_is_read_over() {
        let long = "x".repeat(LONGEST as usize);
        let text = format!("a\n\n{long}\n{long}y\n{long}{long}{long}\nb\nlast");
        let (mut from, mut line, mut seen) = (text.as_bytes(), Vec::new(), Vec::new());
        loop {
            match next_line(&mut from, &mut line).unwrap() {
                Length::Nothing => break,
                Length::Fits => seen.push(Some(line.len())),
                Length::TooLong => seen.push(None),
            }
        }
        assert_eq!(seen, [Some(1), Some(0), Some(LONGEST as usize), None, None, Some(1), Some(4)]);
    }
}
