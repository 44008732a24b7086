//! Rules about hazards, tests and the kept measurement (DESIGN 2 and 7).

use crate::device::display::escape_str;
use crate::terms::{Class, FindingCode, Hazard};
use crate::verdict::context::{Ctx, Kept};
use crate::verdict::fingerprint;

/// A hazard that a test recorded or a rule declares; the finding stays even where a pin accepts the hazard.
pub fn hazard(c: &Ctx<'_>, which: Hazard) -> Option<String> {
    if let Some(found) = c.recorded_hazards().find(|h| h.hazard == which) {
        return Some(match found.method {
            Some(method) => format!("{method}: {}", escape_str(&found.text)),
            None => escape_str(&found.text),
        });
    }
    let declared = c.policy.hazard.as_ref().filter(|h| h.value == which)?;
    Some(format!("declared by {}", escape_str(&declared.from)))
}

/// Two devices present bear the same identity. The paths of one multipath head do so rightly: the head answers for them.
pub fn identity_shared(c: &Ctx<'_>) -> Option<String> {
    let identity =
        || c.facts.names.identity.as_ref().map_or_else(|| "the same identity".to_owned(), ToString::to_string);
    c.shared().then(|| format!("another present device also has {}, so no kept measurement is used", identity()))
}

/// The fingerprint of the measurement no longer holds.
pub fn measurement_stale(c: &Ctx<'_>) -> Option<String> {
    match &c.kept {
        Kept::Stale(m, changed) => {
            Some(format!("the measurement of {} is not used: {}", escape_str(&m.at), changed.join("; ")))
        }
        _ => None,
    }
}

/// A finding that arose in the test, while the measurement holds.
pub fn of_test(c: &Ctx<'_>, code: FindingCode) -> Option<String> {
    c.holding()?.findings.iter().find(|f| f.code == code).map(|f| escape_str(&f.text))
}

/// A test was cut off: by what is left of it, or by its own record.
pub fn test_interrupted(c: &Ctx<'_>) -> Option<String> {
    let cut_off = c.context.interrupted.as_ref().map(|cut| escape_str(&cut.text));
    cut_off.or_else(|| of_test(c, FindingCode::TestInterrupted))
}

/// A tunable holds a value of somebody else.
pub fn set_by_admin(c: &Ctx<'_>) -> Option<String> {
    (!c.context.set_by_admin.is_empty()).then(|| c.context.set_by_admin.join("; "))
}

/// Limits differ from those at the measurement. The tunables that zerocap itself sets are left out.
pub fn limits_changed(c: &Ctx<'_>) -> Option<String> {
    let then = &c.holding()?.limits;
    let now = fingerprint::limits(c.facts);
    let changed: Vec<String> = then
        .iter()
        .filter(|(name, _)| !fingerprint::SET_BY_US.contains(&name.as_str()))
        .filter_map(|(name, before)| {
            let after = now.get(name)?;
            (after != before).then(|| format!("{} was {} and is {after}", escape_str(name), escape_str(before)))
        })
        .collect();
    (!changed.is_empty()).then(|| changed.join("; "))
}

/// The kernel release differs from that at the measurement.
pub fn kernel_changed(c: &Ctx<'_>) -> Option<String> {
    let then = &c.holding()?.kernel;
    let now = c.facts.kernel.known()?;
    (then != now).then(|| {
        format!("it was measured under kernel {}, but the kernel is now {}", escape_str(then), escape_str(now))
    })
}

/// A pin of `fast` where there is no offload.
pub fn pin_without_offload(c: &Ctx<'_>) -> Option<String> {
    let pin = c.policy.class.as_ref().filter(|pin| pin.value == Class::Fast)?;
    c.facts.queue.write_zeroes_max.is(0).then(|| {
        format!(
            "it is pinned as fast by {}, but write_zeroes_max_bytes is 0, so the pin has no effect",
            escape_str(&pin.from)
        )
    })
}
