//! The table of `show`: a line a device, columns aligned, rates in IEC units.

use crate::output::Document;
use crate::units::human_rate;
use std::io::{self, Write};

/// A column: its heading, and what it shows of a document.
struct Column {
    heading: &'static str,
    right: bool,
    cell: fn(&Document) -> String,
}

fn or_dash(value: Option<String>) -> String {
    value.filter(|v| !v.is_empty()).unwrap_or_else(|| "-".to_owned())
}

/// Every column, the default ones first.
const COLUMNS: &[Column] = &[
    Column { heading: "DEVICE", right: false, cell: |d| d.device.name.clone() },
    Column { heading: "CLASS", right: false, cell: |d| d.class.to_string() },
    Column { heading: "BASIS", right: false, cell: |d| or_dash(d.basis.map(|b| b.to_string())) },
    Column { heading: "ZERO", right: true, cell: |d| or_dash(d.zero_bytes_per_second.map(human_rate)) },
    Column { heading: "WRITE", right: true, cell: |d| or_dash(d.write_bytes_per_second.map(human_rate)) },
    Column { heading: "RATIO", right: true, cell: |d| or_dash(d.speedup.map(|s| format!("{:.1}x", s.median))) },
    Column { heading: "METHOD", right: false, cell: |d| or_dash(d.method.map(|m| m.to_string())) },
    Column { heading: "EXPECTED", right: false, cell: |d| d.expected.to_string() },
    Column { heading: "FINDINGS", right: false, cell: |d| or_dash(Some(d.codes().join(","))) },
    Column { heading: "MODEL", right: false, cell: |d| or_dash(d.device.model.clone()) },
    Column { heading: "FIRMWARE", right: false, cell: |d| or_dash(d.device.firmware.clone()) },
    Column { heading: "IDENTITY", right: false, cell: |d| or_dash(d.device.identity.clone()) },
    Column { heading: "KIND", right: false, cell: |d| d.device.kind.clone() },
    Column { heading: "SIZE", right: true, cell: |d| or_dash(d.device.size_bytes.map(crate::units::human_bytes)) },
    Column { heading: "MEASURED", right: false, cell: |d| or_dash(d.measured.as_ref().map(|m| m.at.clone())) },
];

/// How many of the columns are shown without `-o`.
const DEFAULT: usize = 9;

/// The headings, for `-o help` and for messages.
pub fn headings() -> Vec<&'static str> {
    COLUMNS.iter().map(|c| c.heading).collect()
}

/// Writes the table. `columns`: headings in the order wanted, `None` for the default; `Err` names an unknown one.
pub fn write(
    out: &mut impl Write,
    documents: &[Document],
    columns: Option<&[String]>,
) -> Result<io::Result<()>, String> {
    let chosen: Vec<&Column> = match columns {
        None => COLUMNS.iter().take(DEFAULT).collect(),
        Some(names) => names
            .iter()
            .map(|n| COLUMNS.iter().find(|c| c.heading.eq_ignore_ascii_case(n)).ok_or_else(|| n.clone()))
            .collect::<Result<_, _>>()?,
    };
    let mut rows: Vec<Vec<String>> = vec![chosen.iter().map(|c| c.heading.to_owned()).collect()];
    rows.extend(documents.iter().map(|d| chosen.iter().map(|c| (c.cell)(d)).collect()));
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..chosen.len()).map(width).collect();
    Ok(rows.iter().try_for_each(|row| {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[i] - cell.chars().count());
            if chosen[i].right {
                line.push_str(&pad);
            }
            line.push_str(cell);
            if !chosen[i].right {
                line.push_str(&pad);
            }
            line.push_str("  ");
        }
        writeln!(out, "{}", line.trim_end())
    }))
}
