//! Where a test may write, and the proof of it. The one place that makes a [`ScratchRange`].
//!
//! Decides by checks, each with its result in words; the first that fails refuses, before anything was written. Writes
//! nothing to the device: a temporary partition exists in the kernel's view alone (BLKPG).

use crate::device::Device;
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::disk::{self, LockedDisk};
use crate::machine::files::Root;
use crate::machine::nodes::{self, Partition};
use crate::machine::port::{errno_name, ScratchRange};
use crate::machine::probe_signature::{self, Signature};
use crate::measure::journal::Header;
use crate::measure::partition_table::Table;
use crate::units::{human_bytes, parse_size, MIB};
use std::time::Duration;

/// The most that a test uses of a thinly provisioned device, in bytes.
pub const THIN_LIMIT: u64 = 64 * MIB;

/// The GPT name of a partition that is scratch.
pub const LABEL: &str = "zerocap-scratch";

/// What an administrator named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Where {
    /// A partition node.
    Node(String),
    /// The GPT partition named [`LABEL`] on the device.
    Label,
    /// A byte range of the whole device.
    Range {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
}

impl std::str::FromStr for Where {
    type Err = String;
    fn from_str(s: &str) -> std::result::Result<Self, String> {
        if s == "label" {
            return Ok(Where::Label);
        }
        if let Some((offset, length)) = s.split_once('+').filter(|_| !s.starts_with('/')) {
            let bad = |what| format!("{what}: not a size in bytes (suffixes KiB, MiB, GiB, TiB)");
            let offset = parse_size(offset).ok_or_else(|| bad(offset))?;
            return match parse_size(length).ok_or_else(|| bad(length))? {
                0 => Err("the range is empty".to_owned()),
                length => Ok(Where::Range { offset, length }),
            };
        }
        if s.starts_with('/') {
            return Ok(Where::Node(s.to_owned()));
        }
        Err("give a partition node (/dev/…), `label`, or OFFSET+LENGTH".to_owned())
    }
}

/// What the caller knows of the device that the proof rests on.
#[derive(Debug, Clone)]
pub struct Known {
    /// `zoned` is known to be something other than `none`.
    pub zoned: bool,
    /// `ro` is known to be set.
    pub read_only: bool,
    /// Why the device counts as thinly provisioned, if it does.
    pub thin: Option<String>,
    /// Names of other present devices that bear the same identity.
    pub same_identity: Vec<String>,
    /// `--thin-ok`.
    pub thin_ok: bool,
}

/// A proved range.
#[derive(Debug)]
pub struct Proof {
    /// The range.
    pub range: ScratchRange,
    /// `partition`, `label` or `range`.
    pub kind: &'static str,
    /// A line a check.
    pub checks: Vec<String>,
    /// The number of the partition that bounds the range, and whether the test makes it.
    pub partition: Option<(u64, bool)>,
    /// The most that may be used, in bytes.
    pub limit: u64,
    /// Whether the device provisions thinly.
    pub thin: bool,
    /// The whole disk, locked until the proof is dropped.
    pub disk: LockedDisk,
}

struct Checks {
    device: String,
    lines: Vec<String>,
}

impl Checks {
    fn refuse<T>(&self, why: impl Into<String>) -> Result<T> {
        Err(Error::NotSafe { device: self.device.clone(), why: why.into() })
    }

    fn require(&mut self, holds: bool, passed: &str, why: impl FnOnce() -> String) -> Result<()> {
        if !holds {
            return self.refuse(why());
        }
        self.lines.push(passed.to_owned());
        Ok(())
    }
}

