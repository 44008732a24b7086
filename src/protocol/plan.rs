//! What a test will use: which bytes, which journal, which deadline, how much. It only reads.

use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::machine::clock;
use crate::machine::fs::location::{self, Medium, Place};
use crate::machine::fs::root::Root;
use crate::machine::port::file_acts::free_bytes;
use crate::machine::port::pattern::RunId;
use crate::machine::Roots;
use crate::measure::deep;
use crate::measure::journal::{Header, PIECE};
use crate::measure::order::{DECIDING, IN_FILES, SCREENED};
use crate::measure::plan::Plan;
use crate::measure::plan::{block as block_of, Layout, FILLED, GUARD, SEGMENT, SUSTAINED};
use crate::measure::scratch::Proof;
use crate::measure::trial::SEGMENTS;
use crate::policy::Policy;
use crate::protocol::mode_candidates::candidates;
use crate::protocol::{deadline, Request};
use crate::terms::{Method, ZeroingMode};
use crate::units::{human_bytes, Nanos, MIB};
use crate::verdict::limit_rules::GRANULARITY_LARGE;
use std::path::{Path, PathBuf};

/// The most of a larger place that a test takes, in bytes, where nothing else is asked for: what is filled, a guard and a
/// block of the witness at either end, and what aligning them may take.
const MOST_SCRATCH: u64 = FILLED * SEGMENT + 4 * MIB;

/// Everything that is settled before anything is written.
pub struct Prepared {
    /// Of the run.
    pub plan: Plan,
    /// The journal's directory; `None` where what lies there is nobody's.
    pub journal: Option<PathBuf>,
    /// Where that lies, in words.
    pub place: String,
    /// Until a call counts as not answered.
    pub deadline: Nanos,
    /// `--tune`: the values of `zeroing_mode` that are tried; empty where that was not asked for.
    pub modes: Vec<&'static str>,
    /// The `zeroing_mode` that the policy wishes for.
    pub wished_mode: Option<ZeroingMode>,
    /// `--deep`.
    pub deep: Option<deep::Plan>,
    /// `--interference`.
    pub interference: bool,
    /// Where the test works, and what is journalled.
    pub layout: Layout,
    /// The run: the seed of its pattern, and its witness.
    pub run: RunId,
}

/// What is to be done.
pub(crate) enum Intended {
    /// A test.
    Test(Box<Prepared>),
    /// None: the deallocation granularity is too large for range and budget. In words.
    TooCoarse(String),
}

/// Settles it, or says why nothing is tested.
pub(crate) fn of(roots: &Roots, request: &Request, facts: &Facts, policy: &Policy, proof: &Proof) -> Result<Intended> {
    let not_safe = |why: String| Error::NotSafe { device: facts.device.node(), why };
    let modes = if request.tune { candidates(facts) } else { Vec::new() };
    if request.tune && modes.is_empty() {
        return Err(Error::Usage(format!(
            "{} claims no zeroing_mode that could be tried (only SCSI disks with a zeroing offload have any); leave \
             out --tune",
            facts.device.node()
        )));
    }
    // Of several modes each gets its part.
    let max_bytes = request.max_bytes / modes.len().max(1) as u64;
    let granularity = granularity(facts);
    let unit = Layout::unit(&proof.range, granularity);
    let limit = facts.queue.write_zeroes_max.get().unwrap_or(0);
    let block = proof.range.logical_block;
    let most = request.scratch_bytes.unwrap_or(MOST_SCRATCH).max(unit.saturating_mul(8));
    // The long stretch goes over all that is journalled; `--deep` may want more.
    let long = if request.deep { deep::Plan::wanted(block, unit, limit) } else { most };
    // In a file too, which has no witness: a device that zeroes more than it is told reaches no block of another file.
    let guard = GUARD.max(granularity);
    let at_most = if request.deep { proof.limit } else { proof.limit.min(most) };
    let layout = match Layout::of(&proof.range, (unit, guard), at_most, max_bytes, long) {
        Ok(layout) => layout,
        // With a small granularity it is the request that is too small.
        Err(why) if unit > GRANULARITY_LARGE => return Ok(Intended::TooCoarse(why)),
        Err(why) => return Err(not_safe(format!("{why}; give a larger scratch range or a larger --max-bytes"))),
    };
    let journal = (!proof.ownerless).then(|| journal_directory(roots, request));
    // A journal of zeroes holds nothing that could be lost with it.
    let how = (request.journal.is_some(), proof.is_zero);
    let place = match &journal {
        Some(dir) => {
            let place = journal_allowed(roots, dir, how, &facts.device).map_err(not_safe)?;
            room_for_journal(dir, layout.span.1).map_err(not_safe)?;
            place
        }
        None => "nowhere".to_owned(),
    };
    let in_file = proof.file.is_some();
    let (deciding, screened) = if in_file { (IN_FILES, &[][..]) } else { (DECIDING, SCREENED) };
    let random = || clock::fresh_seed().map_err(|e| Error::file("/dev/urandom", "read", e));
    let run = RunId(random()?, random()?);
    let plan = Plan {
        seed: run.seed(),
        unit,
        start: layout.start,
        length: layout.segments,
        area: layout.area,
        block: block_of(&proof.range),
        put_back: journal.as_ref().map_or(0, |_| layout.span.1),
        sustained: request.sustained.unwrap_or(SUSTAINED),
        fast_ratio: policy.fast_ratio,
        max_bytes: request.max_bytes,
        max_time: Nanos::from_secs(request.max_seconds),
        deciding,
        not_tried: not_tried(facts, proof),
        first_trial: 0,
        screened,
    };
    let deep = request.deep.then(|| deep::Plan::of(layout.start, layout.area, block, unit, limit));
    // The longest call decides.
    let longest = deep.and_then(|d| d.command).unwrap_or(0).max(layout.segments / SEGMENTS);
    let own = || deadline::of(&roots.system, facts, longest);
    let deadline = request.deadline.map_or_else(own, Nanos::from_secs);
    let interference = request.interference;
    let wished_mode = policy.zeroing_mode.as_ref().map(|wish| wish.value);
    let prepared = Prepared { plan, journal, place, deadline, modes, wished_mode, deep, interference, layout, run };
    Ok(Intended::Test(Box::new(prepared)))
}

