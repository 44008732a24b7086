//! What matters when a file is zeroed ahead of use: one row for each finding {code, rule}. A finding says what
//! FALLOC_FL_WRITE_ZEROES does there, as seen on Linux 7.3 (tests/vm/t/files-cow-long.sh), and what to do. It is pure.
//!
//! What is not known is reported as not known: then `holds` is null, and no rule takes it for "no".

use crate::device::display::escape_str;
use crate::fact::Fact;
use crate::facts::file::{FileFacts, Snapshot};
use crate::facts::path::{Can, OnPath};
use crate::terms::{Effect, PathCode};
use verdict_format::answers::{FileShares, PathFinding};

/// What a rule sees.
struct Seen<'a> {
    on: &'a OnPath,
    can: &'a Can,
    file: &'a FileFacts,
}

/// What a rule says.
struct Said {
    /// Whether it is known to hold.
    holds: bool,
    share: Option<f64>,
    /// What the call does there, where file system, kernel and device let it through.
    effect: Effect,
    text: String,
    instead: Option<String>,
}

impl Said {
    fn holds(effect: Effect, text: String, instead: &str) -> Option<Said> {
        Some(Said { holds: true, share: None, effect, text, instead: Some(instead.to_owned()) })
    }

    fn unknown(text: String) -> Option<Said> {
        Some(Said { holds: false, share: None, effect: Effect::Works, text, instead: None })
    }

    fn of_share(self, share: f64) -> Option<Said> {
        Some(Said { share: Some(share), ..self })
    }
}

/// One finding.
struct Row {
    code: PathCode,
    rule: fn(&Seen<'_>) -> Option<Said>,
}

/// Every finding, in the order in which they are shown.
const TABLE: &[Row] = &[
    Row { code: PathCode::CopyOnWrite, rule: copy_on_write },
    Row { code: PathCode::SharedExtents, rule: shared_extents },
    Row { code: PathCode::SnapshotBelow, rule: snapshot_below },
    Row { code: PathCode::DataJournal, rule: data_journal },
    Row { code: PathCode::FileCompressed, rule: compressed },
    Row { code: PathCode::FileEncrypted, rule: encrypted },
    Row { code: PathCode::FileHoles, rule: holes },
    Row { code: PathCode::UnwrittenExtents, rule: unwritten },
];

/// Every finding that holds, or of which that cannot be told.
pub fn findings(on: &OnPath, can: &Can, file: &FileFacts) -> Vec<PathFinding> {
    let seen = Seen { on, can, file };
    let finding = |row: &Row| {
        (row.rule)(&seen).map(|said| PathFinding {
            code: Some(row.code),
            holds: said.holds.then_some(true),
            share: said.share,
            effect: seen.effect(said.effect).filter(|_| said.holds),
            text: said.text,
            instead: said.instead,
        })
    };
    TABLE.iter().filter_map(finding).collect()
}

/// Whether what is written over is known to go to new space, or may: space that was written once is then worth no more.
pub fn copies(findings: &[PathFinding]) -> bool {
    findings.iter().any(|f| f.code == Some(PathCode::CopyOnWrite))
}

/// How the file lies, for the answer.
pub fn shares(file: &FileFacts) -> Option<FileShares> {
    let (size, map) = file.file.as_ref()?;
    let part = |of: fn(&crate::facts::file::FileMap) -> u64| map.known().map(of);
    Some(FileShares {
        size_bytes: *size.known()?,
        looked_at_bytes: part(|m| m.looked_at),
        hole_bytes: part(|m| m.holes),
        unwritten_bytes: part(|m| m.unwritten),
        delayed_bytes: part(|m| m.delayed),
        written_bytes: part(|m| m.written),
        shared_bytes: part(|m| m.shared),
        encoded_bytes: part(|m| m.encoded),
        unknown: map.why().map(ToString::to_string),
    })
}

impl Seen<'_> {
    fn is(&self, kinds: &[&str]) -> bool {
        kinds.contains(&self.on.filesystem.as_str())
    }

