//! The table of `show`: one line for each device, aligned columns, rates in IEC units.

use crate::output::grid;
use crate::output::tree::{self, Branches};
use crate::terms::{Class, FindingCode};
use crate::units::{human_bytes, human_rate, natural};
use std::cmp::Ordering;
use std::io::{self, Write};
use verdict_format::{Document, Finding};

/// What a column shows of a document.
enum Cell {
    /// A word or text.
    Text(Option<String>),
    /// Bytes.
    Bytes(Option<u64>),
    /// Bytes per second.
    Rate(Option<u64>),
    /// A ratio.
    Ratio(Option<f64>),
}

impl Cell {
    fn shown(&self, bytes: bool) -> String {
        let shown = match self {
            Cell::Text(text) => text.clone().filter(|t| !t.is_empty()),
            Cell::Bytes(n) => n.map(|n| if bytes { n.to_string() } else { human_bytes(n) }),
            Cell::Rate(n) => n.map(|n| if bytes { n.to_string() } else { human_rate(n) }),
            Cell::Ratio(r) => r.map(|r| format!("{r:.1}x")),
        };
        // What is not known is never shown as 0.
        shown.unwrap_or_else(|| "-".to_owned())
    }

    /// Ascending, by value and not by how it is shown; what is not known comes last.
    fn order(&self, other: &Cell) -> Ordering {
        let number = |cell: &Cell| match cell {
            Cell::Bytes(n) | Cell::Rate(n) => n.map(|n| n as f64),
            Cell::Ratio(r) => *r,
            Cell::Text(_) => None,
        };
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => match (a.as_deref(), b.as_deref()) {
                (None, None) => Ordering::Equal,
                (None, _) => Ordering::Greater,
                (_, None) => Ordering::Less,
                (Some(a), Some(b)) => natural(a).cmp(&natural(b)),
            },
            _ => match (number(self), number(other)) {
                (None, None) => Ordering::Equal,
                (None, _) => Ordering::Greater,
                (_, None) => Ordering::Less,
                (Some(a), Some(b)) => a.total_cmp(&b),
            },
        }
    }
}

/// A column: its heading, what it means, and what it shows of a document.
struct Column {
    heading: &'static str,
    says: &'static str,
    right: bool,
    cell: fn(&Document) -> Cell,
}

fn text(value: impl ToString) -> Cell {
    Cell::Text(Some(value.to_string()))
}

const fn column(heading: &'static str, says: &'static str, cell: fn(&Document) -> Cell) -> Column {
    Column { heading, says, right: false, cell }
}

const fn number(heading: &'static str, says: &'static str, cell: fn(&Document) -> Cell) -> Column {
    Column { heading, says, right: true, cell }
}

/// How fast a broken device zeroes is nothing to go by.
fn trusted(d: &Document) -> bool {
    d.class != Class::Broken
}

/// The names that are no links, as the volume's; the first says most.
fn name(d: &Document) -> Option<String> {
    d.device.names.iter().flatten().find(|n| !n.starts_with(BY_ID)).map(|n| n.trim_start_matches("/dev/").to_owned())
}

/// Where udev's links by serial number lie.
pub(super) const BY_ID: &str = "/dev/disk/by-id/";

/// The heading of the column of findings.
const FINDINGS: &str = "FINDINGS";

/// The findings of a device. One that is a fact of the kernel would stand in each line: it is said once, below the table.
fn of_device(d: &Document) -> impl Iterator<Item = &Finding> {
    d.findings.iter().filter(|f| f.code != FindingCode::NoKnob)
}

/// What the kernel lacks, in a line, for a table with headings that has the column of findings.
fn of_kernel(documents: &[(String, &Document)], columns: &[&Column], style: &Style<'_>) -> String {
    let told = !style.no_headings && columns.iter().any(|c| c.heading == FINDINGS);
    let mut findings = documents.iter().filter(|_| told).flat_map(|(_, d)| &d.findings);
    let lacks = findings.find(|f| f.code == FindingCode::NoKnob);
    // What it comes to stands in the detail of each device.
    let what = |f: &Finding| f.text.split(':').next().unwrap_or_default().to_owned();
    lacks.map_or_else(String::new, |f| format!("({}: {})\n", f.code.as_str(), what(f)))
}

