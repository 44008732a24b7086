//! What to do instead of FALLOC_FL_WRITE_ZEROES on a path where the call does not work or does not reach the device, and the
//! measured gain. It is pure.

use crate::facts::path::{Can, OnPath};
use crate::machine::fs::location::Place;
use crate::terms::Class;
use verdict_format::Document;

/// A sentence; `None` where the call works, where nothing can be written at all, and where nothing better is known. `copies`:
/// what is written over goes to another place, so that space that was written once is worth no more than new space.
pub fn of(on: &OnPath, can: &Can, class: Class, devices: &[&Document], copies: bool) -> Option<String> {
    let writable = !on.read_only && !on.marks.immutable && !on.marks.append_only;
    if *can == Can::Yes || !writable || !matches!(on.place, Place::Devices(_)) {
        return None;
    }
    let in_files = (!copies).then(|| in_files(on, devices));
    let said = [in_files, on_device(class, devices)].into_iter().flatten().collect::<Vec<_>>();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Of a file: zeroes that are written once make later synchronous writes as fast as WRITE_ZEROES would.
fn in_files(on: &OnPath, devices: &[&Document]) -> String {
    let tried = devices.iter().filter_map(|d| d.overwrite.as_ref());
    let here = tried.filter(|o| o.mount_point.as_deref().is_none_or(|m| m == on.mount_point));
    let gain = here.filter(|o| o.filesystem == on.filesystem).find_map(|o| o.gain_written);
    let gained = match gain {
        Some(gain) => {
            format!(" (measured here: synchronous writes into it are {gain:.1} times as fast as into new space)")
        }
        None => {
            let name = devices.first().map_or("DEV", |d| &d.device.name);
            format!(" (`zerocap measure /dev/{name} --scratch {}` measures how much that gains)", on.mount_point)
        }
    };
    format!("write zeroes into the file once, then keep the file and use it again{gained}")
}

/// Of the device itself: its class is that of PUNCH_HOLE, which needs no knob.
fn on_device(class: Class, devices: &[&Document]) -> Option<String> {
    if class != Class::Fast {
        return None;
    }
    let times = devices.iter().filter_map(|d| d.speedup).map(|s| s.median).reduce(f64::min);
    let times = times.map_or_else(String::new, |t| format!(", which was measured as {t:.1} times as fast as writing"));
    Some(format!(
        "a program that uses a block device instead of files can zero it by FALLOC_FL_PUNCH_HOLE on any \
                  kernel{times}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Devnum;
    use crate::machine::fs::path_info::Marks;

    fn on(filesystem: &str) -> OnPath {
        OnPath {
            path: "/srv/db".to_owned(),
            filesystem: filesystem.to_owned(),
            mount_point: "/srv".to_owned(),
            real: "/srv/db".to_owned(),
            number: Devnum { major: 8, minor: 1 },
            options: Vec::new(),
            layers: Vec::new(),
            read_only: false,
            is_file: false,
            marks: Marks::default(),
            place: Place::Devices(Vec::new()),
        }
    }

    #[test]
    fn the_next_step_is_named_where_there_is_one() {
        let no = Can::No("this kernel has no such call".to_owned());
        let files = of(&on("ext4"), &no, Class::Unknown, &[], false).unwrap();
        assert!(files.contains("write zeroes into the file once") && files.contains("--scratch /srv"), "{files}");
        assert!(!files.contains("PUNCH_HOLE"), "nothing is known of the device: {files}");
        assert!(of(&on("ext4"), &no, Class::Fast, &[], false).unwrap().contains("FALLOC_FL_PUNCH_HOLE on any kernel"));
        // A file system that copies gains nothing by space that was written before.
        assert_eq!(of(&on("btrfs"), &no, Class::Slow, &[], true), None);
        assert!(!of(&on("btrfs"), &no, Class::Fast, &[], true).unwrap().contains("into the file"));
        assert!(of(&on("btrfs"), &no, Class::Slow, &[], false).is_some(), "chattr +C");
        assert_eq!(of(&on("ext4"), &Can::Yes, Class::Fast, &[], false), None);
        assert_eq!(of(&OnPath { read_only: true, ..on("ext4") }, &no, Class::Fast, &[], false), None);
    }
}
