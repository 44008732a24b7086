//! Zeroing against writing: the rates as bars with the middle half of the calls, and the ratio with its interval.

use super::chart::{Chart, Series, LEFT, RIGHT};
use super::given::Report;
use super::html::{self, Head};
use super::scale::{quantile, size, sorted, times, Scale};
use crate::terms::Method;
use crate::units::human_rate;
use verdict_format::samples::Pair;

/// Where the bars begin: their names stand before them.
const NAMES: f64 = 116.0;
/// Height of a bar and what is between two.
const ROW: f64 = 30.0;

/// A kind of call with its rate, and the rates that a quarter and three quarters of its calls stay below.
struct Row {
    series: Series,
    rate: u64,
    middle: Option<(f64, f64)>,
}

/// The rates that are known.
fn rows(report: &Report<'_>) -> Vec<Row> {
    let d = report.document;
    let pairs = report.pairs();
    let middle = |time: fn(&Pair) -> u64| {
        let bytes = report.samples.filter(|_| pairs.len() > 3)?.segment_bytes as f64;
        let times = sorted(pairs.iter().map(time));
        let rate = |percent| bytes / (quantile(&times, percent).max(1.0) / 1e9);
        Some((rate(75), rate(25)))
    };
    let zeroing = Series::Of(d.method.unwrap_or(Method::PunchHole));
    [
        (zeroing, d.zero_bytes_per_second, middle(|p| p.zero_nanoseconds)),
        (Series::Of(Method::Write), d.write_bytes_per_second, middle(|p| p.write_nanoseconds)),
        (Series::Data, d.data_write_bytes_per_second, middle(|p| p.data_over_written_nanoseconds)),
        (Series::DataOverZeroed, d.overwrite_after_zero_bytes_per_second, middle(|p| p.data_over_zeroed_nanoseconds)),
    ]
    .into_iter()
    .filter_map(|(series, rate, middle)| Some(Row { series, rate: rate?, middle }))
    .collect()
}

/// The part of the page; nothing where no rate is known.
pub fn section(report: &Report<'_>) -> String {
    let rows = rows(report);
    if rows.is_empty() {
        return String::new();
    }
    let told: Vec<String> = rows.iter().map(|r| format!("{} {}", r.series.name(), human_rate(r.rate))).collect();
    let mut chart =
        Chart::new("rates", "Rates of zeroing and of writing", &told.join(", "), ROW * rows.len() as f64 + 10.0);
    let most = rows.iter().flat_map(|r| [r.rate as f64, r.middle.map_or(0.0, |(_, high)| high)]);
    let scale = Scale::linear(most, (NAMES, RIGHT - 76.0));
    let bottom = ROW * rows.len() as f64 + 4.0;
    for (i, row) in rows.iter().enumerate() {
        let top = ROW * i as f64 + 8.0;
        let (middle, end) = (top + 8.0, scale.at(row.rate as f64));
        chart.text("label", "end", (NAMES - 6.0, middle + 4.0), row.series.name());
        chart.bar(row.series.class(), (NAMES, top), (end.max(NAMES + 1.0), top + 16.0));
        if let Some((low, high)) = row.middle.map(|(low, high)| (scale.at(low), scale.at(high))) {
            chart.line("whisker", (low, middle), (high, middle));
            [low, high].iter().for_each(|x| chart.line("whisker", (*x, middle - 4.0), (*x, middle + 4.0)));
        }
        chart.text("value", "end", (RIGHT, middle + 4.0), &human_rate(row.rate));
    }
    chart.line("axis", (NAMES, 2.0), (NAMES, bottom));
    let mut says = vec![told.join(", ") + "."];
    if rows.iter().any(|r| r.middle.is_some()) {
        says.push("A bar is the rate over all calls; the line on it spans the middle half of the calls.".to_owned());
    }
    let spelled = |r: &Row| match r.middle {
        Some((low, high)) => [human_rate(low as u64), human_rate(high as u64)],
        None => ["-".to_owned(), "-".to_owned()],
    };
    let table: Vec<Vec<String>> =
        rows.iter().map(|r| [&[r.series.name().to_owned(), human_rate(r.rate)][..], &spelled(r)].concat()).collect();
    let heads = [
        Head::Text("call"),
        Head::Number("rate"),
        Head::Number("a quarter below"),
        Head::Number("three quarters below"),
    ];
    let bars = html::figure(&chart.done(), "", &says, &html::table("Rates", &heads, &table));
    html::section("zero-write", "Zero against write", &(bars + &ratio(report)))
}

/// The ratio and its interval on one line with what it is compared to.
fn ratio(report: &Report<'_>) -> String {
    let d = report.document;
    let Some(speedup) = d.speedup else { return String::new() };
    let end = |e: Option<f64>| e.map_or_else(|| "not bounded".to_owned(), times);
    let mut says = vec![format!(
        "In the median of {} pairs zeroing is {} as fast as writing zeroes, between {} and {} with a confidence of {}.",
        d.measured.as_ref().map_or(0, |m| m.trials),
        times(speedup.median),
        end(speedup.low),
        end(speedup.high),
        speedup.confidence
    )];
    let mut table = vec![vec!["pairs, median".to_owned(), times(speedup.median), end(speedup.low), end(speedup.high)]];
    let stretch = d.sustained;
    if let Some(s) = stretch {
        let (bytes, dash) = (size(s.bytes as f64), || "-".to_owned());
        let speedup = s.speedup.map_or_else(|| "not clear of 0".to_owned(), times);
        says.push(match s.speedup {
            Some(ratio) => {
                format!("Over a stretch of {bytes}, with all later costs charged to zeroing, it is {}.", times(ratio))
            }
            None => format!("Over a stretch of {bytes} its cost is too small to measure."),
        });
        table.push(vec![format!("{bytes} in one stretch"), speedup, dash(), dash()]);
    }
    let threshold = report.samples.map(|s| s.fast_ratio);
    let long = stretch.and_then(|s| s.speedup);
    let all = [Some(1.0), Some(speedup.median), speedup.low, speedup.high, threshold, long];
    let mut chart = Chart::new("ratio", "How many times as fast as writing zeroes zeroing is", &says.join(" "), 104.0);
    let scale = Scale::logarithmic(all.into_iter().flatten(), (LEFT + 46.0, RIGHT - 14.0));
    chart.bottom_axis(&scale, &scale.marks(), times, (18.0, 84.0));
    chart.line("even", (scale.at(1.0), 14.0), (scale.at(1.0), 84.0));
    if let Some(threshold) = threshold {
        let x = scale.at(threshold);
        chart.line("threshold", (x, 14.0), (x, 84.0));
        chart.text("tick", "middle", (x, 10.0), &format!("fast from {}", times(threshold)));
    }
    let class = Series::Of(d.method.unwrap_or(Method::PunchHole));
    let ends = (scale.at(speedup.low.unwrap_or(0.0)), scale.at(speedup.high.unwrap_or(f64::MAX)));
    chart.text("label", "end", (LEFT + 40.0, 40.0), "pairs");
    chart.line(&format!("{} interval", class.class()), (ends.0, 36.0), (ends.1, 36.0));
    chart.mark(class, (scale.at(speedup.median), 36.0));
    if let Some(long) = long {
        chart.text("label", "end", (LEFT + 40.0, 68.0), "one stretch");
        chart.mark(class, (scale.at(long), 64.0));
    }
    let heads = [Head::Text("what"), Head::Number("times as fast"), Head::Number("at least"), Head::Number("at most")];
    html::figure(&chart.done(), "", &says, &html::table("Time of writing divided by time of zeroing", &heads, &table))
}
