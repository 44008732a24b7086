//! Publishes a verdict: `/run/zerocap/<major>:<minor>.json`, readable by all, old or new, never torn.

use crate::device::{Device, Devnum};
use crate::error::Result;
use crate::facts::Depth;
use crate::jobs::{picture, Env};
use crate::machine::durable::{Durable, LiveDurable};
use crate::machine::trigger;
use crate::output::Document;

fn files(env: &Env) -> LiveDurable {
    LiveDurable::volatile(env.roots.run(), 0o644)
}

/// Writes the document of a device; nothing for a device without a number.
pub fn write(env: &Env, devnum: Option<Devnum>, document: &Document) -> Result<()> {
    let Some(devnum) = devnum else { return Ok(()) };
    let text = format!("{}\n", document.json());
    // Most events change nothing: then nothing is written.
    if files(env).read(&format!("{devnum}.json"))?.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    files(env).replace(&format!("{devnum}.json"), text.as_bytes())
}

/// Looks at a device anew and publishes what is seen.
pub fn anew(env: &Env, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let document = picture::of(env, env.port().as_mut(), device, Depth::Claims, remark).document;
    write(env, device.devnum, &document)?;
    Ok(document)
}

/// As [`anew`], and has udev look as well.
pub fn with_event(env: &Env, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let document = anew(env, device, remark)?;
    if let Err(e) = trigger::change(device) {
        remark(&e.to_string());
    }
    Ok(document)
}

/// The published document of a device; `None` where there is none, or it is of another device with that number.
pub fn read(env: &Env, devnum: Devnum, diskseq: Option<u64>) -> Option<Document> {
    let bytes = files(env).read(&format!("{devnum}.json")).ok()??;
    let document: Document = serde_json::from_slice(&bytes).ok()?;
    (document.device.diskseq == diskseq).then_some(document)
}

/// Removes the document of a device that is gone.
pub fn remove(env: &Env, devnum: Devnum) -> Result<()> {
    files(env).remove(&format!("{devnum}.json"))
}