/// Where the journal lies.
pub(crate) fn journal_directory(roots: &Roots, request: &Request) -> PathBuf {
    request.journal.clone().unwrap_or_else(|| roots.var().join("journal"))
}

/// Methods that the run leaves out, and why.
fn not_tried(facts: &Facts, proof: &Proof) -> Vec<(Method, String)> {
    let mut out = Vec::new();
    match facts.queue.unmap.get() {
        None => out.push((
            Method::WriteZeroes,
            "not tried: this kernel has no FALLOC_FL_WRITE_ZEROES, which came with Linux 6.17".to_owned(),
        )),
        _ if proof.volume.as_ref().is_some_and(|v| v.gated) => {
            out.push((Method::WriteZeroes, "gated by the limit of the logical volume".to_owned()))
        }
        Some(0) => out.push((Method::WriteZeroes, "gated".to_owned())),
        Some(_) => {}
    }
    if facts.device.kind == Kind::Loop {
        // loop hands these on as FALLOC_FL_ZERO_RANGE, and one that the backing file refuses (tmpfs has none) makes the
        // block layer withdraw the offload until the loop device is set up anew.
        // 6.1 falls back to writing and keeps it; the release says only which the kernel is likely to do, so neither risks it.
        let why = "not tried: a file system without FALLOC_FL_ZERO_RANGE refuses it, and Linux 6.12 and newer (6.1 \
                   does not) then withdraw the offload";
        out.extend([Method::ZeroRange, Method::BlkZeroOut].map(|method| (method, why.to_owned())));
    }
    out
}

/// What the device deallocates at once, in bytes; 0 where it does not say.
pub(crate) fn granularity(facts: &Facts) -> u64 {
    facts.queue.discard_granularity.get().unwrap_or(0)
}

/// The proof and the plan, for a dry run.
pub(crate) fn lines(request: &Request, proof: &Proof, intended: &Intended) -> Vec<String> {
    let mut lines = proof.checks.clone();
    let Prepared { plan, journal, place, deadline, modes, deep, layout, .. } = match intended {
        Intended::Test(prepared) => &**prepared,
        Intended::TooCoarse(why) => {
            lines.push(format!("would test nothing and answer unknown (granularity-large): {why}"));
            return lines;
        }
    };
    lines.extend([
        format!("would use bytes {}+{} of {} in {SEGMENTS} segments", plan.start, plan.length, proof.range.node),
        match journal {
            Some(dir) => {
                format!("would journal bytes {}+{} of it in {} ({place})", layout.span.0, layout.span.1, dir.display())
            }
            None => "would journal nothing and put nothing back".to_owned(),
        },
        format!(
            "would write at most {} bytes in all, the put-back included, in at most {} s plus the time of the \
             put-back",
            request.max_bytes, request.max_seconds
        ),
        format!("would zero up to {} bytes in one long stretch", plan.sustained),
        format!("would treat a call as not answered after {:.0} s", deadline.as_secs_f64()),
    ]);
    if !modes.is_empty() {
        lines.push(format!("would try zeroing_mode {}, each with its part of the budget", modes.join(", ")));
    }
    if let Some(deep) = deep {
        let command = deep.command.map_or_else(
            || "no command of more than 65536 blocks, because the limit or the range does not allow one".to_owned(),
            |bytes| format!("one command of {bytes} bytes"),
        );
        lines.push(format!("would write and zero {} bytes at a stretch; {command}", deep.length));
    }
    lines
}

