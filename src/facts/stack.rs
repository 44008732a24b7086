//! What a device is made of: its members, the kind of target, and whether the target passes zeroing on (fieldguide 1.5). It
//! judges nothing and does not look at members; the caller gives the facts of the members to the verdict.

use crate::device::{Device, Kind};
use crate::fact::Fact;
use crate::facts::backing;
use crate::facts::field::{text_of, Reading};
use crate::facts::queue::Queue;
use crate::facts::Depth;
use crate::machine::fs::root::Root;

/// The kind of target of a thin LVM volume.
pub const THIN: &str = "LVM thin";

/// What a device is made of.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The kernel's names of the devices directly below, from `slaves`; absent in a flat recording. Of a loop the disks that
    /// its file lies on, where that can be told; an event does not look.
    pub members: Fact<Vec<String>>,
    /// The kind of target: the prefix of `dm/uuid` (`LVM`, `mpath`, `CRYPT`), [`THIN`], or `md/level` (`raid0`).
    pub target: Fact<String>,
    /// Whether a zeroing request of the stack becomes zeroing requests of its members.
    pub passes_zeroing: Fact<bool>,
    /// `loop/backing_file`, escaped.
    pub backing_file: Fact<String>,
    /// Whether the disk is a path of a dm-multipath head, which answers for it; not looked at in an event, where a rule's
    /// guard does.
    pub is_path: Fact<bool>,
}

/// Gathers what a device is made of; `queue` are the limits of the device itself.
pub fn gather(root: &Root, device: &Device, queue: &Queue, depth: Depth, readings: &mut Vec<Reading>) -> Stack {
    let text = |relative: &str| root.read(&device.attr(relative)).and_then(|b| text_of(&b));
    let members = if depth.lean() && !device.kind.can_have_members() {
        Fact::NOT_ASKED
    } else {
        root.list(&device.attr("slaves"))
    };
    // An LVM volume's own uuid does not say what it is; one that stands on a pool's hidden "-tpool" device is thin.
    let on_pool = |name: &String| {
        let uuid = root.read(&format!("sys/block/{name}/dm/uuid")).and_then(|b| text_of(&b));
        uuid.known().is_some_and(|u| u.starts_with("LVM-") && u.ends_with("-tpool"))
    };
    let thin = device.kind == Kind::Dm && members.known().is_some_and(|m| m.iter().any(on_pool));
    // A flat recording may have the udev properties alone; the kernel's own file comes first.
    let uuid = match device.kind {
        Kind::Dm if !thin || depth == Depth::All => text("dm/uuid").or(|| property(root, device, "DM_UUID", depth)),
        _ => Fact::NOT_ASKED,
    };
    let target = match device.kind {
        Kind::Dm if thin => Fact::Known(THIN.to_owned()),
        // The part before the first dash is the tool that made the device.
        Kind::Dm => uuid.clone().map(|uuid| uuid.split('-').next().unwrap_or_default().to_owned()),
        Kind::Md => text("md/level").or(|| property(root, device, "MD_LEVEL", depth)),
        _ => Fact::NOT_ASKED,
    };
    let backing_file = if device.kind == Kind::Loop { text("loop/backing_file") } else { Fact::NOT_ASKED };
    let shown = members.as_ref().map(|m| m.join(" "));
    let path = if device.kind == Kind::Loop { root.text(&device.attr("loop/backing_file")) } else { Fact::NOT_ASKED };
    // A device behind a loop is known by its name; what a file lies on takes the mount table, which an event does not read.
    let on_a_device = path.known().and_then(|file| backing::on_a_device(root, file));
    let passes_zeroing = match &on_a_device {
        Some(_) => queue.write_zeroes_max.as_ref().map(|limit| *limit > 0).or(|| Fact::Known(true)),
        None => passes(device.kind, &target, &queue.write_zeroes_max),
    };
    let of_file = || path.known().filter(|_| !depth.lean()).map(|file| backing::look_up(root, file));
    let backing = on_a_device.or_else(of_file);
    let mut show = |field: &str, value: Fact<String>, says: Option<String>| {
        let reading = Reading { source: "sysfs".to_owned(), field: field.to_owned(), raw: value, says, claim: false };
        readings.push(reading);
    };
    if members.known().is_some_and(|m| !m.is_empty()) {
        show("slaves", shown.and_then(|s| text_of(s.as_bytes())), None);
    }
    match device.kind {
        Kind::Dm => {
            let says = uuid.known().and_then(|u| dm_words(u, thin));
            show("dm/uuid", uuid, says);
        }
        Kind::Md => show("md/level", target.clone(), target.known().map(|level| md_words(level))),
        Kind::Loop => show("loop/backing_file", backing_file.clone(), backing.as_ref().map(|b| b.says.clone())),
        _ => {}
    }
    let members = backing.map_or(members, |b| b.disks);
    let is_path = match device.kind {
        Kind::Scsi | Kind::Dasd if !depth.lean() => is_path(root, device, depth),
        _ => Fact::NOT_ASKED,
    };
    if is_path.is(true) {
        show("multipath path", Fact::Known("1".to_owned()), Some("its dm-multipath head answers for it".to_owned()));
    }
    Stack { members, target, passes_zeroing, backing_file, is_path }
}

