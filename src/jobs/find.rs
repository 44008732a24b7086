//! Devices by what was typed, or all of them.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::stack;
use crate::machine::block::devices;
use crate::machine::Roots;

/// The whole devices that were named; a partition stands for its disk.
pub fn named(roots: &Roots, typed: &str) -> Result<Device> {
    devices::resolve(&roots.system, typed).map(|t| t.device)
}

/// A whole device that was named; a partition is refused.
pub fn whole(roots: &Roots, typed: &str) -> Result<Device> {
    let target = devices::resolve(&roots.system, typed)?;
    match target.partition {
        None => Ok(target.device),
        Some(_) => Err(Error::Usage(format!(
            "{}: a partition; name the whole device {} (a partition can be its --scratch)",
            escape_str(typed),
            target.device.node()
        ))),
    }
}

/// The devices that `show` lists. Without `all`: no hidden paths, no members of a multipath (the head answers), no empty devices (a loop without a file, a card reader
/// without a card), no RAM disks and no optical drives.
pub fn listed(roots: &Roots, all: bool) -> Result<Vec<Device>> {
    let root = &roots.system;
    let mut devices = devices::disks(root)?;
    if !all {
        devices.retain(|d| {
            let hidden = root.flag(&d.attr("hidden")).is(true);
            let empty = root.number(&d.attr("size")).is(0);
            let odd = ["sr", "fd", "ram", "mtdblock"].iter().any(|p| d.name.starts_with(p));
            !hidden && !empty && !odd && !stack::is_multipath_member(root, d)
        });
    }
    Ok(devices)
}