/// Proves a range. With `make` false (a dry run) no temporary partition is added, and the range names the whole node.
pub fn prove(root: &Root, device: &Device, place: &Where, known: &Known, make: bool) -> Result<Proof> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    let disk = LockedDisk::open(&device.node())?;
    checks.lines.push("whole-disk lock (flock) is held".to_owned());
    same_device(&mut checks, root, device, &disk)?;
    checks.require(!known.read_only, "not read-only", || "it is read-only".to_owned())?;
    checks.require(!known.zoned, "not zoned", || "it is zoned: a blind write would break its zones".to_owned())?;
    checks.require(known.same_identity.is_empty(), "no other device bears its identity", || {
        format!("{} bears the same identity: it may be another path to this medium", known.same_identity.join(", "))
    })?;
    if let Some(why) = &known.thin {
        checks.require(known.thin_ok, &format!("thinly provisioned ({why}), allowed by --thin-ok"), || {
            format!("{why}: writing takes space from its pool; allow it with --thin-ok")
        })?;
    }
    whole_disk(&mut checks, root, device)?;
    let partitions = nodes::partitions(root, device);
    let (kind, bounds) = match place {
        Where::Range { offset, length } => ("range", Bounds::Range(*offset, *length)),
        Where::Label => ("label", Bounds::Partition(labelled(&checks, root, device, &partitions)?)),
        Where::Node(node) => ("partition", Bounds::Partition(named(&checks, device, &partitions, node)?)),
    };
    let (range, partition) = match bounds {
        Bounds::Partition(p) => (in_partition(&mut checks, root, device, &disk, &partitions, p)?, Some((p.number, false))),
        Bounds::Range(offset, length) => in_range(&mut checks, root, device, &disk, &partitions, (offset, length), make)?,
    };
    let thin = known.thin.is_some();
    let limit = if thin { THIN_LIMIT.min(range.length) } else { range.length };
    Ok(Proof { range, kind, checks: checks.lines, partition, limit, thin, disk })
}

enum Bounds<'a> {
    Partition(&'a Partition),
    Range(u64, u64),
}

fn same_device(checks: &mut Checks, root: &Root, device: &Device, disk: &LockedDisk) -> Result<()> {
    let known = device.devnum.map(|d| (d.major, d.minor));
    checks.require(known == Some(disk.devnum), "the node is the device sysfs speaks of", || {
        "its node has another device number than sysfs says; look at the links in /dev".to_owned()
    })?;
    if let (Some(opened), Fact::Known(now)) = (disk.diskseq, root.number(&device.attr("diskseq"))) {
        checks.require(opened == now, "diskseq is the same after open", || "it was replaced while it was opened".to_owned())?;
    }
    Ok(())
}

/// What speaks against any place on the whole disk: a holder or a file system of the whole disk.
fn whole_disk(checks: &mut Checks, root: &Root, device: &Device) -> Result<()> {
    let holders = root.list(&device.attr("holders"));
    let holders = holders.known().cloned().unwrap_or_default();
    checks.require(holders.is_empty(), "no holders of the whole disk", || format!("it is held by {}", holders.join(", ")))?;
    if let Some(devnum) = device.devnum {
        not_mounted(checks, root, &devnum.to_string(), "the whole disk")?;
    }
    match probe_signature::probe(&device.node())? {
        Signature::Nothing => checks.lines.push("no signature on the whole disk (blkid -p)".to_owned()),
        Signature::Table(kind) => checks.lines.push(format!("only a partition table ({kind}) on the whole disk (blkid -p)")),
        Signature::Content(what) => return checks.refuse(format!("{what} lies on the whole disk: it is in use")),
    }
    Ok(())
}

fn not_mounted(checks: &mut Checks, root: &Root, devnum: &str, what: &str) -> Result<()> {
    let mounts = root.read("proc/self/mountinfo").known().cloned().unwrap_or_default();
    let mounts = String::from_utf8_lossy(&mounts);
    // proc_pid_mountinfo(5): the third field is the device number, the fifth the mount point.
    let point = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        (fields.nth(2)? == devnum).then(|| fields.nth(1).unwrap_or("?").to_owned())
    });
    checks.require(point.is_none(), &format!("{what} is not mounted"), || {
        format!("{what} is mounted on {}", crate::device::display::escape_str(point.as_deref().unwrap_or("?")))
    })
}

