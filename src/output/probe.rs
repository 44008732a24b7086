//! The output of `probe`: readings grouped by source under the names of the specification, and the reason for each reading
//! that is not known.

use crate::output::detail;
use std::io::{self, Write};
use verdict_format::answers::Probe;
use verdict_format::Document;

/// That nothing of a source could be asked without root, in place of a row a field that says so.
fn needs_root(probe: &Probe, source: &str) -> Option<&'static str> {
    let mut of_source = probe.readings.iter().filter(|r| r.source == source);
    let refused = |why: &str| why.contains("EACCES") || why.contains("EPERM");
    if !of_source.all(|r| r.raw.is_none() && r.unknown.as_deref().is_some_and(refused)) {
        return None;
    }
    Some(match source.starts_with("nvme-id") {
        true => "need root (always before Linux 6.2; since 6.2 only if you may not read the node)",
        false => "needs root",
    })
}

/// Writes the view; `document` gives the first line.
pub fn write(out: &mut impl Write, probe: &Probe, document: &Document) -> io::Result<()> {
    writeln!(out, "{}", detail::sentence(document))?;
    writeln!(out, "  expected from the claims alone: {}", probe.expected)?;
    let mut source = "";
    for r in &probe.readings {
        let refused = needs_root(probe, &r.source);
        if r.source != source {
            source = &r.source;
            writeln!(out, "{source}{}", refused.map_or_else(String::new, |why| format!(": {why}")))?;
        }
        if refused.is_some() {
            continue;
        }
        match (&r.raw, &r.says) {
            (Some(raw), Some(says)) => writeln!(out, "  {}: {raw}  ({says})", r.field)?,
            (Some(raw), None) => writeln!(out, "  {}: {raw}", r.field)?,
            (None, _) => writeln!(out, "  {}: unknown, {}", r.field, r.unknown.as_deref().unwrap_or_default())?,
        }
    }
    if !probe.findings.is_empty() {
        writeln!(out, "findings")?;
    }
    probe.findings.iter().try_for_each(|f| writeln!(out, "  {} {}: {}", f.severity, f.code, f.text))
}
