//! Every pair in the order of time: whether the device drifts, whether single calls stall, and which call of a pair came
//! first.

use super::chart::{legend, Chart, Series, LEFT, RIGHT};
use super::given::Report;
use super::html::{self, Head};
use super::scale::{digits, quantile, sorted, time, times, Scale};
use crate::terms::Method;
use crate::units::human_bytes;
use verdict_format::samples::{Pair, Samples};

/// A call that takes more than so many medians is told.
const STALL: f64 = 4.0;
/// Where the panels stand: the times, the ratios, the coin.
const TIMES: (f64, f64) = (12.0, 142.0);
const RATIOS: (f64, f64) = (164.0, 244.0);
const COIN: (f64, f64) = (258.0, 268.0);

/// The part of the page; nothing where no pair is kept.
pub fn section(report: &Report<'_>) -> String {
    let Some(samples) = report.samples.filter(|s| !s.pairs.is_empty()) else { return String::new() };
    let says = says(samples);
    let zeroing = Series::Of(report.document.method.unwrap_or(Method::PunchHole));
    let writing = Series::Of(Method::Write);
    let pairs = &samples.pairs;
    let mut chart = Chart::new("pairs", "Every pair in the order of time", &says.join(" "), 288.0);
    let step = (RIGHT - LEFT - 12.0) / pairs.len() as f64;
    let x = |i: usize| LEFT + 6.0 + step * (i as f64 + 0.5);
    let all = pairs.iter().flat_map(|p| [p.write_nanoseconds as f64, p.zero_nanoseconds as f64]);
    let scale = Scale::logarithmic(all, (TIMES.1, TIMES.0));
    chart.left_axis(&scale, &scale.marks(), time);
    for (series, took) in [(writing, (|p| p.write_nanoseconds) as fn(&Pair) -> u64), (zeroing, |p| p.zero_nanoseconds)]
    {
        let points: Vec<_> = pairs.iter().enumerate().map(|(i, p)| (x(i), scale.at(took(p).max(1) as f64))).collect();
        chart.through(series.class(), &points);
        points.iter().for_each(|at| chart.mark(series, *at));
    }
    let threshold = samples.fast_ratio;
    let speedup = report.document.speedup;
    let interval = speedup.and_then(|s| s.low.zip(s.high));
    let ratios = pairs.iter().map(Pair::ratio);
    let scale = Scale::logarithmic(ratios.chain([threshold]), (RATIOS.1, RATIOS.0));
    if let Some((low, high)) = interval {
        chart.bar("band", (LEFT, scale.at(high)), (RIGHT, scale.at(low)));
    }
    chart.left_axis(&scale, &scale.marks(), times);
    chart.line("threshold", (LEFT, scale.at(threshold)), (RIGHT, scale.at(threshold)));
    for (i, pair) in pairs.iter().enumerate() {
        let y = scale.at(pair.ratio());
        chart.line("stem", (x(i), scale.at(threshold)), (x(i), y));
        chart.mark(zeroing, (x(i), y));
        let which = if pair.zero_first { zeroing } else { writing };
        let width = (step / 2.0 - 0.3).clamp(0.3, 5.0);
        chart.bar(which.class(), (x(i) - width, COIN.0), (x(i) + width, COIN.1));
    }
    chart.text("tick", "end", (LEFT - 5.0, COIN.1), "first");
    chart.text("tick", "start", (LEFT, 284.0), "pair 1");
    let last = samples.pairs.len() as u64 + samples.pairs_left_out;
    chart.text("tick", "end", (RIGHT, 284.0), &format!("pair {last}"));
    if samples.pairs_left_out > 0 {
        let gap = (x(pairs.len() / 2 - 1) + x(pairs.len() / 2)) / 2.0;
        chart.line("even", (gap, TIMES.0), (gap, COIN.1));
        chart.text("tick", "middle", (gap, 284.0), &format!("{} left out", samples.pairs_left_out));
    }
    let figure = html::figure(&chart.done(), &legend(&[zeroing, writing]), &says, &table(samples));
    html::section("in-order", "Every pair in the order of time", &figure)
}

