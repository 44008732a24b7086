//! Looks at a device anew and publishes what is seen; has udev look at what rests on it where the answer changed.

use crate::assess;
use crate::device::Device;
use crate::error::Result;
use crate::facts::Depth;
use crate::machine::block::dependents;
use crate::machine::udev;
use crate::machine::Roots;
use crate::store::published::{self, Change};
use verdict_format::Document;

/// Looks at a device anew and publishes what is seen.
pub fn anew(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    looked_at(roots, device, remark).map(|(document, _)| document)
}

fn looked_at(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<(Document, Change)> {
    let document = assess::of(roots, roots.port().as_mut(), device, Depth::Claims, remark).document;
    let change = published::write(roots, device.devnum, &document)?;
    Ok((document, change))
}

/// As [`anew`], and has udev look as well: at the device, and where the answer changed at what rests on it.
pub fn with_event(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let (document, change) = looked_at(roots, device, remark)?;
    if let Err(e) = udev::send_change(device) {
        remark(&e.to_string());
    }
    if matches!(change, Change::Answer | Change::First) {
        tell(roots, device, remark);
    }
    Ok(document)
}

/// Has udev look again at what rests on a device: at the stacks above it and at its partitions. Each of them does the same
/// for those above it if its own answer changes.
pub fn tell(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) {
    if !roots.is_live() {
        return;
    }
    for sys in dependents::of_disk(&roots.system, device) {
        if let Err(e) = udev::send_change_at(&sys) {
            remark(&e.to_string());
        }
    }
}
