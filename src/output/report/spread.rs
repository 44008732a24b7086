//! How the times of each kind of call are spread: every call, the middle half and the median.

use super::chart::{Chart, Series, RIGHT};
use super::given::Report;
use super::html::{self, Head};
use super::scale::{quantile, sorted, time, Scale};
use crate::terms::Method;
use verdict_format::samples::Pair;

/// Where the axis begins: the names stand before it.
const NAMES: f64 = 116.0;
const ROW: f64 = 34.0;

/// The part of the page; nothing where no pair is kept.
pub fn section(report: &Report<'_>) -> String {
    let pairs = report.pairs();
    if pairs.is_empty() {
        return String::new();
    }
    let zeroing = Series::Of(report.document.method.unwrap_or(Method::PunchHole));
    let of = |took: fn(&Pair) -> u64| sorted(pairs.iter().map(took));
    let rows: [(Series, Vec<f64>); 4] = [
        (zeroing, of(|p| p.zero_nanoseconds)),
        (Series::Of(Method::Write), of(|p| p.write_nanoseconds)),
        (Series::Data, of(|p| p.data_over_written_nanoseconds)),
        (Series::DataOverZeroed, of(|p| p.data_over_zeroed_nanoseconds)),
    ];
    let says = vec![
        rows.iter()
            .map(|(s, t)| {
                format!(
                    "{}: {} in the median, {} to {}",
                    s.name(),
                    time(quantile(t, 50)),
                    time(quantile(t, 0)),
                    time(quantile(t, 100))
                )
            })
            .collect::<Vec<_>>()
            .join("; ")
            + ".",
        "Each mark is a call. The box holds the middle half of the calls, and the line in it is the median. The axis \
         is logarithmic."
            .to_owned(),
    ];
    let bottom = ROW * rows.len() as f64 + 6.0;
    let mut chart = Chart::new("spread", "How long the calls took", &says[0], bottom + 22.0);
    let scale = Scale::logarithmic(rows.iter().flat_map(|(_, t)| t.iter().copied()), (NAMES + 4.0, RIGHT - 8.0));
    chart.bottom_axis(&scale, &scale.marks(), time, (4.0, bottom));
    for (i, (series, times)) in rows.iter().enumerate() {
        let y = ROW * i as f64 + 22.0;
        chart.text("label", "end", (NAMES - 6.0, y + 4.0), series.name());
        let at = |percent| scale.at(quantile(times, percent));
        chart.bar("box", (at(25), y - 9.0), (at(75), y + 9.0));
        times.iter().for_each(|t| chart.mark(*series, (scale.at(*t), y)));
        chart.line("median", (at(50), y - 12.0), (at(50), y + 12.0));
    }
    let row = |(series, times): &(Series, Vec<f64>)| {
        let percents = [0, 5, 25, 50, 75, 95, 100].map(|p| time(quantile(times, p)));
        [&[series.name().to_owned()][..], &percents].concat()
    };
    let table: Vec<Vec<String>> = rows.iter().map(row).collect();
    let heads = [
        Head::Text("call"),
        Head::Number("least"),
        Head::Number("5 %"),
        Head::Number("25 %"),
        Head::Number("median"),
        Head::Number("75 %"),
        Head::Number("95 %"),
        Head::Number("most"),
    ];
    let figure = html::figure(&chart.done(), "", &says, &html::table("Times of the pairs' calls", &heads, &table));
    html::section("distributions", "How the times are spread", &figure)
}
