//! One run of the test on a proved range: ladder, fill, pairs of the deciding method, screening of the others.
//!
//! Decides the order of acts and when to stop; what the numbers mean is `stats`, what they are called is the caller's.
//! Writes only through the port and only to the range it was given. It does not put back: the caller does, on every way out.

use crate::machine::port::{Act, ActError, Done, Fill, Port, ScratchRange};
use crate::measure::order::{self, DECIDING, SCREENED, SCREENING_PAIRS};
pub use crate::measure::outcome::{End, MethodRun, Outcome, Wrong};
use crate::measure::stats::{self, Decision, Sequential};
use crate::units::{Nanos, MIB};
use crate::words::{Hazard, Method};

/// The segment where nothing speaks against it.
pub const SEGMENT: u64 = 16 * MIB;
/// Segments: a pair needs one to write, one to zero, and two that were written earlier.
pub const SEGMENTS: u64 = 4;
/// A write of one segment takes at most this.
const SEGMENT_TIME: Nanos = Nanos::from_secs(1);

/// What the run may use.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The journalled seed.
    pub seed: u64,
    /// Offsets and lengths are multiples of this on the whole device, in bytes.
    pub unit: u64,
    /// First byte on the node, and bytes from there, that are journalled and may be used.
    pub start: u64,
    /// See above.
    pub length: u64,
    /// From this ratio on zeroing is fast.
    pub fast_ratio: f64,
    /// Bytes of the pairs that decide.
    pub max_bytes: u64,
    /// Time for everything before the put-back.
    pub max_time: Nanos,
    /// Whether FALLOC_FL_WRITE_ZEROES may be tried: `Err` says why not (`gated`, an older kernel).
    pub write_zeroes: Result<(), String>,
}

impl Plan {
    /// The largest span of the range that the test will use; `Err` says why there is none.
    pub fn span(range: &ScratchRange, granularity: u64, at_most: u64) -> Result<(u64, u64, u64), String> {
        let unit = granularity.max(range.logical_block).max(512);
        // Multiples of the granularity count from the device's LBA 0, not from the node's start.
        let first = (range.node_offset + range.start).next_multiple_of(unit) - range.node_offset;
        let room = (range.start + range.length).saturating_sub(first).min(at_most);
        let mut segment = SEGMENT.next_multiple_of(unit);
        while segment * SEGMENTS > room && segment / 2 >= unit && (segment / 2) % unit == 0 {
            segment /= 2;
        }
        if segment * SEGMENTS > room {
            return Err(format!(
                "{SEGMENTS} segments of at least {unit} bytes do not fit the {room} bytes that may be used"
            ));
        }
        Ok((unit, first, segment * SEGMENTS))
    }
}

/// The times of one pair.
struct Pair {
    write: Nanos,
    zero: Nanos,
    over: Nanos,
}

fn add(total: &mut (u64, Nanos), bytes: u64, took: Nanos) {
    *total = (total.0 + bytes, Nanos(total.1 .0 + took.0));
}

/// What the caller lends the run.
pub trait Watch {
    /// Limits and modes as text lines `name=value`, read anew.
    fn limits(&mut self) -> Vec<String>;
    /// A pair is done: number, write and zero time, the decision so far.
    fn pair(&mut self, number: usize, write: Nanos, zero: Nanos, so_far: &Sequential);
    /// Whether to stop now (an interrupt).
    fn stop(&mut self) -> bool;
}

struct Run<'a> {
    port: &'a mut dyn Port,
    range: &'a ScratchRange,
    plan: &'a Plan,
    trial: u64,
    out: Outcome,
    /// What makes the run end early.
    end: Option<End>,
}