/// What the picture shows.
fn says(samples: &Samples) -> Vec<String> {
    let pairs = &samples.pairs;
    let took =
        pairs.last().map_or(0, |p| p.at_nanoseconds).saturating_sub(pairs.first().map_or(0, |p| p.at_nanoseconds));
    let first = pairs.iter().filter(|p| p.zero_first).count();
    let mut says = vec![format!(
        "{} pairs of {} within {}. The upper picture has the time of each call. The lower one shows how many times \
         as fast the zeroing was (the line is the threshold for fast, {}; the band is the interval of the median), \
         and which of the two calls came first by chance: zeroing in {first} pairs.",
        pairs.len() as u64 + samples.pairs_left_out,
        human_bytes(samples.segment_bytes),
        time(took as f64),
        times(samples.fast_ratio)
    )];
    if samples.pairs_left_out > 0 {
        says.push(format!("{} pairs in the middle are not kept.", samples.pairs_left_out));
    }
    if pairs.len() > 3 {
        let median = |pairs: &[Pair]| {
            let mut ratios: Vec<f64> = pairs.iter().map(Pair::ratio).collect();
            ratios.sort_by(f64::total_cmp);
            quantile(&ratios, 50)
        };
        let (a, b) = pairs.split_at(pairs.len() / 2);
        let (a, b) = (median(a), median(b));
        let apart = ((a / b).max(b / a) - 1.0) * 100.0;
        let told = match apart {
            a if a < 10.0 => "less than 10 % apart".to_owned(),
            a => format!("{a:.0} % apart: the device drifted, others used it, or its calls vary that much"),
        };
        says.push(format!("The first half has a median of {}, the second {}: {told}.", times(a), times(b)));
        says.push(stalls(pairs));
    }
    says
}

fn stalls(pairs: &[Pair]) -> String {
    let of = |took: fn(&Pair) -> u64| {
        let all = sorted(pairs.iter().map(took));
        let (median, worst) = (quantile(&all, 50).max(1.0), all.last().copied().unwrap_or(0.0));
        (all.iter().filter(|t| **t > STALL * median).count(), worst / median)
    };
    let (zero, write) = (of(|p| p.zero_nanoseconds), of(|p| p.write_nanoseconds));
    let stall = digits(STALL);
    match zero.0 + write.0 {
        0 => format!("No call took more than {stall} times its median."),
        _ => format!(
            "{} zeroing calls (the worst took {}) and {} writes (the worst took {}) took more than {stall} times \
             their median.",
            zero.0,
            times(zero.1),
            write.0,
            times(write.1)
        ),
    }
}

fn table(samples: &Samples) -> String {
    let row = |(i, p): (usize, &Pair)| {
        let skipped = if i * 2 >= samples.pairs.len() { samples.pairs_left_out } else { 0 };
        vec![
            (i as u64 + 1 + skipped).to_string(),
            time(p.at_nanoseconds as f64),
            if p.zero_first { "zeroing" } else { "write" }.to_owned(),
            time(p.zero_nanoseconds as f64),
            time(p.write_nanoseconds as f64),
            times(p.ratio()),
            time(p.data_over_zeroed_nanoseconds as f64),
            time(p.data_over_written_nanoseconds as f64),
        ]
    };
    let rows: Vec<Vec<String>> = samples.pairs.iter().enumerate().map(row).collect();
    let heads = [
        Head::Number("pair"),
        Head::Number("at"),
        Head::Text("first"),
        Head::Number("zeroing"),
        Head::Number("writing zeroes"),
        Head::Number("ratio"),
        Head::Number("data over zeroed"),
        Head::Number("data over written"),
    ];
    html::table("The pairs", &heads, &rows)
}