    /// What the call does, where a rule says what it does once it is let through.
    fn effect(&self, here: Effect) -> Option<Effect> {
        match self.can {
            Can::Yes => Some(here),
            Can::Written(_) => Some(Effect::Writes),
            Can::No(_) => Some(Effect::Fails),
            Can::Unknown(_) => None,
        }
    }

    fn succeeds(&self) -> bool {
        matches!(self.can, Can::Yes | Can::Written(_))
    }

    /// The part of the file that lies so, where some of it does.
    fn share(&self, of: fn(&crate::facts::file::FileMap) -> u64) -> Option<f64> {
        let map = self.file.file.as_ref()?.1.known()?;
        (of(map) > 0).then(|| of(map) as f64 / map.looked_at as f64)
    }

    fn option(&self, name: &str) -> Option<&str> {
        let value = |o: &'_ String| o == name || o.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        self.on.options.iter().find(|o| value(o)).map(String::as_str)
    }
}

/// A share as a person reads it.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p < 0.1 => "less than 0.1 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

fn copy_on_write(seen: &Seen<'_>) -> Option<Said> {
    let kind = &seen.on.filesystem;
    let new_space = format!("{kind} writes changed data to new space, so space cannot be prepared for later writes");
    let in_place =
        "create a new file and set `chattr +C` while it is empty, or set it on the directory before: such a file is \
                    written in place, without checksums and compression, until a snapshot or a reflink shares it";
    let of_mount = seen.option("nodatacow").is_some() && !seen.on.is_file;
    match (kind.as_str(), seen.on.marks.no_cow) {
        ("btrfs" | "f2fs", Some(true)) => None,
        ("btrfs", _) if of_mount => None,
        ("btrfs", Some(false)) => Said::holds(Effect::Fails, new_space, in_place),
        ("f2fs", Some(false)) => f2fs(seen),
        ("btrfs" | "f2fs", None) => {
            Said::unknown(format!("it is not known whether {kind} writes this file in place: its flags cannot be read"))
        }
        ("bcachefs", _) => Said::unknown(
            "bcachefs writes changed data to new space, unless its option nocow is set for the file; whether it is set is not \
             known"
                .to_owned(),
        ),
        ("nilfs2" | "zfs", _) => {
            Said::holds(Effect::Fails, new_space, "use a file system that writes in place for files that are prepared ahead of use")
        }
        ("xfs", _) => xfs(seen),
        _ => None,
    }
}

/// In place always, by its policy, is what a small f2fs does.
fn f2fs(seen: &Seen<'_>) -> Option<Said> {
    /// `F2FS_IPU_FORCE` (fs/f2fs/segment.h).
    const ALWAYS: u64 = 1;
    if seen.option("mode") == Some("mode=lfs") {
        let text = "f2fs is mounted with mode=lfs, so it writes all changed data to new space".to_owned();
        return Said::holds(
            Effect::Fails,
            text,
            "mount it with mode=adaptive, and pin the file (F2FS_IOC_SET_PIN_FILE)",
        );
    }
    let text = "f2fs writes changed data to new space, except small writes that are synced";
    match seen.file.f2fs_policy {
        Fact::Known(policy) if policy & ALWAYS != 0 => None,
        Fact::Known(_) => Said::holds(
            Effect::Fails,
            text.to_owned(),
            "pin the file before its space is allocated (F2FS_IOC_SET_PIN_FILE); a pinned file is written in place",
        ),
        Fact::Unknown(_) => Said::unknown(format!("it is not known whether {text} (ipu_policy cannot be read)")),
    }
}