/// Runs the test. The range is open on the port, and its content is journalled; it stays open for the put-back.
pub fn run(port: &mut dyn Port, range: &ScratchRange, plan: &Plan, watch: &mut dyn Watch) -> Outcome {
    let start = port.now();
    let out = Outcome {
        end: End::Complete,
        pairs: Sequential::new(plan.fast_ratio, stats::ALPHA),
        segment: plan.length / SEGMENTS,
        written: (0, Nanos(0)),
        overwritten: (0, Nanos(0)),
        methods: Vec::new(),
        bytes_written: 0,
        zero_baseline: false,
        zero_ladder: Vec::new(),
        write_ladder: Vec::new(),
        changed_limits: Vec::new(),
        inconclusive: None,
        took: Nanos(0),
    };
    let mut run = Run { port, range, plan, trial: 0, out, end: None };
    let mut limits = watch.limits();
    // `None` from a step means that the run has ended; what ended it is in `run.end`.
    let _ = run.steps(start, watch, &mut limits);
    run.note_limits(watch, &mut limits, "the test");
    run.out.took = run.port.now().since(start);
    run.out.end = run.end.take().unwrap_or(End::Complete);
    run.out
}

impl Run<'_> {
    fn steps(&mut self, start: Nanos, watch: &mut dyn Watch, limits: &mut Vec<String>) -> Option<()> {
        self.ladder()?;
        for segment in 0..SEGMENTS {
            self.fill(segment)?;
        }
        self.compare_fills()?;
        self.pairs(start, watch)?;
        self.note_limits(watch, limits, DECIDING.as_str());
        for method in SCREENED {
            if watch.stop() || self.port.now().since(start) >= self.plan.max_time {
                return None;
            }
            self.screen(*method)?;
            self.note_limits(watch, limits, method.as_str());
        }
        Some(())
    }

    /// An act whose failure ends the run.
    fn act(&mut self, operation: &str, act: &Act) -> Option<(Nanos, Done)> {
        let timed = self.port.act(self.range, act);
        match timed.value {
            Ok(done) => Some((timed.took, done)),
            Err(error) => {
                self.end = Some(match error {
                    ActError::NoAnswer(_) => End::Wrong(Wrong {
                        hazard: Hazard::NoAnswer,
                        method: DECIDING,
                        text: format!("{operation}: {error}"),
                    }),
                    error => End::Failed(operation.to_owned(), error),
                });
                None
            }
        }
    }

    fn offset(&self, segment: u64) -> u64 {
        self.plan.start + segment % (self.plan.length / self.out.segment) * self.out.segment
    }

    fn write(&mut self, offset: u64, length: u64, zeroes: bool) -> Option<Nanos> {
        self.trial += 1;
        let fill = if zeroes { Fill::Zeroes } else { Fill::Pattern { seed: self.plan.seed, trial: self.trial } };
        let (took, _) = self.act(&format!("write at byte {offset}"), &Act::Write { offset, length, fill })?;
        self.out.bytes_written += length;
        Some(took)
    }

    /// Fills a segment with the pattern and reads it back: a device that does not keep what is written proves nothing by
    /// reading zeroes later.
    fn fill(&mut self, segment: u64) -> Option<()> {
        let (offset, length) = (self.offset(segment), self.out.segment);
        self.write(offset, length, false)?;
        let fill = Fill::Pattern { seed: self.plan.seed, trial: self.trial };
        match self.act(&format!("read back at byte {offset}"), &Act::Verify { offset, length, fill })?.1 {
            Done::Mismatch(at) => {
                let what = "the device does not read what was written; nothing can be proved on it".to_owned();
                self.end = Some(End::Failed(format!("read back at byte {at}"), ActError::NotAllowed(what)));
                None
            }
            _ => Some(()),
        }
    }

    /// One zeroing call. The outer `None`: the run has ended. The inner `Err`: the method's answer, the run goes on.
    fn zero(&mut self, method: Method, offset: u64, length: u64) -> Option<Result<Nanos, ActError>> {
        let timed = if method == Method::WriteZeros {
            self.out.bytes_written += length;
            self.port.act(self.range, &Act::Write { offset, length, fill: Fill::Zeroes })
        } else {
            self.port.act(self.range, &Act::Zero { method, offset, length })
        };
        if let Err(error) = timed.value {
            if let ActError::NoAnswer(_) = error {
                let text = format!("{method} of {length} bytes at byte {offset}: {error}");
                self.end = Some(End::Wrong(Wrong { hazard: Hazard::NoAnswer, method, text }));
                return None;
            }
            return Some(Err(error));
        }
        if !order::promises_zeroes(method) {
            return Some(Ok(timed.took));
        }
        let verify = Act::Verify { offset, length, fill: Fill::Zeroes };
        match self.act(&format!("read back at byte {offset}"), &verify)?.1 {
            Done::Mismatch(at) => {
                let text = format!(
                    "{method} of {length} bytes at byte {offset} reported success, old data is read at byte {at}"
                );
                self.end = Some(End::Wrong(Wrong { hazard: Hazard::OldDataLeft, method, text }));
                None
            }
            _ => Some(Ok(timed.took)),
        }
    }

    /// The answer of the deciding method: any failure of it ends the run.
    fn or_end<T>(&mut self, offset: u64, length: u64, answer: Result<T, ActError>) -> Option<T> {
        match answer {
            Ok(value) => Some(value),
            Err(ActError::Os(errno)) if errno == rustix::io::Errno::OPNOTSUPP.raw_os_error() => {
                self.end = Some(End::NotSupported);
                None
            }
            Err(error) => {
                let text = format!("{DECIDING} of {length} bytes from byte {offset} on: {error}");
                self.end = Some(End::Wrong(Wrong { hazard: Hazard::ZeroingError, method: DECIDING, text }));
                None
            }
        }
    }

    /// Single calls of growing size: nothing larger is sent before something smaller was answered, and the segment is
    /// halved until a write of it takes at most [`SEGMENT_TIME`].
    fn ladder(&mut self) -> Option<()> {
        let offset = self.plan.start;
        let mut size = self.out.segment;
        while size / 4 >= self.plan.unit && (size / 4) % self.plan.unit == 0 && size > 64 * 1024 {
            size /= 4;
        }
        while size <= self.out.segment {
            let wrote = self.write(offset, size, false)?;
            let answer = self.zero(DECIDING, offset, size)?;
            let zeroed = self.or_end(offset, size, answer)?;
            self.out.write_ladder.push((size, wrote.0));
            self.out.zero_ladder.push((size, zeroed.0));
            // What one segment would take, from this rung.
            let whole = |s: u64| Nanos(wrote.0.saturating_mul(s / size));
            while whole(self.out.segment) > SEGMENT_TIME
                && self.out.segment / 2 >= self.plan.unit.max(size)
                && (self.out.segment / 2) % self.plan.unit == 0
            {
                self.out.segment /= 2;
            }
            size *= 4;
        }
        Some(())
    }

    /// Whether zero-filled writes are over 1.5 times as fast as incompressible ones (dedupe, zero detection): then they
    /// are the fair baseline.
    fn compare_fills(&mut self) -> Option<()> {
        let mut ratios = Vec::new();
        for pair in 0..u64::from(SCREENING_PAIRS) {
            let offset = self.offset(pair);
            let pattern = self.write(offset, self.out.segment, false)?;
            let zeroes = self.write(offset, self.out.segment, true)?;
            ratios.push(pattern.0.max(1) as f64 / zeroes.0.max(1) as f64);
            self.write(offset, self.out.segment, false)?;
        }
        self.out.zero_baseline = stats::median(&mut ratios).is_some_and(|m| m > 1.5);
        Some(())
    }

    /// One pair: a write over a written segment and the zeroing of another one, in the order of the coin, then a write
    /// over the zeroed one. All segments hold a pattern before and after. Nested as [`Run::zero`].
    fn pair(&mut self, method: Method, number: u64, zero_first: bool) -> Option<Result<Pair, ActError>> {
        let segment = self.out.segment;
        // The segment to zero was last written two pairs ago, as the other half of that pair.
        let (to_zero, to_write) = (self.offset(number), self.offset(number + 2));
        let early = if zero_first { Some(self.zero(method, to_zero, segment)?) } else { None };
        if let Some(Err(error)) = early {
            return Some(Err(error));
        }
        let write = self.write(to_write, segment, self.out.zero_baseline)?;
        let zero = match early {
            Some(answer) => answer,
            None => self.zero(method, to_zero, segment)?,
        };
        if self.out.zero_baseline {
            self.write(to_write, segment, false)?;
        }
        match zero {
            Ok(zero) => Some(Ok(Pair { write, zero, over: self.write(to_zero, segment, false)? })),
            Err(error) => Some(Err(error)),
        }
    }

    /// Pairs of the deciding method until the question is decided or the budget is spent.
    fn pairs(&mut self, start: Nanos, watch: &mut dyn Watch) -> Option<()> {
        let segment = self.out.segment;
        let mut coin = self.plan.seed;
        let mut zeroed = (0u64, Nanos(0));
        let whole = loop {
            self.out.inconclusive = if self.out.pairs.decision() != Decision::Open {
                None
            } else if (self.out.pairs.len() as u64 + 1) * 2 * segment > self.plan.max_bytes {
                Some("the byte budget is spent")
            } else if self.port.now().since(start) >= self.plan.max_time {
                Some("the time budget is spent")
            } else if watch.stop() {
                Some("interrupted")
            } else {
                // Knuth's 64-bit linear congruential generator; its top bit is the coin.
                coin = coin.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let answer = self.pair(DECIDING, self.out.pairs.len() as u64, coin >> 63 == 0);
                let Some(pair) = answer.and_then(|a| self.or_end(self.plan.start, segment, a)) else { break None };
                add(&mut zeroed, segment, pair.zero);
                add(&mut self.out.written, segment, pair.write);
                add(&mut self.out.overwritten, segment, pair.over);
                self.out.pairs.push(pair.write, pair.zero);
                watch.pair(self.out.pairs.len(), pair.write, pair.zero, &self.out.pairs);
                continue;
            };
            break Some(());
        };
        let verified = (zeroed.0 > 0 && self.end.is_none()).then_some(true);
        let error = match &self.end {
            Some(End::Wrong(wrong)) => Some(wrong.text.clone()),
            Some(End::NotSupported) => Some("not supported (EOPNOTSUPP)".to_owned()),
            _ => None,
        };
        let ratio = self.out.pairs.median();
        self.out.methods.push(MethodRun { method: DECIDING, zeroed, ratio, error, verified });
        whole
    }

    /// A few pairs of another method: reported, never the class.
    fn screen(&mut self, method: Method) -> Option<()> {
        let mut done = MethodRun { method, zeroed: (0, Nanos(0)), ratio: None, error: None, verified: None };
        if let (Method::WriteZeroes, Err(why)) = (method, &self.plan.write_zeroes) {
            done.error = Some(why.clone());
            self.out.methods.push(done);
            return Some(());
        }
        let mut ratios = Vec::new();
        for number in 0..u64::from(SCREENING_PAIRS) {
            match self.pair(method, number, false) {
                Some(Ok(pair)) => {
                    add(&mut done.zeroed, self.out.segment, pair.zero);
                    ratios.push(pair.write.0.max(1) as f64 / pair.zero.0.max(1) as f64);
                }
                Some(Err(error)) => {
                    done.error = Some(error.to_string());
                    break;
                }
                None => {
                    done.error = Some("the test ended here".to_owned());
                    break;
                }
            }
        }
        done.verified = (order::promises_zeroes(method) && done.error.is_none()).then_some(true);
        done.ratio = stats::median(&mut ratios);
        self.out.methods.push(done);
        if self.end.is_some() {
            None
        } else {
            Some(())
        }
    }

    fn note_limits(&mut self, watch: &mut dyn Watch, before: &mut Vec<String>, after: &str) {
        let now = watch.limits();
        for line in &now {
            let name = line.split('=').next().unwrap_or(line);
            let was = before.iter().find(|l| l.split('=').next() == Some(name));
            if let Some(was) = was.filter(|w| *w != line) {
                self.out
                    .changed_limits
                    .push(format!("after {after}: {line}, was {}", was.split('=').nth(1).unwrap_or("")));
            }
        }
        *before = now;
    }
}
