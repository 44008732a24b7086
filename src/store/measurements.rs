//! Kept measurements: `/etc/zerocap/devices/<identity>.json`, and for a device without an identity
//! `/run/zerocap/kept/<major>:<minor>.json` with what distinguishes it from the next device of its number
//! ([`crate::device::Instance`]); the latter does not outlive the device.

use crate::device::{display, Devnum, Identity, Key, Same};
use crate::error::{Error, Result};
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::Roots;
use crate::verdict::measurement::FORMAT;
use crate::verdict::Measurement;
use serde_json::Value;

/// Where a device's measurement is kept: the directory, and the file's name; `None` where the device has neither an
/// identity nor a number.
pub(crate) fn place(roots: &Roots, key: &Key) -> Option<(LiveDurable, String)> {
    match (&key.identity, key.devnum) {
        (Some(identity), _) => Some((roots.lasting(roots.devices(), 0o644), format!("{}.json", identity.file_name()))),
        (None, Some(devnum)) => Some((roots.volatile(roots.run().join("kept"), 0o644), format!("{devnum}.json"))),
        (None, None) => None,
    }
}

/// The kept measurement of a device. A file that makes no sense, or is of another device, is an error that names it.
pub fn load(roots: &Roots, device: impl Into<Key>) -> Result<Option<Measurement>> {
    let key = device.into();
    let Some((files, name)) = place(roots, &key) else { return Ok(None) };
    let Some(bytes) = files.read(&name)? else { return Ok(None) };
    let malformed = |what: String| Error::Malformed { path: files.shown(&name).display().to_string(), what };
    let kept = parse(&bytes).map_err(malformed)?;
    let identity = key.identity.as_ref().map(|i| i.as_str().to_owned());
    if kept.identity != identity {
        return Err(malformed("it was kept for a device with another identity; remove it".to_owned()));
    }
    // Without an identity the number alone is reused by the next device.
    if identity.is_some() {
        return Ok(Some(kept));
    }
    Ok(match kept.instance.is(&key.instance) {
        Same::Yes => Some(kept),
        // To leave zeroing alone on another device costs only time.
        Same::Perhaps if kept.hazard.is_some() => Some(kept),
        Same::Perhaps | Same::No => None,
    })
}

/// What stands in a kept file; the error says why it cannot be used and what to do.
fn parse(bytes: &[u8]) -> std::result::Result<Measurement, String> {
    let kept: Measurement = serde_json::from_slice(bytes)
        .and_then(|tree| serde_json::from_value(printable(tree)))
        .map_err(|e| format!("it is not a kept measurement ({e}); remove it or measure again"))?;
    if kept.format != FORMAT {
        return Err(format!("its format is {} and not {FORMAT}; measure again", kept.format));
    }
    match kept.contradiction() {
        Some(what) => Err(format!("it contradicts itself ({what}); remove it or measure again")),
        None => Ok(kept),
    }
}

/// A kept file by its name, for lists: as [`load`] takes it for the device of that identity, which need not be there.
pub fn listed(files: &dyn Durable, name: &str) -> std::result::Result<Measurement, String> {
    let bytes = files.read(name).map_err(|e| e.to_string())?.ok_or("it is a link that leads nowhere; remove it")?;
    let kept = parse(&bytes)?;
    let own = kept.identity.as_deref().map(|i| format!("{}.json", Identity::file_name_of(i)));
    if own.as_deref() != Some(name) {
        return Err("it was kept for a device with another identity; remove it".to_owned());
    }
    Ok(kept)
}

/// That a measurement of the device could be kept, before one is made.
pub fn may_be_kept(roots: &Roots, device: impl Into<Key>) -> Result<()> {
    place(roots, &device.into()).map_or(Ok(()), |(files, _)| files.may_be_written())
}

/// Keeps a measurement. Gives the file it is in.
pub fn save(roots: &Roots, device: impl Into<Key>, measurement: &Measurement) -> Result<Option<std::path::PathBuf>> {
    let Some((mut files, name)) = place(roots, &device.into()) else { return Ok(None) };
    let path = files.shown(&name);
    let mut bytes = serde_json::to_vec_pretty(measurement).map_err(|e| Error::file(&path, "write", e))?;
    bytes.push(b'\n');
    files.replace(&name, &bytes)?;
    Ok(Some(path))
}

/// Forgets what was kept of a device without an identity under its number, once it is gone.
pub fn forget_unnamed(roots: &Roots, devnum: Devnum) -> Result<()> {
    unnamed(roots).remove(&format!("{devnum}.json"))
}

fn unnamed(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run().join("kept"), 0o644)
}

/// The tree with every text in it printable: it goes to terminals, logs and documents.
fn printable(tree: Value) -> Value {
    match tree {
        Value::String(s) => Value::String(display::printable(s)),
        Value::Array(items) => items.into_iter().map(printable).collect(),
        Value::Object(members) => members.into_iter().map(|(k, v)| (display::printable(k), printable(v))).collect(),
        other => other,
    }
}
