//! The view of `probe`: readings grouped by source under their specification names, with the reason of each unknown.

use crate::output::detail;
use std::io::{self, Write};
use verdict_format::answers::Probe;
use verdict_format::Document;

/// Writes the view; `document` gives the first line.
pub fn write(out: &mut impl Write, probe: &Probe, document: &Document) -> io::Result<()> {
    writeln!(out, "{}", detail::sentence(document))?;
    writeln!(out, "  expected from the claims alone: {}", probe.expected)?;
    let mut source = "";
    for r in &probe.readings {
        if r.source != source {
            source = &r.source;
            writeln!(out, "{source}")?;
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