/// Every column, the default ones first.
const COLUMNS: &[Column] = &[
    column("DEVICE", "the name that the kernel gives it", |d| text(&d.device.name)),
    column("CLASS", "fast, slow, none, unknown or broken", |d| text(d.class)),
    column("BASIS", "what the class is based on", |d| Cell::Text(d.basis.map(|b| b.to_string()))),
    number("ZERO", "rate of zeroing, bytes per second", |d| Cell::Rate(d.zero_bytes_per_second.filter(|_| trusted(d)))),
    number("WRITE", "rate of writing, bytes per second", |d| Cell::Rate(d.write_bytes_per_second)),
    number("RATIO", "time of writing divided by time of zeroing", |d| {
        Cell::Ratio(d.speedup.map(|s| s.median).filter(|_| trusted(d)))
    }),
    column("METHOD", "the call that the class describes", |d| {
        Cell::Text(d.method.map(|m| m.to_string()).filter(|_| trusted(d)))
    }),
    column("EXPECTED", "the class that the claims alone suggest", |d| text(d.expected)),
    column(FINDINGS, "codes of the findings; `zerocap explain` explains each", |d| {
        text(of_device(d).map(|f| f.code.as_str()).collect::<Vec<_>>().join(","))
    }),
    NAMES,
    column("MOUNTS", "where it or one of its partitions is mounted", |d| {
        Cell::Text(d.device.mounts.as_ref().map(|m| m.join(",")))
    }),
    column("BY-ID", "its link in /dev/disk/by-id", |d| {
        Cell::Text(d.device.names.iter().flatten().find_map(|n| n.strip_prefix(BY_ID)).map(str::to_owned))
    }),
    column("MODEL", "the device's model", |d| Cell::Text(d.device.model.clone())),
    column("FIRMWARE", "the device's firmware", |d| Cell::Text(d.device.firmware.clone())),
    column("IDENTITY", "the identity under which its measurement is kept", |d| Cell::Text(d.device.identity.clone())),
    column("KIND", "the kind of device: nvme, scsi, dm, ...", |d| text(&d.device.kind)),
    column("TRAN", "how it is attached", |d| Cell::Text(d.device.transport.clone())),
    number("SIZE", "its size", |d| Cell::Bytes(d.device.size_bytes)),
    column("VERIFIED", "whether every zeroed byte was read back as zero", |d| {
        Cell::Text(d.zeroes_verified.map(|v| if v { "yes" } else { "no" }.to_owned()))
    }),
    number("ALIGN", "bytes to which calls should be aligned", |d| Cell::Bytes(d.hints.alignment_bytes)),
    number("CHUNK", "bytes to zero in one call", |d| Cell::Bytes(d.hints.chunk_bytes)),
    column("MEASURED", "time of the measurement, UTC", |d| Cell::Text(d.measured.as_ref().map(|m| m.at.clone()))),
];

/// Shown on a terminal without being asked for, where a device has such a name.
const NAMES: Column =
    column("NAMES", "the names people use: the LV, the name in /dev/mapper or /dev/md", |d| Cell::Text(name(d)));

/// How many of the columns are shown without `-o`.
const DEFAULT: usize = 9;

/// The headings, for messages.
pub fn headings() -> Vec<&'static str> {
    COLUMNS.iter().map(|c| c.heading).collect()
}

/// A line a column: the heading and what it means, for `-o help`.
pub fn help() -> String {
    COLUMNS.iter().map(|c| format!("{:<10} {}\n", c.heading, c.says)).collect()
}

/// How the table is wished.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style<'a> {
    /// Headings in the order wanted; one that begins with `+` is added to the default ones. `None`: the default.
    pub columns: Option<&'a [String]>,
    /// The heading of the column to sort by.
    pub sort: Option<&'a str>,
    /// No line of headings.
    pub no_headings: bool,
    /// Sizes and rates as numbers of bytes.
    pub bytes: bool,
    /// The class in colour.
    pub colour: bool,
    /// How many columns of characters the terminal has, if it is one: the usual table is made to fit.
    pub width: Option<usize>,
    /// Each device with the stacks on it below, drawn with these.
    pub tree: Option<Branches>,
}

fn named(name: &str) -> Result<&'static Column, String> {
    COLUMNS.iter().find(|c| c.heading.eq_ignore_ascii_case(name)).ok_or_else(|| name.to_owned())
}

