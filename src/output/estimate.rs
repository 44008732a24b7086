//! The answer of `estimate`, as text and as JSON. A time that is not known is `unknown` and null, never a number.

use crate::terms::{Class, Method};
use crate::units::human_bytes;
use crate::verdict::estimate::{Plans, Seconds};
use serde::Serialize;
use std::io::{self, Write};

/// The answer of `estimate`; times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The number of the form, that of the documents.
    pub format: u32,
    /// The device's name, or the path.
    pub target: String,
    /// The class of the device.
    pub class: Class,
    /// The bytes asked for.
    pub bytes: u64,
    /// The method that zeroing is estimated for.
    pub method: Option<Method>,
    /// Zeroing by it.
    pub zero_seconds: Option<f64>,
    /// The ends of its interval; null where nothing bounds that end.
    pub zero_seconds_low: Option<f64>,
    /// See above.
    pub zero_seconds_high: Option<f64>,
    /// The least probability that the interval of the ratio, from which that of the time is made, covers the true median.
    pub confidence: Option<f64>,
    /// Writing zeroes.
    pub write_seconds: Option<f64>,
    /// The quicker of the two: the method, or `write-zeros`.
    pub best: Option<Method>,
    /// Its time.
    pub best_seconds: Option<f64>,
    /// Which part holds data, as it was asked.
    pub data_fraction: Option<f64>,
    /// The quickest plan: `zero-first`, `zero-rest`, `write-all`; null also where no data fraction was given.
    pub plan: Option<&'static str>,
    /// Zeroing all, then writing the data.
    pub zero_first_seconds: Option<f64>,
    /// Zeroing what holds no data, and writing the data.
    pub zero_rest_seconds: Option<f64>,
    /// Writing all.
    pub write_all_seconds: Option<f64>,
    /// Why zeroing has no time.
    pub why: Option<String>,
}

impl Estimate {
    /// The answer of these times.
    #[allow(clippy::too_many_arguments)] // one call, and each is another thing
    pub fn new(
        target: String,
        class: Class,
        bytes: u64,
        method: Option<Method>,
        zero: Option<Seconds>,
        write: Option<f64>,
        best: Option<(Method, f64)>,
        plans: Option<(f64, Plans)>,
    ) -> Estimate {
        let times = plans.map(|(_, p)| p);
        Estimate {
            format: crate::assess::document::FORMAT,
            target,
            class,
            bytes,
            method,
            zero_seconds: zero.map(|z| z.value),
            zero_seconds_low: zero.and_then(|z| z.low),
            zero_seconds_high: zero.and_then(|z| z.high),
            confidence: None,
            write_seconds: write,
            best: best.map(|(m, _)| m),
            best_seconds: best.map(|(_, t)| t),
            data_fraction: plans.map(|(data, _)| data),
            plan: times.and_then(|p| p.best()).map(|(plan, _)| plan.as_str()),
            zero_first_seconds: times.and_then(|p| p.zero_first),
            zero_rest_seconds: times.and_then(|p| p.zero_rest),
            write_all_seconds: times.and_then(|p| p.write_all),
            why: None,
        }
    }

    /// JSON on one line, without a newline.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Writes the view; the first line is the answer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let zeroing = match (self.zero_seconds, self.method) {
            (Some(t), Some(method)) => {
                let interval = match (self.zero_seconds_low, self.zero_seconds_high) {
                    (Some(low), Some(high)) => format!(" ({} to {})", time(Some(low)), time(Some(high))),
                    (None, Some(high)) => format!(" (at most {})", time(Some(high))),
                    (Some(low), None) => format!(" (at least {})", time(Some(low))),
                    (None, None) => String::new(),
                };
                format!("zeroing takes {} by {method}{interval}", time(Some(t)))
            }
            _ => "how long zeroing takes is unknown".to_owned(),
        };
        writeln!(
            out,
            "{}, {}: {zeroing}; writing takes {}.",
            self.target,
            human_bytes(self.bytes),
            self.write_seconds.map_or("an unknown time".to_owned(), |t| time(Some(t)))
        )?;
        if let Some(why) = self.why.as_ref().filter(|w| !w.is_empty()) {
            writeln!(out, "  no estimate of zeroing: {why}")?;
        }
        let Some(data) = self.data_fraction else { return Ok(()) };
        writeln!(out, "  with {:.1} % of it data:", data * 100.0)?;
        for (name, says, t) in [
            ("zero-rest", "zero what holds no data, write the data", self.zero_rest_seconds),
            ("zero-first", "zero all of it, then write the data", self.zero_first_seconds),
            ("write-all", "write data and zeroes", self.write_all_seconds),
        ] {
            let mark = if self.plan == Some(name) { "  <- quickest" } else { "" };
            writeln!(out, "    {name:<10}  {:>10}  {says}{mark}", time(t))?;
        }
        Ok(())
    }
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
