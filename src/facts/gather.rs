//! Gathers all facts of one device, in the order in which they depend on each other; each kind has a file of its own.

use crate::device::{Device, Kind};
use crate::facts::{device, driver_files, field, initial, nvme, offload, queue, scsi, stack, Bus, Depth, Facts};
use crate::machine::fs::root::Root;
use crate::machine::port::Port;

/// Gathers all facts of one device.
pub fn gather(root: &Root, port: &mut dyn Port, device: &Device, depth: Depth) -> Facts {
    let mut readings = Vec::new();
    let kernel = crate::facts::kernel::release(root).map(|k| crate::device::display::escape_str(&k));
    let queue = queue::gather(root, device, depth, &mut readings);
    let bus = match device.kind {
        Kind::Nvme => Bus::Nvme(Box::new(nvme::gather(root, port, device, &queue, depth, &mut readings))),
        Kind::Scsi => Bus::Scsi(Box::new(scsi::gather(root, port, device, &queue, depth, &mut readings))),
        _ => Bus::Other,
    };
    let names = device::gather(root, device, &bus, &queue, depth, &mut readings);
    let stack = stack::gather(root, device, &queue, depth, &mut readings);
    if depth == Depth::All {
        driver_files::gather(root, device, &mut readings);
    }
    let initial = initial::gather(root, port, device, (&bus, &stack), depth);
    let mut facts = Facts { device: device.clone(), names, queue, bus, stack, initial, kernel, readings };
    if depth == Depth::All {
        let mut notes = Vec::new();
        offload::notes(&facts, &mut notes);
        facts.readings.append(&mut notes);
        facts.readings = field::grouped(facts.readings);
    }
    facts
}
