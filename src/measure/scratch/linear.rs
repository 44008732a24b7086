//! Where the bytes of a device-mapper device lie on a disk below it, as far as its tables are linear, and whether another
//! table leads to the same bytes. It reads tables and sysfs; a table that cannot be followed is an error in words.

use crate::device::{Device, Devnum, Kind};
use crate::fact::Fact;
use crate::machine::block::devices::{self, Partition};
use crate::machine::block::dm_status::{Table, Target};
use crate::machine::block::hold::Hold;
use crate::machine::block::stack::DEEPEST;
use crate::machine::fs::root::Root;
use crate::units::SECTOR;

/// A part of a device that lies in one piece on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its first byte on the device.
    pub at: u64,
    /// Its first byte on the disk.
    pub on_disk: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// The disk that maps are followed to, and who is asked.
pub(super) struct Ground<'a> {
    pub(super) root: &'a Root,
    pub(super) hold: &'a dyn Hold,
    pub(super) disk: &'a Device,
    pub(super) partitions: &'a [Partition],
}

/// The tables that were followed, that of the device itself first.
pub type Tables = Vec<(Devnum, Table)>;

/// A whole device by its number.
pub(super) fn by_number(root: &Root, devnum: Devnum) -> Option<Device> {
    devices::by_number(root, devnum).filter(|t| t.partition.is_none()).map(|t| t.device)
}

/// Where a linear target leads: "8:3 2048".
fn leads_to(target: &Target) -> Option<(Devnum, u64)> {
    let mut words = target.text.split_whitespace();
    let (number, sectors) = (words.next()?.parse().ok()?, words.next()?.parse::<u64>().ok()?);
    words.next().is_none().then_some((number, sectors.checked_mul(SECTOR)?))
}

/// What a target takes of one device below, as first byte and length; `None` where that cannot be told.
fn takes(target: &Target, of: Devnum) -> Option<Vec<(u64, u64)>> {
    let only = |found: Vec<(Devnum, u64)>, length: u64| {
        found.into_iter().filter(|(number, _)| *number == of).map(|(_, offset)| (offset, length)).collect()
    };
    match target.kind.as_str() {
        "linear" => Some(only(vec![leads_to(target)?], target.length)),
        // "2 128 8:3 0 8:19 0": how many, the length of a chunk, then a device and an offset for each.
        "striped" => {
            let words: Vec<&str> = target.text.split_whitespace().collect();
            let number = words.first()?.parse::<u64>().ok().filter(|n| *n > 0)?;
            let stripes: Option<Vec<(Devnum, u64)>> = words
                .get(2..)?
                .chunks(2)
                .map(|pair| {
                    let sectors: u64 = pair.get(1)?.parse().ok()?;
                    Some((pair[0].parse().ok()?, sectors.checked_mul(SECTOR)?))
                })
                .collect();
            let stripes = stripes.filter(|s| s.len() as u64 == number)?;
            Some(only(stripes, target.length.div_ceil(number)))
        }
        "error" | "zero" => Some(Vec::new()),
        _ => None,
    }
}

