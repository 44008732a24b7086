//! A logical volume as scratch: what is written to it lies on the disk below, so a test in it gives the class of that disk.
//! It decides whether the map of the volume is linear and leads only to that disk, and whether nobody else uses it. It writes
//! nothing. The test uses the node of the volume, so device mapper bounds it, and the content is journalled as for a
//! partition.

use super::checks::{exclusive, not_held, not_mounted, unsigned, whole_disk_signature, Checks};
use super::group::Planned;
use super::linear::{by_number, overlap, Ground, Part};
use super::others;
use super::place::ScratchSpec;
use super::proof::{Asked, Known, Proof, Volume, THIN_LIMIT};
use crate::device::display::escape_str;
use crate::device::{Device, Devnum, Kind};
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::block::devices::Partition;
use crate::machine::block::stack;
use crate::machine::cgroup;
use crate::machine::lvm::Own;
use crate::machine::port::ScratchRange;
use crate::machine::udev::Resumed;
use crate::measure::journal::Header;
use crate::units::human_bytes;

/// What device mapper's name for a volume of LVM begins with; two identifiers of 32 letters follow, and nothing behind them
/// save where the volume is a part of another one.
const UUID: (&str, usize) = ("LVM-", 64);

/// The queue's limit of zeroing commands, in bytes.
const LIMIT: &str = "queue/write_zeroes_max_bytes";
/// The same of FALLOC_FL_WRITE_ZEROES: 0 refuses it.
const KNOB: &str = "queue/write_zeroes_unmap_max_bytes";

/// The device-mapper device that a place names, where it names another one than the disk itself.
pub(super) fn named(on: &Asked<'_>, device: &Device, place: &ScratchSpec) -> Option<Device> {
    let ScratchSpec::Node(node) = place else { return None };
    let (major, minor) = on.hold.node_devnum(node)?;
    let found = by_number(on.root, Devnum { major, minor })?;
    (found.kind == Kind::Dm && found.name != device.name).then_some(found)
}

/// Proves a volume, after what is proved of every disk.
pub(super) fn prove(
    mut checks: Checks,
    on: &Asked<'_>,
    device: &Device,
    volume: &Device,
    (known, to_test): (&Known, bool),
) -> Result<Proof> {
    let node = volume.node();
    let name = on.root.text(&volume.attr("dm/name"));
    let shown = format!("{node} ({})", name.known().map_or_else(|| "?".to_owned(), |n| escape_str(n)));
    let uuid = checks.known(on.root.text(&volume.attr("dm/uuid")), &format!("what device mapper calls {shown}"))?;
    let own = uuid.strip_prefix(UUID.0);
    checks.require(
        own.is_some_and(|u| u.len() == UUID.1),
        &format!("{shown} is a logical volume of LVM"),
        || match own {
            Some(_) => format!("{shown} is a part of another logical volume; name a whole one"),
            None => format!("{shown} is not a logical volume of LVM; name a logical volume or a partition"),
        },
    )?;
    let read_only = on.root.flag(&volume.attr("ro"));
    checks.require(read_only.is(false), &format!("{node} is not read-only"), || format!("{node} is read-only"))?;
    let partitions = super::checks::partitions(&checks, on.root, device)?;
    let ground = Ground { root: on.root, hold: &*on.hold, disk: device, partitions: &partitions };
    // Before the tables are read: what happens from now on is seen.
    let resumed = listener(on, volume, to_test)?;
    let (parts, tables) = ground.parts(volume).or_else(|why| checks.refuse(why))?;
    let Some(part) = largest(&parts) else { return checks.refuse(format!("{node} has no bytes")) };
    checks.lines.push(said(volume, device, &partitions, (&parts, part)));
    let limits = passed_on(&mut checks, on, device, volume)?;
    whole_disk_signature(&mut checks, on, device, true)?;
    let most = if known.thin.is_some() { THIN_LIMIT } else { u64::MAX };
    let range = ScratchRange {
        node,
        devnum: volume.devnum.map_or((0, 0), |d| (d.major, d.minor)),
        diskseq: on.root.number(&volume.attr("diskseq")).get(),
        start: part.at,
        length: part.length,
        logical_block: on.opened.logical_block,
        physical_block: on.opened.physical_block.max(limits.physical_block),
        node_offset: part.on_disk - part.at,
    };
    let volume = Volume { device: volume.clone(), uuid, tables, gated: limits.gated, made: None, resumed };
    nobody(&mut checks, on, device, &partitions, (&volume, &range))?;
    unsigned(&mut checks, on, (&range.node, &shown), "logical volume")?;
    exclusive(&mut checks, on, &range.node)?;
    let (limit, thin) = (most.min(range.length), known.thin.is_some());
    Ok(Proof { limit, thin, volume: Some(volume), ..Proof::of(range, "lv", checks.lines, on.opened) })
}