fn labelled<'a>(checks: &Checks, root: &Root, device: &Device, partitions: &'a [Partition]) -> Result<&'a Partition> {
    let wanted = format!("PARTNAME={LABEL}");
    let mut found = partitions.iter().filter(|p| {
        let uevent = root.text(&device.attr(&format!("{}/uevent", p.name)));
        uevent.known().is_some_and(|text| text.lines().any(|line| line == wanted))
    });
    match (found.next(), found.next()) {
        (Some(p), None) => Ok(p),
        (None, _) => checks.refuse(format!("no GPT partition is named {LABEL}")),
        (Some(_), Some(_)) => checks.refuse(format!("more than one GPT partition is named {LABEL}")),
    }
}

fn named<'a>(checks: &Checks, device: &Device, partitions: &'a [Partition], node: &str) -> Result<&'a Partition> {
    let shown = crate::device::display::escape_str(node);
    let Some((major, minor)) = disk::node_devnum(node) else {
        return Err(Error::NoDevice { path: shown, what: "not a block device".to_owned() });
    };
    if device.devnum.is_some_and(|d| (d.major, d.minor) == (major, minor)) {
        return checks.refuse(format!("{shown} is the whole disk: name a partition of it, or OFFSET+LENGTH"));
    }
    match partitions.iter().find(|p| p.devnum.is_some_and(|d| (d.major, d.minor) == (major, minor))) {
        Some(p) => Ok(p),
        None => checks.refuse(format!("{shown} is no partition of it")),
    }
}

fn in_partition(
    checks: &mut Checks,
    root: &Root,
    device: &Device,
    disk: &LockedDisk,
    partitions: &[Partition],
    p: &Partition,
) -> Result<ScratchRange> {
    let node = p.node();
    let Some(devnum) = p.devnum else { return checks.refuse(format!("{node} has no device number")) };
    let read_only = root.flag(&device.attr(&format!("{}/ro", p.name)));
    checks.require(!read_only.is(true), &format!("{node} is not read-only"), || format!("{node} is read-only"))?;
    unused(checks, root, device, p)?;
    let overlapping = partitions.iter().find(|o| o.number != p.number && overlap(o, p.start, p.length));
    checks.require(overlapping.is_none(), "no other partition overlaps it", || {
        format!("{} overlaps {node}", overlapping.map_or("another partition", |o| &o.name))
    })?;
    exclusive(checks, &node)?;
    Ok(ScratchRange {
        node,
        devnum: (devnum.major, devnum.minor),
        diskseq: disk.diskseq,
        start: 0,
        length: p.length,
        logical_block: disk.logical_block,
        node_offset: p.start,
    })
}

/// Checks that nothing uses a partition: holders, mounts, signatures.
fn unused(checks: &mut Checks, root: &Root, device: &Device, p: &Partition) -> Result<()> {
    let holders = root.list(&device.attr(&format!("{}/holders", p.name)));
    let holders = holders.known().cloned().unwrap_or_default();
    checks.require(holders.is_empty(), &format!("no holders of {}", p.name), || {
        format!("{} is held by {}", p.name, holders.join(", "))
    })?;
    if let Some(devnum) = p.devnum {
        not_mounted(checks, root, &devnum.to_string(), &p.name)?;
    }
    match probe_signature::probe(&p.node())? {
        Signature::Nothing => {
            checks.lines.push(format!("no signature on {} (blkid -p)", p.name));
            Ok(())
        }
        Signature::Table(what) | Signature::Content(what) => {
            checks.refuse(format!("{what} lies on {}: it is in use (if it is not, remove it with wipefs)", p.name))
        }
    }
}

fn exclusive(checks: &mut Checks, node: &str) -> Result<()> {
    match disk::claimable(node) {
        Ok(()) => {
            checks.lines.push(format!("{node} can be claimed exclusively (O_EXCL)"));
            Ok(())
        }
        Err(e) => checks.refuse(format!(
            "{node} cannot be claimed exclusively ({}): something uses it",
            errno_name(e.raw_os_error())
        )),
    }
}

