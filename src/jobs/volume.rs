//! `vg:VG`: the logical volume that is made for a test. Its safety lies in the order: first the proof, then the intent that
//! names the volume, then LVM. After the test, or by recovery, the volume is removed, and the intent is removed last. A
//! volume is removed only if it has the name, tag and identifier of this test, is closed, and holds the witness of the test
//! or was never written to.

use crate::device::Devnum;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::machine::block::devices;
use crate::machine::block::hold::{Hold, LiveHold};
use crate::machine::fs::lock::Lock;
use crate::machine::lvm::{self, Own};
use crate::machine::port::pattern::{self, RunId, UNIT};
use crate::machine::port::Question;
use crate::machine::{block::blkid::Signature, clock, Roots};
use crate::measure::scratch::group::{groups_on, plan_volume, Planned, Reports};
use crate::measure::scratch::{self, Asked, Known, ScratchSpec};
use crate::protocol::Request;
use crate::store::intents::{Intent, Intents, Phase};
use crate::units::human_bytes;
use std::time::{Duration, Instant};

/// The lock of all that this program has LVM change.
const LOCK: &str = "lvm";
/// How long the node of the new volume may take to appear.
const NODE_WAIT: Duration = Duration::from_secs(10);
/// How long an event may keep the volume open that is to go.
const OPEN_WAIT: Duration = Duration::from_secs(15);
/// Said in every plan.
const COST: &str = "this writes LVM's metadata twice, and the old content of these extents is lost";

/// What LVM says at the moment.
pub fn reports() -> Result<Reports> {
    Ok(Reports { stretches: lvm::stretches()?, volumes: lvm::volumes()?, grows: lvm::grows_by_itself()? })
}

/// The volume that a place asks for; none where the place needs none.
pub fn wanted(on: &mut Asked<'_>, request: &Request, facts: &Facts, known: &Known) -> Result<Option<(Planned, RunId)>> {
    match &request.place {
        ScratchSpec::Group(group) => planned(on, request, facts, known, (group, &reports()?)).map(Some),
        ScratchSpec::Auto => match scratch::prove(on, &facts.device, &request.place, known, None) {
            Err(Error::NoPlace { device, why }) => first_group(on, request, facts, known)
                .map(Some)
                .map_err(|more| Error::NoPlace { device, why: format!("{why}; {more}") }),
            other => other.map(|_| None),
        },
        _ => Ok(None),
    }
}

/// The first group in which a volume may be made; the error says in words why there is none.
fn first_group(
    on: &mut Asked<'_>,
    request: &Request,
    facts: &Facts,
    known: &Known,
) -> std::result::Result<(Planned, RunId), String> {
    let reports = reports().map_err(|e| format!("vg: {e}"))?;
    let groups = groups_on(on, &facts.device, &reports);
    let mut reasons = Vec::new();
    for group in &groups {
        match planned(on, request, facts, known, (group, &reports)) {
            Ok(planned) => return Ok(planned),
            Err(Error::NotSafe { why, .. }) => reasons.push(format!("vg:{group}: {why}")),
            Err(e) => reasons.push(format!("vg:{group}: {e}")),
        }
    }
    Err(if groups.is_empty() { "vg: no volume group has extents on it".to_owned() } else { reasons.join("; ") })
}

/// What would be made in a group.
pub fn planned(
    on: &mut Asked<'_>,
    request: &Request,
    facts: &Facts,
    known: &Known,
    (group, reports): (&str, &Reports),
) -> Result<(Planned, RunId)> {
    let random = || clock::fresh_seed().map_err(|e| Error::file("/dev/urandom", "read", e));
    let run = RunId(random()?, random()?);
    let name = format!("{}-{:016x}{:016x}", lvm::TAG, run.0, run.1);
    let planned = plan_volume(on, &facts.device, (group, &name), reports, known, request.scratch_bytes)?;
    Ok((planned, run))
}

/// The plan in lines, for a dry run.
pub fn lines(request: &Request, planned: &Planned) -> Vec<String> {
    let mut lines = planned.checks.clone();
    lines.extend([
        told(planned),
        format!("would write at most {} bytes in it, for at most {} s", request.max_bytes, request.max_seconds),
    ]);
    lines
}

/// What would be made, and what that costs.
pub fn told(planned: &Planned) -> String {
    let (own, bytes) = (&planned.own, human_bytes(planned.on_disk.1));
    format!("would make the logical volume {}/{} of {bytes} and remove it after the test; {COST}", own.group, own.name)
}

/// Makes the volume and gives its node, with the intent written before. Where it could not be made nothing is left, or the
/// intent stays for `recover`.
pub fn make(
    roots: &Roots,
    facts: &Facts,
    name: &str,
    (planned, run): &(Planned, RunId),
    intents: &mut Intents,
) -> Result<(Own, String)> {
    let identity = facts.names.identity.as_ref();
    let mut word = Intent::begun(&roots.system, &facts.device, identity, *run);
    word.volume = Some(planned.own.clone());
    let made = {
        // Taken before the word is written: who recovers waits for it, and so for LVM.
        let lock = Lock::take(&roots.run().join("lock"), LOCK)?;
        intents.write(name, facts.device.devnum, &word)?;
        lvm::make(&planned.own, &planned.node, planned.extents, &lock)
    };
    let found = made.and_then(|()| appeared(roots, &planned.own));
    match found {
        Ok((uuid, node)) => {
            let own = Own { uuid: Some(uuid), ..planned.own.clone() };
            word.volume = Some(own.clone());
            intents.write(name, facts.device.devnum, &word)?;
            Ok((own, node))
        }
        Err(e) => {
            remove(roots, &planned.own, *run)?;
            intents.end(name)?;
            Err(e)
        }
    }
}

