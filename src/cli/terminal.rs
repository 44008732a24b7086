//! Standard output, which gets results, and standard error, which gets remarks and errors.

use crate::error::{Error, Result};
pub use crate::jobs::show::columns;
use crate::jobs::show::{self, shows_unicode};
use crate::output::small::Glyphs;
use crate::output::tree::Branches;
use std::io::Write;

/// An error on standard error, one line.
pub fn complain(e: &Error) {
    remark(&e.to_string());
}

/// A remark on standard error.
pub fn remark(text: &str) {
    // Standard error may be closed or full; then there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "zerocap: {text}");
}

/// How wide a line on standard error may be.
pub fn error_columns() -> usize {
    show::error_columns().unwrap_or(80)
}

/// What bars are drawn with: blocks on a terminal that shows them, else plain characters.
pub fn glyphs() -> Glyphs {
    if shows_unicode() {
        Glyphs::BLOCKS
    } else {
        Glyphs::PLAIN
    }
}

/// What a tree is drawn with, likewise.
pub fn branches() -> Branches {
    if shows_unicode() {
        Branches::LINES
    } else {
        Branches::PLAIN
    }
}

/// Runs a renderer on standard output. A reader that went away (`| head`) is no failure.
pub fn print(
    render: impl FnOnce(&mut std::io::BufWriter<std::io::StdoutLock<'_>>) -> std::io::Result<()>,
) -> Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match render(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::file("standard output", "write to", e)),
        _ => Ok(()),
    }
}
