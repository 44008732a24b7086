//! LVM through its own program, by a fixed path and with a deadline: lists groups and volumes, makes one volume in named
//! extents, and removes one volume. It decides nothing, and only checks whether an answer can be parsed.

use crate::error::{Error, Result};
use crate::machine::fs::lock::Lock;
use crate::machine::process::{self, Said};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The program, which has all of LVM's commands.
const PROGRAM: &str = "lvm";
/// LVM waits for its own locks and for udev.
const DEADLINE: Duration = Duration::from_secs(60);
/// The tag of each volume that this program makes.
pub const TAG: &str = "zerocap";

/// A logical volume that was made for a test, or was about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// The group's name at the time.
    pub group: String,
    /// Its identifier.
    pub group_uuid: String,
    /// The volume's name: of this test alone.
    pub name: String,
    /// Its identifier, once it is there.
    pub uuid: Option<String>,
    /// Where the witness of the test was written: byte of the volume, and byte of the disk that it speaks of. Empty until then.
    #[serde(default)]
    pub witness: Vec<(u64, u64)>,
}

/// A stretch of extents of a physical volume, and what LVM says of its group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stretch {
    /// The physical volume's node.
    pub node: String,
    /// The group's name.
    pub group: String,
    /// The group's identifier.
    pub group_uuid: String,
    /// What speaks against writing to the group, in words.
    pub against: Vec<String>,
    /// Whether a profile is attached to the group.
    pub profile: bool,
    /// Bytes of an extent.
    pub extent: u64,
    /// The first byte of the first extent on the physical volume.
    pub data: u64,
    /// The first extent of the stretch.
    pub first: u64,
    /// So many.
    pub count: u64,
    /// Whether no volume has them.
    pub free: bool,
}

/// A logical volume.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Volume {
    /// The group's name.
    pub group: String,
    /// The group's identifier.
    pub group_uuid: String,
    /// Its name, without the brackets of a hidden one.
    pub name: String,
    /// Its identifier.
    pub uuid: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The types of its segments, its layout and its roles.
    pub kinds: Vec<String>,
    /// Whether a profile is attached to it.
    pub profile: bool,
    /// Whether somebody has it open.
    pub open: bool,
    /// The number of its device, where it is active.
    pub devnum: Option<(u32, u32)>,
}

/// All stretches of all physical volumes that belong to a group.
pub fn stretches() -> Result<Vec<Stretch>> {
    const FIELDS: &str = "pv_name,vg_name,vg_uuid,vg_shared,vg_clustered,vg_exported,vg_partial,vg_permissions,vg_profile,\
                          pv_missing,pv_duplicate,pv_allocatable,vg_extent_size,pe_start,pvseg_start,pvseg_size,segtype";
    let rows = report(&["pvs", "--segments", "-o", FIELDS], "pvseg")?;
    // A physical volume without a group has no extents.
    let in_group = |row: &&Value| text(row, "vg_name").is_none_or(|name| !name.is_empty());
    rows.iter().filter(in_group).map(|row| stretch(row).ok_or_else(nonsense)).collect()
}

/// All logical volumes, hidden ones too.
pub fn volumes() -> Result<Vec<Volume>> {
    const FIELDS: &str = "vg_name,vg_uuid,lv_name,lv_uuid,lv_tags,segtype,lv_layout,lv_role,lv_profile,lv_device_open,\
                          lv_kernel_major,lv_kernel_minor";
    report(&["lvs", "-a", "-o", FIELDS], "lv")?.iter().map(|row| volume(row).ok_or_else(nonsense)).collect()
}

/// The identifiers of the groups that are here.
pub fn groups() -> Result<Vec<String>> {
    let rows = report(&["vgs", "-o", "vg_uuid"], "vg")?;
    rows.iter().map(|row| text(row, "vg_uuid").ok_or_else(nonsense)).collect()
}

/// Whether thin pools, snapshots or VDO pools grow of themselves by the configuration.
pub fn grows_by_itself() -> Result<bool> {
    const KEYS: [&str; 3] = ["thin_pool", "snapshot", "vdo_pool"];
    let said = run(&["lvmconfig", "--typeconfig", "full", "activation"], None)?;
    let text = String::from_utf8_lossy(&said.out).into_owned();
    let value = |key: &str| {
        let key = format!("{key}_autoextend_threshold=");
        text.lines().find_map(|l| l.trim().strip_prefix(&key)?.parse::<u64>().ok())
    };
    // A version without VDO has no such line.
    if value(KEYS[0]).is_none() {
        return Err(nonsense());
    }
    Ok(KEYS.iter().filter_map(|key| value(key)).any(|percent| percent < 100))
}

