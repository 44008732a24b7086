//! How long zeroing and writing take, from measured rates. Pure; a rate that is not known gives no number.
//!
//! The question behind `--data-fraction` is that of an image writer (qemu-img convert): zero the whole target with one
//! call and then write the data, or zero only what holds no data. Zeroing first pays for the data's share twice, so its
//! price is data / zero rate: 52e9 B / 2.445e9 B/s = 21 s on the LUN whose figures are published (consumers of the test
//! below).

use crate::terms::Plan;
use verdict_format::Speedup;

/// What is known of a device, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Zeroing by the class's method; `None` also where it must not be used.
    pub zero: Option<u64>,
    /// Writing.
    pub write: Option<u64>,
    /// Writing over a range that was just zeroed.
    pub overwrite: Option<u64>,
    /// Write time over zero time, with its interval.
    pub speedup: Option<Speedup>,
}

/// A time in seconds, with the ends of its interval where something bounds them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The times of the three plans in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plans {
    /// See [`Plan::ZeroFirst`].
    pub zero_first: Option<f64>,
    /// See [`Plan::ZeroRest`].
    pub zero_rest: Option<f64>,
    /// See [`Plan::WriteAll`].
    pub write_all: Option<f64>,
}

/// Seconds for so many bytes at a rate; none for a rate that is unknown or 0.
pub fn seconds(bytes: f64, rate: Option<u64>) -> Option<f64> {
    rate.filter(|r| *r > 0).map(|r| bytes / r as f64)
}

/// The time of zeroing. The interval is that of the measured ratio, carried over to the time: writing takes `w`, so
/// zeroing takes `w / ratio`; it is widened to hold the estimate, which comes from totals and not from the median.
pub fn zeroing(bytes: u64, rates: &Rates) -> Option<Seconds> {
    let value = seconds(bytes as f64, rates.zero)?;
    let of_ratio = |ratio: Option<f64>| {
        let write = seconds(bytes as f64, rates.write)?;
        ratio.filter(|r| *r > 0.0).map(|r| write / r)
    };
    let low = of_ratio(rates.speedup.and_then(|s| s.high)).map(|t| t.min(value));
    let high = of_ratio(rates.speedup.and_then(|s| s.low)).map(|t| t.max(value));
    Some(Seconds { value, low, high })
}

/// The times of the plans for a target of which the part `data` (0 to 1) holds data.
pub fn plans(bytes: u64, data: f64, rates: &Rates) -> Plans {
    let (all, data) = (bytes as f64, data.clamp(0.0, 1.0));
    let both = |zeroed: f64, written: f64, rate: Option<u64>| {
        // Nothing to zero or to write takes no time, whatever the rate.
        let part = |bytes: f64, rate| if bytes == 0.0 { Some(0.0) } else { seconds(bytes, rate) };
        Some(part(zeroed, rates.zero)? + part(written, rate)?)
    };
    Plans {
        // What was just zeroed may be written at another rate (deferred cost).
        zero_first: both(all, all * data, rates.overwrite.or(rates.write)),
        zero_rest: both(all * (1.0 - data), all * data, rates.write),
        write_all: both(0.0, all, rates.write),
    }
}

impl Plans {
    /// The quickest plan and its time; none where writing is not known, since then nothing can be compared.
    pub fn best(&self) -> Option<(Plan, f64)> {
        self.write_all?;
        // On equal times the plan with fewer commands of zeroing stands first.
        let each =
            [(Plan::WriteAll, self.write_all), (Plan::ZeroRest, self.zero_rest), (Plan::ZeroFirst, self.zero_first)];
        each.into_iter().filter_map(|(plan, time)| Some((plan, time?))).min_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}
