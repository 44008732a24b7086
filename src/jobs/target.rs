//! Resolves what was typed to devices: a device, a path in a file system, or all devices.

use crate::device::display::escape_str;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::facts::device::is_hidden;
use crate::facts::path::{self, OnPath};
use crate::facts::stack;
use crate::machine::block::{devices, named, names};
use crate::machine::fs::location::Place;
use crate::machine::fs::path_info::{self, What};
use crate::machine::fs::root::Root;
use crate::machine::Roots;
use crate::measure::scratch::ScratchSpec;

/// The whole device that was named, by whatever name; a partition and a mount point stand for their disk.
pub fn named(roots: &Roots, typed: &str) -> Result<Device> {
    named::resolve(&roots.system, typed).map(|found| found.target.device)
}

/// The same, and it is told where something else was named that the disk answers for.
pub fn disk_of(roots: &Roots, typed: &str, remark: &mut dyn FnMut(&str)) -> Result<Device> {
    let found = named::resolve(&roots.system, typed)?;
    found.stands_for.iter().for_each(|text| remark(text));
    Ok(found.target.device)
}

/// The same for a test. Bytes that are named beside a partition or a mount point could be meant to count from its beginning:
/// then the whole device has to be named.
pub fn to_test(roots: &Roots, typed: &str, place: &ScratchSpec, remark: &mut dyn FnMut(&str)) -> Result<Device> {
    let found = named::resolve(&roots.system, typed)?;
    let device = found.target.device;
    if let Some(text) = &found.stands_for {
        if matches!(place, ScratchSpec::Range { .. }) {
            let node = device.node();
            return Err(Error::Usage(format!(
                "{text} is not a whole device, but the offset in --scratch counts from the start of one; name it: \
                 {node}"
            )));
        }
        remark(text);
    }
    Ok(device)
}

/// The devices that `show` lists. Without `all`: no hidden paths, no members of a multipath (the head answers), no parts of an
/// LV (the metadata of a pool), no devices that are empty as they may be, no RAM disks and no optical drives.
pub fn listed(roots: &Roots, all: bool) -> Result<Vec<Device>> {
    let root = &roots.system;
    let mut devices = devices::disks(root)?;
    if !all {
        devices.retain(|d| {
            let odd = ["sr", "fd", "ram", "mtdblock"].iter().any(|p| d.name.starts_with(p));
            let empty = || root.number(&d.attr("size")).is(0) && may_be_empty(root, d);
            let internal = || names::mapped(root, d).is_some_and(|m| m.internal);
            !odd && !is_hidden(root, d) && !empty() && !internal() && !stack::is_multipath_member(root, d)
        });
    }
    Ok(devices)
}

/// Whether a size of 0 is nothing to be told: a loop without a file, a card reader without a card, an array that is not
/// started. A disk that lost its size did not answer, and is one to be looked at.
fn may_be_empty(root: &Root, device: &Device) -> bool {
    let disk =
        matches!(device.kind, Kind::Nvme | Kind::Scsi | Kind::Virtio | Kind::Xen | Kind::Pmem | Kind::Dasd | Kind::Mmc);
    !disk || root.flag(&device.attr("removable")).is(true)
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
        Place::Unknown(why) => format!("it cannot be told which device lies below it: {why}; name the device"),
    };
    Err(Error::NoDevice { path: escape_str(typed), what })
}

/// Finds what was named. A name without a slash is a device's first, as everywhere, and a path only if there is none.
pub fn find(roots: &Roots, typed: &str) -> Result<Target> {
    let root = &roots.system;
    // The two names of directories that every directory has are no device's, though /dev has them too.
    let bare = !typed.contains('/') && !matches!(typed, "." | "..");
    if bare {
        match named(roots, typed) {
            Err(Error::NoDevice { .. }) => {}
            found => return found.map(Target::Device),
        }
    }
    // A node is found by its number, and needs no look at what a path lies on.
    if root.is_system() && !bare && path_info::node_number(typed).is_some() {
        return named(roots, typed).map(Target::Device);
    }
    if root.is_system() && path_info::exists(typed) {
        let located = path_info::locate(typed)?;
        if matches!(located.what, What::File | What::Directory) {
            return Ok(Target::Path(Box::new(path::resolve(root, &located))));
        }
    }
    // Nothing there: the message about paths fits what was typed as one.
    let found = named(roots, typed);
    let path = root.is_system() && !bare && !typed.starts_with("/dev/") && !path_info::exists(typed);
    if path && matches!(found, Err(Error::NoDevice { .. })) {
        path_info::locate(typed)?;
    }
    found.map(Target::Device)
}
