//! The policy rules of a recording: those that match a recorded device, on the lines where they were, because verdicts name
//! them by file and line. Rules of other devices, their names and the administrators' reasons are left out. It is pure.

use crate::policy::format::{Key, Pattern, Rule, Wishes};
use crate::policy::matcher::{fits, Subject};
use crate::policy::Sourced;
use crate::redact::secrets::{Reach, Secrets};

/// The text of a file of rules that keeps those which fit one of the devices; `None` where none does. With secrets, names
/// have the stand-ins that the recorded files have, and no reason is given.
pub fn text(rules: &[Rule], devices: &[Subject<'_>], mut secrets: Option<&mut Secrets>) -> Option<String> {
    let mut text = String::new();
    let mut at = 1;
    for rule in rules {
        // A rule whose expression is none fits nothing.
        let fitted: Vec<&Subject<'_>> = devices.iter().filter(|d| fits(rule, d).unwrap_or(false)).collect();
        if fitted.is_empty() {
            continue;
        }
        let mut keys: Vec<(usize, &str, String)> = rule
            .patterns
            .iter()
            .map(|p| (line(&p.from), p.key.as_str(), quoted(&pattern(p, &fitted, secrets.as_deref()))))
            .collect();
        keys.extend(wishes(&rule.wishes, secrets.as_deref_mut()));
        if let Some(why) = rule.why.as_ref().filter(|_| secrets.is_none()) {
            keys.push((usize::MAX, "why", quoted(why)));
        }
        keys.sort_by_key(|(line, ..)| *line);
        let header = (line(&rule.from), "[[rule]]".to_owned());
        let lines = keys.into_iter().map(|(line, key, value)| (line, format!("{key} = {value}")));
        for (wanted, written) in std::iter::once(header).chain(lines) {
            // A reason has no line that anybody names.
            let gap = if wanted == usize::MAX { 0 } else { wanted.saturating_sub(at) };
            text.push_str(&"\n".repeat(gap));
            text.push_str(&written);
            text.push('\n');
            at += gap + 1;
        }
    }
    Some(text).filter(|t| !t.is_empty())
}

/// The line of `file:line`.
fn line(from: &str) -> usize {
    from.rsplit(':').next().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// A JSON string is a TOML basic string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A condition; what it says of serial numbers is said of those of the recorded devices alone.
fn pattern(p: &Pattern, fitted: &[&Subject<'_>], secrets: Option<&Secrets>) -> String {
    let Some(secrets) = secrets else { return p.text.clone() };
    match p.key {
        Key::Identity => secrets.hide_str(&p.text, Reach::All),
        Key::Serial => {
            let serials = fitted.iter().filter_map(|d| d.serial);
            let mut hidden: Vec<String> = serials.map(|s| regex::escape(&secrets.hide_str(s, Reach::All))).collect();
            hidden.sort();
            hidden.dedup();
            hidden.join("|")
        }
        _ => secrets.hide_str(&p.text, Reach::Long),
    }
}

fn wishes(w: &Wishes, secrets: Option<&mut Secrets>) -> Vec<(usize, &'static str, String)> {
    fn wish<T>(
        key: &'static str,
        wish: &Option<Sourced<T>>,
        show: impl FnOnce(&T) -> String,
    ) -> Option<(usize, &'static str, String)> {
        wish.as_ref().map(|w| (line(&w.from), key, show(&w.value)))
    }
    let scratch = |place: &String| match secrets {
        // A path of a partition or a directory names it.
        Some(secrets) if place.starts_with('/') => {
            secrets.text(place.as_bytes(), b'F');
            quoted(&secrets.hide_str(place, Reach::All))
        }
        _ => quoted(place),
    };
    [
        wish("class", &w.class, |v| quoted(&v.to_string())),
        wish("accept", &w.accept, |v| quoted(&v.to_string())),
        wish("hazard", &w.hazard, |v| quoted(&v.to_string())),
        wish("measure", &w.measure, |v| quoted(&format!("{v:?}").to_lowercase())),
        wish("scratch", &w.scratch, scratch),
        wish("fast_ratio", &w.fast_ratio, |v| format!("{v:?}")),
        wish("knob_off_below", &w.knob_off_below, |v| format!("{v:?}")),
        wish("zeroing_mode", &w.zeroing_mode, |v| quoted(&v.to_string())),
        wish("manage_knob", &w.manage_knob, bool::to_string),
    ]
    .into_iter()
    .flatten()
    .collect()
}
