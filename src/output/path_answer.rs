//! The answer of `check` for a path, as text.

use crate::output::detail;
use std::io::{self, Write};
use verdict_format::answers::PathAnswer;

/// What fallocate does here, in one clause.
fn call(answer: &PathAnswer) -> String {
    let why = answer.why.as_deref().unwrap_or_default();
    match (answer.write_zeroes, answer.offloaded) {
        (Some(true), Some(true)) => "fallocate(FALLOC_FL_WRITE_ZEROES) works here".to_owned(),
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
    for d in &answer.devices {
        let name = &d.verdict.device.name;
        let of = if d.leaves == [name.clone()] { String::new() } else { format!(" (made of {})", d.leaves.join(", ")) };
        let reason = if d.verdict.reason.is_empty() { String::new() } else { format!(": {}", d.verdict.reason) };
        writeln!(out, "  {:<12} {name}{of} is {}{reason}", "device", d.verdict.class)?;
    }
    Ok(())
}
