//! One device as an HTML page: the answer in a sentence, then what it is based on, in pictures and in words.
//!
//! The page loads nothing: no script, no network, no other file; it also tells the browser so. It shows what the document and
//! the samples have, and decides nothing. Without samples it has fewer pictures, and says why.

mod chart;
mod given;
mod html;
mod lengths;
mod pairs;
mod rates;
pub(crate) mod scale;
mod spread;
mod stretch;
mod tables;

use crate::output::detail;
use crate::output::explain;
pub use given::Report;
use html::{escape, paragraph};

/// What every page begins with, by which a file is known to be one.
pub const BEGINS: &str = "<!DOCTYPE html>\n<!-- a report of zerocap -->\n";

/// No script, no request: only the style that stands in the page.
const ASKS_FOR_NOTHING: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

const STYLE: &str = include_str!("report/report.css");

/// The page.
pub fn page(report: &Report<'_>) -> String {
    let d = report.document;
    let class = escape(d.class.as_str());
    let sentence = escape(&detail::sentence(d));
    let meaning = explain::explain(d.class.as_str()).unwrap_or_default();
    let mut body = format!(
        "<header class=\"{class}\">\n<p class=\"what\"><span class=\"badge\">{class}</span> {}</p>\n<h1>{sentence}</h1>\n<p class=\"meaning\">{}</p>\n</header>\n<main>\n",
        escape(&[Some(d.device.node.as_str()), d.device.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(", ")),
        escape(&meaning)
    );
    for section in [rates::section, pairs::section, spread::section, lengths::section, stretch::section] {
        body.push_str(&section(report));
    }
    if let Some(why) = report.without {
        body.push_str(&html::section("no-times", "No single times", &paragraph(why)));
    }
    body.push_str(&tables::methods(report));
    body.push_str(&tables::claims(report));
    body.push_str(&tables::findings(d));
    body.push_str(&tables::tunables(d));
    body.push_str(&tables::surroundings(report));
    let (version, at) = (env!("CARGO_PKG_VERSION"), escape(report.at));
    format!(
        "{BEGINS}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>zerocap: {sentence}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</main>\n\
         <footer>\n<p>Drawn by zerocap {version} at {at}. This page holds the identity of the device; look through it before you publish \
         it.</p>\n</footer>\n</body>\n</html>\n",
        escape(ASKS_FOR_NOTHING)
    )
}
