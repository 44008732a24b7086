//! What all tests of `zerocap measure` share: what a proof must know about the device, what is kept of a run, and what is
//! published after it.

use crate::assess::{publish, stack_members};
use crate::error::Result;
use crate::fact::{Fact, Why};
use crate::facts::Facts;
use crate::machine::Roots;
use crate::measure::outcome::Outcome;
use crate::measure::scratch::Known;
use crate::measure::trial;
use crate::protocol::plan::{self, Prepared};
use crate::protocol::result::{self, Conditions};
use crate::protocol::supervise::Listener;
use crate::protocol::{Answer, Request};
use crate::store::measurements;
use crate::terms::{Class, FindingCode};
use crate::verdict::measurement::TestFinding;

/// What the proof must know besides what it checks itself.
pub fn known(roots: &Roots, facts: &Facts, request: &Request) -> Result<Known> {
    Ok(Known {
        // Kernels before 4.10 know no zones; else what is not known counts as what would refuse.
        zoned: !matches!(&facts.queue.zoned, Fact::Unknown(Why::Absent)) && !facts.queue.zoned.is("none".to_owned()),
        read_only: !facts.names.read_only.is(false),
        thin: stack_members::thin(roots, facts),
        same_identity: crate::assess::same_identity(roots, facts)?,
        thin_ok: request.thin_ok,
        shared: facts.shared_medium(),
        shared_ok: request.shared_ok,
        private: request.private,
        granularity: plan::granularity(facts),
    })
}

/// Keeps what a run gave, beside what was known and still holds; false where what was kept stays.
pub(super) fn keep(
    roots: &Roots,
    facts: &Facts,
    prepared: &Prepared,
    outcome: &Outcome,
    conditions: &Conditions,
) -> Result<bool> {
    let mut measurement = result::of_run(facts, conditions, outcome);
    let now = facts.scsi().and_then(|s| s.zeroing_mode.known());
    if let Some(before) = measurements::load(roots, facts).ok().flatten() {
        // What can decide nothing takes no hazard back either.
        if before.hazard.is_some()
            && measurement.class == Class::Unknown
            && u64::from(measurement.trials) < trial::LEAST_PAIRS
        {
            return Ok(false);
        }
        if let Some(text) = result::contradiction(&before, &measurement) {
            measurement.findings.push(TestFinding { code: FindingCode::VerdictChanged, text });
        }
        // What was found in files of this device is not asked anew here.
        measurement.overwrite = before.overwrite;
        // A test in the mode that an earlier one chose speaks of that mode, which stays wanted.
        if prepared.modes.is_empty() && before.zeroing_mode.as_ref().is_some_and(|mode| Some(mode) == now) {
            (measurement.zeroing_mode, measurement.modes) = (before.zeroing_mode, before.modes);
        }
    }
    // So does one in the mode that the policy wishes for: the rule leads back to it after every close.
    if prepared.modes.is_empty() && prepared.wished_mode.is_some_and(|w| now.is_some_and(|m| m == w.as_str())) {
        measurement.zeroing_mode = now.cloned();
    }
    measurements::save(roots, facts, &measurement).map(|kept| kept.is_some())
}

/// Publishes what is known now, and has udev look at the disk and its partitions.
pub(super) fn published(roots: &Roots, facts: &Facts, listener: &mut dyn Listener) -> Result<Answer> {
    let mut remark = |text: &str| listener.remark(text);
    let document = publish::with_event(roots, &facts.device, &mut remark)?;
    // A test that took the offload away leaves a device whose verdict no longer speaks of the test.
    let kept = measurements::load(roots, facts).ok().flatten();
    let found = kept.map(|m| m.findings).unwrap_or_default();
    let told = |f: &&TestFinding| document.findings.iter().any(|told| told.code == f.code);
    found.iter().filter(|f| !told(f)).for_each(|f| remark(&format!("{}: {}", f.code, f.text)));
    Ok(Answer::Verdict(Box::new(document)))
}
