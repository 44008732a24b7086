//! The report of one device: a page in a file, made from its document and the samples of the test that the document is based
//! on.

use crate::device::{Device, Key};
use crate::error::Result;
use crate::facts;
use crate::jobs::show;
use crate::jobs::target;
use crate::machine::clock;
use crate::machine::fs::report_file;
use crate::machine::Roots;
use crate::output::report::{page, Report, BEGINS};
use crate::store::samples;
use std::path::Path;
use verdict_format::samples::Samples;
use verdict_format::Document;

/// Whether the file may be written, before anything is done for it.
pub fn may_be_written(file: &Path) -> Result<()> {
    report_file::may_be_written(file, BEGINS)
}

/// The samples of the test that a document rests on; or why there are none, where there was a test.
pub fn samples_of(roots: &Roots, document: &Document) -> std::result::Result<Samples, Option<String>> {
    let Some(measured) = &document.measured else { return Err(None) };
    let none = "The times of the single calls of this test are not kept, so there are fewer pictures. The next test \
                keeps them.";
    let device = target::named(roots, &document.device.name).map_err(|e| Some(e.to_string()))?;
    match samples::load(roots, key(roots, &device)) {
        Ok(Some(samples)) if samples.are_of(measured) => Ok(samples),
        Ok(Some(_)) => Err(Some(format!("{none} The times that are kept are from another test."))),
        Ok(None) => Err(Some(none.to_owned())),
        Err(e) => Err(Some(format!("The times of the single calls of this test cannot be used: {e}."))),
    }
}

fn key(roots: &Roots, device: &Device) -> Key {
    let root = &roots.system;
    Key {
        identity: facts::device::identity(root, device),
        devnum: device.devnum,
        instance: facts::device::instance(root, device),
    }
}

/// Writes the page of a document.
pub fn write(roots: &Roots, document: &Document, file: &Path) -> Result<()> {
    // A published document does not say what the tunables are now.
    let document = &show::with_now(roots, document.clone());
    let found = samples_of(roots, document);
    let kernel = facts::kernel::release(&roots.system);
    let report = Report {
        document,
        samples: found.as_ref().ok(),
        without: found.as_ref().err().and_then(|why| why.as_deref()),
        kernel: kernel.known().map(String::as_str),
        at: &clock::now_utc(),
    };
    report_file::write(file, BEGINS, &page(&report))
}
