//! `vg:VG`: a logical volume that is made for the test in free extents of a volume group, on the physical volume on the disk.
//! It decides whether one may be made and in which extents, and makes none. Before LVM makes it, these bytes of the disk are
//! probed, because udev would make links for a signature in them.

use super::checks;
use super::place::ScratchSpec;
use super::proof::{Asked, Known};
use super::{gap, others};
use crate::device::Device;
use crate::error::Result;
use crate::machine::block::blkid::Signature;
use crate::machine::lvm::{Own, Stretch, Volume};
use crate::units::human_bytes;

/// At most one of so many free extents is taken.
const SHARE: u64 = 10;
/// Places that are probed before it gives up.
const MOST_PROBED: usize = 8;

/// What LVM says.
#[derive(Debug, Default)]
pub struct Reports {
    /// The extents of all groups.
    pub stretches: Vec<Stretch>,
    /// All volumes.
    pub volumes: Vec<Volume>,
    /// Thin pools and the like grow of themselves.
    pub grows: bool,
}

/// The volume that is to be made.
#[derive(Debug)]
pub struct Planned {
    /// By which names.
    pub own: Own,
    /// The node of the physical volume.
    pub node: String,
    /// The first extent, and how many.
    pub extents: (u64, u64),
    /// The first byte on the disk, and how many.
    pub on_disk: (u64, u64),
    /// A line a check.
    pub checks: Vec<String>,
}

/// Whether, and where, a volume may be made in a group. `name` is the volume's, `wanted` the bytes that are asked for.
pub fn plan_volume(
    on: &mut Asked<'_>,
    device: &Device,
    (group, name): (&str, &str),
    reports: &Reports,
    known: &Known,
    wanted: Option<u64>,
) -> Result<Planned> {
    let place = ScratchSpec::Group(group.to_owned());
    let mut checks = super::disk::of_disk(on, device, &place, known)?;
    let partitions = checks::partitions(&checks, on.root, device)?;
    let base = |node: &str| {
        let number = on.hold.node_devnum(node);
        let is = |d: &crate::device::Devnum| Some((d.major, d.minor)) == number;
        match device.devnum.as_ref().is_some_and(is) {
            true => Some(0),
            false => partitions.iter().find(|p| p.devnum.as_ref().is_some_and(is)).map(|p| p.start),
        }
    };
    let all: Vec<&Stretch> = reports.stretches.iter().filter(|s| s.group == group).collect();
    let Some(any) = all.first() else { return checks.refuse(format!("there is no volume group {group}")) };
    let against: Option<&String> = all.iter().find_map(|s| s.against.first());
    checks.require(
        against.is_none(),
        &format!("the volume group {group} belongs to this machine alone and is complete"),
        || format!("the volume group {group}: {}", against.map_or("", String::as_str)),
    )?;
    let growing = growing(group, any.profile, reports);
    checks.require(growing.is_none(), &format!("nothing in {group} grows by itself"), || {
        format!("{} in {group} may need its free extents at any time", growing.clone().unwrap_or_default())
    })?;
    let here: Vec<(&Stretch, u64)> =
        all.iter().filter_map(|s| Some((*s, base(&s.node)?))).filter(|(s, _)| s.free).collect();
    let free: u64 = here.iter().map(|(s, _)| s.count).sum();
    let extent = any.extent.max(1);
    let unit = known.granularity.max(on.opened.physical_block).max(on.opened.logical_block).max(512);
    // A unit more, since extents need not begin on one.
    let (least, most) =
        (gap::least(unit) + unit, wanted.unwrap_or_else(|| gap::wanted(unit)).max(gap::least(unit)) + unit);
    let count = most.div_ceil(extent).min(free / SHARE);
    checks.require(count > 0 && count * extent >= least, "at most a tenth of the free extents is used", || {
        format!(
            "{group} has {} free on this disk, and a test uses at most a tenth of that; it needs {}",
            human_bytes(free * extent),
            human_bytes(least)
        )
    })?;
    let mut places: Vec<(&Stretch, u64)> = here.into_iter().filter(|(s, _)| s.count >= count).collect();
    places.sort_by_key(|(s, _)| std::cmp::Reverse(s.count));
    for (s, start) in places.into_iter().take(MOST_PROBED) {
        let first = start.saturating_add(s.data).saturating_add(s.first.saturating_mul(extent));
        let on_disk = (first, count * extent);
        if on.hold.signature(&device.node(), Some(on_disk))? != Signature::Nothing {
            checks
                .lines
                .push(format!("the free extents from {} on are not used, because they hold a signature", s.first));
            continue;
        }
        others::nobody(&mut checks, (on.root, &*on.hold), device, &partitions, on_disk, false)?;
        checks.lines.push(format!(
            "{count} free extents of {group} on {} from extent {} on: bytes {first}+{} of the disk, without a signature",
            s.node, s.first, on_disk.1
        ));
        let (group, group_uuid) = (s.group.clone(), s.group_uuid.clone());
        let own = Own { group, group_uuid, name: name.to_owned(), uuid: None, witness: Vec::new() };
        let checks = checks.lines;
        return Ok(Planned { own, node: s.node.clone(), extents: (s.first, count), on_disk, checks });
    }
    checks.refuse(format!(
        "{group} has no {} in one piece on this disk that are free and hold no signature",
        human_bytes(count * extent)
    ))
}

