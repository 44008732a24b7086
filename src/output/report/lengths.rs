//! Time against size, for each zeroing method that was tried and for writes: the cost of a call and of a byte.

use super::chart::{legend, Chart, Series, LEFT, RIGHT};
use super::given::Report;
use super::html::{self, Head};
use super::scale::{quantile, size, sorted, time, Scale};
use crate::terms::Method;
use verdict_format::samples::{Call, Pair, Samples};

/// The calls of one kind and one size: their times in order.
struct Size {
    bytes: u64,
    times: Vec<f64>,
}

/// Everything that was timed of each kind, the shortest calls first.
fn kinds(samples: &Samples) -> Vec<(Series, Vec<Size>)> {
    let mut kinds: Vec<(Series, Vec<Size>)> = Vec::new();
    let mut add = |series: Series, bytes: u64, times: &mut dyn Iterator<Item = u64>| {
        let times = sorted(times);
        if times.is_empty() || bytes == 0 {
            return;
        }
        let at = kinds.iter().position(|(s, _)| *s == series).unwrap_or_else(|| {
            kinds.push((series, Vec::new()));
            kinds.len() - 1
        });
        match kinds[at].1.iter_mut().find(|s| s.bytes == bytes) {
            Some(size) => {
                size.times.extend(times);
                size.times.sort_by(f64::total_cmp);
            }
            None => kinds[at].1.push(Size { bytes, times }),
        }
    };
    let (zeroing, writing) = (Series::Of(Method::PunchHole), Series::Of(Method::Write));
    let once = |call: &Call| std::iter::once(call.nanoseconds);
    samples.first_zeroings.iter().for_each(|c| add(zeroing, c.bytes, &mut once(c)));
    for length in &samples.lengths {
        add(zeroing, length.bytes, &mut length.zero_nanoseconds.iter().copied());
        add(writing, length.bytes, &mut length.write_nanoseconds.iter().copied());
    }
    let of = |pairs: &'_ [Pair], took: fn(&Pair) -> u64| pairs.iter().map(took).collect::<Vec<_>>().into_iter();
    add(zeroing, samples.segment_bytes, &mut of(&samples.pairs, |p| p.zero_nanoseconds));
    add(writing, samples.segment_bytes, &mut of(&samples.pairs, |p| p.write_nanoseconds));
    for screened in &samples.screened {
        let Some(method) = screened.method else { continue };
        add(Series::Of(method), screened.bytes, &mut of(&screened.pairs, |p| p.zero_nanoseconds));
        add(writing, screened.bytes, &mut of(&screened.pairs, |p| p.write_nanoseconds));
    }
    samples.first_writes.iter().for_each(|c| add(Series::Data, c.bytes, &mut once(c)));
    add(Series::Data, samples.segment_bytes, &mut of(&samples.pairs, |p| p.data_over_written_nanoseconds));
    kinds.iter_mut().for_each(|(_, sizes)| sizes.sort_by_key(|s| s.bytes));
    kinds
}

/// The part of the page; nothing where no call is kept.
pub fn section(report: &Report<'_>) -> String {
    let Some(samples) = report.samples else { return String::new() };
    let kinds = kinds(samples);
    if kinds.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = kinds.iter().map(|(series, _)| series.name()).collect();
    let h = &report.document.hints;
    let hint = |bytes: Option<u64>| bytes.map_or_else(|| "not known".to_owned(), |b| size(b as f64));
    let says = vec![
        format!(
            "The time of a call against its length, both on logarithmic scales: {}. A mark is a median; the line \
                 through it spans all calls.",
            named.join(", ")
        ),
        format!(
            "Calls of {} or more zero at least as fast as writing zeroes; calls of {} reach nearly the best rate.",
            hint(h.break_even_bytes),
            hint(h.chunk_bytes)
        ),
    ];
    let mut chart = Chart::new("lengths", "Time against size", &says.join(" "), 240.0);
    let (top, bottom) = (10.0, 214.0);
    let x = Scale::logarithmic(kinds.iter().flat_map(|(_, s)| s.iter().map(|s| s.bytes as f64)), (LEFT, RIGHT));
    let all = kinds.iter().flat_map(|(_, s)| s.iter().flat_map(|s| s.times.iter().copied()));
    let y = Scale::logarithmic(all, (bottom, top));
    chart.left_axis(&y, &y.marks(), time);
    chart.bottom_axis(&x, &x.sizes(), size, (top, bottom));
    for (series, sizes) in &kinds {
        let point = |s: &Size| (x.at(s.bytes as f64), y.at(quantile(&s.times, 50)));
        chart.through(series.class(), &sizes.iter().map(point).collect::<Vec<_>>());
        for s in sizes {
            let (at, _) = point(s);
            chart.line(
                &format!("{} open", series.class()),
                (at, y.at(quantile(&s.times, 0))),
                (at, y.at(quantile(&s.times, 100))),
            );
            chart.mark(*series, point(s));
        }
    }
    let row = |series: &Series, s: &Size| {
        let [least, median, most] = [0, 50, 100].map(|p| time(quantile(&s.times, p)));
        vec![series.name().to_owned(), size(s.bytes as f64), s.times.len().to_string(), median, least, most]
    };
    let table: Vec<Vec<String>> =
        kinds.iter().flat_map(|(series, sizes)| sizes.iter().map(|s| row(series, s))).collect();
    let heads = [
        Head::Text("call"),
        Head::Number("length"),
        Head::Number("calls"),
        Head::Number("median"),
        Head::Number("least"),
        Head::Number("most"),
    ];
    let series: Vec<Series> = kinds.iter().map(|(series, _)| *series).collect();
    let figure = html::figure(&chart.done(), &legend(&series), &says, &html::table("Calls by length", &heads, &table));
    html::section("sizes", "Time against size", &figure)
}
