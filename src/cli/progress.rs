//! What `measure` prints on standard error while it runs. With `-v` it is one line for each pair; on a terminal it is one line that is
//! overwritten; otherwise only remarks.

use crate::cli::terminal::{error_columns, remark};
use crate::device::display::escape_str;
use crate::jobs::measure::{Listener, Pair, Progress};
use crate::units::interval;
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
    /// The device, as it was typed and without its directory.
    device: String,
    /// When the line was last written, if one stands there.
    shown: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new(verbose: bool, device: &str) -> ProgressLine {
        let manner = match (verbose, std::io::stderr().is_terminal()) {
            (true, _) => Manner::Pairs,
            (false, true) => Manner::Line,
            (false, false) => Manner::Quiet,
        };
        let device = escape_str(device.rsplit('/').next().unwrap_or(device));
        ProgressLine { manner, device, shown: None }
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
            // A line that is wrapped cannot be written over.
            let line = progress_line(&self.device, progress);
            let fits: String = line.chars().take(error_columns().saturating_sub(1)).collect();
            let _ = write!(std::io::stderr(), "\r\x1b[K{fits}");
        }
    }
}

pub(super) fn pair_line(pair: &Pair) -> String {
    let ms = |n: crate::units::Nanos| n.0 as f64 / 1e6;
    format!(
        "pair {}: write {:.2} ms, zero {:.2} ms{}",
        pair.number,
        ms(pair.write),
        ms(pair.zero),
        so_far(pair, ", median ratio ")
    )
}

/// The median of the ratios and what is known of it.
fn so_far(pair: &Pair, before: &str) -> String {
    let known = interval(pair.low, pair.high).map_or_else(String::new, |i| format!(" ({i})"));
    pair.median.map_or_else(String::new, |m| format!("{before}{m:.2}{known}"))
}

/// The device, how much of what the test may use is used, the time that is left at most, and what is known so far.
fn progress_line(device: &str, p: &Progress) -> String {
    let so_far = match &p.pair {
        None => "filling".to_owned(),
        Some(pair) => format!("pair {}{}", pair.number, so_far(pair, ", ratio ")),
    };
    format!("{device}: {:.0} %, at most {:.0} s left; {so_far}", p.share * 100.0, p.at_most.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn lines_say_the_device_the_share_the_time_left_and_what_is_known() {
        let mut pair = Pair {
            number: 7,
            write: Nanos(12_000_000),
            zero: Nanos(3_000_000),
            median: Some(4.0),
            low: Some(2.5),
            high: None,
        };
        assert_eq!(pair_line(&pair), "pair 7: write 12.00 ms, zero 3.00 ms, median ratio 4.00 (at least 2.50)");
        let mut p = Progress { share: 0.034, at_most: Nanos::from_secs(58), ..Progress::default() };
        assert_eq!(progress_line("sda", &p), "sda: 3 %, at most 58 s left; filling");
        p.pair = Some(pair);
        assert_eq!(progress_line("sda", &p), "sda: 3 %, at most 58 s left; pair 7, ratio 4.00 (at least 2.50)");
        (pair.low, pair.median) = (None, None);
        p.pair = Some(pair);
        assert_eq!(progress_line("sda", &p), "sda: 3 %, at most 58 s left; pair 7");
    }
}
