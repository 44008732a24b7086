//! What `measure` says on standard error while it runs: a line a pair with `-v`; on a terminal one line that is written
//! over; else nothing but remarks.

use crate::cli::terminal::remark;
use crate::jobs::measure::{Listener, Pair, Progress};
use crate::units::human_bytes;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line is written over.
const EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Quiet,
    Line,
    Pairs,
}

/// The listener of the command line.
#[derive(Debug)]
pub(super) struct ProgressLine {
    manner: Manner,
    /// When the line was last written, if one stands there.
    shown: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new(verbose: bool) -> ProgressLine {
        let manner = match (verbose, std::io::stderr().is_terminal()) {
            (true, _) => Manner::Pairs,
            (false, true) => Manner::Line,
            (false, false) => Manner::Quiet,
        };
        ProgressLine { manner, shown: None }
    }

    /// Clears the line: what follows stands where it stood.
    pub(super) fn end(&mut self) {
        if self.shown.take().is_some() {
            // Standard error may be closed; then there is nobody to tell.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Listener for ProgressLine {
    fn remark(&mut self, text: &str) {
        self.end();
        remark(text);
    }

    fn pair(&mut self, pair: &Pair) {
        if self.manner == Manner::Pairs {
            remark(&pair_line(pair));
        }
    }

    fn step(&mut self, text: &str) {
        if self.manner == Manner::Pairs {
            remark(text);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        if self.manner == Manner::Line && self.shown.is_none_or(|at| at.elapsed() >= EVERY) {
            self.shown = Some(Instant::now());
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", progress_line(progress));
        }
    }
}

fn pair_line(pair: &Pair) -> String {
    let ms = |n: crate::units::Nanos| n.0 as f64 / 1e6;
    format!(
        "pair {}: write {:.2} ms, zero {:.2} ms, median ratio {:.2}, {}",
        pair.number,
        ms(pair.write),
        ms(pair.zero),
        pair.median.unwrap_or(0.0),
        interval(pair)
    )
}

fn interval(pair: &Pair) -> String {
    let end = |e: Option<f64>| e.map_or_else(|| "?".to_owned(), |e| format!("{e:.2}"));
    format!("between {} and {}", end(pair.low), end(pair.high))
}

/// Below 80 columns whatever the numbers.
fn progress_line(p: &Progress) -> String {
    let so_far = match &p.pair {
        None => "filling".to_owned(),
        Some(pair) => {
            format!("pair {}: {:.2} times as fast, {}", pair.number, pair.median.unwrap_or(0.0), interval(pair))
        }
    };
    format!("{}, at most {:.0} s more; {so_far}", human_bytes(p.bytes), p.at_most.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn lines_say_bytes_estimate_and_interval() {
        let pair = Pair {
            number: 7,
            write: Nanos(12_000_000),
            zero: Nanos(3_000_000),
            median: Some(4.0),
            low: Some(2.5),
            high: None,
        };
        assert_eq!(pair_line(&pair), "pair 7: write 12.00 ms, zero 3.00 ms, median ratio 4.00, between 2.50 and ?");
        let mut p = Progress { bytes: 1 << 20, at_most: Nanos::from_secs(58), ..Progress::default() };
        assert_eq!(progress_line(&p), "1 MiB, at most 58 s more; filling");
        p.pair = Some(pair);
        assert_eq!(progress_line(&p), "1 MiB, at most 58 s more; pair 7: 4.00 times as fast, between 2.50 and ?");
    }
}
