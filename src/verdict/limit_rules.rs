//! Rules about the kernel's limits (DESIGN 2, fieldguide 1.2 to 1.5).

use crate::device::Kind;
use crate::fact::Why;
use crate::facts::offload;
use crate::facts::queue::UINT_MAX_SECTORS;
use crate::facts::{Bus, Facts};
use crate::units::{human_bytes, GIB, MIB, SECTOR};
use crate::verdict::context::Ctx;
use crate::verdict::member::MemberView;

/// The 0's based 16-bit NLB of an NVMe command counts at most this many blocks.
const NLB_BLOCKS: u64 = 1 << 16;
/// `queue_var_store` takes no number of this size or more.
pub const KNOB_LIMIT: u64 = 4 * GIB;

/// A deallocation granularity over this is large, in bytes.
pub const GRANULARITY_LARGE: u64 = MIB;

/// The hardware limit that stays when the kernel withdraws the offload.
fn withdrawn(facts: &Facts) -> Option<u64> {
    facts.queue.unmap_hw.get().filter(|hw| *hw > 0 && facts.queue.write_zeroes_max.is(0))
}

/// A leaf whose offload was withdrawn at run time.
pub fn offload_withdrawn(c: &Ctx<'_>) -> Option<String> {
    if c.facts.is_stack() {
        return None;
    }
    withdrawn(c.facts).map(|hw| {
        format!(
            "the kernel withdrew the offload at run time: write_zeroes_unmap_max_hw_bytes is still {hw}, but \
             write_zeroes_max_bytes is 0; every write of a limit gives EINVAL until a rescan"
        )
    })
}

/// The same on a stack, or a granularity finer than a member's.
pub fn stack_limits_conflict(c: &Ctx<'_>) -> Option<String> {
    if !c.facts.is_stack() {
        return None;
    }
    if let Some(hw) = withdrawn(c.facts) {
        return Some(format!("write_zeroes_unmap_max_hw_bytes is {hw}, but write_zeroes_max_bytes is 0"));
    }
    let own = c.facts.queue.discard_granularity.get().filter(|g| *g > 0)?;
    c.members.iter().find_map(|m| {
        let below = m.facts.queue.discard_granularity.get()?;
        (own < below).then(|| {
            format!(
                "its discard granularity {own} is finer than the {below} of its member {}",
                crate::device::display::escape_str(&m.facts.device.name)
            )
        })
    })
}

/// The limit is no multiple of the physical block.
pub fn limit_not_block_multiple(c: &Ctx<'_>) -> Option<String> {
    // UINT_MAX sectors is "no limit": the block layer then splits at whole blocks by itself.
    let limit = c.facts.queue.write_zeroes_max.get().filter(|limit| *limit != UINT_MAX_SECTORS)?;
    let block = c.facts.queue.physical_block.get().filter(|b| *b > 0)?;
    (limit % block != 0).then(|| {
        format!(
            "write_zeroes_max_bytes is {limit}, which is not a multiple of the physical block of \
                          {block} bytes"
        )
    })
}

/// The limit is so small that zeroing takes many commands.
pub fn limit_tiny(c: &Ctx<'_>) -> Option<String> {
    let limit = c.facts.queue.write_zeroes_max.get()?;
    (limit > 0 && limit < MIB)
        .then(|| format!("one command zeroes at most {} (write_zeroes_max_bytes is {limit})", human_bytes(limit)))
}

/// The limit is beyond the command's length field.
pub fn limit_beyond_nlb(c: &Ctx<'_>) -> Option<String> {
    // DSM ranges, which the quirk sends, have 32-bit lengths.
    if c.facts.nvme().is_none() || c.facts.deallocate_zeroes() {
        return None;
    }
    let limit = c.facts.queue.write_zeroes_max.get()?;
    let block = c.facts.block_bytes().get()?;
    let most = block.checked_mul(NLB_BLOCKS)?;
    (limit > most).then(|| {
        format!(
            "write_zeroes_max_bytes is {limit}, more than the {NLB_BLOCKS} blocks of {block} bytes that the NLB \
                 field can count"
        )
    })
}

/// The deallocation granularity is over 1 MiB: the largest of the sources known in bytes.
pub fn granularity_large(c: &Ctx<'_>) -> Option<String> {
    let largest = granularity(c.facts)?;
    (largest > GRANULARITY_LARGE).then(|| format!("the deallocation granularity is {}", human_bytes(largest)))
}

/// The largest deallocation granularity that is known; a block of unknown size counts as 512 bytes.
pub fn granularity(facts: &Facts) -> Option<u64> {
    let block = facts.block_bytes().get().unwrap_or(SECTOR);
    let blocks = match &facts.bus {
        Bus::Nvme(n) => n.granularity_blocks().get(),
        Bus::Scsi(s) => s.unmap_granularity.get(),
        Bus::Other => None,
    };
    let claimed = blocks.map(|n| n.saturating_mul(block));
    facts.queue.discard_granularity.get().into_iter().chain(claimed).max()
}

/// Why there is no offload: it was withdrawn; of a stack that would pass zeroing on, the member that has none; else what its
/// kind tells.
pub fn why_no_offload(c: &Ctx<'_>) -> Option<String> {
    if let Some(hw) = withdrawn(c.facts).filter(|_| !c.facts.is_stack()) {
        return Some(format!(
            "the kernel withdrew the offload at run time; write_zeroes_unmap_max_hw_bytes is still \
                             {hw}"
        ));
    }
    // A target that passes nothing on is the reason itself.
    let own = || offload::why_none(c.facts);
    if c.facts.stack.passes_zeroing.is(false) && c.facts.stack.target.known().is_some_and(|t| t != "LVM") {
        return own();
    }
    let member = c.members.iter().find(|m| m.facts.queue.write_zeroes_max.is(0));
    let of_member = |m: &MemberView<'_>| {
        let why = offload::why_none(m.facts).map_or_else(String::new, |why| format!(": {why}"));
        format!("its member {} has no offload{why}", crate::device::display::escape_str(&m.facts.device.name))
    };
    member.map(of_member).or_else(own)
}

