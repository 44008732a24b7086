//! Publishes a verdict: `/run/zerocap/<major>:<minor>.json`, readable by all, old or new, never torn.

use crate::assess;
use crate::device::{Device, Devnum};
use crate::error::Result;
use crate::facts::Depth;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::udev;
use crate::machine::Roots;
use verdict_format::Document;

fn files(roots: &Roots) -> LiveDurable {
    LiveDurable::volatile(roots.run(), 0o644)
}

/// Writes the document of a device; nothing for a device without a number.
pub fn write(roots: &Roots, devnum: Option<Devnum>, document: &Document) -> Result<()> {
    let Some(devnum) = devnum else { return Ok(()) };
    let text = format!("{}\n", document.json());
    // Most events change nothing: then nothing is written.
    if files(roots).read(&format!("{devnum}.json"))?.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    files(roots).replace(&format!("{devnum}.json"), text.as_bytes())
}

/// Looks at a device anew and publishes what is seen.
pub fn anew(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let document = assess::of(roots, roots.port().as_mut(), device, Depth::Claims, remark).document;
    write(roots, device.devnum, &document)?;
    Ok(document)
}

/// As [`anew`], and has udev look as well.
pub fn with_event(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let document = anew(roots, device, remark)?;
    if let Err(e) = udev::send_change(device) {
        remark(&e.to_string());
    }
    Ok(document)
}

/// The published document of a device; `None` where there is none, or it is of another device with that number.
pub fn read(roots: &Roots, devnum: Devnum, diskseq: Option<u64>) -> Option<Document> {
    let bytes = files(roots).read(&format!("{devnum}.json")).ok()??;
    let document: Document = serde_json::from_slice(&bytes).ok()?;
    (document.device.diskseq == diskseq).then_some(document)
}

/// Removes the document of a device that is gone.
pub fn remove(roots: &Roots, devnum: Devnum) -> Result<()> {
    files(roots).remove(&format!("{devnum}.json"))
}