/// Whether a disk is known to be a path of a dm-multipath head, which answers for it.
pub fn is_multipath_member(root: &Root, device: &Device) -> bool {
    matches!(device.kind, Kind::Scsi | Kind::Dasd) && is_path(root, device, Depth::Claims).is(true)
}

/// Whether a multipath head holds the disk; where no holders are recorded, what multipathd told udev.
fn is_path(root: &Root, device: &Device, depth: Depth) -> Fact<bool> {
    let of_head = |name: &String| {
        let uuid = if name.starts_with("dm-") { root.text(&format!("sys/block/{name}/dm/uuid")) } else { Fact::ABSENT };
        uuid.known().is_some_and(|u| u.starts_with("mpath-"))
    };
    let held = root.list(&device.attr("holders")).map(|names| names.iter().any(of_head));
    held.or(|| property(root, device, "DM_MULTIPATH_DEVICE_PATH", depth).map(|v| v == "1"))
}

/// A udev property of a recorded machine; an event does not look for it.
fn property(root: &Root, device: &Device, key: &str, depth: Depth) -> Fact<String> {
    if depth.lean() || root.is_system() {
        return Fact::ABSENT;
    }
    let properties = root.text(&format!("udev/{}", device.name));
    let line = |l: &str| l.strip_prefix(key).and_then(|r| r.strip_prefix('=')).map(str::to_owned);
    let value = properties.known().and_then(|p| p.lines().find_map(line));
    value.map_or(Fact::ABSENT, |v| text_of(v.as_bytes()))
}

/// What the uuid of a dm device says of its target: the part before the first dash is the tool that made it, and LVM and
/// cryptsetup name the layer in it.
fn dm_words(uuid: &str, thin: bool) -> Option<String> {
    let (tool, rest) = uuid.split_once('-').unwrap_or((uuid, ""));
    let says = match (tool, rest) {
        _ if thin => "a thin volume: zeroing is not passed on",
        ("LVM", r) if r.ends_with("-tpool") || r.ends_with("-pool") => {
            "a pool of thin volumes: zeroing is not passed on"
        }
        ("LVM", r) if r.ends_with("-cow") || r.ends_with("-real") => "a part of a snapshot",
        ("LVM", r)
            if r.ends_with("_tdata") || r.ends_with("_tmeta") || r.ends_with("-tdata") || r.ends_with("-tmeta") =>
        {
            "a part of a thin pool"
        }
        ("LVM", _) => "an LVM volume: linear and striped ones pass zeroing on",
        ("mpath", _) => "multipath: passes zeroing on, with the least limit of its paths",
        ("CRYPT", r) if r.starts_with("VERITY") => "dm-verity: read-only",
        ("CRYPT", r) if r.starts_with("INTEGRITY") => "dm-integrity: zeroing is not passed on",
        ("CRYPT", _) => "dm-crypt: zeroing is not passed on, because zeroes have to be encrypted",
        ("VDO", _) => "dm-vdo: zeroing is not passed on",
        ("DMRAID", _) => "a RAID of the firmware",
        (t, r) if t.starts_with("part") && r.starts_with("mpath-") => {
            "a partition of a multipath device: passes zeroing on"
        }
        _ => return None,
    };
    Some(says.to_owned())
}

/// What an md level does with zeroing.
fn md_words(level: &str) -> String {
    match level {
        "raid0" | "linear" => "passes zeroing on to its members, at most one chunk per command".to_owned(),
        "raid1" | "raid10" | "raid4" | "raid5" | "raid6" => {
            "does not pass zeroing on: zeroes are written to every member".to_owned()
        }
        _ => "not an array that holds data".to_owned(),
    }
}

