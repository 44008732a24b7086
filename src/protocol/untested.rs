//! The answer if no test is possible: the deallocation granularity is too large for the range and the budget. It writes
//! nothing to the device. The answer is kept, if nothing better is, so that not every event asks for the same test.
//!
//! The finding is not made here: `granularity-large` follows from the limit itself, in every verdict of the device.

use crate::assess::publish;
use crate::error::Result;
use crate::facts::Facts;
use crate::machine::clock;
use crate::machine::Roots;
use crate::measure::scratch::Proof;
use crate::protocol::result::{self, Conditions};
use crate::protocol::supervise::Listener;
use crate::store::measurements;
use crate::verdict::fingerprint;
use verdict_format::Document;

/// Keeps and publishes it.
pub(crate) fn answer(
    roots: &Roots,
    facts: &Facts,
    proof: &Proof,
    why: &str,
    listener: &mut dyn Listener,
) -> Result<Box<Document>> {
    let before = measurements::load(roots, facts)?;
    let holds = before.as_ref().filter(|m| fingerprint::changes(m, facts).is_empty());
    let known = holds.is_some_and(|m| m.is_without_test() && m.inconclusive.as_deref() == Some(why));
    let better = holds.is_some_and(|m| !m.is_without_test()) || before.as_ref().is_some_and(|m| m.hazard.is_some());
    let mut remark = |text: &str| listener.remark(text);
    if known || better {
        if better {
            remark(&format!("{}: not tested: {why}; what was known of it is kept", facts.device.node()));
        }
        // Nothing has changed, so no event: one would ask for this test again where a policy wants it automatic.
        return publish::anew(roots, &facts.device, &mut remark).map(Box::new);
    }
    let conditions = Conditions::without_test(clock::now_utc(), proof.kind, proof.checks.clone());
    let mut m = result::blank(facts, &conditions);
    m.inconclusive = Some(why.to_owned());
    m.overwrite = before.and_then(|m| m.overwrite);
    measurements::save(roots, facts, &m)?;
    publish::with_event(roots, &facts.device, &mut remark).map(Box::new)
}
