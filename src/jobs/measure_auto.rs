//! The test that nobody asks for by hand: `zerocap measure --auto` in `zerocap-measure@.service`, where a policy says
//! `measure = "auto"` and names a scratch.

use crate::assess::policies;
use crate::assess::Picture;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::{self, Depth};
use crate::jobs::target;
use crate::machine::Roots;
use crate::measure::scratch::ScratchSpec;
use crate::policy::{Measure, Policy};
use crate::terms::{Basis, Class, FindingCode};

/// The unit that an event is to ask for: where a policy wants a test, and there is neither a verdict nor an interrupted
/// test. The instance is the device number, which needs no escaping anywhere.
pub fn unit(picture: &Picture) -> Option<String> {
    scratch(&picture.policy)?;
    let d = &picture.document;
    // A measurement that did not decide is an answer too: a test again would give no other.
    let tested = picture.verdict.tested || d.class == Class::Broken || d.basis == Some(Basis::Policy);
    let cut_off = d.findings.iter().any(|f| f.code == FindingCode::TestInterrupted);
    let nothing_to_test = d.class == Class::None;
    // What is kept and cannot be read may be a hazard: a person has to look first.
    (!tested && !cut_off && !nothing_to_test && !picture.unusable)
        .then(|| picture.facts.device.devnum.map(|n| format!("zerocap-measure@{n}.service")))?
}

/// The scratch that the policy names, where it wants a test.
fn scratch(policy: &Policy) -> Option<&str> {
    let auto = policy.measure.as_ref().is_some_and(|m| m.value == Measure::Auto);
    policy.scratch.as_ref().filter(|_| auto).map(|s| s.value.as_str())
}

/// Where `measure --auto` may write on a device.
pub fn place(roots: &Roots, typed: &str) -> Result<ScratchSpec> {
    let device: Device = target::whole(roots, typed)?;
    let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
    let (policy, _) = policies::resolve(roots, &facts);
    let not_safe = |why: String| Error::NotSafe { device: device.node(), why };
    let scratch = scratch(&policy).ok_or_else(|| {
        not_safe("no policy says measure = \"auto\" and a scratch for it; see `zerocap policy test`".to_owned())
    })?;
    let from = policy.scratch.as_ref().map_or("", |s| s.from.as_str());
    scratch.parse().map_err(|e| not_safe(format!("{from}: scratch: {e}")))
}
