//! Reads the Identify pages and the sysfs attributes of a namespace. It sends a command only if sysfs does not have the
//! answer.

use crate::device::Device;
use crate::fact::Fact;
use crate::facts::field::{text_of, walk, Reading};
use crate::facts::nvme::bits::*;
use crate::facts::nvme::derived;
use crate::facts::nvme::fields::*;
use crate::facts::nvme::namespace::{optperf_large, LbaFormat, Nvme, Role};
use crate::facts::page::reply;
use crate::facts::{queue::Queue, Depth};
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, Question};

/// The first known reading in the directories that may hold the controller's attributes: `device` itself, and only for a
/// multipath head, whose `device` is the subsystem, the controllers below it.
pub fn in_controller<T>(root: &Root, device: &Device, read: impl Fn(&str) -> Fact<T>) -> Fact<T> {
    let own = device.attr("device");
    let is_controller =
        |n: &&String| n.strip_prefix("nvme").is_some_and(|r| !r.is_empty() && r.bytes().all(|b| b.is_ascii_digit()));
    read(&own).or(|| {
        // A link to a controller is no subsystem: nothing to look through, which an event would pay for each time.
        if root.link_name(&own).known().is_some_and(|name| is_controller(&name)) {
            return Fact::ABSENT;
        }
        let below = root.list(&own);
        let mut dirs = below.known().into_iter().flatten().filter(is_controller);
        dirs.find_map(|n| Some(read(&format!("{own}/{n}"))).filter(|f| f.known().is_some())).unwrap_or(Fact::ABSENT)
    })
}

/// The first known text of an attribute in the controller's directories.
pub fn controller_text(root: &Root, device: &Device, name: &str) -> Fact<String> {
    in_controller(root, device, |dir| root.read(&format!("{dir}/{name}")).and_then(|b| text_of(&b)))
}

/// Whether a name is that of a hidden multipath path: nvme<instance>c<controller>n<namespace>.
pub fn is_path_name(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|r| r.contains('c'))
}

fn role(root: &Root, device: &Device) -> Role {
    let is_path = is_path_name(&device.name);
    let subsystem = root.link_name(&device.attr("device")).known().is_some_and(|n| n.starts_with("nvme-subsys"));
    match (is_path, subsystem || root.exists(&device.attr("multipath"))) {
        (true, _) => Role::Path,
        (false, true) => Role::Head,
        (false, false) => Role::Namespace,
    }
}

/// The LBA format in use: index from FLBAS, LBAF at 128 + 4 x index.
pub fn lba_format(id_ns: &Fact<Vec<u8>>) -> Fact<LbaFormat> {
    FLBAS.value(id_ns).and_then(|flbas| {
        // NLBAF is 0's based: up to 16 formats need no high bits, which older devices leave reserved.
        let wide = NLBAF.value(id_ns).get().is_some_and(|n| n > 15);
        let high = if wide { (flbas & FLBAS_HIGH) >> 1 } else { 0 };
        let index = usize::try_from((flbas & FLBAS_LOW) | high).unwrap_or(0);
        let at = 128 + 4 * index;
        id_ns.as_ref().and_then(|bytes| match bytes.get(at..at + 4) {
            Some(&[ms0, ms1, lbads, _]) if (9..=31).contains(&lbads) => {
                Fact::Known(LbaFormat { lbads, ms: u16::from_le_bytes([ms0, ms1]) })
            }
            Some(&[_, _, lbads, _]) => Fact::malformed(format!("LBADS {lbads} of format {index}")),
            _ => Fact::malformed(format!("it has {} bytes, but format {index} is needed", bytes.len())),
        })
    })
}

