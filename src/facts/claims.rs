//! What the device and the kernel claim about zeroing, for every bus. Each question about claims is answered here or in the
//! code of its bus, and nowhere else. It judges nothing: a claim never makes a class.

use crate::device::Kind;
use crate::fact::Why;
use crate::facts::nvme::bits::NMIC_SHARED;
use crate::facts::queue::UINT_MAX_SECTORS;
use crate::facts::{scsi, Bus, Facts};

/// From this kernel release on, mainline sends Write Zeroes with DEAC.
pub const KERNEL_WITH_DEAC: (u32, u32) = (6, 2);

impl Facts {
    /// Whether the device stands on others that the kernel hands its requests to: dm, md and their like, and a loop on a
    /// block device, which is a stack of one member.
    pub fn is_stack(&self) -> bool {
        let on_a_device = self.device.kind == Kind::Loop && self.stack.passes_zeroing.known().is_some();
        self.device.kind.is_stack() || on_a_device
    }

    /// Why other machines may use the medium too, where something that is known says so: NMIC of the namespace (bit 0), or a
    /// transport that goes to a target which serves many.
    pub fn shared_medium(&self) -> Option<String> {
        if let Some(nmic) = self.nvme().and_then(|n| n.nmic.get()).filter(|nmic| nmic & NMIC_SHARED != 0) {
            return Some(format!("NMIC is {nmic:#04x}: controllers of other machines may use the namespace too"));
        }
        let transport = self.names.transport.known().map(String::as_str);
        let words = match (&self.bus, transport?) {
            (Bus::Nvme(_), "tcp" | "rdma" | "fc") => "NVMe over fabrics",
            (Bus::Scsi(_), "fc") => "Fibre Channel",
            (Bus::Scsi(_), "iscsi") => "iSCSI",
            _ => return None,
        };
        Some(format!("it is attached by {words}: other machines may use it too"))
    }

    /// How much of the device is allocated, in bytes, where it keeps account of that: NUSE of a namespace that is thin, or whose
    /// NUSE is below its capacity (elsewhere NUSE is the size, whatever is allocated).
    pub fn allocated_bytes(&self) -> Option<u64> {
        let n = self.nvme()?;
        let (used, capacity) = (n.nuse.get()?, n.ncap.get()?);
        let counts = used < capacity || n.is_thin().is(true) && used == capacity;
        used.checked_mul(self.block_bytes().get()?).filter(|_| counts)
    }

    /// Whether the kernel has no hardware unmap limit (before 6.17); a limit that could not be read is not missing.
    pub fn lacks_unmap_limit(&self) -> bool {
        matches!(self.queue.unmap_hw.why(), Some(Why::Absent))
    }

    /// Whether the device itself claims that it zeroes by unmapping; `None` where it does not say, or where what it says
    /// means nothing.
    pub fn claims_zeroing_by_unmap(&self) -> Option<bool> {
        match &self.bus {
            Bus::Nvme(n) => n.claims_zeroing_by_deac(),
            Bus::Scsi(s) => s.claims_zeroing_by_unmap(),
            Bus::Other => None,
        }
    }

    /// Whether what the driver sends for a zeroing request that may unmap does unmap, as far as it is known. The kernel's own
    /// limit is asked before its release: a distribution's kernel may be ahead of its number.
    pub fn sends_unmap(&self) -> Option<bool> {
        let hw = self.queue.unmap_hw.get().map(|hw| hw > 0);
        match &self.bus {
            Bus::Nvme(_) if self.deallocate_zeroes() => Some(true),
            Bus::Nvme(_) if self.kernel_sends_no_deac() => Some(false),
            Bus::Nvme(n) => hw.or_else(|| n.zeroes_by_deac().filter(|_| self.lacks_unmap_limit())),
            // No limit follows the mode: what sd sends now comes before what it could send (fieldguide 4.4).
            Bus::Scsi(s) => match s.zeroing_mode.known().map(String::as_str) {
                _ if s.is_in_unknown_mode() => None,
                Some("write" | "writesame") => Some(false),
                _ => hw.or_else(|| s.claims_zeroing_by_unmap().filter(|_| self.lacks_unmap_limit())),
            },
            Bus::Other => hw,
        }
    }

    /// Whether the kernel is one that sends Write Zeroes without DEAC whatever the controller takes.
    pub fn kernel_sends_no_deac(&self) -> bool {
        let old = self.kernel_version().is_some_and(|version| version < KERNEL_WITH_DEAC);
        self.nvme().is_some() && self.lacks_unmap_limit() && old
    }

    /// Whether the kernel's quirk DEALLOCATE_ZEROES holds, so that Write Zeroes is sent as DSM: the quirk by name, or the
    /// limit that only it gives an NVMe namespace.
    pub fn deallocate_zeroes(&self) -> bool {
        self.nvme()
            .is_some_and(|n| n.has_quirk("deallocate_zeroes") || self.queue.write_zeroes_max.is(UINT_MAX_SECTORS))
    }

    /// The `zeroing_mode` that sd chooses by itself. At an event LBPRZ is not asked for, and the hardware's unmap limit,
    /// which sd derives from it, stands for it.
    pub fn kernel_zeroing_mode(&self) -> Option<&'static str> {
        let s = self.scsi().filter(|s| !s.is_in_unknown_mode())?;
        s.mode_of_choice().or_else(|| {
            let max_ws = s.max_write_same_blocks.get()?;
            match self.queue.unmap_hw.get()? {
                0 => Some(scsi::zeroing_mode_of_choice(false, false, false, max_ws)),
                _ => Some(scsi::zeroing_mode_of_choice(true, s.lbpws.get()?, s.lbpws10.get()?, max_ws)),
            }
        })
    }
}