/// Who tells of suspensions of the volume, and of the device-mapper devices that it may lead through.
fn listener(on: &Asked<'_>, volume: &Device, to_test: bool) -> Result<Option<Resumed>> {
    let names = || stack::with_members(on.root, volume).into_iter().filter(|d| d.kind == Kind::Dm).map(|d| d.name);
    let listen = || Resumed::listen(names().collect());
    let listening = to_test.then(listen).transpose();
    listening.map_err(|e| Error::file("the kernel's events (netlink)", "listen to", e))
}

impl Proof {
    /// The volume that was made for the test, where the range is one: what it holds is nobody's.
    pub fn made(&self) -> Option<&Own> {
        self.volume.as_ref().and_then(|v| v.made.as_ref())
    }

    /// Whether the medium has to be known again: by what is put back, or by what is removed.
    pub fn needs_witness(&self) -> bool {
        !self.ownerless || self.made().is_some()
    }

    /// The same proof of a volume that was made as planned: where it lies elsewhere nothing is written to it.
    pub fn of_made(mut self, device: &Device, own: Own, planned: Planned) -> Result<Proof> {
        let lies = (self.range.node_offset + self.range.start, self.range.length);
        let Some(volume) = self.volume.as_mut().filter(|_| lies == planned.on_disk) else {
            let why = format!("{}/{} does not lie in the extents that were asked for", own.group, own.name);
            return Err(Error::NotSafe { device: device.node(), why });
        };
        volume.made = Some(own);
        (self.kind, self.ownerless) = ("vg", true);
        self.checks = [planned.checks, self.checks].concat();
        Ok(self)
    }
}

/// The longest part; never one that lies nearer to the start of the disk than to the start of the volume, since places on the
/// volume are counted from there.
fn largest(parts: &[Part]) -> Option<Part> {
    parts.iter().filter(|p| p.on_disk >= p.at).max_by_key(|p| p.length).copied()
}

/// The map in words.
fn said(volume: &Device, device: &Device, partitions: &[Partition], (parts, part): (&[Part], Part)) -> String {
    let through = partitions.iter().find(|p| overlap(p, part.on_disk, part.length));
    let through = through.map_or_else(String::new, |p| format!(" through {}", p.name));
    let pieces = match parts.len() {
        1 => "in one piece".to_owned(),
        n => format!("in {n} pieces, of which the longest is used ({})", human_bytes(part.length)),
    };
    format!(
        "the map of {} is linear and leads only to {}{through}, {pieces}; its byte {} is byte {} of the disk",
        volume.node(),
        device.node(),
        part.at,
        part.on_disk
    )
}

/// What the volume's own queue adds.
struct Limits {
    physical_block: u64,
    gated: bool,
}

/// That the volume hands zeroing on as the disk takes it: else the test would be of the volume's limits.
fn passed_on(checks: &mut Checks, on: &Asked<'_>, device: &Device, volume: &Device) -> Result<Limits> {
    let node = volume.node();
    let number = |d: &Device, file: &str| on.root.number(&d.attr(file));
    let (own, below) = (number(volume, LIMIT), number(device, LIMIT));
    let text = |limit: &Fact<u64>| limit.get().map_or_else(|| "not known".to_owned(), |n| n.to_string());
    checks.require(own == below, &format!("{node} passes zeroing commands on with the disk's limit"), || {
        format!(
            "{LIMIT} of {node} is {} and that of the disk is {}, so a test would measure the volume and not the \
             disk; deactivate and activate the volume (lvchange -an, then lvchange -ay)",
            text(&own),
            text(&below)
        )
    })?;
    let logical = checks.known(number(volume, "queue/logical_block_size"), &format!("the block size of {node}"))?;
    checks.require(
        logical == on.opened.logical_block,
        &format!("{node} has the same block size as the disk"),
        || format!("a block of {node} has {logical} bytes, but a block of the disk has {}", on.opened.logical_block),
    )?;
    let physical_block = number(volume, "queue/physical_block_size").get().unwrap_or(0);
    let gated = number(volume, KNOB).is(0) && !number(device, KNOB).is(0);
    Ok(Limits { physical_block, gated })
}

