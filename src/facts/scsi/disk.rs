//! What SCSI says about a disk, and what sd derives from it (fieldguide 4.3). It reads nothing.

use crate::fact::Fact;
use crate::facts::ata::Ata;
use crate::facts::scsi::fields::B2_LBPRZ_ZEROES;
use crate::terms::ZeroingMode;

/// What SCSI says of a disk.
#[derive(Debug, Clone)]
pub struct Scsi {
    /// LBPME of READ CAPACITY(16), else `thin_provisioning`, which is the kernel's copy of it.
    pub lbpme: Fact<bool>,
    /// LBPRZ of READ CAPACITY(16), the bit that decides in the kernel.
    pub lbprz: Fact<bool>,
    /// LBPRZ of VPD B2: three bits, xx1 = zeroes.
    pub b2_lbprz: Fact<u64>,
    /// LBPU of VPD B2.
    pub lbpu: Fact<bool>,
    /// LBPWS of VPD B2.
    pub lbpws: Fact<bool>,
    /// LBPWS10 of VPD B2.
    pub lbpws10: Fact<bool>,
    /// PROVISIONING TYPE of VPD B2.
    pub provisioning_type: Fact<u64>,
    /// MAXIMUM UNMAP LBA COUNT of VPD B0.
    pub max_unmap_lbas: Fact<u64>,
    /// MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT of VPD B0.
    pub max_unmap_descriptors: Fact<u64>,
    /// OPTIMAL UNMAP GRANULARITY of VPD B0, in blocks.
    pub unmap_granularity: Fact<u64>,
    /// MAXIMUM WRITE SAME LENGTH of VPD B0, in blocks.
    pub max_write_same: Fact<u64>,
    /// MEDIUM ROTATION RATE of VPD B1.
    pub rotation_rate: Fact<u64>,
    /// RETURNED LOGICAL BLOCK ADDRESS: the last one.
    pub last_lba: Fact<u64>,
    /// LOGICAL BLOCK LENGTH IN BYTES.
    pub block_length: Fact<u64>,
    /// Vendor, product, revision and serial number of INQUIRY and VPD 80h.
    pub inquiry_vendor: Fact<String>,
    /// See [`Scsi::inquiry_vendor`].
    pub inquiry_product: Fact<String>,
    /// See [`Scsi::inquiry_vendor`].
    pub inquiry_revision: Fact<String>,
    /// See [`Scsi::inquiry_vendor`].
    pub unit_serial: Fact<String>,
    /// Designators of VPD 83h.
    pub designators: Fact<Vec<String>>,
    /// What ATA says, VPD 89h.
    pub ata: Ata,
    /// The name of the host's driver (`proc_name`): `ahci`, `usb-storage`, `megaraid_sas`; it explains a limit of 0.
    pub host_driver: Fact<String>,
    /// `scsi_disk/*`: the directory below the device, where there is one.
    pub scsi_disk: Option<String>,
    /// `zeroing_mode`.
    pub zeroing_mode: Fact<String>,
    /// `provisioning_mode`.
    pub provisioning_mode: Fact<String>,
    /// `max_write_same_blocks`.
    pub max_write_same_blocks: Fact<u64>,
    /// `thin_provisioning`.
    pub thin_provisioning: Fact<bool>,
}

impl Scsi {
    /// The three-bit LBPRZ of VPD B2 as "reads zero".
    pub fn b2_reads_zero(&self) -> Fact<bool> {
        self.b2_lbprz.as_ref().map(|v| v & B2_LBPRZ_ZEROES != 0)
    }

    /// LBPWS or LBPWS10; known as soon as one is set, or both are known.
    pub fn unmaps_by_write_same(&self) -> Fact<bool> {
        match (self.lbpws.get(), self.lbpws10.get()) {
            (Some(true), _) | (_, Some(true)) => Fact::Known(true),
            (Some(false), Some(false)) => Fact::Known(false),
            _ => self.lbpws.clone().and_then(|_| self.lbpws10.clone()),
        }
    }

