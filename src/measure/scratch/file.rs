//! A file without a name in a mounted file system as the place of a test. The file system and the direct maps below it say
//! which bytes of the disk belong to the file. This code makes the file and its range. Nobody else uses these bytes, so
//! nothing has to be put back. As in every proof, what is not known is a refusal.

use super::checks::Checks;
use super::disk;
use super::linear::{Ground, Part, Tables};
use super::place::ScratchSpec;
use super::proof::{Asked, InFile, Known, Proof, Wanted, THIN_LIMIT};
use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::machine::block::devices::{self, Target};
use crate::machine::block::hold::Hold;
use crate::machine::fs::mounts;
use crate::machine::fs::root::Root;
use crate::machine::port::file_acts::{decode_extents, Extent, FileAct, Marks};
use crate::machine::port::{Act, ActError, Done, Port, ScratchRange};
use crate::units::human_bytes;

/// Where a file system's device lies on a disk.
#[derive(Debug, Clone)]
pub struct Map {
    parts: Vec<Part>,
    tables: Tables,
    /// What leads there, the uppermost first.
    pub through: Vec<String>,
}

impl Map {
    /// The pieces of a file that are each one piece of the disk, by where the file system has put them.
    fn runs(&self, extents: &[Extent]) -> Vec<Part> {
        let mut runs: Vec<Part> = Vec::new();
        for e in extents {
            for part in &self.parts {
                let from = e.physical.max(part.at);
                let to = (e.physical + e.length).min(part.at + part.length);
                if from >= to {
                    continue;
                }
                let (at, on_disk) = (e.logical + (from - e.physical), part.on_disk + (from - part.at));
                match runs.last_mut() {
                    Some(r) if (r.at + r.length, r.on_disk + r.length) == (at, on_disk) => r.length += to - from,
                    _ => runs.push(Part { at, on_disk, length: to - from }),
                }
            }
        }
        runs
    }
}

/// Maps the device of a file system to a disk: a partition of it, a device-mapper device whose tables are linear, or itself.
pub fn mapped(root: &Root, hold: &dyn Hold, filesystem: Devnum, disk: &Device) -> std::result::Result<Map, String> {
    let target = devices::by_number(root, filesystem);
    let Target { device, partition } = target.ok_or("the device of the file system is not known")?;
    let one = |on_disk, length| vec![Part { at: 0, on_disk, length }];
    if device.name == disk.name {
        let through = partition.iter().map(|p| format!("partition {}", p.node())).collect();
        let parts = partition.map_or_else(|| one(0, u64::MAX), |p| one(p.start, p.length));
        return Ok(Map { parts, tables: Tables::new(), through });
    }
    let partitions = devices::partitions(root, disk);
    let partitions = partitions.known().ok_or_else(|| format!("which partitions {} has is not known", disk.node()))?;
    if partition.is_some() {
        return Err(format!("it is a partition of {}", device.node()));
    }
    let (parts, tables) = Ground { root, hold, disk, partitions }.parts(&device)?;
    let through =
        tables.iter().map(|(number, _)| format!("the linear table of device-mapper device {number}")).collect();
    Ok(Map { parts, tables, through })
}

/// A file that is made for the test in a directory and has no name: nobody's bytes are in it. `filesystem` is the number
/// of the directory's file system, checked when the file is made.
pub fn new_file(directory: &str, filesystem: (u32, u32), length: u64, logical_block: u64) -> ScratchRange {
    ScratchRange {
        node: directory.to_owned(),
        devnum: filesystem,
        diskseq: None,
        start: 0,
        length,
        logical_block,
        physical_block: logical_block,
        node_offset: 0,
    }
}

