//! The facts of a namespace and its controller, and the questions that need several of their fields. It reads nothing.

use crate::fact::Fact;
use crate::facts::nvme::bits::*;
use crate::facts::nvme::quirks;

/// What a namespace node is in the kernel's multipathing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A namespace with a controller of its own.
    Namespace,
    /// The head that answers for its paths.
    Head,
    /// One hidden path (`nvme1c0n1`).
    Path,
}

/// The LBA format in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LbaFormat {
    /// LBADS: the block is 2 to this power bytes.
    pub lbads: u8,
    /// MS: metadata bytes a block.
    pub ms: u16,
}

/// What NVMe says of a namespace and its controller.
#[derive(Debug, Clone)]
pub struct Nvme {
    /// VID of the controller.
    pub vid: Fact<u64>,
    /// Vendor and device ID of the PCI device (`device/device/{vendor,device}`), where something needs them.
    pub pci: Fact<(u64, u64)>,
    /// SN, MN, FR as text.
    pub sn: Fact<String>,
    /// See [`Nvme::sn`].
    pub mn: Fact<String>,
    /// See [`Nvme::sn`].
    pub fr: Fact<String>,
    /// MDTS: 2 to this power memory pages, 0 for no limit.
    pub mdts: Fact<u64>,
    /// VER: the specification's version, `0x10300` for 1.3.
    pub ver: Fact<u64>,
    /// ONCS: optional commands; see [`ONCS_WRITE_ZEROES`].
    pub oncs: Fact<u64>,
    /// VWC.
    pub vwc: Fact<u64>,
    /// OACS.
    pub oacs: Fact<u64>,
    /// NSZE in blocks.
    pub nsze: Fact<u64>,
    /// NCAP in blocks.
    pub ncap: Fact<u64>,
    /// NUSE in blocks: what is allocated, where the device keeps it.
    pub nuse: Fact<u64>,
    /// NSFEAT of CNS 00h.
    pub nsfeat: Fact<u64>,
    /// DPS: protection information.
    pub dps: Fact<u64>,
    /// NMIC.
    pub nmic: Fact<u64>,
    /// DLFEAT; see [`DLFEAT_DEAC`].
    pub dlfeat: Fact<u64>,
    /// NOIOB in blocks.
    pub noiob: Fact<u64>,
    /// NPDG in blocks, 0's based; defined where NSFEAT says so.
    pub npdg: Fact<u64>,
    /// NPDA in blocks, 0's based; defined where NSFEAT says so.
    pub npda: Fact<u64>,
    /// The format in use; malformed where LBADS makes no block size.
    pub lbaf: Fact<LbaFormat>,
    /// WZSL of CNS 06h: 2 to this power memory pages, 0 for none given.
    pub wzsl: Fact<u64>,
    /// WZDSL of CNS 06h.
    pub wzdsl: Fact<u64>,
    /// DMRSL of CNS 06h, in blocks.
    pub dmrsl: Fact<u64>,
    /// NPDGL of CNS 05h, in blocks, not 0's based.
    pub npdgl: Fact<u64>,
    /// NPDAL of CNS 05h, in blocks, not 0's based.
    pub npdal: Fact<u64>,
    /// Whether CNS 08h says rotational media.
    pub rotational: Fact<bool>,
    /// The controller's active quirks (7.2 and later), by the kernel's names.
    pub quirks: Fact<Vec<String>>,
    /// `metadata_bytes` of sysfs, else MS of the format in use.
    pub metadata_bytes: Fact<u64>,
    /// What the node is.
    pub role: Role,
}

impl Nvme {
    /// The block of the format in use, in bytes.
    pub fn lba_bytes(&self) -> Fact<u64> {
        self.lbaf.as_ref().map(|f| 1u64 << f.lbads)
    }

    /// Whether the controller has Write Zeroes (ONCS bit 3).
    pub fn write_zeroes(&self) -> Fact<bool> {
        self.oncs.as_ref().map(|v| v & ONCS_WRITE_ZEROES != 0)
    }

