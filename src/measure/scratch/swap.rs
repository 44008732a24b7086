//! An inactive swap partition as scratch: nobody needs its content, so it is neither kept nor put back. It decides which
//! partition may be used so, and makes no range.
//!
//! Its first MiB, which has its signature, label and UUID, is never written. A partition with a hibernation image has another
//! signature (`swsuspend`), and its content is needed. The claim of the test (O_EXCL) keeps the partition from being
//! activated during the test.

use super::checks::Checks;
use super::proof::{Asked, Known};
use crate::error::Result;
use crate::machine::block::blkid::Signature;
use crate::machine::block::devices::Partition;
use crate::machine::block::swaps;
use crate::measure::partition_table::Table;
use crate::units::MIB;

/// Left alone at its start.
pub(super) const HEAD: u64 = MIB;

/// Whether a signature says swap space and nothing else.
pub(super) fn is_swap(signature: &Signature) -> bool {
    matches!(signature, Signature::Content(kind) if kind == "swap")
}

/// That a partition with such a signature may be written to behind its first MiB.
pub(super) fn inactive(checks: &mut Checks, on: &Asked<'_>, known: &Known, p: &Partition) -> Result<()> {
    let node = p.node();
    let active = checks.known(swaps::active(on.root), "what is active swap (/proc/swaps)")?;
    let number = p.devnum.map(|d| (d.major, d.minor));
    let is_it = |file: &String| *file == node || number.is_some() && on.hold.node_devnum(file) == number;
    checks.require(!active.iter().any(is_it), &format!("{node} is not active swap (/proc/swaps)"), || {
        format!(
            "{node} is active swap, so the kernel writes to it; run `swapoff {node}` before the test and `swapon \
                 {node}` after it"
        )
    })?;
    checks.require(known.thin.is_none(), "its blocks do not come from a pool", || {
        format!("{node} is swap, and the space that a test writes to would stay allocated in the pool")
    })?;
    checks.require(known.shared.is_none() || known.shared_ok, "no other machine uses it as swap", || {
        format!(
            "{node} may be the swap space of another machine; if no other machine uses it, allow it with \
                 --shared-ok"
        )
    })?;
    checks.require(p.length > HEAD, &format!("the first MiB of {node} is not written"), || {
        format!("{node} has no more than 1 MiB, and its first MiB is never written")
    })
}

/// The nodes of the partitions that are swap by their type in the table and by their signature: those that a test may take
/// though nobody named them.
pub(super) fn candidates(on: &Asked<'_>, partitions: &[Partition]) -> Result<Vec<String>> {
    let disk = on.opened;
    let table = Table::read(disk.size, disk.logical_block, &mut |at, n| on.hold.read_at(at, n));
    let typed = |p: &&Partition| {
        let place = (p.start, p.start.saturating_add(p.length));
        table.entries.iter().any(|e| (e.first_byte, e.end_byte) == place && e.swap)
    };
    let mut found = Vec::new();
    for p in partitions.iter().filter(typed) {
        if is_swap(&on.hold.signature(&p.node(), None)?) {
            found.push(p.node());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Devnum;
    use crate::machine::fs::root::Root;
    use crate::machine::simulated::disk::{self, Shared, SimulatedHold};
    use crate::machine::simulated::{Model, SimulatedPort};

    fn known() -> Known {
        Known {
            zoned: false,
            read_only: false,
            thin: None,
            same_identity: Vec::new(),
            thin_ok: false,
            shared: None,
            shared_ok: false,
            private: false,
            granularity: 0,
        }
    }

    /// Whether a partition of so many bytes is taken; else why not.
    fn asked(swaps: Option<&str>, known: &Known, length: u64) -> std::result::Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let opened = disk::opened(64 * MIB);
        disk::tree(dir.path(), &opened).unwrap();
        if let Some(text) = swaps {
            std::fs::write(dir.path().join("proc/swaps"), text).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let port = SimulatedPort::new(Model::steady(8_000_000, 1_000_000), vec![0; 512], 1);
        let mut hold = SimulatedHold::new(Shared::new(port), opened);
        let on = Asked { root: &root, hold: &mut hold, opened };
        let p = Partition {
            name: "vdz2".to_owned(),
            number: 2,
            start: MIB,
            length,
            devnum: Some(Devnum { major: 253, minor: 418 }),
        };
        let mut checks = Checks { device: "/dev/vdz".to_owned(), lines: Vec::new() };
        inactive(&mut checks, &on, known, &p).map_err(|e| e.to_string())
    }

    #[test]
    fn only_inactive_swap_of_this_machine_is_taken() {
        let head = "Filename\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        let with = |file: &str| format!("{head}{file} partition\t65532\t0\t-2\n");
        assert_eq!(asked(Some(head), &known(), 32 * MIB), Ok(()));
        assert_eq!(asked(None, &known(), 32 * MIB), Ok(()), "a kernel without swap");
        assert_eq!(asked(Some(&with("/dev/vdz3")), &known(), 32 * MIB), Ok(()));
        let refused = |swaps: &str, known: &Known, length: u64, part: &str| {
            let said = asked(Some(swaps), known, length);
            assert!(said.as_ref().is_err_and(|why| why.contains(part)), "{part}: {said:?}");
        };
        refused(&with("/dev/vdz2"), &known(), 32 * MIB, "run `swapoff /dev/vdz2` before the test");
        refused("Filen", &known(), 32 * MIB, "/proc/swaps) is not known");
        refused(head, &known(), MIB, "no more than 1 MiB");
        let text = || Some("of an array".to_owned());
        refused(head, &Known { thin: text(), thin_ok: true, ..known() }, 32 * MIB, "allocated in the pool");
        refused(head, &Known { shared: text(), ..known() }, 32 * MIB, "allow it with --shared-ok");
        assert_eq!(asked(Some(head), &Known { shared: text(), shared_ok: true, ..known() }, 32 * MIB), Ok(()));
    }

    #[test]
    fn a_hibernation_image_is_not_swap_space() {
        let content = |kind: &str| Signature::Content(kind.to_owned());
        assert!(is_swap(&content("swap")));
        for other in ["swsuspend", "ext4", "several signatures that contradict each other"] {
            assert!(!is_swap(&content(other)), "{other}");
        }
        assert!(!is_swap(&Signature::Nothing) && !is_swap(&Signature::Table("dos".to_owned())));
    }
}
