//! Devices that are fast in bursts and not in the long run, their parameters swept, and the time that a verdict takes.
//!
//! `ZEROCAP_ACCURACY_RUNS` sets the runs: one in fifty of it for each device (200 without it). The table is shown by
//! `cargo test --test sustained -- --nocapture`.

#![allow(clippy::unwrap_used)] // A test may panic.

mod sim;

use sim::{allowed, runs};
use zerocap::facts::Facts;
use zerocap::machine::simulated::{Deferral, Model, Noise as Disturbance, Pricing};
use zerocap::measure::outcome::Outcome;
use zerocap::measure::stats::ALPHA;
use zerocap::protocol::result;
use zerocap::terms::Class;
use zerocap::units::{Nanos, MIB};

/// What a segment of 6 MiB is here.
const SEGMENT: u64 = 8192;

/// The class that a whole test gives, and the test.
fn whole(model: Model, seed: u64, facts: &Facts) -> (Class, Outcome) {
    let (stand, result, kept) = sim::measured(model, seed, SEGMENT);
    assert!(result.is_ok() && stand.is_as_before(), "{model:?}, {seed}: {result:?}");
    let Some((outcome, _)) = kept else { panic!("{model:?}, {seed}: nothing was kept") };
    (result::of_run(facts, &sim::conditions(), &outcome).class, outcome)
}

/// What zeroing takes in bursts, and all told, in nanoseconds a MiB; writing takes as long as the latter.
const BURST: u64 = 1_000_000;
const ALL_TOLD: u64 = 10_000_000;

/// A device that is ten times as fast in bursts and no faster in the long run, and whether a stretch of so many segments has to
/// show it.
fn puts_off(segments: u64) -> Vec<(String, Model, bool)> {
    let base = Model { call_ns: 0, ..Model::steady(ALL_TOLD, BURST) };
    let owed = ALL_TOLD - BURST;
    let mut all = Vec::new();
    // From 16 MiB to 4 GiB, in segments of 6 MiB.
    for room in [3, 6, 12, 24, 48, 96, 700] {
        let deferral = Deferral::UntilRest { ns_per_mib: owed, room: room * SEGMENT };
        // What is over a queue is paid at once: over the stretch zeroing is then at most twice as fast as writing.
        let paid = segments.saturating_sub(room) * owed + segments * BURST;
        let shows = 2 * paid >= segments * ALL_TOLD;
        all.push((format!("queue of {} MiB", room * 6), Model { deferral, ..base }, shows));
    }
    all.push(("the next write pays".to_owned(), Model { deferral: Deferral::UntilWrite(owed), ..base }, true));
    all.push(("the next flush pays".to_owned(), Model { deferral: Deferral::UntilFlush(owed), ..base }, true));
    for per_mille in [1, 5, 20, 50, 100, 200] {
        let times = 1 + (ALL_TOLD / BURST - 1) * 1000 / per_mille;
        // The published bound: rarer than one in a seventh of the stretch they may be missed.
        let shows = per_mille * segments >= 7 * 1000;
        let pricing = Pricing::Spikes(per_mille, times);
        all.push((format!("{:.1} % of calls stall", per_mille as f64 / 10.0), Model { pricing, ..base }, shows));
    }
    for every in [2, 4, 8, 16] {
        let pricing = Pricing::StallEvery(every * SEGMENT, owed * every * SEGMENT / MIB);
        all.push((format!("a stall every {} MiB", every * 6), Model { pricing, ..base }, every * 7 <= segments));
    }
    all
}

/// Devices that are fast in bursts only are never called fast where the stretch that the budget allows shows it.
#[test]
fn a_device_that_defers_its_work_is_not_called_fast() {
    let runs = (runs() / 50).max(1);
    let facts = sim::facts();
    let segments = sim::plan(1, 4096, 0, SEGMENT).sustained / SEGMENT;
    println!("ten times as fast in bursts, as slow as writing in the long run; a stretch of {segments} segments, {runs} runs");
    println!("{:<28} {:>6} {:>6} {:>8} {:>7}", "device", "fast", "slow", "unknown", "shows");
    let mut faults = Vec::new();
    for (name, model, shows) in puts_off(segments) {
        let mut classes = [0; 3];
        for seed in 0..runs as u64 {
            let noisy = Model { noise: Disturbance::Uniform(5.0), ..model };
            match whole(noisy, seed, &facts).0 {
                Class::Fast => classes[0] += 1,
                Class::Slow => classes[1] += 1,
                _ => classes[2] += 1,
            }
        }
        println!(
            "{name:<28} {:>6} {:>6} {:>8} {:>7}",
            classes[0],
            classes[1],
            classes[2],
            if shows { "yes" } else { "no" }
        );
        // Where chance has a say, the stretch is without a stall as rarely as promised; else it is never wrong.
        let by_chance = matches!(model.pricing, Pricing::Spikes(..));
        if shows && classes[0] > if by_chance { allowed(runs, ALPHA) } else { 0 } {
            faults.push(format!("{name}: called fast {} times of {runs}", classes[0]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The time that a verdict takes, on a device of full size: as long as this one, whose segments are so many times smaller and
/// whose bytes take so many times as long.
#[test]
fn a_verdict_is_reached_within_the_budget() {
    const SCALE: u64 = 6 * MIB / SEGMENT;
    let facts = sim::facts();
    // Nanoseconds a MiB at a gigabyte and at 100 megabytes a second.
    for (write, seconds) in [(1_048_576, 10), (10_485_760, 60)] {
        for speedup in [1, 10] {
            let model = Model::steady(write * SCALE, write * SCALE / speedup);
            let model = Model { read_ns_per_mib: write * SCALE, ..model };
            let (class, run) = whole(model, 1, &facts);
            let (pairs, took, written) = (run.pairs.len(), run.took, run.bytes_written * SCALE / MIB);
            println!(
                "{write} ns/MiB, zeroing {speedup}x: {pairs} pairs, {written} MiB written, {:.1} s",
                took.as_secs_f64()
            );
            assert_eq!(class, if speedup == 1 { Class::Slow } else { Class::Fast });
            assert!(took <= Nanos::from_secs(seconds), "{write} ns/MiB, {speedup}x: {took:?}");
            assert!(pairs <= 16, "{pairs} pairs");
        }
    }
}