    /// What a deallocated block reads as: DLFEAT bits 2:0.
    pub fn dlfeat_read(&self) -> Fact<u64> {
        self.dlfeat.as_ref().map(|v| v & DLFEAT_READ_MASK)
    }

    /// Whether Write Zeroes takes the DEAC bit: DLFEAT bit 3.
    pub fn deac(&self) -> Fact<bool> {
        self.dlfeat.as_ref().map(|v| v & DLFEAT_DEAC != 0)
    }

    /// Whether the controller is known to be older than 1.3, where DLFEAT means nothing. A VER of 0 is not reported.
    pub fn older_than_dlfeat(&self) -> bool {
        self.ver.get().is_some_and(|v| v > 0 && v < VER_1_3)
    }

    /// Whether Write Zeroes deallocates and what is deallocated reads zero, by DLFEAT alone. The kernel asks for these two
    /// bits, whatever VER says (fieldguide 3.4), so this is also whether it sends DEAC.
    pub fn zeroes_by_deac(&self) -> Option<bool> {
        Some(self.dlfeat_read().get()? == DLFEAT_READ_00 && self.deac().get()?)
    }

    /// The same as a claim of the controller: `None` of one that is older than DLFEAT, whose byte means nothing.
    pub fn claims_zeroing_by_deac(&self) -> Option<bool> {
        self.zeroes_by_deac().filter(|_| !self.older_than_dlfeat())
    }

    /// Whether the controller claims that what is deallocated reads zero, however it came to be deallocated.
    pub fn claims_deallocated_reads_zero(&self) -> bool {
        self.dlfeat_read().is(DLFEAT_READ_00) && !self.older_than_dlfeat()
    }

    /// Whether the namespace is thinly provisioned, so that NUSE counts what is allocated; elsewhere it is the size.
    pub fn is_thin(&self) -> Fact<bool> {
        self.nsfeat.as_ref().map(|v| v & NSFEAT_THIN != 0)
    }

    /// The kernel's known entry for this PCI device, where the kernel does not list its quirks itself.
    pub fn known_quirk(&self) -> Option<&'static quirks::Quirk> {
        let (vid, did) = self.pci.get().filter(|_| self.quirks.known().is_none())?;
        quirks::known(vid, did)
    }

    /// Whether the kernel's list of quirks is known to name this one.
    pub fn has_quirk(&self, name: &str) -> bool {
        self.quirks.known().is_some_and(|q| q.iter().any(|n| n == name))
    }

    /// Whether NPDGL stands for NPDG.
    pub fn has_large_granularity(&self) -> bool {
        optperf_large(&self.nsfeat, &self.ver) && self.npdgl.get().is_some_and(|n| n > 0)
    }

    /// The deallocation granularity in blocks, where NSFEAT says that the fields mean something: the larger of preferred
    /// granularity and alignment, as the kernel takes it.
    pub fn granularity_blocks(&self) -> Fact<u64> {
        let larger =
            |granularity: Fact<u64>, alignment: &Fact<u64>| granularity.map(|g| g.max(alignment.get().unwrap_or(0)));
        if self.has_large_granularity() {
            return larger(self.npdgl.clone(), &self.npdal);
        }
        self.nsfeat.as_ref().and_then(|nsfeat| match nsfeat & NSFEAT_OPTPERF != 0 {
            true => larger(self.npdg.as_ref().map(|n| n + 1), &self.npda.as_ref().map(|n| n + 1)),
            false => Fact::ABSENT,
        })
    }
}

/// Whether NSFEAT says that NPDGL and NPDAL are defined: its second bit of OPTPERF means so only from 2.1 on.
pub(super) fn optperf_large(nsfeat: &Fact<u64>, ver: &Fact<u64>) -> bool {
    nsfeat.get().is_some_and(|f| f & NSFEAT_OPTPERF_LARGE != 0) && ver.get().is_some_and(|v| v >= VER_2_1)
}
