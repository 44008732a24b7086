//! Reads the pages and the `scsi_disk` attributes of a SCSI disk. Pages are first read from sysfs, which needs no command.

use crate::device::Device;
use crate::fact::Fact;
use crate::facts::ata;
use crate::facts::field::{text_of, walk, Reading};
use crate::facts::page::reply;
use crate::facts::queue::Queue;
use crate::facts::scsi::disk::Scsi;
use crate::facts::scsi::fields::*;
use crate::facts::scsi::{derived, vpd};
use crate::facts::Depth;
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, Question};
use std::cell::OnceCell;

/// Gathers what SCSI says. At an event a command is sent only where sysfs has not the claim.
pub fn gather(
    root: &Root,
    port: &mut dyn Port,
    device: &Device,
    queue: &Queue,
    depth: Depth,
    readings: &mut Vec<Reading>,
) -> Scsi {
    let claims = depth.asks(&queue.unmap_hw);
    // Some USB bridges hang on pages that the kernel itself does not ask them for: never in an event.
    let bridge = || root.link(&device.sys).known().is_some_and(|l| l.contains("/usb"));
    let pages = claims && !(depth == Depth::Event && bridge());
    let all = depth == Depth::All;
    let listed = OnceCell::new();
    let listed = || listed.get_or_init(|| vpd::supported(root, device)).clone();
    if all {
        // A recording keeps it.
        listed();
    }
    let mut page = |code, ask| vpd::page(root, port, device, code, &listed, ask);
    // B1 matters where the kernel says nothing of rotation.
    let rotation = all || (pages && queue.rotational.known().is_none());
    let known = !depth.more_than_the_answer() && queue.rotational.known().is_some();
    let b0 = page(0xb0, pages);
    let b1 = if known { Fact::NOT_ASKED } else { page(0xb1, rotation) };
    let b2 = page(0xb2, pages);
    let p80 = page(0x80, all);
    // What identifies and what ATA says: no finding rests on them.
    let (p83, p89) = if depth.more_than_the_answer() {
        (page(0x83, all), page(0x89, all))
    } else {
        (Fact::NOT_ASKED, Fact::NOT_ASKED)
    };
    let rc16 = if claims { reply(port.ask(device, Question::ScsiReadCapacity16)) } else { Fact::NOT_ASKED };
    let inquiry = match root.read(&device.attr("device/inquiry")) {
        // Whether libata made a page is told by the vendor: where no file of sysfs has it, INQUIRY has.
        Fact::Unknown(_) if all || (!depth.lean() && !root.exists(&device.attr("device/vendor"))) => {
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

    // It is called as its address, which the disk's own link has: an event need not list what is one name.
    let by_address = address(root, device).filter(|_| depth.lean()).map(|a| format!("device/scsi_disk/{a}"));
    let scsi_disk = by_address.filter(|d| root.exists(&device.attr(d))).or_else(|| {
        let dirs = root.list(&device.attr("device/scsi_disk"));
        dirs.known().and_then(|d| d.first()).map(|d| format!("device/scsi_disk/{d}"))
    });
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
        Some(true) if !on => "sd takes LBPME as 0, because it did not ask READ CAPACITY(16)".to_owned(),
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

/// The address (`2:0:0:0`) of a disk: its directory of devices is `…/2:0:0:0/block/sda`.
fn address(root: &Root, device: &Device) -> Option<String> {
    let link = root.link(&device.sys);
    let mut from_end = link.known()?.rsplit('/').skip(1);
    let address = from_end.next().filter(|dir| *dir == "block").and_then(|_| from_end.next())?;
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (address.split(':').count() == 4 && address.split(':').all(number)).then(|| address.to_owned())
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
