//! How old the measurement below a class is, for `check --max-age`.

use crate::jobs::{check, Env};
use crate::machine::nodes;
use crate::output::Document;
use crate::words::Basis;

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
pub fn of(env: &Env, document: &Document, now: &str, remark: &mut dyn FnMut(&str)) -> Age {
    at_level(env, document, now, remark, 0)
}

fn at_level(env: &Env, document: &Document, now: &str, remark: &mut dyn FnMut(&str), level: usize) -> Age {
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
        let Some(device) = nodes::resolve_name(&env.roots.system, member) else { continue };
        let below = check::document(env, env.port().as_mut(), &device, &mut *remark);
        match (at_level(env, &below, now, remark, level + 1), &oldest) {
            (unknown @ Age::Unknown(_), _) => return unknown,
            (Age::Seconds(age), Age::Seconds(most)) if age <= *most => {}
            (Age::Seconds(age), _) => oldest = Age::Seconds(age),
            (Age::NotMeasured, _) => {}
        }
    }
    oldest
}

/// Seconds since 1970 of an RFC 3339 time in UTC with seconds (`2026-11-30T08:00:00Z`).
pub fn seconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, by: char, lengths: [usize; 3]| -> Option<[u64; 3]> {
        let parts: Vec<&str> = text.split(by).collect();
        let [a, b, c] = parts.as_slice() else { return None };
        let one = |p: &str, length: usize| {
            (p.len() == length && p.bytes().all(|b| b.is_ascii_digit())).then(|| p.parse().ok()).flatten()
        };
        Some([one(a, lengths[0])?, one(b, lengths[1])?, one(c, lengths[2])?])
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60
    {
        return None;
    }
    // Days from the civil calendar (Howard Hinnant): the year begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let era = year / 400;
    let year_of_era = year % 400;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::seconds;
    use crate::machine::clock::utc;

    #[test]
    fn times_are_read_as_they_are_written() {
        for at in [0, 951_827_696, 1_796_025_600, 4_102_444_799] {
            assert_eq!(seconds(&utc(at)), Some(at));
        }
        for bad in [
            "",
            "2026-11-30",
            "2026-13-30T08:00:00Z",
            "2026-11-30T08:00:00",
            "x026-11-30T08:00:00Z",
            "2026-1-30T08:00:00Z",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