fn overlap(p: &Partition, start: u64, length: u64) -> bool {
    p.start < start.saturating_add(length) && start < p.start.saturating_add(p.length)
}

type Bounded = (ScratchRange, Option<(u64, bool)>);

fn in_range(
    checks: &mut Checks,
    root: &Root,
    device: &Device,
    disk: &LockedDisk,
    partitions: &[Partition],
    (offset, length): (u64, u64),
    make: bool,
) -> Result<Bounded> {
    let block = disk.logical_block.max(1);
    checks.require(offset % block == 0 && length % block == 0, &format!("a multiple of the {block}-byte block"), || {
        format!("offset and length must be multiples of its {block}-byte block")
    })?;
    let inside = offset.checked_add(length).is_some_and(|end| end <= disk.size);
    checks.require(inside, "inside the device", || {
        format!("{offset}+{length} ends behind the device, which has {} bytes ({})", disk.size, human_bytes(disk.size))
    })?;
    let table = Table::read(disk.size, disk.logical_block, &mut |at, n| disk.read_at(at, n));
    let conflict = table.conflict(offset, length);
    checks.require(conflict.is_none(), "no entry or header of a partition table in the range", || {
        format!("the range touches {}", conflict.clone().unwrap_or_default())
    })?;
    let hit = partitions.iter().find(|p| overlap(p, offset, length));
    checks.require(hit.is_none(), "no partition of the kernel in the range", || {
        format!("the range overlaps {}; name it as --scratch {} if it is scratch", hit.map_or("", |p| &p.name), hit.map_or(String::new(), Partition::node))
    })?;
    let mut range = ScratchRange {
        node: device.node(),
        devnum: disk.devnum,
        diskseq: disk.diskseq,
        start: offset,
        length,
        logical_block: disk.logical_block,
        node_offset: 0,
    };
    if !make {
        checks.lines.push("a temporary kernel partition will bound the range, where the device can have one".to_owned());
        return Ok((range, None));
    }
    match bound(checks, root, device, disk, offset, length)? {
        Some(p) => {
            let devnum = p.devnum.map_or((0, 0), |d| (d.major, d.minor));
            let result = inner_signature(checks, &p.node()).and_then(|()| exclusive(checks, &p.node()));
            if let Err(e) = result {
                disk.delete_partition(p.number as i32)?;
                return Err(e);
            }
            range = ScratchRange { node: p.node(), devnum, start: 0, node_offset: offset, ..range };
            Ok((range, Some((p.number, true))))
        }
        None => {
            checks.require(partitions.is_empty(), "it has no partitions", || "it has partitions, and no further one can be added".to_owned())?;
            exclusive(checks, &device.node())?;
            Ok((range, None))
        }
    }
}

/// A file system that starts where the range does is not seen on the whole disk.
fn inner_signature(checks: &mut Checks, node: &str) -> Result<()> {
    match probe_signature::probe(node)? {
        Signature::Nothing => {
            checks.lines.push("no signature at the start of the range (blkid -p)".to_owned());
            Ok(())
        }
        Signature::Table(what) | Signature::Content(what) => checks.refuse(format!("{what} lies in the range: it is in use")),
    }
}

/// Adds the temporary partition; `None` where the device can have none.
fn bound(
    checks: &mut Checks,
    root: &Root,
    device: &Device,
    disk: &LockedDisk,
    start: u64,
    length: u64,
) -> Result<Option<Partition>> {
    if !device.kind.partitionable() {
        return Ok(None);
    }
    // From the top, so that no number of a table read later is taken. sd has 15 minors of its own, but extended ones.
    let taken: Vec<u64> = nodes::partitions(root, device).iter().map(|p| p.number).collect();
    let Some(number) = (1..=250u64).rev().find(|n| !taken.contains(n)) else {
        return checks.refuse("no partition number is free");
    };
    if !disk.add_partition(number as i32, start, length)? {
        return Ok(None);
    }
    let found = nodes::partitions(root, device).into_iter().find(|p| p.number == number);
    let made = found.filter(|p| (p.start, p.length) == (start, length));
    let ready = made.as_ref().and_then(|p| p.devnum.map(|d| (p.node(), (d.major, d.minor))));
    let there = ready.is_some_and(|(node, devnum)| disk::wait_for_node(&node, devnum, Duration::from_secs(10)));
    match made.filter(|_| there) {
        Some(p) => {
            checks.lines.push(format!("the kernel bounds the range as partition {} ({})", p.number, p.name));
            Ok(Some(p))
        }
        None => {
            disk.delete_partition(number as i32)?;
            checks.refuse("the temporary partition did not appear as asked for")
        }
    }
}

