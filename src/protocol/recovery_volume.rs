//! What is different in a recovery if the test wrote through a logical volume: the content is looked for in the volume,
//! wherever the volume lies now, and what is said about the device is said about the disk. It reads sysfs only.

use crate::device::Device;
use crate::error::Result;
use crate::machine::fs::root::Root;
use crate::measure::journal::Header;
use crate::store::intents::{Intent, Intents};

/// The devices among which the medium of a journal is looked for: all, or the one volume that it names. The error says in
/// words why that one cannot be asked.
pub(super) fn among(root: &Root, header: &Header, devices: &[Device]) -> std::result::Result<Vec<Device>, String> {
    let Some(uuid) = &header.volume else { return Ok(devices.to_vec()) };
    let is_it = |d: &&Device| root.text(&d.attr("dm/uuid")).is(uuid.clone());
    let Some(volume) = devices.iter().find(is_it) else {
        return Err(format!(
            "the logical volume of this journal is not active (its device-mapper UUID is {uuid}); activate it \
             (lvchange -ay VG/LV) and run `zerocap recover` again"
        ));
    };
    if !root.flag(&volume.attr("dm/suspended")).is(false) {
        let node = volume.node();
        return Err(format!("{node} is suspended; resume it (dmsetup resume {}) and try again", volume.name));
    }
    Ok(vec![volume.clone()])
}

/// The disk that the test was about, where the medium is a volume of it: `None` where it is not here.
pub(super) fn disk(root: &Root, header: &Header, devices: &[Device], medium: Device) -> Option<Device> {
    if header.volume.is_none() {
        return Some(medium);
    }
    named(root, devices, (&header.identity, &header.device))
}

/// The word of a test that is over goes; that of a volume which was made for the test stays until the volume is gone.
pub(super) fn end_word(intents: &mut Intents, name: &str, word: &Intent) -> Result<()> {
    match word.volume {
        Some(_) => Ok(()),
        None => intents.end(name),
    }
}

/// The device that was named: by its identity, or where it has none by its name.
pub(super) fn named(root: &Root, devices: &[Device], (identity, name): (&Option<String>, &str)) -> Option<Device> {
    let own = |d: &Device| crate::facts::device::identity(root, d).map(|i| i.as_str().to_owned());
    let is_it = |d: &&Device| match identity {
        Some(_) => own(d) == *identity,
        None => d.name == name,
    };
    devices.iter().find(is_it).cloned()
}
