//! The detail view of one device: the answer in one sentence, then what it is based on.

use crate::device::Kind;
use crate::output::small::{self, Glyphs};
use crate::terms::{Basis, Class, FindingCode};
use crate::units::{human_bytes, human_rate, interval};
use std::io::{self, Write};
use verdict_format::samples::Samples;
use verdict_format::Document;
use verdict_format::ModeResult;

/// The answer in one sentence.
pub fn sentence(d: &Document) -> String {
    format!("{} {}.", d.device.name, answer(d))
}

/// What a class says of a device, as the end of a sentence that begins with its name.
pub fn predicate(class: Class) -> &'static str {
    match class {
        Class::Fast => "zeroes fast",
        Class::Slow => "zeroes slowly",
        Class::None => "has no zeroing offload",
        Class::Unknown => "is not known to zero fast",
        Class::Broken => "must not be trusted with zeroing",
    }
}

/// What is said of the device, and why.
pub fn answer(d: &Document) -> String {
    let answer = match d.class {
        // A pin says so whatever limit the kernel has.
        Class::None if d.basis == Some(Basis::Policy) => "is treated as having no zeroing offload".to_owned(),
        Class::None => format!("{}, so the kernel writes zeroes instead", predicate(d.class)),
        class => predicate(class).to_owned(),
    };
    if d.reason.is_empty() {
        answer
    } else {
        format!("{answer}: {}", d.reason)
    }
}

/// What was measured beside the class, where it was asked for.
pub(crate) fn beside(d: &Document) -> Vec<(&'static str, String)> {
    let rate = |r: Option<u64>| r.map_or("-".to_owned(), human_rate);
    let mut rows = Vec::new();
    if let Some(o) = &d.overwrite {
        let between = interval(o.gain_low, o.gain_high).map_or_else(String::new, |i| format!(" ({i})"));
        let gain = o.gain.map_or_else(String::new, |g| format!(", gain {g:.2}x{between}"));
        let reuse = o.gain_written.map_or_else(String::new, |g| format!(", {g:.2}x when a written file is used again"));
        let lacks = o.lacks.as_ref().map_or_else(String::new, |l| format!(" ({l})"));
        rows.push((
            "overwriting",
            format!(
                "synchronous writes into files of {}: into unwritten space {}, zeroed space {}, written space \
                 {}{gain}{reuse}{lacks}",
                o.filesystem,
                rate(o.unwritten),
                rate(o.write_zeroes),
                rate(o.written)
            ),
        ));
    }
    if !d.modes.is_empty() {
        let one = |m: &ModeResult| match (&m.error, m.ratio) {
            (Some(why), _) => format!("{} ({why})", m.mode),
            (None, Some(ratio)) => format!("{} {ratio:.2}x", m.mode),
            (None, None) => format!("{} -", m.mode),
        };
        rows.push(("modes", d.modes.iter().map(one).collect::<Vec<_>>().join(", ")));
    }
    if let Some(i) = &d.interference {
        let ms = |n: u64| n as f64 / 1e6;
        for (name, b) in [("reads", i.read), ("writes", i.write)] {
            let value = format!(
                "{:.2} ms (p99 {:.2}) without zeroing, {:.2} ms (p99 {:.2}) beside it",
                ms(b.without.p50_nanoseconds),
                ms(b.without.p99_nanoseconds),
                ms(b.with.p50_nanoseconds),
                ms(b.with.p99_nanoseconds)
            );
            rows.push((name, value));
        }
    }
    if let Some(deep) = &d.deep {
        let (zero, write) = (rate(deep.zero_bytes_per_second), rate(deep.write_bytes_per_second));
        let long = deep
            .command_bytes
            .map_or_else(String::new, |b| format!("; one command of {} was zero to its end", human_bytes(b)));
        let bytes = human_bytes(deep.bytes);
        rows.push(match &deep.incomplete {
            Some(why) => ("deep", format!("{bytes} at a stretch: not known: {why}")),
            None => ("deep", format!("{bytes} at a stretch: zeroing {zero}, writing {write}{long}")),
        });
    }
    rows
}

