//! Rules about what a device claims: NVMe DLFEAT and ONCS, SCSI LBPME, LBPRZ and LBPWS (DESIGN 2, fieldguide 3 and 4).

use crate::facts::nvme::bits::{DLFEAT_READ_00, DLFEAT_READ_FF};
use crate::terms::FindingCode;
use crate::verdict::context::Ctx;

/// The two LBPRZ disagree; libata's B2 is a constant and says nothing.
pub fn lbprz_conflict(c: &Ctx<'_>) -> Option<String> {
    let s = c.facts.scsi()?;
    let (rc16, b2) = (s.lbprz.get()?, s.b2_reads_zero().get()?);
    (s.lbpme.is(true) && rc16 != b2 && !c.facts.is_libata()).then(|| {
        let value = s.b2_lbprz.get().unwrap_or_default();
        format!("READ CAPACITY(16) LBPRZ={} and VPD B2 LBPRZ={value:03b} disagree", u8::from(rc16))
    })
}

/// Unmap bits or counts while LBPME=0.
pub fn unmap_without_lbpme(c: &Ctx<'_>) -> Option<String> {
    let s = c.facts.scsi()?;
    if !s.lbpme.is(false) {
        return None;
    }
    let bits = [
        ("LBPU", s.lbpu.is(true)),
        ("LBPWS", s.lbpws.is(true) && !c.facts.is_libata()),
        ("LBPWS10", s.lbpws10.is(true)),
    ];
    let mut claimed: Vec<String> = bits.iter().filter(|(_, on)| *on).map(|(name, _)| format!("{name}=1")).collect();
    claimed.extend(s.max_unmap_lbas.get().filter(|n| *n > 0).map(|n| format!("MAXIMUM UNMAP LBA COUNT {n}")));
    (!claimed.is_empty()).then(|| format!("the device reports LBPME=0, but also {}", claimed.join(", ")))
}

/// DEAC without a promise that deallocated blocks read zero.
pub fn deac_without_read_zero(c: &Ctx<'_>) -> Option<String> {
    let n = c.facts.nvme()?;
    let read = n.dlfeat_read().get()?;
    (n.deac().is(true) && read != DLFEAT_READ_00).then(|| {
        format!("DLFEAT is {:#04x}: DEAC is supported, but bits 2:0 are {read}", n.dlfeat.get().unwrap_or_default())
    })
}

/// Deallocated blocks read zero, but Write Zeroes cannot deallocate.
pub fn read_zero_without_deac(c: &Ctx<'_>) -> Option<String> {
    let n = c.facts.nvme()?;
    (n.dlfeat_read().is(DLFEAT_READ_00) && n.deac().is(false)).then(|| {
        format!(
            "DLFEAT is {:#04x}: deallocated blocks read as zero, but DEAC is not supported",
            n.dlfeat.get().unwrap_or_default()
        )
    })
}

/// A reserved read value.
pub fn dlfeat_reserved(c: &Ctx<'_>) -> Option<String> {
    let read = c.facts.nvme()?.dlfeat_read().get()?;
    (read > DLFEAT_READ_FF).then(|| format!("DLFEAT bits 2:0 are {read}, a reserved value"))
}

/// The device has Write Zeroes, the kernel does not use it. The kernel's own list of quirks names which; where it has none
/// (before 7.2), an entry known from its table is named as what it is: an explanation.
pub fn quirked_off(c: &Ctx<'_>) -> Option<String> {
    let n = c.facts.nvme()?;
    (n.write_zeroes().is(true) && c.facts.queue.write_zeroes_max.is(0)).then(|| {
        let by = match n.known_quirk() {
            _ if n.has_quirk("disable_write_zeroes") => "the kernel's quirk disable_write_zeroes".to_owned(),
            Some(q) => format!("the kernel (its table has {} for {:04x}:{:04x}, {})", q.name, q.vid, q.did, q.product),
            None => "the kernel".to_owned(),
        };
        format!("ONCS lists Write Zeroes, but {by} switched it off: write_zeroes_max_bytes is 0")
    })
}

/// DEAC is claimed on a kernel that does not send it.
pub fn kernel_sends_no_deac(c: &Ctx<'_>) -> Option<String> {
    let Some(n) = c.facts.nvme() else { return of_member(c, FindingCode::KernelSendsNoDeac) };
    (n.deac().is(true) && c.facts.kernel_sends_no_deac()).then(|| {
        let release = c.facts.kernel.known().map_or_else(String::new, |k| crate::device::display::escape_str(k));
        format!(
            "the device claims DEAC, but the kernel calls itself {release}, and mainline kernels send DEAC only \
                 since 6.2"
        )
    })
}

/// `zeroing_mode` is not what sd would choose.
pub fn zeroing_mode_overridden(c: &Ctx<'_>) -> Option<String> {
    let Some(s) = c.facts.scsi() else { return of_member(c, FindingCode::ZeroingModeOverridden) };
    let mode = s.zeroing_mode.known()?;
    // With max_write_same_blocks at 0 WRITE SAME is off, and "write" is all that is left.
    if s.max_write_same_blocks.get()? == 0 {
        return None;
    }
    let choice = s.mode_of_choice()?;
    (mode != choice).then(|| format!("zeroing_mode is {mode}, but the kernel would choose {choice} from the claims"))
}

/// `provisioning_mode` is not what sd would choose; the text says what a discard sends now.
pub fn provisioning_mode_forced(c: &Ctx<'_>) -> Option<String> {
    let s = c.facts.scsi()?;
    let mode = s.provisioning_mode.known()?;
    let choice = s.provisioning_of_choice()?;
    // After a rejected command sd itself turns discard off (fieldguide 4.6).
    if mode == choice || mode == "disabled" {
        return None;
    }
    let sends = match mode.as_str() {
        "unmap" => "UNMAP",
        "writesame_16" => "WRITE SAME(16) with the UNMAP bit",
        "writesame_10" => "WRITE SAME(10) with the UNMAP bit",
        "writesame_zero" => "WRITE SAME(10) of zeroes without the UNMAP bit, which writes zeroes",
        "full" => "nothing",
        _ => "the command of that mode",
    };
    let mode = crate::device::display::escape_str(mode);
    Some(format!(
        "provisioning_mode is {mode}, but the kernel would choose {choice} from the claims; a discard now \
                  sends {sends}"
    ))
}

/// The finding of a member where it bears on the stack: one that hands zeroing on, and whose members get what they are sent.
fn of_member(c: &Ctx<'_>, code: FindingCode) -> Option<String> {
    if !c.facts.is_stack() || !c.facts.stack.passes_zeroing.is(true) {
        return None;
    }
    c.members.iter().find_map(|m| {
        let found = m.findings.iter().find(|f| f.code == code)?;
        Some(format!("{} below it: {}", crate::device::display::escape_str(&m.facts.device.name), found.text))
    })
}
