//! What the tunables should be (DESIGN 8, fieldguide 1.3). Pure: whether a value is written is the tunable layer's.

use crate::facts::Facts;
use crate::policy::Policy;
use crate::units::GIB;
use crate::verdict::{Measurement, Want};
use crate::words::Class;

/// The file's name.
pub const KNOB: &str = "write_zeroes_unmap_max_bytes";

/// The wanted values, with reasons.
pub fn wants(facts: &Facts, policy: &Policy, class: Class, measurement: Option<&Measurement>) -> Vec<Want> {
    knob(facts, policy, class, measurement).into_iter().collect()
}

fn knob(facts: &Facts, policy: &Policy, class: Class, measurement: Option<&Measurement>) -> Option<Want> {
    let hw = facts.queue.unmap_hw.get().filter(|hw| *hw > 0)?;
    // Without the file there is nothing to write; with the offload withdrawn every limit write gives EINVAL.
    let now = facts.queue.unmap.get()?;
    if !policy.manage_knob || facts.queue.write_zeroes_max.is(0) {
        return None;
    }
    // The kernel compares with the limit modulo 4 GiB; where that is 0, a 0 could never be undone.
    let on = match hw % (4 * GIB) {
        // Of a device that is broken a way back is not wanted; of any other nothing is risked that cannot be undone.
        0 if class != Class::Broken => return None,
        _ if now == hw => hw,
        accepted => accepted,
    };
    let high = measurement.and_then(|m| m.speedup).and_then(|s| s.high);
    let (wanted, why) = match (class, high) {
        (Class::Broken, _) => (0, "zeroing is broken".to_owned()),
        // A pin of the class is a wish about the device, so the numbers do not overrule it.
        (Class::Slow | Class::Unknown, Some(high)) if high < policy.knob_off_below => {
            (0, format!("zeroing is at most {high:.2} times as fast as writing"))
        }
        (Class::Fast, _) => (on, "zeroing is fast".to_owned()),
        _ => (on, "the kernel's default".to_owned()),
    };
    Some(Want { name: KNOB.to_owned(), path: format!("queue/{KNOB}"), wanted: wanted.to_string(), why })
}