/// What may take free extents of a group by itself, in words.
fn growing(group: &str, group_profile: bool, reports: &Reports) -> Option<String> {
    reports.volumes.iter().filter(|v| v.group == group).find_map(|v| {
        let is = |kind: &str| v.kinds.iter().any(|k| k == kind);
        let name = crate::device::display::escape_str(&v.name);
        if v.kinds.iter().any(|k| k.starts_with("vdo")) {
            return Some(format!("{name} (VDO)"));
        }
        if is("thicksnapshot") {
            return Some(format!("{name} (a snapshot)"));
        }
        let pool = is("thin-pool") && (reports.grows || group_profile || v.profile);
        pool.then(|| format!("{name} (a thin pool that is extended automatically)"))
    })
}

/// The volume groups that have extents on a disk, each once.
pub fn groups_on(on: &Asked<'_>, device: &Device, reports: &Reports) -> Vec<String> {
    let numbers = || {
        let parts = crate::machine::block::devices::partitions(on.root, device).known().cloned().unwrap_or_default();
        device.devnum.into_iter().chain(parts.into_iter().filter_map(|p| p.devnum)).map(|d| (d.major, d.minor))
    };
    let here = |s: &&Stretch| on.hold.node_devnum(&s.node).is_some_and(|n| numbers().any(|own| own == n));
    let mut names: Vec<String> = reports.stretches.iter().filter(here).map(|s| s.group.clone()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(kinds: &[&str], profile: bool, grows: bool) -> Reports {
        let kinds = kinds.iter().map(|k| (*k).to_owned()).collect();
        let v = Volume { group: "vg".to_owned(), name: "x".to_owned(), kinds, profile, ..Volume::default() };
        Reports { stretches: Vec::new(), volumes: vec![v], grows }
    }

    #[test]
    fn volumes_that_grow_automatically_are_named() {
        let named = |kinds: &[&str], profile, grows| growing("vg", false, &reports(kinds, profile, grows));
        assert_eq!(named(&["linear", "linear", "public"], false, true), None);
        assert_eq!(named(&["thin-pool", "thin,pool", "private"], false, false), None);
        assert!(named(&["thin-pool"], false, true).is_some_and(|why| why.contains("thin pool")));
        assert!(named(&["thin-pool"], true, false).is_some(), "a profile may say otherwise");
        assert!(growing("vg", true, &reports(&["thin-pool"], false, false)).is_some(), "so may one of the group");
        assert!(
            named(&["linear", "snapshot", "thicksnapshot"], false, false).is_some_and(|why| why.contains("snapshot"))
        );
        assert!(named(&["vdo-pool"], false, false).is_some_and(|why| why.contains("VDO")));
        assert_eq!(growing("other", false, &reports(&["vdo"], false, true)), None);
    }
}