/// Gathers what NVMe says. At an event nothing is asked where sysfs has the claim.
pub fn gather(
    root: &Root,
    port: &mut dyn Port,
    device: &Device,
    queue: &Queue,
    depth: Depth,
    readings: &mut Vec<Reading>,
) -> Nvme {
    let claims = depth.asks(&queue.unmap_hw);
    let mut ask = |question, wanted: bool| if wanted { reply(port.ask(device, question)) } else { Fact::NOT_ASKED };
    let ctrl = ask(Question::NvmeIdCtrl, claims);
    // An inactive namespace answers with zeroes alone: no reading of any field.
    let ns = ask(Question::NvmeIdNs, claims).and_then(|b| {
        if b.iter().all(|x| *x == 0) {
            Fact::malformed("all bytes are zero, as for a namespace that is not active")
        } else {
            Fact::Known(b)
        }
    });
    let ctrl_nvm = ask(Question::NvmeIdCtrlNvm, depth == Depth::All);
    // A granularity that only CNS 05h has is looked up wherever findings are made; few devices say that they have one.
    let large = optperf_large(&NSFEAT.value(&ns), &VER.value(&ctrl));
    let ns_nvm = ask(Question::NvmeIdNsNvm, depth == Depth::All || (claims && large));
    let independent = ask(Question::NvmeIdNsIndependent, depth == Depth::All);
    walk(ID_CTRL, &ctrl, readings);
    walk(ID_NS, &ns, readings);
    walk(ID_CTRL_NVM, &ctrl_nvm, readings);
    walk(ID_NS_NVM, &ns_nvm, readings);
    walk(ID_NS_INDEPENDENT, &independent, readings);

    let quirks = controller_text(root, device, "quirks");
    readings.push(Reading::file("sysfs", "quirks", &quirks));
    let unexplained = queue.write_zeroes_max.is(0) && quirks.known().is_none();
    let pci = if depth == Depth::All
        || (unexplained && ONCS.value(&ctrl).get().is_some_and(|v| v & ONCS_WRITE_ZEROES != 0))
    {
        pci_ids(root, device)
    } else {
        Fact::NOT_ASKED
    };
    let lbaf = lba_format(&ns);
    let metadata_bytes = root.number(&device.attr("metadata_bytes")).or(|| lbaf.as_ref().map(|f| u64::from(f.ms)));
    readings.push(Reading::file("sysfs", "metadata_bytes", &metadata_bytes));
    let nvme = Nvme {
        vid: VID.value(&ctrl),
        pci,
        sn: SN.text(&ctrl),
        mn: MN.text(&ctrl),
        fr: FR.text(&ctrl),
        mdts: MDTS.value(&ctrl),
        ver: VER.value(&ctrl),
        oncs: ONCS.value(&ctrl),
        vwc: VWC.value(&ctrl),
        oacs: OACS.value(&ctrl),
        nsze: NSZE.value(&ns),
        ncap: NCAP.value(&ns),
        nuse: NUSE.value(&ns),
        nsfeat: NSFEAT.value(&ns),
        dps: DPS.value(&ns),
        nmic: NMIC.value(&ns),
        dlfeat: DLFEAT.value(&ns),
        noiob: NOIOB.value(&ns),
        npdg: NPDG.value(&ns),
        npda: NPDA.value(&ns),
        lbaf,
        wzsl: WZSL.value(&ctrl_nvm),
        wzdsl: WZDSL.value(&ctrl_nvm),
        dmrsl: DMRSL.value(&ctrl_nvm),
        npdgl: NPDGL.value(&ns_nvm),
        npdal: NPDAL.value(&ns_nvm),
        rotational: NSFEAT_INDEPENDENT.value(&independent).map(|v| v & NSFEAT_INDEPENDENT_ROTATIONAL != 0),
        quirks: quirks.map(|q| q.split("\\x0a").flat_map(str::split_whitespace).map(str::to_owned).collect()),
        metadata_bytes,
        role: role(root, device),
    };
    if depth == Depth::All {
        derived::notes(&nvme, &ns, readings);
    }
    nvme
}

/// Vendor and device ID of the PCI device below the controller: hex numbers with 0x.
fn pci_ids(root: &Root, device: &Device) -> Fact<(u64, u64)> {
    let hex = |path: String| {
        root.text(&path).and_then(|t| match u64::from_str_radix(t.strip_prefix("0x").unwrap_or(&t), 16) {
            Ok(n) if n <= 0xffff => Fact::Known(n),
            _ => Fact::malformed("no PCI ID"),
        })
    };
    in_controller(root, device, |dir| {
        let vendor = hex(format!("{dir}/device/vendor"));
        vendor.and_then(|vid| hex(format!("{dir}/device/device")).map(|did| (vid, did)))
    })
}