/// The head of the journal.
pub(crate) fn header(root: &Root, facts: &Facts, proof: &Proof, prepared: &Prepared) -> Header {
    let range = &proof.range;
    Header {
        run: prepared.run,
        at: clock::now_utc(),
        boot_id: clock::boot_id(root),
        device: facts.device.name.clone(),
        devnum: facts.device.devnum.map(|d| d.to_string()),
        identity: facts.names.identity.as_ref().map(|i| i.as_str().to_owned()),
        diskseq: proof.opened.diskseq,
        size_bytes: proof.opened.size,
        logical_block: proof.opened.logical_block,
        physical_block: proof.opened.physical_block,
        node_offset: range.node_offset,
        node_length: proof.partition.map(|_| range.length),
        partition: proof.partition.map(|(number, _)| number),
        temporary: proof.partition.is_some_and(|(_, made)| made),
        span: prepared.layout.span,
        piece: PIECE,
        thin: proof.thin,
        volume: proof.volume.as_ref().map(|v| v.uuid.clone()),
    }
}

/// That a journal of so many bytes has room in its directory, which may have to be made. Where that cannot be told the writing
/// of it will, before anything is written to the device.
fn room_for_journal(dir: &Path, bytes: u64) -> std::result::Result<(), String> {
    let free = |d: &Path| free_bytes(&d.display().to_string()).ok();
    let Some((there, free)) = dir.ancestors().find_map(|d| free(d).map(|free| (d, free))) else { return Ok(()) };
    if free > bytes.saturating_add(MIB) {
        return Ok(());
    }
    Err(format!(
        "the journal needs {}, but only {} are free in {}; name another directory with --journal DIR, or test fewer \
         bytes with --scratch-bytes",
        human_bytes(bytes),
        human_bytes(free),
        there.display()
    ))
}

/// Whether a journal may lie in a directory that was `named` or not; `zero`: its content is all zero. Gives where that is, in
/// words.
fn journal_allowed(
    roots: &Roots,
    dir: &Path,
    (named, zero): (bool, bool),
    device: &Device,
) -> std::result::Result<String, String> {
    let below = location::below_directory(&roots.system, dir);
    if below.devices.iter().any(|d| d.name == device.name) {
        if zero {
            return Ok(format!("on {} itself: the bytes read as zero, so nothing is lost with it", device.name));
        }
        return Err(format!(
            "the journal {} lies on the device itself; name another place with --journal DIR",
            dir.display()
        ));
    }
    match below.rest {
        None | Some(Place::Devices(_)) => {
            Ok(format!("on {}", below.devices.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join(", ")))
        }
        Some(Place::NoDevice(Medium::OtherHost, why)) => Ok(why),
        Some(Place::NoDevice(Medium::Memory, _)) if named => Ok("in memory: a power cut loses the content".to_owned()),
        Some(Place::NoDevice(Medium::Memory, _)) => Err(format!(
            "the journal {} would lie in memory, where a power cut loses the content; accept that with --journal {}",
            dir.display(),
            dir.display()
        )),
        Some(Place::NoDevice(Medium::Untold, why) | Place::Unknown(why)) if named => {
            Ok(format!("it cannot be told on which device: {why}"))
        }
        Some(Place::NoDevice(Medium::Untold, why) | Place::Unknown(why)) => Err(format!(
            "it cannot be told on which device the journal {} lies ({why}); name a directory on another device with \
             --journal DIR",
            dir.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Devnum;
    use crate::machine::simulated::disk::opened;
    use crate::measure::scratch::file::new_file;
    use crate::measure::scratch::{InFile, Wanted};

    /// A device that zeroes more than it is told, up to a MiB, must not reach the blocks of another file.
    #[test]
    fn zeroing_in_a_file_keeps_away_from_its_ends() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::new(Some(dir.path()), Some(dir.path())).unwrap();
        let facts = crate::facts::testing::with("sda", &[("queue/write_zeroes_max_bytes", "8388608")]);
        let range = new_file("/mnt", (8, 1), 64 * MIB, 512);
        let wanted = Wanted {
            directory: "/mnt".to_owned(),
            filesystem: Devnum { major: 8, minor: 1 },
            kind: "ext4".to_owned(),
            mount_point: "/mnt".to_owned(),
            block: 4096,
            length: 64 * MIB,
        };
        let file = Some(InFile { wanted, extents: Vec::new(), tables: Vec::new() });
        let proof = Proof { ownerless: true, file, ..Proof::of(range, "directory", Vec::new(), opened(64 * MIB)) };
        let request = Request { max_bytes: 1024 * MIB, max_seconds: 60, ..Request::default() };
        for granularity in [0, 4 * MIB] {
            let mut facts = facts.clone();
            facts.queue.discard_granularity = crate::fact::Fact::Known(granularity);
            let Ok(Intended::Test(planned)) = of(&roots, &request, &facts, &Policy::default(), &proof) else {
                panic!("no test is planned")
            };
            let (l, guard) = (planned.layout, GUARD.max(granularity));
            assert!(l.start >= guard && l.start + l.area + guard <= 64 * MIB, "{granularity}: {l:?}");
        }
    }
}
