//! What is measured in addition to the pairs if it was asked for: `--deep`, `--interference`. It connects these runs with
//! what is kept.

use crate::machine::port::{Port, ScratchRange};
use crate::measure::outcome::{End, Open, Outcome};
use crate::measure::range_io::{Spans, Stop};
use crate::measure::{deep, interference};
use crate::protocol::plan::Prepared;
use crate::units::{rate, Nanos};
use crate::verdict::measurement::{Beside, Deep, Interference, Latencies};

/// The trials of the pairs count from 1; these count from here, so that no pattern is written twice.
const TRIALS: u64 = 1 << 40;

/// What came of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extras {
    pub(crate) interference: Option<Interference>,
    pub(crate) deep: Option<Deep>,
}

/// Runs what was asked for after a run that is complete. What goes wrong in it ends the test as it would have ended the run.
pub(crate) fn run(
    port: &mut dyn Port,
    range: &ScratchRange,
    prepared: &Prepared,
    max_time: Nanos,
    outcome: &mut Outcome,
) -> Extras {
    let mut extras = Extras::default();
    if outcome.end != End::Complete || outcome.inconclusive == Some(Open::Interrupted) {
        return extras;
    }
    let unit = prepared.plan.unit;
    let mut spans = Spans { port, range, seed: prepared.plan.seed, trial: TRIALS, written: 0, until: None };
    let mut both = || -> Result<(), Stop> {
        if let Some(plan) = &prepared.deep {
            // A time of its own, as long as that of the pairs: what these left may be next to nothing.
            spans.until = Some(Nanos(spans.port.now().0.saturating_add(max_time.0)));
            extras.deep = Some(match deep::run(&mut spans, plan, unit) {
                Ok(outcome) => deep_form(outcome),
                Err(Stop::Late) => Deep {
                    bytes: plan.length,
                    incomplete: Some("the time budget was used up".to_owned()),
                    ..Deep::default()
                },
                Err(end) => return Err(end),
            });
            spans.until = None;
        }
        if prepared.interference {
            let (start, length) = (prepared.plan.start, prepared.plan.length);
            let plan = interference::Plan { start, length, unit, max_time };
            extras.interference = Some(interference_form(interference::run(&mut spans, &plan)?));
        }
        Ok(())
    };
    if let Err(Stop::End(end)) = both() {
        outcome.end = end;
    }
    outcome.bytes_written += spans.written;
    extras
}

fn deep_form(d: deep::Outcome) -> Deep {
    Deep {
        bytes: d.bytes,
        write_bytes_per_second: rate(d.bytes, d.write),
        zero_bytes_per_second: rate(d.bytes, d.zero),
        ratio: (d.zero.0 > 0).then(|| d.write.0 as f64 / d.zero.0 as f64),
        command_bytes: d.command,
        incomplete: None,
    }
}

fn interference_form(i: interference::Outcome) -> Interference {
    let latencies = |l: interference::Latencies| Latencies {
        count: l.count,
        p50_nanoseconds: l.p50.0,
        p99_nanoseconds: l.p99.0,
        max_nanoseconds: l.max.0,
        bytes_per_second: rate(l.moved.0, l.moved.1),
    };
    let beside = |(without, with)| Beside { without: latencies(without), with: latencies(with) };
    Interference { read: beside(i.read), write: beside(i.write), zero_bytes_per_second: rate(i.zeroed.0, i.zeroed.1) }
}
