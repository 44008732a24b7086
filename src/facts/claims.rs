//! What device and kernel claim about zeroing, asked over the facts of every bus: each question has its one home here or with
//! its bus. Judges nothing: a claim never makes a class.

use crate::fact::Why;
use crate::facts::queue::UINT_MAX_SECTORS;
use crate::facts::{scsi, Bus, Facts};

/// From this kernel release on, mainline sends Write Zeroes with DEAC.
pub const KERNEL_WITH_DEAC: (u32, u32) = (6, 2);

impl Facts {
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

    /// Whether the kernel's quirk DEALLOCATE_ZEROES holds, so that Write Zeroes is sent as DSM: the quirk by name, or the
    /// limit that only it gives an NVMe namespace.
    pub fn deallocate_zeroes(&self) -> bool {
        self.nvme()
            .is_some_and(|n| n.has_quirk("deallocate_zeroes") || self.queue.write_zeroes_max.is(UINT_MAX_SECTORS))
    }

    /// The `zeroing_mode` that sd chooses by itself. At an event LBPRZ is not asked for, and the hardware's unmap limit,
    /// which sd derives from it, stands for it.
    pub fn kernel_zeroing_mode(&self) -> Option<&'static str> {
        let s = self.scsi()?;
        s.mode_of_choice().or_else(|| {
            let max_ws = s.max_write_same_blocks.get()?;
            match self.queue.unmap_hw.get()? {
                0 => Some(scsi::zeroing_mode_of_choice(false, false, false, max_ws)),
                _ => Some(scsi::zeroing_mode_of_choice(true, s.lbpws.get()?, s.lbpws10.get()?, max_ws)),
            }
        })
    }
}
