//! How long zeroing and writing take, from measured rates. It is pure; a rate that is not known gives no number.
//!
//! The question behind `--data-fraction` is that of an image writer (qemu-img convert): zero the whole target with one call
//! and then write the data, or zero only what holds no data. Zeroing first also zeroes what the data overwrites, so it costs
//! data / zero rate more: 52e9 B / 2.445e9 B/s = 21 s on the LUN whose figures are published (consumers of the test below).

use crate::terms::Plan;
use verdict_format::Speedup;

/// What is known of a device, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Zeroing by the class's method; `None` also where it must not be used.
    pub zero: Option<u64>,
    /// Writing zeroes.
    pub write: Option<u64>,
    /// Writing data; where that is not known the rate of writing zeroes stands for it.
    pub data: Option<u64>,
    /// Writing over a range that was just zeroed.
    pub overwrite: Option<u64>,
    /// One long stretch: its bytes, and how many times as fast as writing zeroes zeroing was over it.
    pub stretch: Option<(u64, Option<f64>)>,
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

/// A rate is kept as a whole number, so that it may differ by this from the times it was made of.
const ROUNDING: f64 = 1.01;

/// Seconds for so many bytes at a rate; none for a rate that is unknown or 0.
pub fn seconds(bytes: f64, rate: Option<u64>) -> Option<f64> {
    rate.filter(|r| *r > 0).map(|r| bytes / r as f64)
}

/// The time of zeroing: the longer of what single calls take, and of what the long stretch says with all that followed it
/// charged. The interval is that of the measured ratio, carried over to the time: writing takes `w`, so zeroing takes
/// `w / ratio`; its lower end is widened to hold the estimate. There is no upper end beyond the stretch, where nobody has seen
/// what zeroing costs, nor where the totals lie above it: the interval is of a median, which rare slow calls do not move.
pub fn zeroing(bytes: u64, rates: &Rates) -> Option<Seconds> {
    let single = seconds(bytes as f64, rates.zero)?;
    let over_stretch = rates.stretch.and_then(|(_, speedup)| speedup).filter(|s| *s > 0.0);
    let at_length = over_stretch.and_then(|s| Some(seconds(bytes as f64, rates.write)? / s));
    let value = at_length.map_or(single, |t| t.max(single));
    let seen = rates.stretch.is_some_and(|(stretch, _)| bytes <= stretch);
    let of_ratio = |ratio: Option<f64>| {
        let write = seconds(bytes as f64, rates.write)?;
        ratio.filter(|r| *r > 0.0).map(|r| write / r)
    };
    let low = of_ratio(rates.speedup.and_then(|s| s.high)).map(|t| t.min(value));
    let high =
        of_ratio(rates.speedup.and_then(|s| s.low)).filter(|t| seen && value <= t * ROUNDING).map(|t| t.max(value));
    Some(Seconds { value, low, high })
}

/// The times of the plans for a target of which the part `data` (0 to 1) holds data.
pub fn plans(bytes: u64, data: f64, rates: &Rates) -> Plans {
    let (all, data) = (bytes as f64, data.clamp(0.0, 1.0));
    // Nothing to zero or to write takes no time, whatever the rate.
    let part = |bytes: f64, rate| if bytes == 0.0 { Some(0.0) } else { seconds(bytes, rate) };
    let zeroed = |bytes: f64| if bytes == 0.0 { Some(0.0) } else { zeroing(bytes as u64, rates).map(|s| s.value) };
    let of_data = rates.data.or(rates.write);
    Plans {
        // What was just zeroed may be written at another rate (deferred cost).
        zero_first: zeroed(all).zip(part(all * data, rates.overwrite.or(of_data))).map(|(z, w)| z + w),
        zero_rest: zeroed(all * (1.0 - data)).zip(part(all * data, of_data)).map(|(z, w)| z + w),
        write_all: part(all * (1.0 - data), rates.write).zip(part(all * data, of_data)).map(|(z, w)| z + w),
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
