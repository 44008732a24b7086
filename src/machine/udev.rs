//! The properties that udev keeps of a device, and the kernel's own events of SCSI devices. This is the only `use udev::` of
//! the program, and it returns owned data. sysfs is never read through libudev, which loses the errno and caches (style.md
//! 4.5).
//!
//! The program that udev's rule calls is built without libudev, which an event needs in one case alone: then it says so
//! ([`NoLibudev`]), and the whole program answers.

use crate::device::{Device, Devnum};
use crate::error::{self, Error};
use crate::machine::fs::root::Root;
use std::collections::BTreeMap;

/// This program was built without libudev: what stands in udev's database cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoLibudev;

/// A socket of a program that has none: it cannot be made.
#[cfg(not(feature = "libudev"))]
mod without {
    pub enum Socket {}

    pub fn none<T>() -> std::io::Result<T> {
        Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "this program was built without libudev"))
    }
}

#[cfg(feature = "libudev")]
use ::udev::MonitorSocket as Socket;
#[cfg(not(feature = "libudev"))]
use without::Socket;

/// Whether udev's database may have a property of this name for a block device: the text of its file has the word, or there is
/// no such file. What stands in it is read by libudev alone.
pub fn may_have(root: &Root, device: Devnum, name: &str) -> bool {
    let file = root.read(&format!("run/udev/data/b{device}"));
    file.known().is_none_or(|text| text.windows(name.len()).any(|part| part == name.as_bytes()))
}

/// The properties in udev's database of one block device; empty where there is none.
#[cfg(feature = "libudev")]
pub fn properties(name: &str) -> Result<BTreeMap<String, String>, NoLibudev> {
    Ok(::udev::Device::from_subsystem_sysname("block".to_owned(), name.to_owned())
        .map(|d| {
            d.properties()
                .filter_map(|p| Some((p.name().to_str()?.to_owned(), p.value().to_str()?.to_owned())))
                .collect()
        })
        .unwrap_or_default())
}

/// The same of a program without libudev.
#[cfg(not(feature = "libudev"))]
pub fn properties(_: &str) -> Result<BTreeMap<String, String>, NoLibudev> {
    Err(NoLibudev)
}

/// udev's properties of a device or partition: of the running system from its database, of a recorded machine as they were.
pub fn properties_below(root: &Root, name: &str) -> Result<BTreeMap<String, String>, NoLibudev> {
    if root.is_system() {
        return properties(name);
    }
    let text = root.text(&format!("udev/{name}"));
    let pairs = text.known().into_iter().flat_map(|t| t.lines()).filter_map(|l| l.split_once('='));
    Ok(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// What the kernel says of SCSI devices at the moment, straight from it: no udevd has to be there.
pub struct ScsiAttentions {
    socket: Socket,
}

#[cfg(not(feature = "libudev"))]
impl ScsiAttentions {
    /// An error: nothing is told without libudev.
    pub fn listen() -> std::io::Result<ScsiAttentions> {
        without::none()
    }

    /// None: it cannot be called.
    pub fn take(&self) -> Vec<(String, String)> {
        match self.socket {}
    }
}

#[cfg(feature = "libudev")]
impl ScsiAttentions {
    /// Listens from now on.
    pub fn listen() -> std::io::Result<ScsiAttentions> {
        let socket = ::udev::MonitorBuilder::new_kernel()?.match_subsystem("scsi")?.listen()?;
        Ok(ScsiAttentions { socket })
    }

    /// The unit attentions since the last call: the device's address (`2:0:0:0`), and the kernel's word for what it was.
    pub fn take(&self) -> Vec<(String, String)> {
        let text = |s: &std::ffi::OsStr| s.to_str().map(str::to_owned);
        self.socket.iter().filter_map(|e| Some((text(e.sysname())?, text(e.property_value("SDEV_UA")?)?))).collect()
    }
}

impl std::fmt::Debug for ScsiAttentions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScsiAttentions")
    }
}

/// Device-mapper devices that go on after a suspension, straight from the kernel.
pub struct Resumed {
    socket: Socket,
    names: Vec<String>,
}

#[cfg(not(feature = "libudev"))]
impl Resumed {
    /// An error: nothing is told without libudev.
    pub fn listen(_: Vec<String>) -> std::io::Result<Resumed> {
        without::none()
    }

    /// None: it cannot be called.
    pub fn take(&self) -> Option<String> {
        match self.socket {}
    }
}

#[cfg(feature = "libudev")]
impl Resumed {
    /// Listens for these devices from now on.
    pub fn listen(names: Vec<String>) -> std::io::Result<Resumed> {
        let socket = ::udev::MonitorBuilder::new_kernel()?.match_subsystem("block")?.listen()?;
        Ok(Resumed { socket, names })
    }

    /// The first of them that went on since the last call. Device mapper tells each time by a `change` event; one that somebody
    /// asked for by writing to `uevent` bears SYNTH_UUID.
    pub fn take(&self) -> Option<String> {
        let own =
            |e: &::udev::Event| e.sysname().to_str().filter(|name| self.names.iter().any(|n| n == name)).is_some();
        let by_kernel = |e: &::udev::Event| e.property_value("SYNTH_UUID").is_none();
        let all: Vec<::udev::Event> = self.socket.iter().collect();
        let changed = |e: &&::udev::Event| e.event_type() == ::udev::EventType::Change && own(e) && by_kernel(e);
        all.iter().find(changed).and_then(|e| e.sysname().to_str().map(str::to_owned))
    }
}

impl std::fmt::Debug for Resumed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Resumed").field(&self.names).finish()
    }
}

/// Asks udev to look at a device of the running system again: a synthetic `change` event.
pub fn send_change(device: &Device) -> error::Result<()> {
    let path = format!("/{}", device.attr("uevent"));
    std::fs::write(&path, "change").map_err(|e| Error::file(path, "send a change event through", e))
}