/// Writes the view, with the samples of the test where they are kept.
pub fn write(out: &mut impl Write, d: &Document, samples: Option<&Samples>, glyphs: Glyphs) -> io::Result<()> {
    writeln!(out, "{}", sentence(d))?;
    let mut row = |name: &str, value: String| writeln!(out, "  {name:<12} {value}");
    let text = |v: &Option<String>| v.clone().unwrap_or_else(|| "-".to_owned());
    let size = d.device.size_bytes.map_or("-".to_owned(), human_bytes);
    row("device", format!("{} ({}, {size})", d.device.node, text(&d.device.transport)))?;
    let (links, names): (Vec<&String>, Vec<&String>) =
        d.device.names.iter().flatten().partition(|name| name.starts_with("/dev/"));
    if !names.is_empty() {
        row("called", names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", "))?;
    }
    if let Some(points) = d.device.mounts.as_ref().filter(|m| !m.is_empty()) {
        row("mounted", points.join(", "))?;
    }
    links.iter().enumerate().try_for_each(|(i, link)| row(if i == 0 { "links" } else { "" }, link.to_string()))?;
    row("model", format!("{}, firmware {}", text(&d.device.model), text(&d.device.firmware)))?;
    row("identity", text(&d.device.identity))?;
    if !d.device.members.is_empty() {
        let on = if d.device.kind == Kind::Loop.as_str() { "file on" } else { "made of" };
        row(on, d.device.members.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", "))?;
    }
    if let Some(how) = &d.initial_state.how {
        row("holds", format!("{}, known by {how}", d.initial_state.state))?;
    }
    row("class", format!("{}, {}", d.class, d.basis.map_or("no basis".to_owned(), |b| format!("basis {b}"))))?;
    row("expected", format!("{} (from the claims alone)", d.expected))?;
    // Where there could be no test, the first line says why; there are no figures.
    if let Some(m) = d.measured.as_ref().filter(|m| m.bytes_written > 0 || m.inconclusive.is_none()) {
        let rate = |r: Option<u64>| r.map_or("-".to_owned(), human_rate);
        row("zeroing", format!("{} by {}", rate(d.zero_bytes_per_second), d.method.map_or("-", |m| m.as_str())))?;
        row(
            "writing",
            format!(
                "zeroes {}, data {} (over a zeroed range {})",
                rate(d.write_bytes_per_second),
                rate(d.data_write_bytes_per_second),
                rate(d.overwrite_after_zero_bytes_per_second)
            ),
        )?;
        small::rows(d, samples, glyphs).into_iter().try_for_each(|(name, value)| row(name, value))?;
        if let Some(s) = &d.speedup {
            let between = interval(s.low, s.high).map_or_else(
                || " (too few pairs for an interval)".to_owned(),
                |i| format!(" ({i}, confidence {})", s.confidence),
            );
            row("speedup", format!("{:.2}x{between}", s.median))?;
        }
        if let Some(stretch) = &d.sustained {
            let times =
                stretch.speedup.map_or_else(|| "the cost is too small to measure".to_owned(), |s| format!("{s:.2}x"));
            row(
                "long stretch",
                format!("{times} over {}, with all later costs charged to zeroing", human_bytes(stretch.bytes)),
            )?;
        }
        let verified = if d.zeroes_verified == Some(true) { "all of it was read back as zero" } else { "not verified" };
        // What the file system adds is part of the rates.
        let in_file = m.scratch.strip_prefix("directory ");
        let in_file =
            in_file.map_or_else(String::new, |place| format!("; in a file of {place}, whose own work is included"));
        row(
            "measured",
            format!(
                "{} on kernel {}, {} pairs of {}, {verified}{in_file}",
                m.at,
                m.kernel,
                m.trials,
                human_bytes(m.segment_bytes)
            ),
        )?;
        for method in &d.methods {
            let rate = method.zero_bytes_per_second.map_or("-".to_owned(), human_rate);
            let note = match (&method.error, method.verified) {
                (Some(e), _) => e.clone(),
                (None, Some(true)) => "verified".to_owned(),
                (None, _) => "does not promise zeroes".to_owned(),
            };
            row("", format!("{:<13} {rate:>10}  {note}", method.method.map_or("-", |m| m.as_str())))?;
        }
    }
    beside(d).into_iter().try_for_each(|(name, value)| row(name, value))?;
    for t in &d.tunables {
        let now = t.now.as_ref().map_or(String::new(), |n| format!(", now {n}"));
        row("tunable", format!("{} wanted {}{now} ({})", t.path, t.wanted, t.why))?;
    }
    for f in &d.findings {
        row(f.severity.as_str(), format!("{}: {}", f.code, f.text))?;
    }
    next(d).map_or(Ok(()), |step| row("next", step))
}

/// What gives an answer, where there is none yet.
fn next(d: &Document) -> Option<String> {
    let has = |code: FindingCode| d.findings.iter().any(|f| f.code == code);
    let node = &d.device.node;
    if d.device.size_bytes == Some(0) {
        let name = &d.device.name;
        return Some(format!(
            "the kernel has no size for it, as for a disk that does not answer; `journalctl -k --grep {name}` may \
             show why"
        ));
    }
    match d.class {
        Class::Unknown if has(FindingCode::TestInterrupted) => {
            Some(format!("run `zerocap recover {node}` to put back what the test left, then measure it again"))
        }
        // What a test that did not decide needs is part of the first line.
        Class::Unknown if d.measured.is_none() => {
            let own = format!("`zerocap measure {node}` lists where a test is possible");
            Some(below(d).map_or(own.clone(), |below| format!("{own}, {below}")))
        }
        // A pin that has no effect passes for one that has.
        _ if has(FindingCode::PinWithoutOffload) => Some(format!(
            "the pin has an effect again once there is an offload; `zerocap policy unpin {node}` \
                          removes it"
        )),
        _ => None,
    }
}

/// Where else a stack's answer may come from: a volume that passes zeroing on has that of its disks.
fn below(d: &Document) -> Option<String> {
    let is_stack = |name: &str| Kind::of_name(name).is_stack();
    if !is_stack(&d.device.name) {
        return None;
    }
    let first = d.device.members.first()?;
    Some(match d.device.members.iter().any(|m| is_stack(&m.name)) {
        true => format!("`zerocap show --tree {}` shows the devices below it", d.device.node),
        false => format!("`zerocap measure /dev/{}` does so for the device below it", first.name.replace('!', "/")),
    })
}

/// The same for a table, in one line.
pub fn next_of_all(documents: &[Document]) -> Option<String> {
    let unknown = documents.iter().filter(|d| d.class == Class::Unknown).count();
    (unknown > 0).then(|| {
        let those = if unknown == 1 { "1 device is".to_owned() } else { format!("{unknown} devices are") };
        format!("{those} not known to zero fast or slowly; `zerocap measure DEV` lists where a test is possible")
    })
}
