//! Turns the times of a run into the samples that are kept beside its measurement, within their limits. It is pure.

use crate::facts::Facts;
use crate::measure::outcome::Outcome;
use crate::measure::stats::sustained::{self, Sustained};
use crate::measure::stats::Rung;
use crate::protocol::result::Conditions;
use verdict_format::samples::{Calls, Length, Pair, Part, Samples, Stretch, MOST_PAIRS};

/// The samples of a run under these conditions.
pub fn of_run(facts: &Facts, conditions: &Conditions, run: &Outcome) -> Samples {
    let trace = &run.trace;
    let (pairs, pairs_left_out) = ends(&trace.pairs);
    Samples {
        identity: facts.names.identity.as_ref().map(|i| i.as_str().to_owned()),
        diskseq: facts.names.diskseq.get(),
        trials: u32::try_from(run.pairs.len()).unwrap_or(u32::MAX),
        fast_ratio: conditions.fast_ratio,
        segment_bytes: run.segment,
        pairs,
        pairs_left_out,
        screened: trace.screened.clone(),
        first_writes: trace.first_writes.clone(),
        first_zeroings: trace.first_zeroings.clone(),
        // Calls of a whole segment are those of the pairs.
        lengths: run.rungs.iter().filter(|rung| rung.bytes < run.segment).map(length).collect(),
        edges: trace.edges.clone(),
        stretches: trace.stretches.iter().map(stretch).collect(),
        ..Samples::none(&conditions.at)
    }
}

/// The first and the last of the pairs, and how many there were between them.
fn ends(pairs: &[Pair]) -> (Vec<Pair>, u64) {
    if pairs.len() <= MOST_PAIRS {
        return (pairs.to_vec(), 0);
    }
    let half = MOST_PAIRS / 2;
    let kept = [&pairs[..half], &pairs[pairs.len() - half..]].concat();
    (kept, (pairs.len() - 2 * half) as u64)
}

fn length(rung: &Rung) -> Length {
    Length { bytes: rung.bytes, zero_nanoseconds: rung.zero.clone(), write_nanoseconds: rung.write.clone() }
}

fn stretch(s: &Sustained) -> Stretch {
    let part = |p: &sustained::Part| Part {
        data: Calls::of(&p.data.0),
        zeroes: Calls::of(&p.zeroes.0),
        flushes: Calls::of(&p.flushes.0),
    };
    let [d1, w, d2, z, r] = [&s.d1, &s.w, &s.d2, &s.z, &s.r].map(part);
    // D1 has one flush a pass.
    Stretch { bytes: s.bytes, passes: s.d1.flushes.0.len() as u64, d1, w, d2, z, r }
}