impl Ground<'_> {
    fn table(&self, devnum: Devnum, name: &str) -> Result<Table, String> {
        match self.hold.table(devnum) {
            Fact::Known(table) => Ok(table),
            Fact::Unknown(why) => Err(format!("the table of {name} is not known ({why})")),
        }
    }

    /// Where all of a device lies on the disk, adjoining parts in one, and the tables that say so.
    pub(super) fn parts(&self, top: &Device) -> Result<(Vec<Part>, Tables), String> {
        let mut tables = Tables::new();
        let devnum = top.devnum.ok_or_else(|| format!("{} has no device number", top.name))?;
        let length = self.table(devnum, &top.name)?.targets.iter().map(|t| t.length).sum();
        let mut parts: Vec<Part> = Vec::new();
        for next in self.follow(top, (0, length), 0, &mut tables)? {
            match parts.last_mut() {
                Some(p) if (p.at + p.length, p.on_disk + p.length) == (next.at, next.on_disk) => {
                    p.length += next.length
                }
                _ => parts.push(next),
            }
        }
        Ok((parts, tables))
    }

    fn follow(
        &self,
        device: &Device,
        (from, length): (u64, u64),
        depth: usize,
        tables: &mut Tables,
    ) -> Result<Vec<Part>, String> {
        let name = &device.name;
        let Some(devnum) = device.devnum.filter(|_| depth < DEEPEST) else {
            return Err(format!("{name} has no device number, or too many devices lie below it"));
        };
        let table = self.table(devnum, name)?;
        if table.suspended {
            return Err(format!("{name} is suspended; resume it with: dmsetup resume {name}"));
        }
        if table.another_waits {
            return Err(format!("a second table of {name} is loaded and not active yet, so somebody is changing it"));
        }
        if !tables.iter().any(|(known, _)| *known == devnum) {
            tables.push((devnum, table.clone()));
        }
        let (mut parts, mut at, end) = (Vec::new(), from, from.saturating_add(length));
        for target in table.targets.iter().filter(|t| overlap_of((t.start, t.length), (from, length))) {
            if target.kind != "linear" {
                return Err(no_map(name, &target.kind));
            }
            let Some((below, offset)) = leads_to(target).filter(|_| target.start <= at) else {
                return Err(format!("the table of {name} is not valid"));
            };
            let to = end.min(target.start + target.length);
            let place = offset
                .checked_add(at - target.start)
                .ok_or("a table leads to an address that does not fit into 64 bits")?;
            parts.extend(
                self.below(name, below, (place, to - at), depth, tables)?
                    .into_iter()
                    .map(|p| Part { at: at + (p.at - place), ..p }),
            );
            at = to;
        }
        if at != end {
            return Err(format!("the table of {name} has a hole"));
        }
        Ok(parts)
    }

    /// Where a span of what lies below `name` lies on the disk.
    fn below(
        &self,
        name: &str,
        number: Devnum,
        (at, length): (u64, u64),
        depth: usize,
        tables: &mut Tables,
    ) -> Result<Vec<Part>, String> {
        if self.disk.devnum == Some(number) {
            return Ok(vec![Part { at, on_disk: at, length }]);
        }
        if let Some(p) = self.partitions.iter().find(|p| p.devnum == Some(number)) {
            let inside = at.checked_add(length).is_some_and(|end| end <= p.length);
            return match p.start.checked_add(at).filter(|_| inside) {
                Some(on_disk) => Ok(vec![Part { at, on_disk, length }]),
                None => Err(format!("{name} ends beyond the end of {}", p.name)),
            };
        }
        match by_number(self.root, number).filter(|d| d.kind == Kind::Dm) {
            Some(below) => self.follow(&below, (at, length), depth + 1, tables),
            None => {
                let other = self.root.link_name(&format!("sys/dev/block/{number}"));
                let other = other.known().map_or_else(|| number.to_string(), |name| escaped(name));
                Err(format!("{name} lies at least partly on {other}, and not on this device alone"))
            }
        }
    }

    /// That of all that stands on the disk no table but the `own` ones leads to these bytes of it.
    pub(super) fn nobody_else(&self, own: &Tables, bytes: (u64, u64)) -> Result<(), String> {
        let disk = self.disk;
        let base = disk.devnum.ok_or_else(|| format!("{} has no device number", disk.name))?;
        self.above((&disk.attr("holders"), base, &disk.name), own, bytes, 0)?;
        for p in self.partitions.iter().filter(|p| overlap(p, bytes.0, bytes.1)) {
            let base = p.devnum.ok_or_else(|| format!("{} has no device number", p.name))?;
            let from = bytes.0.max(p.start);
            let inside = (from - p.start, (bytes.0 + bytes.1).min(p.start + p.length) - from);
            self.above((&disk.attr(&format!("{}/holders", p.name)), base, &p.name), own, inside, 0)?;
        }
        Ok(())
    }

    fn above(
        &self,
        (list, base, name): (&str, Devnum, &str),
        own: &Tables,
        bytes: (u64, u64),
        depth: usize,
    ) -> Result<(), String> {
        let holders = match self.root.list(list) {
            Fact::Known(holders) if depth < DEEPEST => holders,
            Fact::Known(_) => return Err(format!("too many devices lie on {name}")),
            Fact::Unknown(why) => return Err(format!("it is not known what uses {name} ({why})")),
        };
        for holder in holders.iter().map(|h| devices::device(self.root, h)) {
            let Some(number) = holder.devnum.filter(|_| holder.kind == Kind::Dm) else {
                return Err(format!("{name} is used by {}, whose map cannot be followed", holder.name));
            };
            for target in self.table(number, &holder.name)?.targets {
                let Some(spans) = takes(&target, base) else {
                    return Err(format!(
                        "{} uses {name} by a map of the type {}, which cannot be followed",
                        holder.name,
                        escaped(&target.kind)
                    ));
                };
                for (offset, length) in spans.into_iter().filter(|span| overlap_of(*span, bytes)) {
                    let ours = own.iter().position(|(known, _)| *known == number);
                    let Some(ours) = ours.filter(|_| target.kind == "linear") else {
                        return Err(format!("{} also maps bytes of the range", holder.name));
                    };
                    // What stands on the device itself the caller asks: nothing may.
                    if ours > 0 {
                        let from = bytes.0.max(offset);
                        let to = (bytes.0 + bytes.1).min(offset + length);
                        let up = (target.start + (from - offset), to - from);
                        self.above((&holder.attr("holders"), number, &holder.name), own, up, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn no_map(name: &str, kind: &str) -> String {
    match kind {
        "crypt" => format!(
            "{name} is encrypted (dm-crypt): zeroes that are written through it reach the disk as ciphertext, so a \
             test there would say nothing about how the disk zeroes"
        ),
        kind => format!("{name} is not a linear map: a part of it is {}", escaped(kind)),
    }
}

/// Whether a partition reaches these bytes of its disk.
pub(super) fn overlap(p: &Partition, start: u64, length: u64) -> bool {
    overlap_of((p.start, p.length), (start, length))
}

fn overlap_of((a, n): (u64, u64), (b, m): (u64, u64)) -> bool {
    a < b.saturating_add(m) && b < a.saturating_add(n)
}

fn escaped(text: &str) -> String {
    crate::device::display::escape_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::simulated::disk::{self, Shared, SimulatedHold};
    use crate::machine::simulated::{Model, SimulatedPort};
    use crate::units::MIB;

    const VOLUME: Devnum = Devnum { major: 254, minor: 0 };
    const OTHER: Devnum = Devnum { major: 254, minor: 1 };

    fn table(targets: &[(u64, u64, &str, &str)]) -> Table {
        let target = |(start, length, kind, text): &(u64, u64, &str, &str)| Target {
            start: start * MIB,
            length: length * MIB,
            kind: (*kind).to_owned(),
            text: (*text).to_owned(),
        };
        Table { targets: targets.iter().map(target).collect(), suspended: false, another_waits: false }
    }

    struct Stand {
        dir: tempfile::TempDir,
        hold: SimulatedHold,
    }

    impl Stand {
        /// A disk of 64 MiB with a partition from 8 MiB to 48 MiB, which a volume of this table stands on.
        fn new(of_volume: Table) -> Stand {
            let dir = tempfile::tempdir().unwrap();
            let opened = disk::opened(64 * MIB);
            disk::tree(dir.path(), &opened).unwrap();
            let port = SimulatedPort::new(Model::steady(8_000_000, 1_000_000), vec![0; 512], 1);
            let mut hold = SimulatedHold::new(Shared::new(port), opened);
            hold.tables.push((VOLUME, of_volume));
            let stand = Stand { dir, hold };
            for (file, text) in [("partition", "1"), ("start", "16384"), ("size", "81920"), ("dev", "253:417")] {
                stand.write(&format!("sys/block/vdz/vdz1/{file}"), text);
            }
            stand.device("dm-0", "254:0");
            stand.write("sys/block/vdz/vdz1/holders/dm-0", "");
            stand
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn device(&self, name: &str, number: &str) {
            self.write(&format!("sys/block/{name}/dev"), number);
            std::fs::create_dir_all(self.dir.path().join(format!("sys/block/{name}/holders"))).unwrap();
            let links = self.dir.path().join("sys/dev/block");
            std::fs::create_dir_all(&links).unwrap();
            std::os::unix::fs::symlink(format!("../../block/{name}"), links.join(number)).unwrap();
        }

        fn ask<T>(&self, what: impl FnOnce(&Ground<'_>, &Device) -> T) -> T {
            let root = Root::open(self.dir.path()).unwrap();
            let disk = devices::device(&root, disk::NAME);
            let partitions = devices::partitions(&root, &disk).known().cloned().unwrap();
            let ground = Ground { root: &root, hold: &self.hold, disk: &disk, partitions: &partitions };
            what(&ground, &devices::device(&root, "dm-0"))
        }

        fn parts(&self) -> Result<Vec<(u64, u64, u64)>, String> {
            let parts = self.ask(|ground, top| ground.parts(top))?.0;
            Ok(parts.iter().map(|p| (p.at / MIB, p.on_disk / MIB, p.length / MIB)).collect())
        }

        /// Whether somebody else leads to 4 MiB from 20 MiB of the disk on.
        fn others(&self) -> Result<(), String> {
            self.ask(|ground, top| {
                let (_, own) = ground.parts(top)?;
                ground.nobody_else(&own, (20 * MIB, 4 * MIB))
            })
        }
    }

    #[test]
    fn linear_maps_are_followed_and_adjacent_parts_are_joined() {
        let one = table(&[(0, 8, "linear", "253:417 8192"), (8, 8, "linear", "253:417 24576")]);
        assert_eq!(Stand::new(one).parts(), Ok(vec![(0, 12, 16)]));
        let two = table(&[(0, 8, "linear", "253:417 24576"), (8, 8, "linear", "253:416 2048")]);
        assert_eq!(Stand::new(two).parts(), Ok(vec![(0, 20, 8), (8, 1, 8)]));
        // Through another volume: the second half of it.
        let mut through = Stand::new(table(&[(0, 4, "linear", "254:1 8192")]));
        through.device("dm-1", "254:1");
        through.hold.tables.push((OTHER, table(&[(0, 8, "linear", "253:417 2048")])));
        assert_eq!(through.parts(), Ok(vec![(0, 13, 4)]));
    }

    #[test]
    fn maps_that_are_not_linear_or_use_another_disk_are_refused() {
        let refused = |of: Table, what: &str| {
            let said = Stand::new(of).parts();
            assert!(said.as_ref().is_err_and(|why| why.contains(what)), "{what}: {said:?}");
        };
        refused(table(&[(0, 8, "striped", "2 128 253:417 0 8:16 0")]), "is striped");
        refused(table(&[(0, 8, "linear", "253:417 0"), (8, 8, "linear", "8:16 0")]), "not on this device alone");
        refused(table(&[(0, 8, "linear", "254:9 0")]), "not on this device alone");
        refused(table(&[(0, 8, "linear", "253:417 0"), (9, 8, "linear", "253:417 24576")]), "is not valid");
        refused(table(&[(0, 41, "linear", "253:417 0")]), "ends beyond the end of vdz1");
        refused(table(&[(0, 8, "linear", "253:417")]), "is not valid");
        refused(table(&[(0, 8, "linear", "254:0 0")]), "too many devices lie below it");
        refused(Table { suspended: true, ..table(&[(0, 8, "linear", "253:417 0")]) }, "is suspended");
        refused(Table { another_waits: true, ..table(&[(0, 8, "linear", "253:417 0")]) }, "somebody is changing it");
        let mut unknown = Stand::new(table(&[]));
        unknown.hold.tables.clear();
        assert!(unknown.parts().is_err_and(|why| why.contains("is not known")));
    }

    #[test]
    fn only_a_table_that_maps_the_same_bytes_refuses() {
        // The bytes that are asked about are 12 MiB of the partition and on.
        let with = |other: Table| {
            let mut stand = Stand::new(table(&[(0, 16, "linear", "253:417 16384")]));
            stand.device("dm-1", "254:1");
            stand.write("sys/block/vdz/vdz1/holders/dm-1", "");
            stand.hold.tables.push((OTHER, other));
            stand.others()
        };
        assert_eq!(with(table(&[(0, 12, "linear", "253:417 0")])), Ok(()));
        assert_eq!(with(table(&[(0, 1, "linear", "253:417 32768"), (1, 1, "error", "")])), Ok(()));
        assert_eq!(with(table(&[(0, 24, "striped", "2 128 253:417 0 8:16 24576")])), Ok(()));
        let refused = |other: Table, what: &str| {
            let said = with(other);
            assert!(said.as_ref().is_err_and(|why| why.contains(what)), "{what}: {said:?}");
        };
        refused(table(&[(0, 13, "linear", "253:417 0")]), "dm-1 also maps bytes of the range");
        refused(table(&[(0, 26, "striped", "2 128 8:16 0 253:417 0")]), "dm-1 also maps bytes of the range");
        refused(table(&[(0, 26, "striped", "2 128 8:16 0 253:417")]), "which cannot be followed");
        refused(table(&[(0, 8, "crypt", "aes - 0 253:417 0")]), "a map of the type crypt, which cannot be followed");
        let raid = Stand::new(table(&[(0, 16, "linear", "253:417 16384")]));
        raid.write("sys/block/vdz/vdz1/holders/md0", "");
        raid.device("md0", "9:0");
        assert!(raid.others().is_err_and(|why| why.contains("used by md0")));
        std::fs::remove_dir_all(raid.dir.path().join("sys/block/vdz/vdz1/holders")).unwrap();
        assert!(raid.others().is_err_and(|why| why.contains("not known")));
    }
}