/// Makes a volume in these extents. The lock is shared with the program, so that it is held for as long as that runs,
/// whatever becomes of this process.
pub fn make(own: &Own, node: &str, (first, count): (u64, u64), lock: &Lock) -> Result<()> {
    let shared = lock.share().map_err(|e| Error::file(PROGRAM, "share a lock with", e))?;
    let place = format!("{node}:{first}-{}", first + count - 1);
    let extents = count.to_string();
    let arguments = [
        "lvcreate",
        "-Zn",
        "-Wn",
        "--type",
        "linear",
        "--alloc",
        "contiguous",
        "--setautoactivation",
        "n",
        "--addtag",
        TAG,
        "-n",
        &own.name,
        "-l",
        &extents,
        &own.group,
        &place,
    ];
    run(&arguments, Some(shared)).map(drop)
}

/// Activates a volume by its names.
pub fn activate(volume: &Volume) -> Result<()> {
    run(&["lvchange", "-ay", &format!("{}/{}", volume.group, volume.name)], None).map(drop)
}

/// Removes a volume; its extents are not discarded.
pub fn remove(volume: &Volume) -> Result<()> {
    let (select, name) = (format!("lv_uuid={}", volume.uuid), format!("{}/{}", volume.group, volume.name));
    run(&["lvremove", "-y", "--config", "devices/issue_discards=0", "-S", &select, &name], None).map(drop)
}

fn nonsense() -> Error {
    Error::Malformed {
        path: PROGRAM.to_owned(),
        what: "its report does not have the fields that were asked for".to_owned(),
    }
}

fn run(arguments: &[&str], input: Option<OwnedFd>) -> Result<Said> {
    let command = format!("{PROGRAM} {}", arguments.first().unwrap_or(&""));
    let said = process::run_with(PROGRAM, arguments, input, DEADLINE).map_err(|e| Error::file(&command, "run", e))?;
    if said.code == Some(0) {
        return Ok(said);
    }
    let text = String::from_utf8_lossy(&said.err);
    let line = text.lines().map(str::trim).rfind(|l| !l.is_empty()).unwrap_or("no message").to_owned();
    let line = crate::device::display::escape_str(&line);
    Err(Error::file(&command, "run", io::Error::other(format!("it failed: {line}"))))
}

fn report(arguments: &[&str], table: &str) -> Result<Vec<Value>> {
    const FORM: [&str; 6] = ["--reportformat", "json", "--units", "b", "--nosuffix", "--binary"];
    let said = run(&[arguments, &FORM].concat(), None)?;
    let tree: Value = serde_json::from_slice(&said.out).map_err(|_| nonsense())?;
    tree["report"][0][table].as_array().cloned().ok_or_else(nonsense)
}

fn text(row: &Value, field: &str) -> Option<String> {
    row[field].as_str().map(str::to_owned)
}

fn stretch(row: &Value) -> Option<Stretch> {
    let number = |field: &str| text(row, field)?.parse::<u64>().ok();
    let is = |field: &str| match text(row, field)?.as_str() {
        "0" | "" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    let group = text(row, "vg_name")?;
    let mut against = Vec::new();
    for (field, wanted, what) in [
        ("vg_shared", false, "it is shared with other machines"),
        ("vg_clustered", false, "it is shared with other machines (clustered)"),
        ("vg_exported", false, "it is exported"),
        ("vg_partial", false, "one of its physical volumes is missing"),
        ("pv_missing", false, "its physical volume on this disk is missing"),
        ("pv_duplicate", false, "its physical volume on this disk is present twice"),
        ("pv_allocatable", true, "its physical volume on this disk takes no new volumes (pvchange -x y allows them)"),
    ] {
        if is(field)? != wanted {
            against.push(what.to_owned());
        }
    }
    // With --binary 1 stands for writeable.
    if !matches!(text(row, "vg_permissions")?.as_str(), "1" | "writeable") {
        against.push("it is read-only".to_owned());
    }
    Some(Stretch {
        node: text(row, "pv_name")?,
        group,
        group_uuid: text(row, "vg_uuid")?,
        against,
        profile: !text(row, "vg_profile")?.is_empty(),
        extent: number("vg_extent_size")?,
        data: number("pe_start")?,
        first: number("pvseg_start")?,
        count: number("pvseg_size")?,
        free: text(row, "segtype")? == "free",
    })
}

fn volume(row: &Value) -> Option<Volume> {
    let list = |field: &str| Some(text(row, field)?.split(',').map(str::to_owned).collect::<Vec<_>>());
    let kinds = [list("segtype")?, list("lv_layout")?, list("lv_role")?].concat();
    let number = |field: &str| text(row, field)?.parse::<u32>().ok();
    Some(Volume {
        group: text(row, "vg_name")?,
        group_uuid: text(row, "vg_uuid")?,
        name: text(row, "lv_name")?.trim_matches(['[', ']']).to_owned(),
        uuid: text(row, "lv_uuid")?,
        tags: list("lv_tags")?,
        kinds,
        profile: !text(row, "lv_profile")?.is_empty(),
        open: text(row, "lv_device_open")? == "1",
        // -1 where it is not active.
        devnum: number("lv_kernel_major").zip(number("lv_kernel_minor")),
    })
}
