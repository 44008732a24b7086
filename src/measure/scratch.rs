//! Where a test may write, and the proof of that. This is the only code that makes a [`ScratchRange`].
//!
//! It decides by checks, each with its result in words. The first check that fails refuses the test, before anything was
//! written. It writes nothing to the device: a temporary partition exists only in the kernel's view (BLKPG).

mod auto;
mod checks;
mod content;
mod disk;
pub mod file;
mod gap;
pub mod group;
mod linear;
mod others;
mod place;
mod proof;
mod simulated;
mod swap;
pub mod temporary;
mod volume;

pub use content::content;
pub use disk::any_place;
pub use place::ScratchSpec;
pub use proof::{Asked, InFile, Known, Proof, Volume, Wanted, LABEL, THIN_LIMIT};
pub use simulated::simulated;

use crate::device::Device;
use crate::error::Result;
use crate::machine::block::devices::Partition;
use crate::machine::fs::durable::Durable;
use crate::machine::port::ScratchRange;
use crate::measure::journal::Header;
use crate::measure::partition_table::Table;
use crate::units::human_bytes;
use checks::{
    exclusive, inner_signature, labelled, named, not_held, not_mounted, same_device, unsigned, whole_disk, Checks,
};
use linear::overlap;

/// Proves a range of a disk that is locked. `ledger` notes the temporary partition; without one (a dry run) none is made,
/// and the range names the whole node.
pub fn prove(
    on: &mut Asked<'_>,
    device: &Device,
    place: &ScratchSpec,
    known: &Known,
    mut ledger: Option<&mut (dyn Durable + '_)>,
) -> Result<Proof> {
    if *place == ScratchSpec::Auto {
        return auto::first_possible(on, device, &mut |on, place| {
            let ledger: Option<&mut dyn Durable> = match &mut ledger {
                Some(ledger) => Some(&mut **ledger),
                None => None,
            };
            prove(on, device, place, known, ledger)
        });
    }
    let mut checks = disk::of_disk(on, device, place, known)?;
    if let Some(volume) = volume::named(on, device, place) {
        return volume::prove(checks, on, device, &volume, (known, ledger.is_some()));
    }
    whole_disk(&mut checks, on, device)?;
    if let Some(ledger) = ledger.as_deref_mut() {
        temporary::take_stale_away(on, device, ledger)?;
    }
    let partitions = checks::partitions(&checks, on.root, device)?;
    let thin = known.thin.is_some();
    let most = if thin { THIN_LIMIT } else { u64::MAX };
    let (kind, bounds) = match place {
        ScratchSpec::Range { offset, length } => ("range", Bounds::Range(*offset, *length)),
        ScratchSpec::Gap => {
            let (start, length) = gap::find(&mut checks, on, &partitions, known.granularity, most)?;
            ("gap", Bounds::Range(start, length))
        }
        ScratchSpec::Label | ScratchSpec::Auto => {
            ("label", Bounds::Partition(labelled(&checks, on.root, device, &partitions)?))
        }
        ScratchSpec::Group(_) => return checks.refuse("a volume is made there first, and then proved"),
        ScratchSpec::Node(node) => ("partition", Bounds::Partition(named(&checks, on, device, &partitions, node)?)),
    };
    let private = known.private;
    let labelled = matches!(&bounds, Bounds::Partition(p) if checks::is_labelled(on.root, device, p));
    let mut ownerless = false;
    let (range, partition) = match bounds {
        Bounds::Partition(p) => {
            let (range, is_swap) = in_partition(&mut checks, on, device, &partitions, p, known)?;
            ownerless = is_swap;
            (range, Some((p.number, false)))
        }
        Bounds::Range(offset, length) => {
            let bytes = (offset, length);
            others::nobody(&mut checks, (on.root, &*on.hold), device, &partitions, bytes, private)?;
            in_range(&mut checks, on, device, &partitions, bytes, ledger)?
        }
    };
    let (limit, is_zero) = (most.min(range.length), *place == ScratchSpec::Gap);
    let kind = if ownerless { "swap" } else { kind };
    let proof = Proof::of(range, kind, checks.lines, on.opened);
    Ok(Proof { partition, limit, thin, labelled, is_zero, ownerless, private, ..proof })
}

/// The same as at the beginning, looked at again while the test runs: the partitions of the disk, who holds or has mounted
/// what reaches the range, and whoever else could write there.
pub fn look_again(on: &mut Asked<'_>, device: &Device, proof: &Proof) -> Result<()> {
    if let Some(file) = &proof.file {
        return file::look_again(on, device, file);
    }
    let (range, private) = (&proof.range, proof.private);
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    let partitions = checks::partitions(&checks, on.root, device)?;
    if let Some(volume) = &proof.volume {
        return volume::look_again(on, device, &partitions, volume, range);
    }
    let bytes = (range.node_offset + range.start, range.length);
    checks::holds_no_mount(&mut checks, on.root, device, &others::reaching(&partitions, bytes))?;
    others::nobody(&mut checks, (on.root, &*on.hold), device, &partitions, bytes, private)
}

enum Bounds<'a> {
    Partition(&'a Partition),
    Range(u64, u64),
}

fn in_partition(
    checks: &mut Checks,
    on: &mut Asked<'_>,
    device: &Device,
    partitions: &[Partition],
    p: &Partition,
    known: &Known,
) -> Result<(ScratchRange, bool)> {
    let node = p.node();
    let Some(devnum) = p.devnum else { return checks.refuse(format!("{node} has no device number")) };
    let read_only = on.root.flag(&device.attr(&format!("{}/ro", p.name)));
    checks.require(read_only.is(false), &format!("{node} is not read-only"), || format!("{node} is read-only"))?;
    let is_swap = unused(checks, on, device, known, p)?;
    checks::type_allows(checks, on, p)?;
    others::nobody(checks, (on.root, &*on.hold), device, partitions, (p.start, p.length), known.private)?;
    let overlapping = partitions.iter().find(|o| o.number != p.number && overlap(o, p.start, p.length));
    checks.require(overlapping.is_none(), "no other partition overlaps it", || {
        format!("{} overlaps {node}", overlapping.map_or("another partition", |o| &o.name))
    })?;
    exclusive(checks, on, &node)?;
    let start = if is_swap { swap::HEAD } else { 0 };
    let range = ScratchRange {
        node,
        devnum: (devnum.major, devnum.minor),
        diskseq: on.opened.diskseq,
        start,
        length: p.length - start,
        logical_block: on.opened.logical_block,
        physical_block: on.opened.physical_block,
        node_offset: p.start,
    };
    Ok((range, is_swap))
}

type Bounded = (ScratchRange, Option<(u64, bool)>);

fn in_range(
    checks: &mut Checks,
    on: &mut Asked<'_>,
    device: &Device,
    partitions: &[Partition],
    (offset, length): (u64, u64),
    ledger: Option<&mut (dyn Durable + '_)>,
) -> Result<Bounded> {
    let disk = on.opened;
    let block = disk.physical_block.max(disk.logical_block).max(1);
    checks.require(
        offset % block == 0 && length % block == 0,
        &format!("a multiple of the {block}-byte block"),
        || format!("offset and length must be multiples of its block size, {block} bytes"),
    )?;
    let inside = offset.checked_add(length).is_some_and(|end| end <= disk.size);
    checks.require(inside, "inside the device", || {
        format!(
            "{offset}+{length} ends beyond the end of the device, which has {} bytes ({})",
            disk.size,
            human_bytes(disk.size)
        )
    })?;
    let table = Table::read(disk.size, disk.logical_block, &mut |at, n| on.hold.read_at(at, n));
    let conflict = table.conflict(offset, length);
    checks.require(conflict.is_none(), "no entry or header of a partition table lies in the range", || {
        format!("the range overlaps {}", conflict.clone().unwrap_or_default())
    })?;
    let hit = partitions.iter().find(|p| overlap(p, offset, length));
    checks.require(hit.is_none(), "no partition of the kernel lies in the range", || {
        format!(
            "the range overlaps {}; to test in that partition, give --scratch {}",
            hit.map_or("", |p| &p.name),
            hit.map_or(String::new(), Partition::node)
        )
    })?;
    let mut range = ScratchRange {
        node: device.node(),
        devnum: disk.devnum,
        diskseq: disk.diskseq,
        start: offset,
        length,
        logical_block: disk.logical_block,
        physical_block: disk.physical_block,
        node_offset: 0,
    };
    let Some(ledger) = ledger else {
        inner_signature(checks, on, &device.node(), Some((offset, length)))?;
        checks.lines.push("a temporary kernel partition will bound the range, if the device can have one".to_owned());
        return Ok((range, None));
    };
    // Before the kernel shows the range as a partition: of one with a signature udev would make links, perhaps root's.
    inner_signature(checks, on, &device.node(), Some((offset, length)))?;
    match temporary::make(checks, on, device, ledger, (offset, length))? {
        Some(p) => {
            let devnum = p.devnum.map_or((0, 0), |d| (d.major, d.minor));
            let result = inner_signature(checks, on, &p.node(), None).and_then(|()| exclusive(checks, on, &p.node()));
            if let Err(e) = result {
                temporary::take_away(on.hold, disk.devnum, ledger, p.number)?;
                return Err(e);
            }
            range = ScratchRange { node: p.node(), devnum, start: 0, node_offset: offset, ..range };
            Ok((range, Some((p.number, true))))
        }
        None => {
            checks.require(partitions.is_empty(), "it has no partitions", || {
                "it has partitions, and no further one can be added".to_owned()
            })?;
            exclusive(checks, on, &device.node())?;
            Ok((range, None))
        }
    }
}

/// Proves again the range of a journal, for recovery, on the disk whose medium was found: the range is there, and nobody
/// holds it. Signatures are the caller's: they decide which zeroes may be the test's. A temporary partition that was left
/// is used; where a partition has gone, the kernel bounds the same bytes anew.
pub fn of_journal(on: &mut Asked<'_>, device: &Device, header: &Header, ledger: &mut dyn Durable) -> Result<Proof> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    same_device(&mut checks, on.root, device, &on.opened)?;
    let disk = on.opened;
    checks.require(disk.logical_block == header.logical_block, "the block size is as journalled", || {
        format!("its block has {} bytes, but the journal has blocks of {}", disk.logical_block, header.logical_block)
    })?;
    if header.volume.is_some() {
        return volume::of_journal(checks, on, device, header);
    }
    let (first, end) = header.on_device();
    checks.require(end <= disk.size, "the journalled bytes lie inside the device", || {
        format!("it ends at byte {}, before the journalled bytes do ({end})", disk.size)
    })?;
    let partitions = checks::partitions(&checks, on.root, device)?;
    others::nobody(&mut checks, (on.root, &*on.hold), device, &partitions, (first, end - first), false)?;
    let range = |node: String, devnum, length, node_offset| ScratchRange {
        node,
        devnum,
        diskseq: disk.diskseq,
        start: 0,
        length,
        logical_block: disk.logical_block,
        physical_block: disk.physical_block,
        node_offset,
    };
    let Some(node_length) = header.node_length else {
        exclusive(&mut checks, on, &device.node())?;
        let range = range(device.node(), disk.devnum, end, 0);
        return Ok(Proof { thin: header.thin, ..Proof::of(range, "journal", checks.lines, disk) });
    };
    let place = (header.node_offset, node_length);
    let there = partitions.iter().find(|p| (p.start, p.length) == place);
    let (p, temporary) = match there {
        Some(p) => (p.clone(), header.temporary && Some(p.number) == header.partition),
        None => {
            let hit = partitions.iter().find(|p| overlap(p, first, end - first));
            checks.require(hit.is_none(), "no other partition overlaps the journalled bytes", || {
                format!("{} overlaps the journalled bytes now", hit.map_or("another partition", |p| &p.name))
            })?;
            match temporary::make(&mut checks, on, device, ledger, place)? {
                Some(p) => (p, true),
                None => return checks.refuse("the kernel cannot bound the journalled bytes by a partition"),
            }
        }
    };
    if let Err(e) = exclusive(&mut checks, on, &p.node()) {
        if temporary {
            temporary::take_away(on.hold, disk.devnum, ledger, p.number)?;
        }
        return Err(e);
    }
    let devnum = p.devnum.map_or((0, 0), |d| (d.major, d.minor));
    let range = range(p.node(), devnum, p.length, p.start);
    let partition = Some((p.number, temporary));
    Ok(Proof { partition, thin: header.thin, ..Proof::of(range, "journal", checks.lines, disk) })
}

/// Checks that nothing uses a partition: holders, mounts, signatures. Whether it is inactive swap space, whose content is
/// nobody's.
fn unused(checks: &mut Checks, on: &Asked<'_>, device: &Device, known: &Known, p: &Partition) -> Result<bool> {
    not_held(checks, on.root, &device.attr(&format!("{}/holders", p.name)), &p.name)?;
    if let Some(devnum) = p.devnum {
        not_mounted(checks, on.root, &devnum.to_string(), &p.name)?;
    }
    let node = p.node();
    if swap::is_swap(&on.hold.signature(&node, None)?) {
        checks.lines.push(format!("{} is swap space and nothing else (blkid -p)", p.name));
        return swap::inactive(checks, on, known, p).map(|()| true);
    }
    unsigned(checks, on, (&node, &p.name), "partition").map(|()| false)
}
