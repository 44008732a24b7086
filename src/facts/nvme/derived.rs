//! What several NVMe fields mean together, as readings of `probe`. It judges nothing, and no rule uses these readings.

use crate::fact::Fact;
use crate::facts::field::{Reading, DERIVED};
use crate::facts::nvme::{Nvme, Role};

/// A reading made of others.
pub fn derived(field: &str, raw: Fact<String>, says: impl Into<Option<String>>) -> Reading {
    Reading { source: DERIVED.to_owned(), field: field.to_owned(), raw, says: says.into(), claim: false }
}

/// Adds what several fields say together; a field of which nothing is known adds nothing.
pub fn notes(n: &Nvme, id_ns: &Fact<Vec<u8>>, readings: &mut Vec<Reading>) {
    readings.extend(pci(n));
    readings.push(role(n.role));
    if id_ns.known().is_none() {
        return;
    }
    let format = n.lbaf.as_ref().map(|f| format!("{}+{}", 1u64 << f.lbads, f.ms));
    readings.push(derived("LBA format in use", format, "bytes of data + metadata".to_owned()));
    let blocks = n.granularity_blocks();
    let bytes = blocks.get().and_then(|b| b.checked_mul(n.lba_bytes().get()?)).map(crate::units::human_bytes);
    let says = match (blocks.known(), bytes) {
        (None, _) => "NSFEAT says that NPDG and NPDA are not defined".to_owned(),
        (Some(_), bytes) => {
            let from = if n.has_large_granularity() { "NPDGL, NPDAL" } else { "NPDG, NPDA" };
            format!("{}the larger of {from}", bytes.map_or(String::new(), |b| format!("{b}, ")))
        }
    };
    let shown = blocks.map(|b| format!("{b} blocks"));
    readings.push(derived("deallocation granularity", shown, says));
    readings.extend(usage(n));
}

/// The PCI device, and whether the kernel's table knows it.
fn pci(n: &Nvme) -> Option<Reading> {
    let (vid, did) = n.pci.get()?;
    let quirk = crate::facts::nvme::quirks::known(vid, did);
    let says = quirk.map(|q| format!("the kernel's table has the quirk {} for it: {}", q.name, q.product));
    Some(derived("PCI ID", Fact::Known(format!("{vid:04x}:{did:04x}")), says))
}

/// What the node is in the kernel's multipathing.
fn role(role: Role) -> Reading {
    let (word, says) = match role {
        Role::Namespace => ("namespace", "a controller of its own"),
        Role::Head => (
            "multipath head",
            "it answers for its paths; its limits are the least of theirs, but it has a \
                                write_zeroes_unmap_max_bytes of its own",
        ),
        Role::Path => (
            "multipath path",
            "hidden, without a node; a change of its write_zeroes_unmap_max_bytes reaches the head at the next \
             rescan",
        ),
    };
    derived("role", Fact::Known(word.to_owned()), says.to_owned())
}

/// What NUSE counts.
fn usage(n: &Nvme) -> Option<Reading> {
    let (used, capacity) = (n.nuse.get()?, n.ncap.get()?);
    let thin = n.is_thin().is(true);
    let says = match (thin, used.cmp(&capacity)) {
        (_, std::cmp::Ordering::Greater) => "more than the capacity: NUSE counts something else",
        (true, _) => "thin provisioning: NUSE counts what is allocated",
        (false, std::cmp::Ordering::Less) => "less than the capacity: the device counts what is allocated",
        (false, std::cmp::Ordering::Equal) => {
            "the whole capacity: the namespace is full, or the device does not count what is allocated"
        }
    };
    Some(derived("NUSE of NCAP", Fact::Known(format!("{used} of {capacity} blocks")), says.to_owned()))
}