/// Makes the file on the port, and proves where on the disk it lies: the range is the longest piece of it that is one piece
/// on the disk. The port has that range open; closing it takes the file away.
pub fn prove(on: &mut Asked<'_>, device: &Device, known: &Known, wanted: Wanted, port: &mut dyn Port) -> Result<Proof> {
    let mut checks = disk::of_disk(on, device, &ScratchSpec::Node(wanted.directory.clone()), known)?;
    let number = (wanted.filesystem.major, wanted.filesystem.minor);
    let whole = new_file(&wanted.directory, number, wanted.length, on.opened.logical_block);
    made(port, &whole)?;
    plain(&mut checks, &ask(port, &whole, FileAct::Marks)?, wanted.block)?;
    let file = FileAct::Extents { offset: 0, length: wanted.length };
    let extents: Vec<Extent> =
        decode_extents(&ask(port, &whole, file)?).iter().filter_map(|e| e.within(0, wanted.length)).collect();
    let (all, shown) = (extents.iter().map(|e| e.length).sum::<u64>() == wanted.length, "all of it is allocated");
    checks.require(all, shown, || "the file system does not say where all bytes of the file lie".to_owned())?;
    checks.require(extents.iter().all(|e| e.is_plain(true)), "its bytes are the disk's own (FIEMAP)", || {
        "the file system shares, packs or encodes the bytes of a new file".to_owned()
    })?;
    let map = match mapped(on.root, &*on.hold, wanted.filesystem, device) {
        Ok(map) => map,
        Err(why) => return checks.refuse(why),
    };
    checks.lines.extend(map.through.iter().map(|what| format!("its bytes are mapped plainly by {what}")));
    let runs = map.runs(&extents);
    let covered = runs.iter().map(|r| r.length).sum::<u64>() == wanted.length;
    let on_disk = format!("all of it lies on {}", device.node());
    checks.require(covered, &on_disk, || format!("not all of its bytes lie on {}", device.node()))?;
    let Some(run) = runs.into_iter().max_by_key(|r| r.length) else {
        return checks.refuse("the file has no bytes on the disk");
    };
    let range = range(on, &whole, &run, wanted.block, known.granularity);
    act(port, &range, FileAct::Bind)?;
    checks.lines.push(format!(
        "a file of {} without a name; {} of it lie in one piece on the disk, from byte {} of the disk on",
        human_bytes(wanted.length),
        human_bytes(run.length),
        run.on_disk
    ));
    let extents = extents.iter().filter_map(|e| e.within(range.start, range.length)).collect();
    let thin = known.thin.is_some();
    if thin {
        checks.lines.push(
            "the space that the test writes to stays allocated in the pool until the file system is trimmed \
                   (fstrim)"
                .to_owned(),
        );
    }
    let limit = if thin { range.length.min(THIN_LIMIT) } else { range.length };
    let file = Some(InFile { wanted, extents, tables: map.tables });
    let proof = Proof::of(range, "directory", checks.lines, on.opened);
    Ok(Proof { limit, thin, private: known.private, ownerless: true, file, ..proof })
}

fn made(port: &mut dyn Port, whole: &ScratchRange) -> Result<()> {
    act(port, whole, FileAct::Make)?;
    act(port, whole, FileAct::Allocate { offset: 0, length: whole.length })?;
    Ok(())
}

fn act(port: &mut dyn Port, range: &ScratchRange, act: FileAct) -> Result<Done> {
    let operation = match act {
        FileAct::Make => "make a file without a name (O_TMPFILE, O_DIRECT)",
        FileAct::Allocate { .. } => "allocate space for a file",
        FileAct::Extents { .. } => "ask for the extents of a file (FIEMAP)",
        _ => "look at a file",
    };
    let failed = |e: ActError| Error::Act {
        device: crate::device::display::escape_str(&range.node),
        operation: operation.to_owned(),
        what: e.to_string(),
    };
    port.act(range, &Act::File(act)).value.map_err(failed)
}

fn ask(port: &mut dyn Port, range: &ScratchRange, what: FileAct) -> Result<Vec<u8>> {
    match act(port, range, what)? {
        Done::Bytes(bytes) => Ok(bytes),
        _ => Ok(Vec::new()),
    }
}

/// That what is written to the file goes to the device as it is.
fn plain(checks: &mut Checks, marks: &[u8], block: u64) -> Result<()> {
    let Some(marks) = Marks::decode(marks) else { return checks.refuse("the file system says nothing about the file") };
    let direct = marks.direct_align > 0 && block % u64::from(marks.direct_align) == 0;
    let not = [
        (marks.encrypted, "files there are encrypted, so zeroes are written as ciphertext"),
        (marks.compressed, "files there are compressed"),
        (marks.dax, "files there are not read and written by commands (DAX)"),
        (marks.journaled, "the data of files there goes through the journal (data=journal, chattr +j)"),
        (marks.realtime, "files there lie on the realtime device of the file system"),
        (!direct, "writes there go through the page cache in spite of O_DIRECT (data=journal, encryption or verity)"),
    ];
    let hit = not.iter().find(|(is, _)| *is).map(|(_, why)| (*why).to_owned());
    let passed = "writes to it bypass the page cache and reach the device unchanged";
    checks.require(hit.is_none(), passed, || hit.clone().unwrap_or_default())
}

