//! What a stack rests on, where a test has to know: thin provisioning, and the SCSI devices that may call attention. Asks
//! only.

use crate::device::display::escape_str;
use crate::facts::{self, Depth, Facts};
use crate::machine::block::devices;
use crate::machine::Roots;

/// How deep a stack is followed; the kernel itself refuses deeper ones long before.
const DEEPEST: usize = 8;

/// The devices below one, down to those that are made of no others.
fn below(roots: &Roots, facts: &Facts, level: usize) -> Vec<Facts> {
    let root = &roots.system;
    let names: &[String] = facts.stack.members.known().filter(|_| level < DEEPEST).map_or(&[], Vec::as_slice);
    // A member may be a partition: its disk answers for it.
    let members = names.iter().filter_map(|name| devices::resolve_name(root, name));
    members
        .flat_map(|device| {
            let member = facts::gather(root, roots.port().as_mut(), &device, Depth::Claims);
            let mut all = below(roots, &member, level + 1);
            all.insert(0, member);
            all
        })
        .collect()
}

/// Why the device, or one below it, counts as thinly provisioned, if one does.
pub(crate) fn thin(roots: &Roots, facts: &Facts) -> Option<String> {
    let of_member = |m: &Facts| m.thin().map(|why| format!("{} below it: {why}", escape_str(&m.device.name)));
    facts.thin().or_else(|| below(roots, facts, 0).iter().find_map(of_member))
}

/// The addresses (`2:0:0:0`) of the device and of those below it, as far as they are SCSI devices.
pub(crate) fn addresses(roots: &Roots, facts: &Facts) -> Vec<String> {
    let address = |f: &Facts| f.scsi().and_then(|_| roots.system.link_name(&f.device.attr("device")).known().cloned());
    address(facts).into_iter().chain(below(roots, facts, 0).iter().filter_map(address)).collect()
}
