//! The view of `probe`: readings grouped by source under their specification names, with the reason of each unknown.

use crate::assess::document::{Document, FindingDoc};
use crate::facts::field::Reading;
use crate::facts::Facts;
use crate::output::detail;
use serde::Serialize;
use std::io::{self, Write};

/// One reading, as JSON has it.
#[derive(Debug, Serialize)]
struct ReadingDoc<'a> {
    source: &'a str,
    field: &'a str,
    /// The raw value; null where it is not known.
    raw: Option<&'a str>,
    says: Option<&'a str>,
    /// Why it is not known.
    unknown: Option<String>,
}

impl<'a> From<&'a Reading> for ReadingDoc<'a> {
    fn from(r: &'a Reading) -> Self {
        ReadingDoc {
            source: &r.source,
            field: &r.field,
            raw: r.raw.known().map(String::as_str),
            says: r.says.as_deref(),
            unknown: r.raw.why().map(ToString::to_string),
        }
    }
}

#[derive(Debug, Serialize)]
struct ProbeDoc<'a> {
    format: u32,
    device: &'a crate::assess::document::DeviceDoc,
    expected: crate::terms::Class,
    readings: Vec<ReadingDoc<'a>>,
    findings: &'a [FindingDoc],
}

/// JSON on one line.
pub fn json(facts: &Facts, document: &Document) -> String {
    let doc = ProbeDoc {
        format: document.format,
        device: &document.device,
        expected: document.expected,
        readings: facts.readings.iter().map(Into::into).collect(),
        findings: &document.findings,
    };
    serde_json::to_string(&doc).unwrap_or_default()
}

/// Writes the view.
pub fn write(out: &mut impl Write, facts: &Facts, document: &Document) -> io::Result<()> {
    writeln!(out, "{}", detail::sentence(document))?;
    writeln!(out, "  expected from the claims alone: {}", document.expected)?;
    let mut source = "";
    for r in &facts.readings {
        if r.source != source {
            source = &r.source;
            writeln!(out, "{source}")?;
        }
        match (&r.raw.known(), &r.says) {
            (Some(raw), Some(says)) => writeln!(out, "  {}: {raw}  ({says})", r.field)?,
            (Some(raw), None) => writeln!(out, "  {}: {raw}", r.field)?,
            (None, _) => {
                let why = r.raw.why().map_or(String::new(), ToString::to_string);
                writeln!(out, "  {}: unknown, {why}", r.field)?;
            }
        }
    }
    if !document.findings.is_empty() {
        writeln!(out, "findings")?;
    }
    document.findings.iter().try_for_each(|f| writeln!(out, "  {} {}: {}", f.severity, f.code, f.text))
}
