//! The parts of the page that are text: claims beside what was found, findings with their explanation, spans with uneven
//! ends, tunables, the device and its surroundings.

use super::given::Report;
use super::html::{self, escape, Head};
use super::scale::time;
use crate::output::{detail, explain};
use crate::terms::{Class, Method};
use crate::units::human_bytes;
use verdict_format::{Document, Finding};

fn or_dash(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "-".to_owned())
}

fn bytes(size: Option<u64>) -> String {
    size.map_or_else(|| "not known".to_owned(), human_bytes)
}

/// Claims beside what was found.
pub fn claims(report: &Report<'_>) -> String {
    let d = report.document;
    let row = |what: &str, claimed: String, found: String| vec![what.to_owned(), claimed, found];
    let verified = match d.zeroes_verified {
        Some(true) => "every byte that was zeroed was read back as zero",
        Some(false) => "not verified",
        None => "not measured",
    };
    let says = match d.class {
        Class::Unknown => "unknown: it was not measured, or the measurement did not decide".to_owned(),
        class => format!("{class}, {}", d.basis.map_or_else(|| "no basis".to_owned(), |b| format!("basis {b}"))),
    };
    let held = report.samples.map_or_else(Vec::new, |s| s.edges.iter().map(|e| e.held).collect());
    let edges = match held.iter().filter(|held| **held).count() {
        _ if held.is_empty() => String::new(),
        n if n == held.len() => format!("; {n} ragged spans held"),
        n => format!("; {n} of {} ragged spans held", held.len()),
    };
    let beside = [
        row("How fast is it?", format!("{} (from the claims alone)", d.expected), says),
        row("Are the zeroes there?", "see the claims below".to_owned(), verified.to_owned()),
        row(
            "In which unit?",
            format!("deallocates {}", bytes(d.hints.claimed_granularity_bytes)),
            format!("align to {}{edges}", bytes(d.hints.alignment_bytes)),
        ),
    ];
    let heads = [Head::Text("question"), Head::Text("claimed"), Head::Text("found")];
    let beside = html::table("Claims beside what was found", &heads, &beside);
    let each = |c: &verdict_format::Claim| vec![c.field.clone(), c.source.clone(), c.value.clone(), c.says.clone()];
    let all: Vec<Vec<String>> = d.claims.iter().map(each).collect();
    let heads = [Head::Text("field"), Head::Text("read from"), Head::Text("value"), Head::Text("says")];
    html::section(
        "claims",
        "Claims beside what was found",
        &(beside + &html::table("What the device and the kernel claim", &heads, &all)),
    )
}

/// The findings, each with what it means and what to do.
pub fn findings(d: &Document) -> String {
    let one = |f: &Finding| {
        // A code of a later version has no text here.
        let meaning = explain::explain(f.code.as_str()).unwrap_or_default();
        let (severity, code) = (escape(f.severity.as_str()), escape(f.code.as_str()));
        format!(
            "<li class=\"{severity}\"><h3><span class=\"badge\">{severity}</span> {code}</h3>\n{}{}</li>\n",
            html::paragraph(&f.text),
            if meaning.is_empty() { String::new() } else { format!("<p class=\"meaning\">{}</p>\n", escape(&meaning)) }
        )
    };
    let body = match d.findings.as_slice() {
        [] => html::paragraph("There is none: nothing contradicts itself, and nothing else was noticed."),
        findings => format!("<ul class=\"findings\">\n{}</ul>\n", findings.iter().map(one).collect::<String>()),
    };
    html::section("findings", "Findings", &body)
}

