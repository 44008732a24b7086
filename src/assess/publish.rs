//! Looks at a device again and publishes its document. If the answer changed, it triggers events for the devices that depend
//! on it.

use crate::assess;
use crate::device::Device;
use crate::error::Result;
use crate::facts::Depth;
use crate::machine::block::dependents;
use crate::machine::udev;
use crate::machine::Roots;
use crate::store::published;
use verdict_format::Document;

/// Looks at a device anew and publishes what is seen.
pub fn anew(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let document = assess::look_at(roots, roots.port().as_mut(), device, Depth::Claims, remark).document;
    published::write(roots, device.devnum, &document)?;
    Ok(document)
}

/// As [`anew`], and has udev look as well, at the device and at what rests on it: while a test held the disk, udev looked at
/// neither.
pub fn with_event(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) -> Result<Document> {
    let document = anew(roots, device, remark)?;
    if let Err(e) = udev::send_change(device) {
        remark(&e.to_string());
    }
    tell(roots, device, remark);
    Ok(document)
}

/// Has udev look again at what rests on a device: at the stacks above it and at its partitions. Each of them does the same
/// for those above it if its own answer changes.
pub fn tell(roots: &Roots, device: &Device, remark: &mut dyn FnMut(&str)) {
    if !roots.is_live() {
        return;
    }
    for dependent in dependents::of_disk(&roots.system, device) {
        if let Err(e) = udev::send_change(&dependent) {
            remark(&e.to_string());
        }
    }
}
