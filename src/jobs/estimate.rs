//! `zerocap estimate`: how long it takes to zero a number of bytes, by the best method and by writing.

use crate::error::{exit, Error, Result};
use crate::facts::file;
use crate::facts::path::{self, Can};
use crate::jobs::check;
use crate::jobs::target::{self, Target};
use crate::machine::Roots;
use crate::output::detail;
use crate::terms::{Class, Method};
use crate::units::human_bytes;
use crate::verdict::estimate::{plans, seconds, zeroing, Rates};
use crate::verdict::on_file;
use verdict_format::answers::Estimate;
use verdict_format::{Document, Kind, FORMAT};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// A device or a path.
    pub typed: &'a str,
    /// How many bytes.
    pub bytes: u64,
    /// Which part of them (0 to 1) will hold data.
    pub data: Option<f64>,
}

/// Estimates. The exit code is 5 where the rates are not known.
pub fn run(roots: &Roots, request: &Request<'_>, remark: &mut dyn FnMut(&str)) -> Result<(Estimate, u8)> {
    let mut port = roots.port();
    let found = target::find(roots, request.typed)?;
    let is_device = matches!(found, Target::Device(_));
    let (name, document, can, why, findings) = match found {
        Target::Device(device) => {
            let document = check::document(roots, port.as_mut(), &device, remark);
            (document.device.name.clone(), Some(document), Can::Yes, None, Vec::new())
        }
        Target::Path(on) => {
            let devices = target::devices(request.typed, &on)?;
            let can = path::can_write_zeroes(&roots.system, &on);
            let findings = on_file::findings(&on, &can, &file::gather(&roots.system, &on));
            match devices {
                [device] => {
                    let document = check::document(roots, port.as_mut(), device, remark);
                    (on.path.clone(), Some(document), can, None, findings)
                }
                // Which device takes which share is the file system's own business.
                devices => {
                    let why =
                        format!("it lies on {} devices, and each may get any part of what is written", devices.len());
                    (on.path.clone(), None, Can::Yes, Some(why), findings)
                }
            }
        }
    };
    // A path may be a file that has yet to grow; a device ends where it ends.
    let end = document.as_ref().filter(|_| is_device).and_then(|d| d.device.size_bytes);
    if let Some(size) = end.filter(|size| request.bytes > *size) {
        return Err(Error::Usage(format!("{name} has only {size} bytes ({})", human_bytes(size))));
    }
    let (rates, method, mut reason) = match &document {
        Some(document) => usable(document, &can),
        None => (Rates::default(), None, None),
    };
    reason = why.or(reason);
    let zero = zeroing(request.bytes, &rates);
    let write = seconds(request.bytes as f64, rates.write);
    let times = request.data.map(|data| plans(request.bytes, data, &rates));
    // What is not faster than writing is not worth a call, and rates say little of calls below the measured break-even.
    let short = document.as_ref().and_then(|d| d.hints.break_even_bytes).is_some_and(|least| request.bytes < least);
    let best = match (&zero, write) {
        (Some(z), Some(w)) if z.value < w && !short => method.map(|m| (m, z.value)),
        (_, Some(w)) => Some((Method::Write, w)),
        _ => None,
    };
    let code = if best.is_some() { exit::OK } else { exit::UNKNOWN };
    let class = document.as_ref().map_or(Class::Unknown, |d| d.class);
    let estimate = Estimate {
        format: FORMAT,
        kind: Kind::Estimate,
        target: name,
        class,
        bytes: request.bytes,
        method,
        zero_seconds: zero.map(|z| z.value),
        zero_seconds_low: zero.and_then(|z| z.low),
        zero_seconds_high: zero.and_then(|z| z.high),
        confidence: rates.speedup.map(|s| s.confidence).filter(|_| zero.is_some()),
        write_seconds: write,
        best: best.map(|(m, _)| m),
        best_seconds: best.map(|(_, t)| t),
        data_fraction: request.data,
        plan: times.and_then(|p| p.best()).map(|(plan, _)| plan),
        zero_first_seconds: times.and_then(|p| p.zero_first),
        zero_rest_seconds: times.and_then(|p| p.zero_rest),
        write_all_seconds: times.and_then(|p| p.write_all),
        why: reason,
        findings,
    };
    Ok((estimate, code))
}

/// The rates that a caller may count on, the method, and why there is no zeroing.
fn usable(document: &Document, can: &Can) -> (Rates, Option<Method>, Option<String>) {
    let mut rates = Rates {
        zero: document.zero_bytes_per_second,
        write: document.write_bytes_per_second,
        data: document.data_write_bytes_per_second,
        overwrite: document.overwrite_after_zero_bytes_per_second,
        stretch: document.sustained.as_ref().map(|s| (s.bytes, s.speedup)),
        speedup: document.speedup,
    };
    let no_zeroing = match (document.class, can) {
        (Class::Broken | Class::None, _) => Some(format!("it {}", detail::answer(document))),
        (_, Can::No(why) | Can::Written(why) | Can::Unknown(why)) => Some(why.clone()),
        (_, Can::Yes) if rates.zero.is_some() && rates.write.is_some() => None,
        // Why a class is known is no reason for a rate that is not.
        (class, Can::Yes) => Some(match document.basis {
            None => document.reason.clone(),
            Some(basis) => format!("no rates were measured of this device (class {class}, basis {basis})"),
        }),
    };
    if no_zeroing.is_some() {
        rates.zero = None;
        rates.speedup = None;
    }
    (rates, document.method.filter(|_| rates.zero.is_some()), no_zeroing)
}