fn chosen(columns: Option<&[String]>) -> Result<Vec<&'static Column>, String> {
    let Some(names) = columns else { return Ok(COLUMNS.iter().take(DEFAULT).collect()) };
    let mut chosen: Vec<&Column> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let plain = match name.strip_prefix('+') {
            Some(plain) => {
                if i == 0 {
                    chosen.extend(COLUMNS.iter().take(DEFAULT));
                }
                plain
            }
            None => name,
        };
        let column = named(plain)?;
        // Added to the default ones it stands there once; asked for by name, as often as asked.
        if !(name.starts_with('+') && chosen.iter().any(|c| c.heading == column.heading)) {
            chosen.push(column);
        }
    }
    Ok(chosen)
}

/// The colour of a class: what a person looks for first.
fn colour(class: Class) -> Option<&'static str> {
    match class {
        Class::Fast => Some("\x1b[32m"),
        Class::Slow => Some("\x1b[33m"),
        Class::Broken => Some("\x1b[1;31m"),
        Class::None | Class::Unknown => None,
    }
}

/// A column on a narrow terminal, where the findings are counted: the detail of a device has them.
const COUNTED: Column = column("FINDINGS", "", |d| Cell::Text(counted(d)));

/// How many findings there are of the gravest kind, and how many more: `2 warnings +1`.
fn counted(d: &Document) -> Option<String> {
    let worst = of_device(d).map(|f| f.severity).max()?;
    let of_it = of_device(d).filter(|f| f.severity == worst).count();
    let more = match of_device(d).count() - of_it {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    Some(format!("{of_it} {worst}{}{more}", if of_it == 1 { "" } else { "s" }))
}

/// What is left out of the usual columns on a terminal that is too narrow, in this order.
const LEFT_OUT: [&str; 4] = ["METHOD", "EXPECTED", "BASIS", "WRITE"];

/// The sets of columns from which the first that fits is taken: only one where they were asked for.
fn forms(style: &Style<'_>, named: bool) -> Result<Vec<Vec<&'static Column>>, String> {
    let mut usual = chosen(style.columns)?;
    if style.columns.is_some() || style.width.is_none() {
        return Ok(vec![usual]);
    }
    if named {
        usual.insert(1, &NAMES);
    }
    let counted: Vec<&Column> =
        usual.iter().map(|c| if c.heading == COUNTED.heading { &COUNTED } else { *c }).collect();
    let narrower = (0..=LEFT_OUT.len())
        .map(|n| counted.iter().copied().filter(|c| !LEFT_OUT[..n].contains(&c.heading)).collect::<Vec<_>>());
    Ok(std::iter::once(usual).chain(narrower).collect())
}

/// Writes the table. `Err` names a column that is unknown.
pub fn write(out: &mut impl Write, documents: &[Document], style: &Style<'_>) -> Result<io::Result<()>, String> {
    let forms = forms(style, documents.iter().any(|d| name(d).is_some()))?;
    let mut documents: Vec<&Document> = documents.iter().collect();
    if let Some(by) = style.sort {
        let column = named(by)?;
        documents.sort_by(|a, b| (column.cell)(a).order(&(column.cell)(b)));
    }
    let documents = match style.tree {
        Some(branches) => tree::order(&documents, branches),
        None => documents.into_iter().map(|d| (String::new(), d)).collect(),
    };
    let rows = |columns: &[&Column]| -> Vec<grid::Row> {
        let heading = (!style.no_headings).then(|| columns.iter().map(|c| c.heading.to_owned()).collect());
        let cells = |(before, d): &(String, &Document)| {
            let cell = |c: &&Column| match ((c.cell)(d).shown(style.bytes), c.heading) {
                (name, "DEVICE") => format!("{before}{name}"),
                (cell, _) => cell,
            };
            columns.iter().map(cell).collect()
        };
        heading.into_iter().chain(documents.iter().map(cells)).collect()
    };
    let tables = forms.into_iter().map(|columns| (rows(&columns), columns));
    let Some((rows, columns)) = grid::fitting(style.width, tables, |(rows, _)| rows, 1) else { return Ok(Ok(())) };
    let right: Vec<bool> = columns.iter().map(|c| c.right).collect();
    let above = rows.len() - documents.len();
    let paint = |row: usize, column: usize, cell: &str| {
        let wanted = style.colour && columns[column].heading == "CLASS";
        let class = row.checked_sub(above).filter(|_| wanted).map(|i| documents[i].1.class);
        class.and_then(colour).map_or_else(|| cell.to_owned(), |paint| format!("{paint}{cell}\x1b[0m"))
    };
    let written = grid::lines(&rows, &right, paint).try_for_each(|line| writeln!(out, "{line}"));
    Ok(written.and_then(|()| out.write_all(of_kernel(&documents, &columns, style).as_bytes())))
}