/// Each method that was tried, and the ragged spans.
pub fn methods(report: &Report<'_>) -> String {
    let method = |m: &verdict_format::MethodResult| {
        let said = match (&m.error, m.verified) {
            (Some(error), _) => error.clone(),
            (None, Some(true)) if m.method == Some(Method::Write) => "the baseline for all others".to_owned(),
            (None, Some(true)) => "read back as zero".to_owned(),
            (None, Some(false)) => "not verified".to_owned(),
            (None, None) => "does not promise zeroes".to_owned(),
        };
        let rate = m.zero_bytes_per_second.map_or_else(|| "-".to_owned(), crate::units::human_rate);
        vec![m.method.map_or("-", |m| m.as_str()).to_owned(), rate, said]
    };
    let rows: Vec<Vec<String>> = report.document.methods.iter().map(method).collect();
    let heads = [Head::Text("method"), Head::Number("rate"), Head::Text("result")];
    let methods = html::table("The methods that were tried", &heads, &rows);
    let edge = |(i, e): (usize, &verdict_format::samples::Edge)| {
        let took = e.zero_nanoseconds.map_or_else(|| "failed".to_owned(), |t| time(t as f64));
        let held = if e.held { "yes" } else { "no, or the test ended before" };
        vec![(i + 1).to_string(), e.offset_bytes.to_string(), e.length_bytes.to_string(), took, held.to_owned()]
    };
    let edges: Vec<Vec<String>> =
        report.samples.map_or_else(Vec::new, |s| s.edges.iter().enumerate().map(edge).collect());
    let heads = [
        Head::Number("span"),
        Head::Number("first byte"),
        Head::Number("bytes"),
        Head::Number("took"),
        Head::Text("zero, and nothing else"),
    ];
    let edges = html::table(
        "Edges: spans that do not end at a multiple of the alignment; bytes count from the start of the \
                     segment",
        &heads,
        &edges,
    );
    match (methods + &edges).as_str() {
        "" => String::new(),
        body => html::section("methods", "Methods and edges", &format!("<div class=\"beside\">\n{body}</div>\n")),
    }
}

/// The tunables.
pub fn tunables(d: &Document) -> String {
    let row = |t: &verdict_format::Tunable| vec![t.path.clone(), or_dash(&t.now), t.wanted.clone(), t.why.clone()];
    let rows: Vec<Vec<String>> = d.tunables.iter().map(row).collect();
    let heads = [Head::Text("tunable"), Head::Text("now"), Head::Text("wanted"), Head::Text("why")];
    let body = match rows.as_slice() {
        [] => html::paragraph("zerocap wants no value for any tunable of this device."),
        rows => html::table("Tunables of the kernel", &heads, rows),
    };
    html::section("tunables", "Tunables", &body)
}

/// The device, the machine and what was around the test.
pub fn surroundings(report: &Report<'_>) -> String {
    let d = report.document;
    let device = &d.device;
    // NVMe names no vendor beside its model.
    let model = match &device.vendor {
        Some(vendor) => format!("{vendor} {}", or_dash(&device.model)),
        None => or_dash(&device.model),
    };
    let members: Vec<&str> = device.members.iter().map(|m| m.name.as_str()).collect();
    let mut rows = vec![
        ("device", format!("{} ({})", device.node, device.kind)),
        ("model", format!("{model}, firmware {}", or_dash(&device.firmware))),
        ("identity", or_dash(&device.identity)),
        ("size", bytes(device.size_bytes)),
        (
            "blocks",
            format!("logical {}, physical {}", bytes(device.logical_block_bytes), bytes(device.physical_block_bytes)),
        ),
        ("attached by", format!("{}, driver {}", or_dash(&device.transport), or_dash(&device.driver))),
        ("the kernel sends", or_dash(&device.command_path)),
        (
            "holds",
            d.initial_state.how.as_ref().map_or_else(
                || d.initial_state.state.to_string(),
                |how| format!("{}, known by {how}", d.initial_state.state),
            ),
        ),
        ("kernel now", report.kernel.unwrap_or("not known").to_owned()),
    ];
    if !members.is_empty() {
        rows.push(("made of", members.join(", ")));
    }
    if let Some(m) = &d.measured {
        rows.push(("measured", format!("{} on kernel {}", m.at, m.kernel)));
        let pairs = format!("{} pairs of {}", m.trials, human_bytes(m.segment_bytes));
        rows.push((
            "the test",
            format!(
                "{pairs}, {} written in {:.1} s, compared with {}",
                human_bytes(m.bytes_written),
                m.seconds,
                m.baseline
            ),
        ));
        rows.push(("scratch", m.scratch.clone()));
        rows.extend(m.inconclusive.as_ref().map(|why| ("not decided", why.clone())));
    }
    rows.extend(detail::beside(d));
    let proof = d.measured.as_ref().map_or(&[][..], |m| &m.proof);
    let proof = match proof {
        [] => String::new(),
        lines => {
            let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
            format!(
                "<details><summary>What was checked before the first write</summary>\n<ul>\n{lines}</ul>\n</details>\n"
            )
        }
    };
    html::section("surroundings", "The machine and its surroundings", &(html::list(&rows) + &proof))
}