/// Proves again the range of a journal, for recovery: same device, geometry, nobody holds it. Signatures do not count: a
/// block that is not the test's own stops recovery anyway. A temporary partition that was left is used.
pub fn of_journal(root: &Root, device: &Device, header: &Header) -> Result<Proof> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    let disk = LockedDisk::open(&device.node())?;
    same_device(&mut checks, root, device, &disk)?;
    let same = disk.size == header.size_bytes && disk.logical_block == header.logical_block;
    checks.require(same, "size and block size are as journalled", || {
        format!("its size or block size is not that of the journal ({} bytes)", header.size_bytes)
    })?;
    let partitions = nodes::partitions(root, device);
    let place = header.partition.zip(header.node_length);
    let length = header.spans.iter().map(|(o, l)| o + l).max().unwrap_or(0);
    let range = match place {
        None => {
            exclusive(&mut checks, &device.node())?;
            ScratchRange {
                node: device.node(),
                devnum: disk.devnum,
                diskseq: disk.diskseq,
                start: 0,
                length,
                logical_block: disk.logical_block,
                node_offset: 0,
            }
        }
        Some((number, node_length)) => {
            let there = partitions.iter().find(|p| p.number == number);
            let fits = |p: &&Partition| (p.start, p.length) == (header.node_offset, node_length);
            let p = match (there.filter(fits), header.temporary) {
                (Some(p), _) => p.clone(),
                (None, true) => match bound(&mut checks, root, device, &disk, header.node_offset, node_length)? {
                    Some(p) => p,
                    None => return checks.refuse("the temporary partition of the test cannot be made again"),
                },
                (None, false) => return checks.refuse(format!("partition {number} is not where the journal has it")),
            };
            exclusive(&mut checks, &p.node())?;
            ScratchRange {
                node: p.node(),
                devnum: p.devnum.map_or((0, 0), |d| (d.major, d.minor)),
                diskseq: disk.diskseq,
                start: 0,
                length: p.length,
                logical_block: disk.logical_block,
                node_offset: p.start,
            }
        }
    };
    let partition = nodes::partitions(root, device)
        .iter()
        .find(|p| p.node() == range.node)
        .map(|p| (p.number, header.temporary));
    Ok(Proof { limit: range.length, range, kind: "journal", checks: checks.lines, partition, thin: header.thin, disk })
}

/// A range of a simulated device, all of it: no system is touched. Used by tests and by `selftest` without loop devices.
pub fn simulated(bytes: u64) -> ScratchRange {
    ScratchRange {
        node: "simulated".to_owned(),
        devnum: (0, 0),
        diskseq: None,
        start: 0,
        length: bytes,
        logical_block: 512,
        node_offset: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_as_typed() {
        assert_eq!("label".parse(), Ok(Where::Label));
        assert_eq!("1GiB+64MiB".parse(), Ok(Where::Range { offset: 1 << 30, length: 64 << 20 }));
        assert_eq!("/dev/sda3".parse(), Ok(Where::Node("/dev/sda3".to_owned())));
        assert_eq!("/dev/disk/by-label/a+b".parse(), Ok(Where::Node("/dev/disk/by-label/a+b".to_owned())));
        for bad in ["", "sda3", "1GiB", "+", "1+0", "1MiB+x", "-1+5"] {
            assert!(bad.parse::<Where>().is_err(), "{bad}");
        }
    }
}