/// The range of a piece. Its place on the disk counts for what offsets are multiples of; where the piece stands further on
/// in the file than on the disk, the place is moved on by a number that changes none of these.
fn range(on: &Asked<'_>, whole: &ScratchRange, run: &Part, block: u64, granularity: u64) -> ScratchRange {
    let physical_block = on.opened.physical_block.max(block);
    let mut range = ScratchRange { start: run.at, length: run.length, physical_block, ..whole.clone() };
    let step = physical_block.max(range.logical_block).saturating_mul(granularity.max(1));
    let short = run.at.saturating_sub(run.on_disk).div_ceil(step) * step;
    range.node_offset = run.on_disk + short - run.at;
    range
}

/// The same as at the beginning, looked at again while the test runs: the file system is mounted and can be written to, and
/// the tables that lead to the disk are those that were read.
pub(super) fn look_again(on: &Asked<'_>, device: &Device, file: &InFile) -> Result<()> {
    let mut checks = Checks { device: device.node(), lines: Vec::new() };
    let mounts = checks.known(mounts::complete(on.root), "what is mounted (/proc/self/mountinfo)")?;
    let number = file.wanted.filesystem.to_string();
    let there = mounts.iter().any(|m| m.devnum == number && m.options.iter().all(|o| o != "ro"));
    checks.require(there, "mounted", || format!("{} is no longer mounted for writing", file.wanted.mount_point))?;
    let same = file.tables.iter().all(|(number, table)| on.hold.table(*number).known() == Some(table));
    checks.require(same, "tables", || "a device-mapper table on the way to the disk has changed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::simulated::disk::{opened, tree, Shared, SimulatedHold};
    use crate::machine::simulated::{Model, SimulatedPort};
    use crate::units::MIB;

    #[test]
    fn alignment_counts_from_the_start_of_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let opened = opened(64 * MIB);
        let root = tree(dir.path(), &opened).unwrap();
        let port = SimulatedPort::new(Model::steady(8_000_000, 1_000_000), vec![0; 512], 1);
        let mut hold = SimulatedHold::new(Shared::new(port), opened);
        let on = Asked { root: &root, hold: &mut hold, opened };
        let whole = new_file("/mnt", (8, 1), 64 * MIB, 512);
        for (from, on_disk) in [(0, 3 * MIB), (4 * MIB, 5 * MIB), (40 * MIB, MIB + 4096), (8192, 8192)] {
            let got = range(&on, &whole, &Part { at: from, on_disk, length: MIB }, 4096, 3 * MIB);
            assert_eq!((got.start, got.length, got.physical_block), (from, MIB, 4096));
            for step in [4096, 3 * MIB] {
                assert_eq!((got.node_offset + from) % step, on_disk % step, "{from} {on_disk} {step}");
            }
        }
    }

    #[test]
    fn pieces_of_a_file_on_a_volume_of_two_parts_in_the_wrong_order() {
        let part = |at, on_disk, length| Part { at, on_disk, length };
        let map =
            Map { parts: vec![part(0, 9000, 1000), part(1000, 8000, 1000)], tables: Tables::new(), through: vec![] };
        let extent = |logical, physical, length| Extent { logical, physical, length, flags: 0 };
        // One extent over the border, one that goes on behind it on the disk, one outside of every part.
        let runs = map.runs(&[extent(0, 900, 200), extent(200, 1100, 50), extent(250, 5000, 10)]);
        assert_eq!(runs, [part(0, 9900, 100), part(100, 8000, 150)]);
    }

    #[test]
    fn a_file_whose_bytes_do_not_go_to_the_device_as_they_are_refuses() {
        let said = |marks: Marks| {
            let mut checks = Checks { device: "/dev/sda".to_owned(), lines: Vec::new() };
            plain(&mut checks, &marks.encoded(), 4096).map_err(|e| e.to_string())
        };
        let good = Marks { direct_align: 512, ..Marks::default() };
        assert_eq!(said(good), Ok(()));
        for (marks, word) in [
            (Marks { direct_align: 0, ..good }, "page cache"),
            (Marks { direct_align: 65536, ..good }, "page cache"),
            (Marks { encrypted: true, direct_align: 0, ..good }, "encrypted"),
            (Marks { dax: true, ..good }, "DAX"),
            (Marks { journaled: true, ..good }, "journal"),
            (Marks { realtime: true, ..good }, "realtime"),
            (Marks { compressed: true, ..good }, "compressed"),
        ] {
            assert!(said(marks).is_err_and(|why| why.contains(word)), "{word}");
        }
        let mut checks = Checks { device: "/dev/sda".to_owned(), lines: Vec::new() };
        assert!(plain(&mut checks, &[], 4096).is_err());
    }
}
