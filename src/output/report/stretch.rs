//! The long stretches D1 W D2 Z R: the time of each part, and every call in the order of time.

use super::chart::{legend, Chart, Series, LEFT, RIGHT};
use super::given::Report;
use super::html::{self, Head};
use super::scale::{size, time, times, Scale};
use crate::terms::Method;
use crate::units::{human_rate, rate, Nanos, MIB};
use verdict_format::samples::{Calls, Part, Stretch};

const TOP: f64 = 24.0;
const BOTTOM: f64 = 190.0;

/// What each part does.
const SAYS: [&str; 5] =
    ["data", "data, then zeroes by writes", "data again", "data, then zeroing", "data over the zeroed"];

/// The part of the page; nothing where no stretch is kept.
pub fn section(report: &Report<'_>) -> String {
    let stretches = report.samples.map_or(&[][..], |s| &s.stretches);
    let Some(last) = stretches.len().checked_sub(1) else { return String::new() };
    let figures = stretches.iter().enumerate().map(|(i, s)| figure(report, s, i, i == last));
    html::section("stretch", "One long stretch", &figures.collect::<String>())
}

fn figure(report: &Report<'_>, s: &Stretch, number: usize, counts: bool) -> String {
    let bytes = size(s.bytes as f64);
    let each = s.parts().map(|(name, part)| format!("{name} {}", time(took(part) as f64))).join(", ");
    let mut says = vec![
        format!(
            "{bytes} in each of five parts, without a break: {}.",
            ["D1", "W", "D2", "Z", "R"]
                .iter()
                .zip(SAYS)
                .map(|(n, s)| format!("{n} {s}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!(
            "They took {each}. The extra time of W over data alone is what zeroing saves; the extra time of Z \
                 and R is its cost. A step is a call; the totals include the flush that ends each pass."
        ),
    ];
    if !counts {
        says.insert(
            0,
            "The speed of the device changed during this stretch, so the stretch was repeated and does not count."
                .to_owned(),
        );
    } else if let Some(seen) = report.document.sustained {
        let whole = size(seen.bytes as f64);
        says.push(match seen.speedup {
            Some(ratio) => {
                format!("So zeroing is {} as fast as writing zeroes over the {whole} of this stretch.", times(ratio))
            }
            None => {
                format!(
                    "Over the {whole} of this stretch the cost of zeroing cannot be told from 0, so no ratio is \
                         given."
                )
            }
        });
        let rare = size(seen.bytes as f64 / 7.0);
        says.push(format!(
            "Stalls rarer than one in {rare} may have been missed, and nothing is known beyond {whole}."
        ));
    }
    let mut chart =
        Chart::new(&format!("stretch-{number}"), "The long stretch, call by call", &says.join(" "), BOTTOM + 24.0);
    let segment = report.samples.map_or(1, |s| s.segment_bytes);
    draw(&mut chart, s, segment);
    let zeroing = Series::Of(Method::PunchHole);
    let legend = legend(&[Series::Data, Series::Of(Method::Write), zeroing]);
    html::figure(&chart.done(), &legend, &says, &table(s))
}

/// The calls of a part in the order of time: in each pass first the data, then the zeroes. What a MiB took in each.
fn calls(name: &str, part: &Part, passes: u64, segment: u64) -> Vec<(Series, f64)> {
    let zeroes = if name == "Z" { Series::Of(Method::PunchHole) } else { Series::Of(Method::Write) };
    let passes = passes.max(1) as usize;
    let mut all = Vec::new();
    for pass in 0..passes {
        for (series, list) in [(Series::Data, &part.data), (zeroes, &part.zeroes)] {
            let (n, mib) = (list.nanoseconds.len(), segment as f64 * list.calls_each as f64 / MIB as f64);
            let of_pass = &list.nanoseconds[n * pass / passes..n * (pass + 1) / passes];
            all.extend(of_pass.iter().map(|t| (series, *t as f64 / mib)));
        }
    }
    all
}

/// One step for each call, as high as a MiB took in it.
fn draw(chart: &mut Chart, s: &Stretch, segment: u64) {
    let parts = s.parts().map(|(name, part)| (name, part, calls(name, part, s.passes, segment)));
    let y = Scale::logarithmic(parts.iter().flat_map(|(_, _, calls)| calls.iter().map(|(_, mib)| *mib)), (BOTTOM, TOP));
    let count: usize = parts.iter().map(|(_, _, calls)| calls.len()).sum();
    let x = |call: usize| LEFT + (RIGHT - LEFT) * call as f64 / count.max(1) as f64;
    chart.left_axis(&y, &y.marks(), time);
    chart.text("tick", "end", (LEFT - 5.0, TOP - 8.0), "a MiB in");
    let mut at = 0;
    for (name, part, calls) in &parts {
        let begin = at;
        for (series, mib) in calls {
            let (from, to, top) = (x(at), x(at + 1), y.at(*mib));
            at += 1;
            chart.bar(&format!("{} step", series.class()), (from, top), (to, BOTTOM));
            chart.line(series.class(), (from, top), (to, top));
        }
        let (from, to) = (x(begin), x(at));
        if begin > 0 {
            chart.line("even", (from, TOP - 14.0), (from, BOTTOM + 20.0));
        }
        chart.text("label", "middle", ((from + to) / 2.0, TOP - 8.0), name);
        chart.text("tick", "middle", ((from + to) / 2.0, BOTTOM + 16.0), &time(took(part) as f64));
    }
    chart.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
}

fn took(part: &Part) -> u64 {
    part.data.total() + part.zeroes.total() + part.flushes.total()
}

fn table(s: &Stretch) -> String {
    let row = |((name, part), says): ((&str, &Part), &str)| {
        let of = |calls: &Calls| if calls.nanoseconds.is_empty() { "-".to_owned() } else { time(calls.total() as f64) };
        let zeroes = rate(s.bytes, Nanos(part.zeroes.total())).map_or_else(|| "-".to_owned(), human_rate);
        let data = rate(s.bytes, Nanos(part.data.total())).map_or_else(|| "-".to_owned(), human_rate);
        vec![name.to_owned(), says.to_owned(), of(&part.data), data, of(&part.zeroes), zeroes, of(&part.flushes)]
    };
    let rows: Vec<Vec<String>> = s.parts().into_iter().zip(SAYS).map(row).collect();
    let heads = [
        Head::Text("part"),
        Head::Text("does"),
        Head::Number("data took"),
        Head::Number("rate"),
        Head::Number("zeroes took"),
        Head::Number("rate"),
        Head::Number("flushes took"),
    ];
    html::table("The parts", &heads, &rows)
}