fn xfs(seen: &Seen<'_>) -> Option<Said> {
    match (seen.file.xfs_zoned, seen.on.marks.realtime) {
        (true, Some(true)) => Said::holds(
            Effect::Fails,
            "the file lies on the zoned realtime device of the xfs, where every write goes to new space".to_owned(),
            "create the file on the data device (`xfs_io -c 'chattr -t'` while it is empty)",
        ),
        (true, None) => Said::unknown(
            "it is not known whether the file lies on the zoned realtime device of the xfs, where every write goes to new \
             space: its flags cannot be read"
                .to_owned(),
        ),
        // Only a kernel for debugging has the switch.
        _ if seen.file.xfs_always_cow.is(true) => Said::unknown(
            "this kernel makes xfs always copy in file systems that are mounted from now on (/sys/fs/xfs/debug/always_cow); it \
             is not known whether this mount does so"
                .to_owned(),
        ),
        _ => None,
    }
}

fn shared_extents(seen: &Seen<'_>) -> Option<Said> {
    if let Some((_, Fact::Unknown(why))) = &seen.file.file {
        return Said::unknown(format!(
            "it is not known whether other files share parts of it (reflink, snapshot): {why}"
        ));
    }
    let share = seen.share(|m| m.shared)?;
    let text = format!(
        "{} of the file is shared with other files (a copy by reflink, or a snapshot): the next write there goes to new space, \
         whatever was zeroed there before",
        percent(share)
    );
    let instead = if seen.succeeds() {
        "zero the file after a copy is made, not before: FALLOC_FL_WRITE_ZEROES gives the zeroed parts space of their own, and \
         erases what is there; to keep the content, use FALLOC_FL_UNSHARE_RANGE"
    } else {
        "write the file once more after the copy or snapshot is made; that ends the sharing"
    };
    Said::holds(Effect::Works, text, instead)?.of_share(share)
}

fn snapshot_below(seen: &Seen<'_>) -> Option<Said> {
    let said = |(name, what): &(String, Fact<Snapshot>)| {
        let name = escape_str(name);
        match what {
            Fact::Known(Snapshot::Origin) => format!(
                "{name} has a snapshot (dm-snapshot): it accepts no zeroing, and the first write to each chunk copies the old \
                 content first"
            ),
            Fact::Known(Snapshot::Copy) => {
                format!("{name} is a snapshot (dm-snapshot): it accepts no zeroing, and the first write to each chunk goes to new space")
            }
            Fact::Known(Snapshot::Thin) => format!(
                "{name} is a thin volume that shares blocks with a snapshot: it accepts no zeroing, and the first write to \
                 each shared block goes to a copy"
            ),
            Fact::Unknown(why) => format!("it is not known whether {name} has snapshots: {why}"),
        }
    };
    let all = &seen.file.snapshots;
    let text = all.iter().map(said).collect::<Vec<_>>().join("; ");
    match all.iter().any(|(_, what)| what.known().is_some()) {
        _ if all.is_empty() => None,
        false => Said::unknown(text),
        true => Said::holds(
            Effect::Fails,
            text,
            "remove the snapshot when it is no longer needed; while it exists, write zeroes once after it was made, so that each \
             part is copied before the file is used",
        ),
    }
}

fn data_journal(seen: &Seen<'_>) -> Option<Said> {
    if !seen.is(&["ext4", "ext3"]) {
        return None;
    }
    let here = |option: &str| seen.on.options.iter().any(|o| o == option);
    // The mount table leaves out what is the default of the file system; the other file has all of it.
    let all = |option: &str| seen.file.ext4_options.known().map(|o| o.iter().any(|o| o == option));
    let text = |how: &str| {
        format!(
            "data goes to the journal first and to its place later ({how}): zeroed space saves later writes the allocation, but \
             not the second write"
        )
    };
    let of_mount = if here("data=journal") { Some(true) } else { all("data=journal") };
    // With delayed allocation, the default, the kernel does not heed the mark of a file.
    let heeded = if here("nodelalloc") { Some(true) } else { all("nodelalloc") };
    match (of_mount, seen.on.marks.journaled, heeded) {
        (Some(true), ..) => {
            let how = format!("data=journal on {}", seen.on.mount_point);
            Said::holds(Effect::GainsLess, text(&how), "mount the file system again with data=ordered")
        }
        (_, Some(true), Some(true)) => Said::holds(
            Effect::GainsLess,
            text("chattr +j, and nodelalloc"),
            "run `chattr -j` on the file, or mount without nodelalloc: with delayed allocation the kernel ignores the flag",
        ),
        (Some(false), Some(false), _) | (Some(false), _, Some(false)) => None,
        _ => Said::unknown(
            "it is not known whether its data goes through the journal (data=journal, chattr +j)".to_owned(),
        ),
    }
}