/// The kernels that refuse each discard of a device whose granularity is 0: from 5.10 to 6.7 (fieldguide 13).
const REFUSES_WITHOUT_GRANULARITY: std::ops::RangeInclusive<(u32, u32)> = (5, 10)..=(6, 7);

/// The discard limit where there is one beside a granularity that is known to be 0.
fn without_granularity(facts: &Facts) -> Option<u64> {
    facts.queue.discard().get().filter(|discard| *discard > 0 && facts.queue.discard_granularity.is(0))
}

/// A discard limit beside a granularity of 0, which means that discard is not supported.
pub fn discard_refused(c: &Ctx<'_>) -> Option<String> {
    let discard = without_granularity(c.facts)?;
    let kernel = match c.facts.kernel_version() {
        Some(version) if REFUSES_WITHOUT_GRANULARITY.contains(&version) => {
            "kernels from 5.10 to 6.7 then refuse every discard, and so does this one by its release"
        }
        Some(_) => "kernels from 5.10 to 6.7 then refuse every discard, and this one may too",
        None => "kernels from 5.10 to 6.7 then refuse every discard",
    };
    Some(format!("discard_max_bytes is {discard}, but discard_granularity is 0: {kernel}"))
}

/// A loop on a block device that has no discard: the loop's own discard limit repeats that device's zeroing limit.
pub fn discard_is_zeroing(c: &Ctx<'_>) -> Option<String> {
    let on_a_device = c.facts.device.kind == Kind::Loop && c.facts.is_stack();
    let member = c.members.iter().find(|m| m.facts.queue.discard().is(0))?;
    let discards = c.facts.queue.discard().get().is_some_and(|discard| discard > 0);
    (on_a_device && discards).then(|| {
        let name = crate::device::display::escape_str(&member.facts.device.name);
        format!("{name} below it has no discard, so each discard of this device zeroes blocks of {name}")
    })
}

/// Discard, but no zeroing offload: the limit is 0, or there is no limit to look at and the controller has no Write Zeroes.
pub fn discard_only(c: &Ctx<'_>) -> Option<String> {
    let discard = c.facts.queue.discard().get()?;
    let none = match c.facts.queue.write_zeroes_max.get() {
        Some(limit) => limit == 0,
        None => c.facts.nvme().is_some_and(|n| n.write_zeroes().is(false)),
    };
    let refused = c.facts.kernel_version().is_some_and(|v| REFUSES_WITHOUT_GRANULARITY.contains(&v));
    if without_granularity(c.facts).is_some() && refused {
        return None;
    }
    (discard > 0 && none).then(|| {
        let why = why_no_offload(c).map_or_else(String::new, |why| format!(" ({why})"));
        format!("the device discards up to {} per command, but has no zeroing offload{why}", human_bytes(discard))
    })
}

/// A rotating medium with an offload known not to unmap.
pub fn rotational_offload(c: &Ctx<'_>) -> Option<String> {
    let limit = c.facts.queue.write_zeroes_max.get()?;
    (limit > 0 && c.rotating() == Some(true) && c.unmaps() == Some(false))
        .then(|| "the medium rotates and the offload does not unmap, so every zero is written to the medium".to_owned())
}

/// The knob is off.
pub fn knob_off(c: &Ctx<'_>) -> Option<String> {
    let hw = c.facts.queue.unmap_hw.get()?;
    (hw > 0 && c.facts.queue.unmap.is(0)).then(|| {
        format!(
            "write_zeroes_unmap_max_bytes is 0, but the hardware's limit is {hw}: the kernel refuses \
                 FALLOC_FL_WRITE_ZEROES"
        )
    })
}

/// The knob holds a third value.
pub fn knob_partial(c: &Ctx<'_>) -> Option<String> {
    let (hw, now) = (c.facts.queue.unmap_hw.get()?, c.facts.queue.unmap.get()?);
    (now != 0 && now != hw)
        .then(|| format!("write_zeroes_unmap_max_bytes is {now}, which is neither 0 nor the hardware's limit {hw}"))
}

/// A 0 could not be undone with the hardware's value.
pub fn knob_stuck_4gib(c: &Ctx<'_>) -> Option<String> {
    let hw = c.facts.queue.unmap_hw.get()?;
    (hw >= KNOB_LIMIT).then(|| {
        let back = match hw % KNOB_LIMIT {
            0 => "no value turns it on again".to_owned(),
            n => format!("only the value {n} turns it on again"),
        };
        format!(
            "write_zeroes_unmap_max_hw_bytes is {hw}, which is 4 GiB or more: once write_zeroes_unmap_max_bytes \
                 is 0, {back}"
        )
    })
}

/// A fact of the kernel, the same of all its devices: a table says it once.
pub const NO_KNOB: &str =
    "this kernel has no write_zeroes_unmap_max_bytes, which came with 6.17: FALLOC_FL_WRITE_ZEROES fails, and the \
     class is about PUNCH_HOLE";

/// The kernel has no unmap limits.
pub fn no_knob(c: &Ctx<'_>) -> Option<String> {
    let absent = |why: Option<&Why>| matches!(why, Some(Why::Absent));
    let q = &c.facts.queue;
    (q.write_zeroes_max.known().is_some() && absent(q.unmap_hw.why()) && absent(q.unmap.why()))
        .then(|| NO_KNOB.to_owned())
}
