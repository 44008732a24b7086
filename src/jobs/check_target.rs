//! What was typed for `check` and `estimate`: a device, or a path of a file system that is resolved down to its devices.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::path::{self, OnPath, Place};
use crate::jobs::find;
use crate::machine::fs::path_info::{self, What};
use crate::machine::Roots;

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
        Place::NoDevice(why) => why.clone(),
        Place::Unknown(why) => format!("the device below it cannot be told: {why}; name the device"),
    };
    Err(Error::NoDevice { path: escape_str(typed), what })
}

/// Finds what was named. A name without a slash is a device's first, as everywhere, and a path only if there is none.
pub fn of(roots: &Roots, typed: &str) -> Result<Target> {
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
    find::named(roots, typed).map(Target::Device)
}