/// Identifier and node of the volume that was just made.
fn appeared(roots: &Roots, own: &Own) -> Result<(String, String)> {
    let failed = |what: &str| act(own, "make", what.to_owned());
    let volumes = lvm::volumes()?;
    let found = volumes.iter().find(|v| is_own(v, own)).ok_or_else(|| failed("LVM does not show it"))?;
    let (major, minor) = found.devnum.ok_or_else(|| failed("LVM did not activate it"))?;
    let target = devices::by_number(&roots.system, Devnum { major, minor });
    let node = target.ok_or_else(|| failed("the kernel does not show it"))?.device.node();
    if !LiveHold::default().wait_for_node(&node, (major, minor), NODE_WAIT) {
        return Err(failed(&format!("{node} did not appear")));
    }
    Ok((found.uuid.clone(), node))
}

/// After the test: the volume is removed and its word goes, unless content or a call is still in it; then `recover` does it.
pub fn finish(roots: &Roots, name: &str, intents: &mut Intents) -> Result<()> {
    let Some(word) = intents.of(name)? else { return Ok(()) };
    let over = matches!(word.phase, Phase::Preparing | Phase::Done) && word.left_behind.is_none();
    match word.volume.filter(|_| over) {
        Some(own) => {
            remove(roots, &own, word.run)?;
            intents.end(name)
        }
        None => Ok(()),
    }
}

/// Removes the volume of a test, if it is there. Nothing else is ever removed.
pub fn remove(roots: &Roots, own: &Own, run: RunId) -> Result<()> {
    // LVM may still be making it for a process that was killed: that holds the lock.
    let _lock = Lock::take(&roots.run().join("lock"), LOCK)?;
    let failed = |what: String| act(own, "remove", what);
    let Some(mut volume) = closed(own)? else {
        return match lvm::groups()?.contains(&own.group_uuid) {
            true => Ok(()),
            false => Err(failed(format!(
                "the volume group {} is not present; run `zerocap recover` again when it is, or give the volume up \
                 with --give-up",
                own.group
            ))),
        };
    };
    if volume.name != own.name || !volume.tags.iter().any(|t| t == lvm::TAG) {
        return Err(failed(format!(
            "somebody renamed it ({}/{}) or removed its tag `{}`, so zerocap does not remove it; if nobody needs it, \
             remove it by lvremove, then run `zerocap recover --give-up`",
            volume.group,
            crate::device::display::escape_str(&volume.name),
            lvm::TAG
        )));
    }
    if volume.open {
        return Err(failed("a program has it open; end that program and run `zerocap recover` again".to_owned()));
    }
    if volume.devnum.is_none() && !own.witness.is_empty() {
        lvm::activate(&volume)?;
        volume = closed(own)?.ok_or_else(|| failed("it disappeared in the meantime".to_owned()))?;
    }
    if let Some(devnum) = volume.devnum {
        ours(roots, own, run, devnum)?;
    }
    lvm::remove(&volume)
}

/// The volume, if it is there. An event that is still worked on may have it open for a while.
fn closed(own: &Own) -> Result<Option<lvm::Volume>> {
    let until = Instant::now() + OPEN_WAIT;
    loop {
        let found = lvm::volumes()?.into_iter().find(|v| is_own(v, own));
        if !found.as_ref().is_some_and(|v| v.open) || Instant::now() >= until {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// That a volume holds the witness of the test, or, where that was not written yet, nothing that anybody made there.
fn ours(roots: &Roots, own: &Own, run: RunId, (major, minor): (u32, u32)) -> Result<()> {
    let failed = |what: &str| act(own, "remove", what.to_owned());
    let target = devices::by_number(&roots.system, Devnum { major, minor });
    let device = target.ok_or_else(|| failed("the kernel does not show it"))?.device;
    if LiveHold::default().signature(&device.node(), None)? != Signature::Nothing {
        return Err(failed("it holds a signature that the test did not write, so somebody uses it"));
    }
    let mut port = roots.port();
    let mut bears = |at: u64, place: u64| {
        let bytes = port.ask(&device, Question::Blocks(at, UNIT as u32)).unwrap_or_default();
        pattern::is_witness(&bytes, run, place)
    };
    if own.witness.is_empty() || own.witness.iter().any(|(at, place)| bears(*at, *place)) {
        return Ok(());
    }
    Err(failed(
        "it does not hold the witness of the test, so somebody wrote to it; remove it by lvremove if nobody needs it",
    ))
}

fn is_own(volume: &lvm::Volume, own: &Own) -> bool {
    volume.group_uuid == own.group_uuid
        && match &own.uuid {
            Some(uuid) => volume.uuid == *uuid,
            None => volume.name == own.name,
        }
}

fn act(own: &Own, operation: &str, what: String) -> Error {
    let operation = format!("{operation} the logical volume of the test");
    Error::Act { device: format!("{}/{}", own.group, own.name), operation, what }
}
