//! The answer of `check` for a path, as text.

use crate::output::detail;
use crate::terms::Effect;
use crate::units::human_bytes;
use crate::verdict::on_file::percent;
use std::io::{self, Write};
use verdict_format::answers::{FileShares, PathAnswer, PathFinding};

/// What fallocate does here, in one clause.
fn call(answer: &PathAnswer) -> String {
    let why = answer.why.as_deref().unwrap_or_default();
    match (answer.write_zeroes, answer.offloaded) {
        (Some(true), Some(true)) => {
            let less = answer.findings.iter().any(|f| f.effect == Some(Effect::GainsLess));
            let less = if less { ", and later writes gain less by it than elsewhere" } else { "" };
            format!("fallocate(FALLOC_FL_WRITE_ZEROES) works here{less}")
        }
        (Some(true), _) => format!("fallocate(FALLOC_FL_WRITE_ZEROES) works here, but writes the zeroes: {why}"),
        (Some(false), _) => format!("fallocate(FALLOC_FL_WRITE_ZEROES) fails here: {why}"),
        (None, _) => format!("it is not known whether fallocate(FALLOC_FL_WRITE_ZEROES) works here: {why}"),
    }
}

/// Writes the view; the first line is the answer.
pub fn write(out: &mut impl Write, answer: &PathAnswer) -> io::Result<()> {
    let device = detail::predicate(answer.class);
    let weakest = answer.devices.iter().find(|d| d.verdict.class == answer.class).filter(|_| answer.devices.len() > 1);
    let device = match weakest {
        Some(weakest) => format!("the weakest of its devices, {}, {device}", weakest.verdict.device.name),
        None => format!("its device {device}"),
    };
    writeln!(out, "{}: {device}; {}.", answer.path, call(answer))?;
    writeln!(out, "  {:<12} {} on {}", "filesystem", answer.filesystem, answer.mount_point)?;
    answer.layers.iter().try_for_each(|layer| writeln!(out, "  {:<12} {layer}", "layer"))?;
    if let Some(instead) = &answer.instead {
        writeln!(out, "  {:<12} {instead}", "instead")?;
    }
    if let Some(file) = &answer.file {
        writeln!(out, "  {:<12} {}", "file", lies(file))?;
    }
    findings(out, &answer.findings)?;
    for d in &answer.devices {
        let name = &d.verdict.device.name;
        let of = if d.leaves == [name.clone()] { String::new() } else { format!(" (made of {})", d.leaves.join(", ")) };
        let reason = if d.verdict.reason.is_empty() { String::new() } else { format!(": {}", d.verdict.reason) };
        writeln!(out, "  {:<12} {name}{of} is {}{reason}", "device", d.verdict.class)?;
    }
    Ok(())
}

/// What bears on zeroing a file ahead of use, a line each.
pub fn findings(out: &mut impl Write, findings: &[PathFinding]) -> io::Result<()> {
    for f in findings {
        let does = match f.effect {
            Some(Effect::Works) => "; FALLOC_FL_WRITE_ZEROES works there",
            Some(Effect::Writes) => "; FALLOC_FL_WRITE_ZEROES writes there, and takes as long as writing",
            Some(Effect::GainsLess) => "; FALLOC_FL_WRITE_ZEROES works there, and gains less",
            Some(Effect::Fails) => "; FALLOC_FL_WRITE_ZEROES fails there",
            None => "",
        };
        let code = f.code.map_or("unknown", |code| code.as_str());
        let instead = f.instead.as_ref().map_or_else(String::new, |i| format!("; instead: {i}"));
        writeln!(out, "  {:<12} {code}: {}{does}{instead}", "finding", f.text)?;
    }
    Ok(())
}

/// How a file lies in its file system, in one clause.
fn lies(file: &FileShares) -> String {
    let size = human_bytes(file.size_bytes);
    if let Some(why) = &file.unknown {
        return format!("{size}; how it lies cannot be told: {why}");
    }
    let Some(looked_at) = file.looked_at_bytes.filter(|bytes| *bytes > 0) else { return format!("{size}: empty") };
    let parts = [
        ("written", file.written_bytes),
        ("holes", file.hole_bytes),
        ("with space that was never written", file.unwritten_bytes),
        ("in the cache, without space yet", file.delayed_bytes),
        ("shared with other files", file.shared_bytes),
        ("compressed or encrypted", file.encoded_bytes),
    ];
    let part = |(what, bytes): &(&str, Option<u64>)| {
        let bytes = bytes.filter(|bytes| *bytes > 0)?;
        Some(format!("{} {what}", percent(bytes as f64 / looked_at as f64)))
    };
    let said: Vec<String> = parts.iter().filter_map(part).collect();
    let of =
        if looked_at < file.size_bytes { format!(", of its first {}", human_bytes(looked_at)) } else { String::new() };
    format!("{size}{of}: {}", said.join(", "))
}
