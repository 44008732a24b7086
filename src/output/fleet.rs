//! The summary of a fleet, for people: the answer in one sentence, one line for each model, then the disagreements of its
//! devices. Every text may come from somebody else's file, so all texts are escaped.

use crate::device::display::{escape_str, printable};
use crate::output::grid;
use crate::units::human_rate;
use std::collections::BTreeSet;
use std::io::{self, Write};
use verdict_format::fleet::{Cause, Classes, Disagreement, ModelRow, Summary};

const HEADINGS: [&str; 9] =
    ["MODEL", "FIRMWARE", "COMMAND", "MACHINES", "DEVICES", "TESTED", "CLASSES", "ZERO", "RATIO"];
/// The columns of numbers, which stand at the right.
const RIGHT: [bool; 9] = [false, false, false, true, true, true, false, true, true];

/// What is left out on a terminal that is too narrow, in this order, after the interval of the ratio.
const LEFT_OUT: [&str; 3] = ["COMMAND", "MACHINES", "TESTED"];

/// The columns that are there.
fn there<'a>(left_out: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    (0..HEADINGS.len()).filter(|i| !left_out.contains(&HEADINGS[*i]))
}

/// The forms of the table, from which the first that fits is taken: its rows, and what is left out.
fn forms(summary: &Summary) -> impl Iterator<Item = (Vec<grid::Row>, Vec<&'static str>)> + '_ {
    let form = |interval: bool, left_out: &[&'static str]| {
        let all = std::iter::once(HEADINGS.map(str::to_owned)).chain(summary.models.iter().map(|m| cells(m, interval)));
        let rows = all.map(|row| there(left_out).map(|i| row[i].clone()).collect()).collect();
        (rows, left_out.to_vec())
    };
    std::iter::once(form(true, &[])).chain((0..=LEFT_OUT.len()).map(move |n| form(false, &LEFT_OUT[..n])))
}

/// The whole answer, made to fit a terminal of so many columns.
pub fn write(out: &mut impl Write, summary: &Summary, width: Option<usize>) -> io::Result<()> {
    writeln!(out, "{}", sentence(summary))?;
    if summary.models.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let Some((rows, left_out)) = grid::fitting(width, forms(summary), |(rows, _)| rows, 0) else { return Ok(()) };
    let right: Vec<bool> = there(&left_out).map(|i| RIGHT[i]).collect();
    grid::lines(&rows, &right, |_, _, cell| cell.to_owned()).try_for_each(|line| writeln!(out, "{line}"))?;
    summary.disagreements.iter().try_for_each(|d| disagreement(out, d))
}

fn many(n: u64, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        _ => format!("{n} {one}s"),
    }
}

fn sentence(s: &Summary) -> String {
    let Some(latest) = &s.latest else {
        return match s.lines {
            0 => "There is no line to read.".to_owned(),
            n => format!("None of {} is a document.", many(n, "line")),
        };
    };
    let silent: u64 = s.models.iter().map(|m| m.silent).sum();
    let models: BTreeSet<_> = s.models.iter().map(|m| (&m.kind, &m.vendor, &m.model)).collect();
    let of = many(models.len() as u64, "model");
    let mut text = format!("{} on {}, of {of}", many(s.answers, "device"), many(s.machines, "machine"));
    text.push_str(&match s.disagreements.len() as u64 {
        0 => "; no model disagrees with itself".to_owned(),
        1 => "; 1 model disagrees with itself".to_owned(),
        n => format!("; {n} models disagree with themselves"),
    });
    if silent > 0 {
        text.push_str(&format!("; {silent} silent for 30 days before {}", printable(latest.clone())));
    }
    text + "."
}

fn name(vendor: &Option<String>, model: &Option<String>, kind: &str) -> String {
    let texts: Vec<String> = [vendor, model].into_iter().flatten().map(|t| printable(t.clone())).collect();
    if texts.is_empty() {
        format!("({})", escape_str(kind))
    } else {
        texts.join(" ")
    }
}

fn classes(c: &Classes) -> String {
    let all = [("fast", c.fast), ("slow", c.slow), ("none", c.none), ("unknown", c.unknown), ("broken", c.broken)];
    let there: Vec<String> = all.iter().filter(|(_, n)| *n > 0).map(|(word, n)| format!("{word} {n}")).collect();
    there.join(", ")
}

fn cells(row: &ModelRow, interval: bool) -> [String; 9] {
    let or_dash = |text: &Option<String>| text.as_ref().map_or_else(|| "-".to_owned(), |t| printable(t.clone()));
    let ratio = row.ratio.map(|r| match r.p10 == r.p90 {
        _ if !interval => format!("{:.1}x", r.p50),
        true => format!("{:.1}x", r.p50),
        false => format!("{:.1}x ({:.1} to {:.1})", r.p50, r.p10, r.p90),
    });
    [
        name(&row.vendor, &row.model, &row.kind),
        or_dash(&row.firmware),
        or_dash(&row.command_path),
        row.machines.to_string(),
        row.devices.to_string(),
        row.measured.answers.to_string(),
        classes(&row.classes),
        row.zero_bytes_per_second.map_or_else(|| "-".to_owned(), |q| human_rate(q.p50)),
        ratio.unwrap_or_else(|| "-".to_owned()),
    ]
}

fn disagreement(out: &mut impl Write, d: &Disagreement) -> io::Result<()> {
    let why = match d.cause {
        Cause::Unexplained => {
            "no known property separates the classes: the devices of this model differ, so do not use a model entry \
             for it"
        }
        Cause::Surroundings => {
            "the classes follow the machine, or what else ran during the test: measure again when the machine is idle"
        }
        Cause::Firmware => "the classes follow the firmware",
        Cause::Transport => "the classes follow how the devices are attached",
        Cause::Kernel => "the classes follow the kernel that the devices were measured under",
        Cause::CommandPath => "the classes follow the command that the kernel sends",
    };
    writeln!(out, "\n{}: tested devices are {}; {why}.", name(&d.vendor, &d.model, &d.kind), classes(&d.classes))?;
    d.values.iter().try_for_each(|v| {
        let value = v.value.clone().map_or_else(|| "not known".to_owned(), printable);
        writeln!(out, "  {} {value}: {}", d.cause, classes(&v.classes))
    })
}