fn compressed(seen: &Seen<'_>) -> Option<Said> {
    if !seen.is(&["btrfs", "f2fs", "bcachefs", "zfs", "ubifs", "ntfs3"]) {
        return None;
    }
    let marks = &seen.on.marks;
    let option = ["compress", "compress-force", "compression"].iter().find_map(|name| seen.option(name));
    // btrfs does not compress what is written in place.
    let in_place = seen.is(&["btrfs"]) && (marks.no_cow == Some(true) || seen.option("nodatacow").is_some());
    let share = seen.share(|m| m.encoded);
    let how = match (marks.compressed, option) {
        _ if in_place => return None,
        (Some(true), _) => "chattr +c".to_owned(),
        (_, Some(_)) if seen.is(&["btrfs"]) && marks.no_cow.is_none() => {
            return Said::unknown(
                "it is not known whether the file system compresses the data: the flags of the file cannot be read"
                    .to_owned(),
            )
        }
        (_, Some(option)) => format!("{} on {}", escape_str(option), seen.on.mount_point),
        _ if share.is_some() && marks.encrypted == Some(false) => "parts of the file are compressed already".to_owned(),
        (Some(false), None) => return None,
        (None, None) => return Said::unknown("it is not known whether the file system compresses the data".to_owned()),
    };
    let text = format!(
        "the file system compresses the data ({how}): written zeroes take almost no space, and later writes need new space"
    );
    let instead = match seen.is(&["btrfs"]) {
        true => {
            "run `chattr +C` on the file while it is empty, or on the directory before; such files are not compressed"
        }
        false => "create a new file without compression (`chattr -c` while it is empty)",
    };
    let said = Said::holds(Effect::Fails, text, instead)?;
    match share {
        Some(share) => said.of_share(share),
        None => Some(said),
    }
}

fn encrypted(seen: &Seen<'_>) -> Option<Said> {
    if !seen.is(&["ext4", "f2fs", "ubifs", "ceph"]) {
        return None;
    }
    match seen.on.marks.encrypted {
        Some(false) => None,
        None => Said::unknown("it is not known whether the file system encrypts the data".to_owned()),
        Some(true) => Said::holds(
            Effect::Writes,
            "the file system encrypts the data: zeroes become ciphertext, which the device cannot make by itself"
                .to_owned(),
            "write zeroes into the file once by ordinary writes; that takes as long, and later writes stay in that place",
        ),
    }
}

fn holes(seen: &Seen<'_>) -> Option<Said> {
    let share = seen.share(|m| m.holes)?;
    let text = format!("{} of the file has no space (holes): the first write there allocates it", percent(share));
    first_write(seen, share, text)
}

fn unwritten(seen: &Seen<'_>) -> Option<Said> {
    let share = seen.share(|m| m.unwritten)?;
    let text = format!(
        "{} of the file has space that was never written: the first write there changes the file's map too",
        percent(share)
    );
    first_write(seen, share, text)
}

/// Where the first write costs more than later ones, and zeroing ahead takes that off it.
fn first_write(seen: &Seen<'_>, share: f64, text: String) -> Option<Said> {
    let instead = match (seen.succeeds(), copy_on_write(seen).is_some()) {
        (true, _) => {
            Some("zero only these parts (SEEK_HOLE finds holes); zeroing a written part would erase it".to_owned())
        }
        (false, false) => Some("write zeroes there once, ahead of use".to_owned()),
        (false, true) => None,
    };
    Some(Said { holds: true, share: Some(share), effect: Effect::Works, text, instead })
}

#[cfg(test)]
#[path = "on_file_tests.rs"]
mod tests;
