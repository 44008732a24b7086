//! The answer of `estimate` as text. A time that is not known is `unknown` and never a number.

use crate::output::path_answer;
use crate::terms::Plan;
use crate::units::human_bytes;
use std::io::{self, Write};
use verdict_format::answers::Estimate;

/// Writes the view; the first line is the answer.
pub fn write(out: &mut impl Write, e: &Estimate) -> io::Result<()> {
    let zeroing = match (e.zero_seconds, e.method) {
        (Some(t), Some(method)) => {
            let interval = match (e.zero_seconds_low, e.zero_seconds_high) {
                (Some(low), Some(high)) => format!(" ({} to {})", time(Some(low)), time(Some(high))),
                (None, Some(high)) => format!(" (at most {})", time(Some(high))),
                (Some(low), None) => format!(" (at least {})", time(Some(low))),
                (None, None) => String::new(),
            };
            format!("zeroing takes {} by {method}{interval}", time(Some(t)))
        }
        _ => "it is not known how long zeroing takes".to_owned(),
    };
    writeln!(
        out,
        "{}, {}: {zeroing}; writing takes {}.",
        e.target,
        human_bytes(e.bytes),
        e.write_seconds.map_or("an unknown time".to_owned(), |t| time(Some(t)))
    )?;
    if let Some(why) = e.why.as_ref().filter(|w| !w.is_empty()) {
        writeln!(out, "  no estimate of zeroing: {why}")?;
    }
    path_answer::findings(out, &e.findings)?;
    let Some(data) = e.data_fraction else { return Ok(()) };
    writeln!(out, "  with {:.1} % of it data:", data * 100.0)?;
    for (plan, says, t) in [
        (Plan::ZeroRest, "zero what will hold no data, write the data", e.zero_rest_seconds),
        (Plan::ZeroFirst, "zero all of it, then write the data", e.zero_first_seconds),
        (Plan::WriteAll, "write data and zeroes", e.write_all_seconds),
    ] {
        let mark = if e.plan == Some(plan) { "  <- quickest" } else { "" };
        writeln!(out, "    {plan:<10}  {:>10}  {says}{mark}", time(t))?;
    }
    Ok(())
}

/// A time as a person reads it.
fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "unknown".to_owned(),
        Some(t) if t < 1.0 => format!("{:.0} ms", t * 1e3),
        Some(t) if t < 600.0 => format!("{t:.1} s"),
        Some(t) if t < 36_000.0 => format!("{:.1} min", t / 60.0),
        Some(t) => format!("{:.1} h", t / 3600.0),
    }
}