    /// Whether the disk claims that it zeroes by unmapping: LBPME, LBPRZ and a WRITE SAME that unmaps. `None` where one of
    /// them is not known and none is known to be missing.
    pub fn claims_zeroing_by_unmap(&self) -> Option<bool> {
        match (self.lbpme.get(), self.lbprz.get(), self.unmaps_by_write_same().get()) {
            (Some(false), _, _) | (_, Some(false), _) | (_, _, Some(false)) => Some(false),
            (Some(true), Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    /// LBPME as sd knows it: of a disk that it asks READ CAPACITY(10) only (usb-storage, below 2 TiB) it never sees the bit,
    /// whatever the disk answers to others.
    fn sd_lbpme(&self) -> Option<bool> {
        self.thin_provisioning.get().or_else(|| self.lbpme.get())
    }

    /// Whether sd is in a `zeroing_mode` that nobody knew when this was written: what it sends then, and what it would choose by
    /// itself, is not known.
    pub fn is_in_unknown_mode(&self) -> bool {
        self.zeroing_mode.known().is_some_and(|mode| mode.parse::<ZeroingMode>().is_err())
    }

    /// The `zeroing_mode` that sd would choose (fieldguide 4.3); unknown unless all it rests on is known.
    pub fn mode_of_choice(&self) -> Option<&'static str> {
        if self.is_in_unknown_mode() {
            return None;
        }
        let max_ws = self.max_write_same_blocks.get()?;
        if max_ws == 0 {
            // no_write_same is set (libata sets it for every disk, sd after a rejected command): sd leaves the mode as it is.
            return self.zeroing_mode.known()?.parse::<ZeroingMode>().ok().map(ZeroingMode::as_str);
        }
        // sd reads LBPRZ and page B2 only where LBPME is set.
        let (lbprz, lbpws, lbpws10) = if self.sd_lbpme()? && self.lbprz.get()? {
            (true, self.lbpws.get()?, self.lbpws10.get()?)
        } else {
            (false, false, false)
        };
        Some(zeroing_mode_of_choice(lbprz, lbpws, lbpws10, max_ws))
    }

    /// The `provisioning_mode` that sd would choose (fieldguide 4.3).
    pub fn provisioning_of_choice(&self) -> Option<&'static str> {
        if !self.sd_lbpme()? {
            return Some("full");
        }
        let unmap = self.max_unmap_lbas.get()? > 0 && self.max_unmap_descriptors.get()? > 0;
        Some(provisioning_mode_of_choice(true, unmap, Some((self.lbpu.get()?, self.lbpws.get()?, self.lbpws10.get()?))))
    }
}

/// `sd_config_write_same`: the first condition that holds.
pub fn zeroing_mode_of_choice(lbprz: bool, lbpws: bool, lbpws10: bool, max_write_same_blocks: u64) -> &'static str {
    if lbprz && lbpws {
        "writesame_16_unmap"
    } else if lbprz && lbpws10 {
        "writesame_10_unmap"
    } else if max_write_same_blocks > 0 {
        "writesame"
    } else {
        "write"
    }
}

/// `sd_discard_mode`: `b2` is LBPU, LBPWS and LBPWS10 where the page exists; `unmap` says that B0 gives an unmap count.
pub fn provisioning_mode_of_choice(lbpme: bool, unmap: bool, b2: Option<(bool, bool, bool)>) -> &'static str {
    match (lbpme, b2) {
        (false, _) => "full",
        (true, None) if unmap => "unmap",
        (true, None) => "writesame_16",
        (true, Some((true, _, _))) if unmap => "unmap",
        (true, Some((_, true, _))) => "writesame_16",
        (true, Some((_, _, true))) => "writesame_10",
        (true, Some(_)) => "disabled",
    }
}
