//! The times of the single calls of a test, beside its kept measurement: `/etc/zerocap/samples/<identity>.json`, and for a
//! device without an identity `/run/zerocap/samples/<major>:<minor>.json`, which does not outlive the device.
//!
//! They are for reports. No verdict depends on them, so no event reads them, and nothing else is missing without them.

use crate::device::{Devnum, Key};
use crate::error::{Error, Result};
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::Roots;
use crate::store::measurements;
use verdict_format::samples::{Pair, Samples, Stretch, MOST_BYTES, MOST_CALLS, MOST_PAIRS};
use verdict_format::{Kind, FORMAT};

/// Where a device's samples are kept: the directory, and the file's name, which is that of its measurement.
fn place(roots: &Roots, key: &Key) -> Option<(LiveDurable, String)> {
    let (_, name) = measurements::place(roots, key)?;
    Some((if key.identity.is_some() { named(roots) } else { unnamed(roots) }, name))
}

fn named(roots: &Roots) -> LiveDurable {
    roots.lasting(roots.config().join("samples"), 0o644)
}

fn unnamed(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run().join("samples"), 0o644)
}

/// The samples of a device; `None` where none are kept, or those of a device that had its number before. A file that makes no
/// sense is an error that names it.
pub fn load(roots: &Roots, device: impl Into<Key>) -> Result<Option<Samples>> {
    let key = device.into();
    let Some((files, name)) = place(roots, &key) else { return Ok(None) };
    let Some(bytes) = files.read(&name)? else { return Ok(None) };
    let malformed = |what: String| Error::Malformed { path: files.shown(&name).display().to_string(), what };
    let again = "the next test replaces it; you may also remove it";
    let samples: Samples = serde_json::from_slice(&bytes)
        .map_err(|e| malformed(format!("these are not samples of a test ({e}); {again}")))?;
    if (samples.format, samples.kind) != (FORMAT, Kind::Samples) {
        return Err(malformed(format!("these are not samples of format {FORMAT}; {again}")));
    }
    if samples.identity.as_deref() != key.identity.as_ref().map(|i| i.as_str()) {
        return Err(malformed(format!("these are samples of a device with another identity; {again}")));
    }
    if let Some(what) = impossible(&samples) {
        return Err(malformed(format!("no test writes {what}; {again}")));
    }
    // On a kernel without sequence numbers it is the test itself that tells whose samples these are (`Samples::are_of`).
    let another = key.identity.is_none() && samples.diskseq != key.instance.diskseq;
    Ok((!another).then_some(samples))
}

/// No span of a test is longer, in nanoseconds: eleven days.
const LONGEST: u64 = 1_000_000_000_000_000;
/// No other list of a test is longer.
const MOST_ENTRIES: usize = 1000;
/// No stretch has more passes, nor more calls put together.
const MOST_STRETCH: u64 = 1_000_000;

/// What no test writes: more than the bounds, or times that lead nowhere. A recorded machine may come from anybody.
fn impossible(s: &Samples) -> Option<&'static str> {
    let pairs = || std::iter::once(&s.pairs).chain(s.screened.iter().map(|m| &m.pairs));
    let parts = || s.stretches.iter().flat_map(|s| s.parts().map(|(_, part)| part));
    let calls = || parts().flat_map(|p| [&p.data, &p.zeroes, &p.flushes]);
    let lists = [s.screened.len(), s.first_writes.len(), s.first_zeroings.len(), s.lengths.len(), s.edges.len()];
    let lengths = || s.lengths.iter().flat_map(|l| [&l.zero_nanoseconds, &l.write_nanoseconds]);
    let too_many = pairs().any(|p| p.len() > MOST_PAIRS)
        || calls().any(|c| c.nanoseconds.len() > MOST_CALLS)
        || lists.into_iter().chain(lengths().map(Vec::len)).any(|n| n > MOST_ENTRIES)
        || s.stretches.len() > MOST_PAIRS;
    let of_pair = |p: &Pair| {
        let over = [p.data_over_zeroed_nanoseconds, p.data_over_written_nanoseconds];
        [p.at_nanoseconds, p.write_nanoseconds, p.zero_nanoseconds].into_iter().chain(over)
    };
    let times = pairs().flatten().flat_map(of_pair).chain(calls().flat_map(|c| c.nanoseconds.iter().copied()));
    let times = times.chain(lengths().flatten().copied());
    let times = times.chain(s.first_writes.iter().chain(&s.first_zeroings).map(|call| call.nanoseconds));
    let mut times = times.chain(s.edges.iter().filter_map(|e| e.zero_nanoseconds));
    let backwards = pairs().any(|p| p.windows(2).any(|two| two[0].at_nanoseconds > two[1].at_nanoseconds));
    let in_passes = |s: &Stretch| (1..=MOST_STRETCH).contains(&s.passes);
    if too_many {
        Some("so many times")
    } else if times.any(|t| t > LONGEST) || backwards {
        Some("such times")
    } else if calls().any(|c| !(1..=MOST_STRETCH).contains(&c.calls_each)) || !s.stretches.iter().all(in_passes) {
        Some("such a stretch")
    } else if !s.fast_ratio.is_finite() || s.fast_ratio <= 0.0 {
        Some("such a ratio")
    } else {
        None
    }
}

/// Keeps the samples of a test, after its measurement: between the two there are none of that test.
pub fn save(roots: &Roots, device: impl Into<Key>, samples: &Samples) -> Result<()> {
    let Some((mut files, name)) = place(roots, &device.into()) else { return Ok(()) };
    let failed = |e: std::io::Error| Error::file(files.shown(&name), "write", e);
    let mut bytes = serde_json::to_vec(samples).map_err(|e| failed(e.into()))?;
    bytes.push(b'\n');
    if bytes.len() > MOST_BYTES {
        return Err(failed(std::io::Error::other(format!("longer than {} KiB", MOST_BYTES >> 10))));
    }
    files.replace(&name, &bytes)
}

/// Forgets the samples whose measurement has this file name, of a device with an identity or without.
pub fn forget(roots: &Roots, name: &str, has_identity: bool) -> Result<()> {
    let mut files = if has_identity { named(roots) } else { unnamed(roots) };
    files.remove(name)
}

/// Forgets those of a device without an identity, once it is gone.
pub fn forget_unnamed(roots: &Roots, devnum: Devnum) -> Result<()> {
    unnamed(roots).remove(&format!("{devnum}.json"))
}
