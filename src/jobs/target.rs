//! From what was typed to devices: a device, a path of a file system that is resolved down to its devices, or all of them.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::path::{self, OnPath};
use crate::facts::stack;
use crate::machine::block::devices;
use crate::machine::fs::location::Place;
use crate::machine::fs::path_info::{self, What};
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

/// What was named.
#[derive(Debug)]
pub enum Target {
    /// A device; a partition stands for its disk.
    Device(Device),
    /// A file, a directory or a mount point.
    Path(Box<OnPath>),
}

/// The devices that a path lies on.
pub fn devices<'a>(typed: &str, on: &'a OnPath) -> Result<&'a [Device]> {
    let what = match &on.place {
        Place::Devices(devices) => return Ok(devices),
        Place::NoDevice(_, why) => why.clone(),
        Place::Unknown(why) => format!("the device below it cannot be told: {why}; name the device"),
    };
    Err(Error::NoDevice { path: escape_str(typed), what })
}

/// Finds what was named. A name without a slash is a device's first, as everywhere, and a path only if there is none.
pub fn find(roots: &Roots, typed: &str) -> Result<Target> {
    let root = &roots.system;
    // The two names of directories that every directory has are no device's, though /dev has them too.
    let bare = !typed.contains('/') && !matches!(typed, "." | "..");
    let is_path =
        root.is_system() && path_info::exists(typed) && !(bare && path_info::exists(&format!("/dev/{typed}")));
    if is_path {
        let located = path_info::locate(typed)?;
        if matches!(located.what, What::File | What::Directory) {
            return Ok(Target::Path(Box::new(path::resolve(root, &located))));
        }
    }
    // Nothing there: the message about paths fits what was typed as one.
    if root.is_system() && !bare && !typed.starts_with("/dev/") && !path_info::exists(typed) {
        path_info::locate(typed)?;
    }
    named(roots, typed).map(Target::Device)
}
