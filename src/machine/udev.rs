//! Enumeration through libudev, and the properties udev keeps of a device. The only `use udev::` of the program; owned data
//! leaves. sysfs is never read through libudev: it loses the errno and caches (style.md 4.5).

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
