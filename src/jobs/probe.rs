//! `zerocap probe`: every reading of a device, and the findings from them. It opens nothing for writing.

use crate::assess::{self, document};
use crate::error::Result;
use crate::facts::Depth;
use crate::jobs::target;
use crate::machine::Roots;
use verdict_format::answers::Probe;
use verdict_format::Document;

/// Looks at the device that was named as closely as it can be looked at: all readings, and the document.
pub fn run(roots: &Roots, typed: &str, remark: &mut dyn FnMut(&str)) -> Result<(Probe, Document)> {
    let device = target::disk_of(roots, typed, remark)?;
    let picture = assess::look_at(roots, roots.port().as_mut(), &device, Depth::All, remark);
    Ok((document::probe(&picture.facts, &picture.document), picture.document))
}
