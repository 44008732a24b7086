//! SCSI disks: VPD pages, READ CAPACITY(16), `scsi_disk` attributes (fieldguide 4), and what sd makes of them. Judges
//! nothing, writes nothing.
//!
//! Pages are first read from sysfs, which costs no command. Rows and bits stand in [`fields`].

pub mod derived;
pub mod fields;
pub mod provisioning;
pub mod vpd;

use crate::device::Device;
use crate::fact::Fact;
use crate::facts::ata::{self, Ata};
use crate::facts::field::{text_of, walk, Reading};
use crate::facts::page::reply;
use crate::facts::queue::Queue;
use crate::facts::scsi::fields::*;
use crate::facts::Depth;
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, Question};
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

/// Gathers what SCSI says. At an event a command is sent only where sysfs has not the claim.
pub fn gather(
    root: &Root,
    port: &mut dyn Port,
    device: &Device,
    queue: &Queue,
    depth: Depth,
    readings: &mut Vec<Reading>,
) -> Scsi {
    let claims = depth.asks(queue);
    // Some USB bridges hang on pages that the kernel itself does not ask them for: never in an event.
    let bridge = || root.link(&device.sys).known().is_some_and(|l| l.contains("/usb"));
    let pages = claims && !(depth == Depth::Event && bridge());
    let all = depth == Depth::All;
    let listed = if pages || all { vpd::supported(root, device) } else { None };
    let mut page = |code, ask| vpd::page(root, port, device, code, listed.as_deref(), ask);
    // B1 matters where the kernel says nothing of rotation.
    let rotation = all || (pages && queue.rotational.known().is_none());
    let (b0, b1, b2) = (page(0xb0, pages), page(0xb1, rotation), page(0xb2, pages));
    let p80 = page(0x80, all);
    // What identifies and what ATA says: no finding rests on them.
    let (p83, p89) = if depth.lean() { (Fact::NOT_ASKED, Fact::NOT_ASKED) } else { (page(0x83, all), page(0x89, all)) };
    let rc16 = if claims { reply(port.ask(device, Question::ScsiReadCapacity16)) } else { Fact::NOT_ASKED };
    let inquiry = match root.read(&device.attr("device/inquiry")) {
        // Whether libata made a page is told by the vendor: where no file of sysfs has it, INQUIRY has.
        Fact::Unknown(_) if all || (depth == Depth::Claims && !root.exists(&device.attr("device/vendor"))) => {
            reply(port.ask(device, Question::ScsiInquiry))
        }
        bytes => bytes,
    };
    walk(INQUIRY, &inquiry, readings);
    walk(READ_CAPACITY_16, &rc16, readings);
    walk(VPD_B0, &b0, readings);
    walk(VPD_B1, &b1, readings);
    walk(VPD_B2, &b2, readings);
    let designators = vpd::show_designators(&p83, readings);
    let ata = ata::parse(&p89, readings);

    let dirs = root.list(&device.attr("device/scsi_disk"));
    let scsi_disk = dirs.known().and_then(|d| d.first()).map(|d| format!("device/scsi_disk/{d}"));
    let attr = |name: &str| scsi_disk.as_ref().map(|d| device.attr(&format!("{d}/{name}")));
    let text = |name: &str| attr(name).map_or(Fact::ABSENT, |path| root.read(&path).and_then(|b| text_of(&b)));
    let zeroing_mode = text("zeroing_mode");
    let provisioning_mode = text("provisioning_mode");
    let max_write_same_blocks = attr("max_write_same_blocks").map_or(Fact::ABSENT, |path| root.number(&path));
    let thin_provisioning = attr("thin_provisioning").map_or(Fact::ABSENT, |path| root.flag(&path));
    readings.push(Reading::file("scsi_disk", "zeroing_mode", &zeroing_mode));
    readings.push(Reading::file("scsi_disk", "provisioning_mode", &provisioning_mode));
    readings.push(Reading::file("scsi_disk", "max_write_same_blocks", &max_write_same_blocks));
    let lbpme_words = thin_provisioning.get().map(|on| match LBPME.bit(&rc16).get() {
        Some(true) if !on => "LBPME = 0 to sd, which did not ask READ CAPACITY(16)".to_owned(),
        _ => format!("LBPME = {}", u8::from(on)),
    });
    let thin = thin_provisioning.as_ref().map(|b| u8::from(*b));
    readings.push(Reading::file("scsi_disk", "thin_provisioning", &thin).claiming(lbpme_words));

    let wanted = all || (!depth.lean() && queue.write_zeroes_max.is(0));
    let host_driver = if wanted { host_driver(root, device, scsi_disk.as_deref()) } else { Fact::NOT_ASKED };
    let scsi = Scsi {
        lbpme: LBPME.bit(&rc16).or(|| thin_provisioning.clone()),
        lbprz: LBPRZ_RC16.bit(&rc16),
        b2_lbprz: LBPRZ_B2.value(&b2),
        lbpu: LBPU.bit(&b2),
        lbpws: LBPWS.bit(&b2),
        lbpws10: LBPWS10.bit(&b2),
        provisioning_type: PROVISIONING_TYPE.value(&b2),
        max_unmap_lbas: MAX_UNMAP_LBAS.value(&b0),
        max_unmap_descriptors: MAX_UNMAP_DESCRIPTORS.value(&b0),
        unmap_granularity: OPTIMAL_UNMAP_GRANULARITY.value(&b0),
        max_write_same: MAX_WRITE_SAME.value(&b0),
        rotation_rate: ROTATION_RATE.value(&b1),
        last_lba: LAST_LBA.value(&rc16),
        block_length: BLOCK_LENGTH.value(&rc16),
        inquiry_vendor: VENDOR.text(&inquiry),
        inquiry_product: PRODUCT.text(&inquiry),
        inquiry_revision: REVISION.text(&inquiry),
        unit_serial: p80.and_then(|b| text_of(b.get(4..).unwrap_or_default())),
        designators,
        ata,
        host_driver,
        scsi_disk,
        zeroing_mode,
        provisioning_mode,
        max_write_same_blocks,
        thin_provisioning,
    };
    if all {
        derived::notes(&scsi, readings);
    }
    scsi
}

/// The driver of the SCSI host, by the first number of `H:C:T:L`.
fn host_driver(root: &Root, device: &Device, scsi_disk: Option<&str>) -> Fact<String> {
    let of_disk = scsi_disk.and_then(|d| d.rsplit('/').next()).map(str::to_owned);
    let address = root.link_name(&device.attr("device")).known().cloned().or(of_disk);
    let host = address.as_deref().and_then(|a| a.split_once(':')).map(|(host, _)| host);
    let number = host.filter(|h| !h.is_empty() && h.bytes().all(|b| b.is_ascii_digit()));
    number.map_or(Fact::ABSENT, |h| {
        root.read(&format!("sys/class/scsi_host/host{h}/proc_name")).and_then(|b| text_of(&b))
    })
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

    /// LBPME as sd knows it: of a disk that it asks READ CAPACITY(10) only (usb-storage, below 2 TiB) it never sees the bit,
    /// whatever the disk answers to others.
    fn sd_lbpme(&self) -> Option<bool> {
        self.thin_provisioning.get().or_else(|| self.lbpme.get())
    }

    /// The `zeroing_mode` that sd would choose (fieldguide 4.3); unknown unless all it rests on is known.
    pub fn mode_of_choice(&self) -> Option<&'static str> {
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

#[cfg(test)]
mod tests;
