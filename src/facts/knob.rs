//! The kernel's gate for FALLOC_FL_WRITE_ZEROES on one device (`queue/write_zeroes_unmap_max_bytes`): whether it allows the
//! call, and a text that says why not. It reads the file and never the kernel's release, because a distribution's kernel may
//! have the file earlier.

use crate::device::display::escape_str;
use crate::device::Device;
use crate::fact::{Fact, Why};
use crate::machine::fs::root::Root;

/// The file that is the gate.
const FILE: &str = "queue/write_zeroes_unmap_max_bytes";

/// What the gate does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knob {
    /// It lets the call through.
    On,
    /// It is 0, and the device has this hardware limit.
    Off(u64),
    /// It is 0, as on every device that is not known to zero by unmapping.
    NeverOn,
    /// This kernel has no such gate, and so no such call.
    NotThere,
    /// It could not be read; the reason.
    Unknown(Why),
}

impl Knob {
    /// That of a device.
    pub fn of(root: &Root, device: &Device) -> Knob {
        let limit = |file: &str| root.number(&device.attr(file));
        match limit(FILE) {
            Fact::Known(0) => match limit("queue/write_zeroes_unmap_max_hw_bytes").get() {
                Some(hw) if hw > 0 => Knob::Off(hw),
                _ => Knob::NeverOn,
            },
            Fact::Known(_) => Knob::On,
            // The limit beside it is there on every kernel from 4.10 on: so the file is what is missing.
            Fact::Unknown(Why::Absent) if limit("queue/write_zeroes_max_bytes").known().is_some() => Knob::NotThere,
            Fact::Unknown(why) => Knob::Unknown(why),
        }
    }

    /// Why the call is not let through on the device of this name; `None` where it is.
    pub fn why_not(&self, device: &str) -> Option<String> {
        let name = escape_str(device);
        Some(match self {
            Knob::On => return None,
            Knob::Off(hw) => {
                format!("the kernel's tunable forbids it: {name}/{FILE} is 0; write {hw} there to allow it")
            }
            Knob::NeverOn => format!("{name} does not zero by unmapping: write_zeroes_unmap_max_hw_bytes is 0"),
            Knob::NotThere => {
                format!("this kernel has neither {name}/{FILE} nor the call; both came with Linux 6.17")
            }
            Knob::Unknown(why) => format!("{name}/{FILE} is {why}"),
        })
    }
}