/// Whether the target hands zeroing on to its members.
fn passes(kind: Kind, target: &Fact<String>, write_zeroes_max: &Fact<u64>) -> Fact<bool> {
    match (kind, target.known().map(String::as_str), write_zeroes_max.get()) {
        // Of the dm targets only linear, stripe and multipath set num_write_zeroes_bios (dm-zoned aside, whose members are
        // zoned), and one target without it makes the whole table's limit 0: the limit tells what the uuid does not.
        (Kind::Dm, Some("CRYPT" | "VDO" | THIN), _) => Fact::Known(false),
        (Kind::Dm, _, Some(limit)) => Fact::Known(limit > 0),
        (Kind::Dm, Some("mpath"), None) => Fact::Known(true),
        (Kind::Md, Some("raid0" | "linear"), _) => Fact::Known(true),
        (Kind::Md, Some(_), _) | (Kind::Bcache, _, _) => Fact::Known(false),
        (kind, _, _) if kind.is_stack() => target.as_ref().and_then(|_| Fact::ABSENT),
        _ => Fact::NOT_ASKED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thin_volume_stands_on_a_pool() {
        let f = crate::facts::testing::facts(
            "dm-4",
            &[("sys/block/dm-4/dm/uuid", "LVM-a\n"), ("sys/block/dm-3/dm/uuid", "LVM-b-tpool\n")],
            &[("sys/block/dm-4/slaves/dm-3", "../../dm-3")],
        );
        assert_eq!((f.stack.target, f.stack.passes_zeroing), (Fact::Known(THIN.to_owned()), Fact::Known(false)));
        assert_eq!(f.stack.members, Fact::Known(vec!["dm-3".to_owned()]));
    }

    #[test]
    fn a_path_has_a_multipath_head_above() {
        let path = |uuid: &str| {
            let files = [("sys/block/sda/size", "8\n"), ("sys/block/dm-0/dm/uuid", uuid)];
            crate::facts::testing::facts("sda", &files, &[("sys/block/sda/holders/dm-0", "../../dm-0")]).stack.is_path
        };
        assert_eq!((path("mpath-3600\n"), path("LVM-x\n")), (Fact::Known(true), Fact::Known(false)));
        let udev = [("sys/block/sda/size", "8\n"), ("udev/sda", "DM_MULTIPATH_DEVICE_PATH=1\n")];
        assert_eq!(crate::facts::testing::facts("sda", &udev, &[]).stack.is_path, Fact::Known(true));
    }

    #[test]
    fn words_of_targets() {
        let uuid = |u: &str| dm_words(u, false).unwrap_or_default();
        assert!(uuid("LVM-abc").contains("linear") && uuid("LVM-abc-tpool").contains("pool"));
        assert!(uuid("CRYPT-LUKS2-x-y").contains("encrypted") && uuid("CRYPT-INTEGRITY-x").contains("integrity"));
        assert!(uuid("mpath-3600").contains("paths") && uuid("part1-mpath-3600").contains("partition"));
        assert_eq!(dm_words("something", false), None);
        assert!(md_words("raid10").contains("every member") && md_words("container").contains("not an array"));
    }

    #[test]
    fn a_flat_recording_has_udev_properties_alone() {
        let f = crate::facts::testing::facts(
            "dm-7",
            &[("sys/block/dm-7/size", "8\n"), ("udev/dm-7", "DM_NAME=x\nDM_UUID=CRYPT-LUKS1-0-x\n")],
            &[],
        );
        assert_eq!(
            (f.stack.target.known().map(String::as_str), f.stack.passes_zeroing),
            (Some("CRYPT"), Fact::Known(false))
        );
    }

    #[test]
    fn targets_that_pass_zeroing() {
        let target = |t: &str| if t.is_empty() { Fact::ABSENT } else { Fact::Known(t.to_owned()) };
        for (kind, t, limit, passes_zeroing) in [
            (Kind::Dm, "LVM", Fact::Known(1 << 20), Some(true)),
            (Kind::Dm, "LVM", Fact::Known(0), Some(false)),
            (Kind::Dm, "LVM", Fact::ABSENT, None),
            (Kind::Dm, "mpath", Fact::ABSENT, Some(true)),
            (Kind::Dm, "CRYPT", Fact::ABSENT, Some(false)),
            (Kind::Dm, "", Fact::ABSENT, None),
            (Kind::Md, "raid0", Fact::ABSENT, Some(true)),
            (Kind::Md, "raid1", Fact::Known(1 << 20), Some(false)),
            (Kind::Md, "", Fact::ABSENT, None),
            (Kind::Bcache, "", Fact::ABSENT, Some(false)),
            (Kind::Loop, "", Fact::Known(1 << 20), None),
        ] {
            assert_eq!(passes(kind, &target(t), &limit).get(), passes_zeroing, "{kind:?} {t} {limit:?}");
        }
    }
}