/// That nobody uses the volume, and nobody else the bytes of the disk that it leads to.
fn nobody(
    checks: &mut Checks,
    on: &Asked<'_>,
    device: &Device,
    partitions: &[Partition],
    (volume, range): (&Volume, &ScratchRange),
) -> Result<()> {
    let at = &volume.device;
    let on_disk = (range.node_offset + range.start, range.length);
    not_held(checks, on.root, &at.attr("holders"), &at.name)?;
    let numbers = at.devnum.into_iter().chain(device.devnum);
    let reach = partitions.iter().filter(|p| overlap(p, on_disk.0, on_disk.1)).filter_map(|p| p.devnum);
    for number in numbers.chain(reach) {
        not_mounted(checks, on.root, &number.to_string(), &format!("the device {number}"))?;
    }
    let ground = Ground { root: on.root, hold: &*on.hold, disk: device, partitions };
    ground.nobody_else(&volume.tables, on_disk).or_else(|why| checks.refuse(why))?;
    checks.lines.push("no other device-mapper table leads to the range".to_owned());
    others::nobody(checks, (on.root, &*on.hold), device, partitions, on_disk, false)?;
    others::nobody(checks, (on.root, &*on.hold), at, &[], (range.start, range.length), false)?;
    let limits = checks.known(
        cgroup::limits(on.root, at.devnum.as_slice()),
        &format!("whether a control group limits the I/O to {}", at.node()),
    )?;
    checks.require(limits.is_empty(), &format!("no control group limits the I/O to {}", at.node()), || {
        let limit = limits.first().map_or("", |l| l.file.as_str());
        format!(
            "{limit} limits the I/O of zerocap to {}, so a test would measure this limit and not the disk; run \
                 the test outside of that control group",
            at.node()
        )
    })
}

/// The same while the test runs: the tables are what they were, and nobody has come.
pub(super) fn look_again(
    on: &Asked<'_>,
    device: &Device,
    partitions: &[Partition],
    volume: &Volume,
    range: &ScratchRange,
) -> Result<()> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    if let Some(name) = volume.resumed.as_ref().and_then(Resumed::take) {
        return checks.refuse(format!("/dev/{name} was suspended for a while during the test"));
    }
    for (number, before) in &volume.tables {
        let name = by_number(on.root, *number).map_or_else(|| number.to_string(), |d| d.node());
        let now = checks.known(on.hold.table(*number), &format!("the table of {name}"))?;
        checks.require(!now.suspended, "not suspended", || format!("{name} was suspended during the test"))?;
        checks
            .require(now == *before, "the map is as before", || format!("the map of {name} changed during the test"))?;
    }
    nobody(&mut checks, on, device, partitions, (volume, range))
}

/// Proves the volume of a journal again, for recovery: nobody uses it. Where its map leads by now is the same: what is written
/// to the volume is the volume's, wherever that lies.
pub(super) fn of_journal(mut checks: Checks, on: &Asked<'_>, volume: &Device, header: &Header) -> Result<Proof> {
    let disk = on.opened;
    let (start, length) = header.span;
    checks.require(start.saturating_add(length) <= disk.size, "the journalled bytes lie inside the volume", || {
        format!("it has only {} bytes and ends before the journalled bytes do", disk.size)
    })?;
    not_held(&mut checks, on.root, &volume.attr("holders"), &volume.name)?;
    if let Some(number) = volume.devnum {
        not_mounted(&mut checks, on.root, &number.to_string(), &volume.name)?;
    }
    others::nobody(&mut checks, (on.root, &*on.hold), volume, &[], header.span, false)?;
    let node = volume.node();
    exclusive(&mut checks, on, &node)?;
    let range = ScratchRange {
        node,
        devnum: disk.devnum,
        diskseq: disk.diskseq,
        start: 0,
        length: start + length,
        logical_block: disk.logical_block,
        physical_block: header.physical_block,
        node_offset: header.node_offset,
    };
    Ok(Proof { thin: header.thin, ..Proof::of(range, "journal", checks.lines, disk) })
}
