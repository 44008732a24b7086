//! What a device holds, as far as that is known without reading it: zero, data, or not known. This is separate from speed: a
//! device that is zero need not zero fast.
//!
//! It does not see what is still in the page cache. Only `zerocap is-zero` reads the device.

use crate::device::{Device, Kind};
use crate::facts::scsi::lba_status::{self, Status};
use crate::facts::{stack, Bus, Depth};
use crate::machine::block::dm_status;
use crate::machine::fs::path_info;
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, Question};
use crate::units::SECTOR;
use verdict_format::State;

/// How often a target is asked to go on: one that is written here and there has too many extents, and is not zero anyway.
const LBA_STATUS_ASKS: usize = 256;

/// What a device holds, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Initial {
    /// What.
    pub state: State,
    /// `nvme-nuse`, `scsi-lba-status`, `dm-thin`, `loop-holes`; `None` where it is not known.
    pub how: Option<&'static str>,
}

impl Initial {
    /// Not known.
    pub const UNKNOWN: Initial = Initial { state: State::Unknown, how: None };

    fn known(zero: bool, how: &'static str) -> Initial {
        Initial { state: if zero { State::Zero } else { State::Data }, how: Some(how) }
    }
}

/// Asks where there is somebody to ask. An event asks nobody: the answer would be stale in the published document.
pub fn gather(
    root: &Root,
    port: &mut dyn Port,
    device: &Device,
    (bus, stack): (&Bus, &stack::Stack),
    depth: Depth,
) -> Initial {
    if depth.lean() {
        return Initial::UNKNOWN;
    }
    let found = match (bus, device.kind) {
        (Bus::Nvme(n), _) => {
            match n.nuse.get() {
                Some(0) if n.claims_deallocated_reads_zero() => Some((true, "nvme-nuse")),
                // Without thin provisioning NUSE is the size, whatever the blocks hold.
                Some(used) if used > 0 && n.is_thin().is(true) => Some((false, "nvme-nuse")),
                _ => None,
            }
        }
        // What is not mapped reads as zero only where the target says so; nobody else is asked.
        (Bus::Scsi(s), _) if s.lbpme.is(true) && s.lbprz.is(true) => {
            let last = s.last_lba.get();
            last.and_then(|last| deallocated(port, device, last)).map(|zero| (zero, "scsi-lba-status"))
        }
        (_, Kind::Dm) if root.is_system() && stack.target.known().is_some_and(|t| t == stack::THIN) => {
            let mapped = device.devnum.and_then(dm_status::thin_mapped_sectors);
            mapped.map(|sectors| (sectors == 0, "dm-thin"))
        }
        (_, Kind::Loop) if root.is_system() => loop_holes(root, device).map(|zero| (zero, "loop-holes")),
        // Neither a target's status nor the holes of a file can be asked of a recording: it says what its machine found.
        (_, Kind::Dm | Kind::Loop) => recorded(root, device),
        _ => None,
    };
    found.map_or(Initial::UNKNOWN, |(zero, how)| Initial::known(zero, how))
}

/// Where a recorded machine says what was found of a device that only the running system can tell: `zero loop-holes`.
pub fn place(device: &Device) -> String {
    format!("initial/{}", device.name)
}

impl Initial {
    /// What a recording keeps at [`place`]: only what no file and no command of it could tell.
    pub fn to_record(self) -> Option<String> {
        let how = self.how.filter(|how| RECORDED.contains(how))?;
        Some(format!("{} {how}\n", self.state.as_str()))
    }
}

/// The ways of knowing that need the running system.
const RECORDED: [&str; 2] = ["dm-thin", "loop-holes"];

fn recorded(root: &Root, device: &Device) -> Option<(bool, &'static str)> {
    if root.is_system() {
        return None;
    }
    let text = root.text(&place(device));
    let (state, how) = text.known()?.split_once(' ')?;
    let how = RECORDED.into_iter().find(|known| *known == how)?;
    match state {
        "zero" => Some((true, how)),
        "data" => Some((false, how)),
        _ => None,
    }
}

