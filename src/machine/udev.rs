//! Enumeration through libudev, the properties udev keeps of a device, and the kernel's own events of SCSI devices. The only `use udev::` of the program; owned data
//! leaves. sysfs is never read through libudev: it loses the errno and caches (style.md 4.5).

use crate::device::Device;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// The names of the block devices of the running system, partitions left out, sorted.
pub fn disks() -> std::io::Result<Vec<String>> {
    let mut enumerator = ::udev::Enumerator::new()?;
    enumerator.match_subsystem("block")?;
    enumerator.match_property("DEVTYPE", "disk")?;
    let mut names: Vec<String> =
        enumerator.scan_devices()?.filter_map(|d| d.sysname().to_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

/// The properties in udev's database of one block device; empty where there is none.
pub fn properties(name: &str) -> BTreeMap<String, String> {
    ::udev::Device::from_subsystem_sysname("block".to_owned(), name.to_owned())
        .map(|d| {
            d.properties()
                .filter_map(|p| Some((p.name().to_str()?.to_owned(), p.value().to_str()?.to_owned())))
                .collect()
        })
        .unwrap_or_default()
}

/// What the kernel says of SCSI devices at the moment, straight from it: no udevd has to be there.
pub struct ScsiAttentions {
    socket: ::udev::MonitorSocket,
}

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

/// Asks udev to look at a device of the running system again: a synthetic `change` event.
pub fn send_change(device: &Device) -> Result<()> {
    let path = format!("/{}", device.attr("uevent"));
    std::fs::write(&path, "change").map_err(|e| Error::file(path, "send a change event through", e))
}
