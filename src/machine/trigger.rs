//! Asks udev to look at a device again: a synthetic `change` event, so that what was kept is published.

use crate::device::Device;
use crate::error::{Error, Result};

/// Sends a `change` event for a device of the running system.
pub fn change(device: &Device) -> Result<()> {
    let path = format!("/{}", device.attr("uevent"));
    std::fs::write(&path, "change").map_err(|e| Error::file(path, "send a change event through", e))
}
