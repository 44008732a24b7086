//! What a test has to know about the devices below a stack: thin provisioning, and the SCSI devices that may raise a unit
//! attention. It only reads.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::facts::{self, Depth, Facts};
use crate::machine::block::{devices, stack};
use crate::machine::Roots;

/// The devices below one, down to those that are made of no others.
fn below(roots: &Roots, facts: &Facts) -> Vec<Facts> {
    let root = &roots.system;
    let gather = |device: Device| facts::gather(root, roots.port().as_mut(), &device, Depth::Claims);
    let members = |f: &Facts| {
        let names = f.stack.members.known().into_iter().flatten();
        // A member may be a partition: its disk answers for it.
        names.filter_map(|name| devices::resolve_name(root, name)).map(gather).collect()
    };
    stack::descend(facts.clone(), |f| f.device.name.clone(), members).split_off(1)
}

/// Why the device, or one below it, counts as thinly provisioned, if one does.
pub(crate) fn thin(roots: &Roots, facts: &Facts) -> Option<String> {
    let of_member = |m: &Facts| m.thin().map(|why| format!("{} below it: {why}", escape_str(&m.device.name)));
    facts.thin().or_else(|| below(roots, facts).iter().find_map(of_member))
}

/// The addresses (`2:0:0:0`) of the device and of those below it, as far as they are SCSI devices.
pub(crate) fn addresses(roots: &Roots, facts: &Facts) -> Vec<String> {
    let address = |f: &Facts| f.scsi().and_then(|_| roots.system.link_name(&f.device.attr("device")).known().cloned());
    address(facts).into_iter().chain(below(roots, facts).iter().filter_map(address)).collect()
}