/// Whether the backing file of a loop device holds nothing but holes where the device lies.
fn loop_holes(root: &Root, device: &Device) -> Option<bool> {
    let file = root.text(&device.attr("loop/backing_file")).known()?.clone();
    let offset = root.number(&device.attr("loop/offset")).get()?;
    let size = root.number(&device.attr("size")).get()?.checked_mul(SECTOR)?;
    path_info::only_holes(&file, offset, offset.checked_add(size)?)
}

/// Whether GET LBA STATUS says deallocated for every block; a target may answer with one extent a time. `None` where it
/// makes no sense, or the extents are too many to follow.
fn deallocated(port: &mut dyn Port, device: &Device, last_lba: u64) -> Option<bool> {
    let mut next = 0;
    for _ in 0..LBA_STATUS_ASKS {
        let reply = port.ask(device, Question::ScsiLbaStatus(next)).ok()?;
        match extents(&reply, next, last_lba)? {
            Extents::AllDeallocated => return Some(true),
            Extents::Allocated => return Some(false),
            Extents::DeallocatedUpTo(lba) => next = lba,
        }
    }
    None
}

/// What one reply says of the blocks from the one that was asked for on.
#[derive(Debug, PartialEq, Eq)]
enum Extents {
    /// All up to the last block are deallocated.
    AllDeallocated,
    /// There is an allocated or anchored one.
    Allocated,
    /// Those before this one are deallocated, and the reply ends there.
    DeallocatedUpTo(u64),
}

/// Reads one reply; `None` where it makes no sense or does not go on from the block that was asked for.
fn extents(reply: &[u8], from: u64, last_lba: u64) -> Option<Extents> {
    let mut next = from;
    for extent in lba_status::extents(reply) {
        if extent.first != next {
            return None;
        }
        if extent.status != Status::Deallocated {
            return Some(Extents::Allocated);
        }
        next = extent.end;
        if next > last_lba {
            return Some(Extents::AllDeallocated);
        }
    }
    (next > from).then_some(Extents::DeallocatedUpTo(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::scsi::lba_status::reply;

    #[test]
    fn a_recording_says_what_its_machine_found() {
        let found = |text: &str| {
            let files = [("sys/block/loop0/size", "8\n"), ("initial/loop0", text)];
            crate::facts::testing::facts("loop0", &files, &[]).initial
        };
        let zero = Initial { state: State::Zero, how: Some("loop-holes") };
        assert_eq!(zero.to_record().map(|text| found(&text)), Some(zero));
        for odd in ["zero\n", "zero magic\n", "perhaps loop-holes\n", ""] {
            assert_eq!(found(odd), Initial::UNKNOWN, "{odd}");
        }
        assert_eq!(Initial { state: State::Zero, how: Some("nvme-nuse") }.to_record(), None, "a page tells that");
    }

    #[test]
    fn a_device_is_zero_only_if_the_extents_reach_its_end() {
        let read = |descriptors: &[(u64, u32, u8)]| extents(&reply(descriptors), 0, 99);
        assert_eq!(read(&[(0, 100, 1)]), Some(Extents::AllDeallocated));
        assert_eq!(read(&[(0, 50, 1), (50, 50, 1)]), Some(Extents::AllDeallocated));
        assert_eq!(read(&[(0, 50, 1), (50, 50, 0)]), Some(Extents::Allocated));
        assert_eq!(read(&[(0, 50, 2)]), Some(Extents::Allocated), "anchored is not deallocated");
        assert_eq!(read(&[(0, 50, 1)]), Some(Extents::DeallocatedUpTo(50)), "the list was cut off");
        assert_eq!(extents(&reply(&[(50, 50, 1)]), 50, 99), Some(Extents::AllDeallocated));
        assert_eq!(read(&[(0, 50, 1), (60, 40, 1)]), None, "a gap");
        assert_eq!(read(&[(0, 0, 1)]), None);
        assert_eq!(read(&[]), None);
        assert_eq!(extents(&reply(&[(0, 100, 1)])[..20], 0, 99), None);
        assert_eq!(extents(&[], 0, 99), None);
    }
}
