//! How old the measurement below a class is, for `check --max-age`.

use crate::jobs::check;
use crate::machine::block::devices;
use crate::machine::Roots;
use crate::output::time::seconds;
use crate::terms::Basis;
use verdict_format::Document;

/// How deep a stack is followed.
const DEEPEST: usize = 8;

/// The age of what a class rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Age {
    /// No measurement is involved.
    NotMeasured,
    /// Seconds since the oldest one.
    Seconds(u64),
    /// It cannot be told; why.
    Unknown(String),
}

/// The age of the measurement of a document; of a derived class, of the oldest one of its members. `now`: RFC 3339, UTC.
pub fn of(roots: &Roots, document: &Document, now: &str, remark: &mut dyn FnMut(&str)) -> Age {
    at_level(roots, document, now, remark, 0)
}

fn at_level(roots: &Roots, document: &Document, now: &str, remark: &mut dyn FnMut(&str), level: usize) -> Age {
    let name = &document.device.name;
    if let Some(measured) = &document.measured {
        return match (seconds(&measured.at), seconds(now)) {
            (Some(at), Some(now)) if at <= now => Age::Seconds(now - at),
            (Some(_), Some(_)) => Age::Unknown(format!("{name} was measured at {}, which is to come", measured.at)),
            _ => Age::Unknown(format!("{name} was measured at {}, which is no time", measured.at)),
        };
    }
    if document.basis != Some(Basis::Derived) || level >= DEEPEST {
        return Age::NotMeasured;
    }
    let mut oldest = Age::NotMeasured;
    for member in &document.device.members {
        let Some(device) = devices::resolve_name(&roots.system, &member.name) else { continue };
        let below = check::document(roots, roots.port().as_mut(), &device, &mut *remark);
        match (at_level(roots, &below, now, remark, level + 1), &oldest) {
            (unknown @ Age::Unknown(_), _) => return unknown,
            (Age::Seconds(age), Age::Seconds(most)) if age <= *most => {}
            (Age::Seconds(age), _) => oldest = Age::Seconds(age),
            (Age::NotMeasured, _) => {}
        }
    }
    oldest
}
