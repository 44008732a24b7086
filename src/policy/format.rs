//! Parses the administrators' rules: it takes TOML text and gives rules and problems. It reads no file and compiles no regex.
//!
//! A file is a list of `[[rule]]`:
//! ```toml
//! [[rule]]
//! # Which devices: every key that is given must match. Regular expressions for the whole value (`^(?:…)$`), ASCII classes.
//! vendor   = "Dell.*"
//! model    = "PERC H7[0-9]{2}"
//! # also: kind, firmware, serial, path, driver; `identity` is exact text, no expression
//! # What the rule sets for them:
//! class          = "slow"          # pins it: fast slow none unknown broken
//! accept         = "no-answer"     # the pin also overrides this hazard
//! hazard         = "old-data-left" # these devices do that: old-data-left zeroing-error no-answer
//! measure        = "never"         # or "auto": a unit tests it once, where `scratch` says
//! scratch        = "label"         # a WHERE of zerocap measure
//! journal        = "/srv/zerocap"  # the directory where an automatic test keeps its journal
//! fast_ratio     = 2.0             # from this speedup on zeroing is fast
//! max_age        = "30d"           # from this age on a measurement is stale
//! knob_off_below = 1.0             # write_zeroes_unmap_max_bytes should be 0 if the speedup is surely below this
//! manage_knob    = true
//! zeroing_mode   = "writesame"
//! why            = "support case 1234"
//! ```
//! A rule without any of the first keys matches every device. A rule with an unknown key or an invalid value is reported as
//! `file:line: what` and not used, because half a rule could match more devices than it was meant for; the other rules are
//! used. For the same reason no rule of a file that is not TOML is used: after a damaged line it is not known which rule the
//! next key belongs to.

use super::{Measure, Sourced};
use crate::device::display::escape_str;
use crate::terms::{Class, Hazard, ZeroingMode};
use crate::units::parse_duration;
use serde::{Deserialize, Serialize};
use std::path::{Component, Path};
use std::str::FromStr;
use std::sync::OnceLock;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// A property of a device that a rule may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Key {
    /// What drives it: `nvme`, `scsi`, `virtio`, …
    Kind,
    /// The vendor, as the device spells it.
    Vendor,
    /// The model.
    Model,
    /// The firmware revision.
    Firmware,
    /// The serial number.
    Serial,
    /// The path of its node: `/dev/sda`.
    Path,
    /// The kernel driver's name.
    Driver,
    /// The stable identity; compared as it is.
    Identity,
}

impl Key {
    /// Every key with its spelling.
    pub const ALL: [(Key, &'static str); 8] = [
        (Key::Identity, "identity"),
        (Key::Kind, "kind"),
        (Key::Vendor, "vendor"),
        (Key::Model, "model"),
        (Key::Firmware, "firmware"),
        (Key::Serial, "serial"),
        (Key::Path, "path"),
        (Key::Driver, "driver"),
    ];

    /// Its spelling.
    pub fn as_str(self) -> &'static str {
        // `ALL` holds every key.
        Key::ALL.into_iter().find(|(key, _)| *key == self).map_or("", |(_, name)| name)
    }
}

/// A condition on one property.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pattern {
    /// On which property.
    pub key: Key,
    /// The text as written.
    pub text: String,
    /// File and line.
    pub from: String,
    /// Whether the text is compared as it is.
    pub exact: bool,
    /// The expression once it was needed, or why it is none.
    #[serde(skip)]
    pub(super) compiled: OnceLock<Result<regex::bytes::Regex, String>>,
}

/// What a rule wishes, each with the file and line of its key.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Wishes {
    /// The class is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Sourced<Class>>,
    /// The hazard that the pin overrides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<Sourced<Hazard>>,
    /// The hazard that is known of these devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hazard: Option<Sourced<Hazard>>,
    /// Whether a timed test is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<Sourced<Measure>>,
    /// Where an automatic test may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Sourced<String>>,
    /// The directory of an automatic test's journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<Sourced<String>>,
    /// From this speedup on zeroing is fast: a ratio of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_ratio: Option<Sourced<f64>>,
    /// The knob goes off where the speedup is surely below this ratio of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knob_off_below: Option<Sourced<f64>>,
    /// Whether the knob is managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manage_knob: Option<Sourced<bool>>,
    /// The `zeroing_mode` that a SCSI disk is to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeroing_mode: Option<Sourced<ZeroingMode>>,
    /// The age from which on a measurement is stale, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Sourced<u64>>,
}

/// One rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rule {
    /// File and line of its header.
    pub from: String,
    /// The conditions; all must hold.
    pub patterns: Vec<Pattern>,
    /// What it wishes.
    pub wishes: Wishes,
    /// The administrator's reason, as written.
    pub why: Option<String>,
}

/// The rules of a file, and what was wrong as `file:line: what`. `file_name` is only for those messages.
pub fn parse(file_name: &str, text: &str) -> (Vec<Rule>, Vec<String>) {
    let place = Place::new(file_name, text);
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(e) => {
            let at = place.of(e.span().map_or(0, |s| s.start));
            return (rules, vec![format!("{at}: {}; no rule of this file is used", escape_str(e.message()))]);
        }
    };
    for (key, value) in &table {
        let name: &str = key.get_ref();
        match value.get_ref() {
            DeValue::Array(items) if name == "rule" => {
                for item in items.iter() {
                    match rule(&place, item) {
                        Ok(rule) => rules.push(rule),
                        Err(what) => problems.extend(what),
                    }
                }
            }
            _ if name == "rule" => {
                problems.push(format!("{}: a rule has to start with [[rule]]", place.of(value.span().start)))
            }
            _ => problems.push(format!("{}: unknown key {}", place.of(key.span().start), escape_str(name))),
        }
    }
    (rules, problems)
}

/// Turns offsets into lines.
struct Place {
    file: String,
    /// Where each line ends: a file of many rules is not counted through for each key.
    ends: Vec<usize>,
}

impl Place {
    fn new(file_name: &str, text: &str) -> Place {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect();
        Place { file: escape_str(file_name), ends }
    }

    fn of(&self, offset: usize) -> String {
        format!("{}:{}", self.file, self.ends.partition_point(|end| *end < offset) + 1)
    }
}

fn rule(place: &Place, item: &Spanned<DeValue<'_>>) -> Result<Rule, Vec<String>> {
    let from = place.of(item.span().start);
    let Some(table) = item.get_ref().as_table() else {
        return Err(vec![format!("{from}: a rule has to be a table that begins with [[rule]]")]);
    };
    let mut rule = Rule { from, patterns: Vec::new(), wishes: Wishes::default(), why: None };
    let mut problems = Vec::new();
    for (key, value) in table {
        // A value may stand on a later line than its key; the key is what one looks for.
        let at = place.of(key.span().start);
        if let Err(what) = set(&mut rule, key.get_ref(), value.get_ref(), &at) {
            problems.push(format!("{at}: {what}; the rule is not used"));
        }
    }
    if problems.is_empty() && rule.wishes == Wishes::default() {
        problems.push(format!("{}: the rule sets nothing", rule.from));
    }
    if problems.is_empty() {
        Ok(rule)
    } else {
        Err(problems)
    }
}

/// Takes one key of a rule; the error says what is wrong with it.
fn set(rule: &mut Rule, key: &str, value: &DeValue<'_>, at: &str) -> Result<(), String> {
    if let Some((known, _)) = Key::ALL.into_iter().find(|(_, name)| *name == key) {
        let text = text_of(key, value)?;
        let exact = known == Key::Identity || !text.contains(is_meta);
        rule.patterns.push(Pattern { key: known, text, from: at.to_owned(), exact, compiled: OnceLock::new() });
        return Ok(());
    }
    let wishes = &mut rule.wishes;
    match key {
        "class" => wishes.class = sourced(at, word::<Class>(key, value, Class::ALL)?),
        "accept" => wishes.accept = sourced(at, word::<Hazard>(key, value, Hazard::ALL)?),
        "hazard" => wishes.hazard = sourced(at, word::<Hazard>(key, value, Hazard::ALL)?),
        "measure" => {
            let measure = match value.as_str() {
                Some("never") => Measure::Never,
                Some("auto") => Measure::Auto,
                _ => return Err("measure must be \"never\" or \"auto\"".to_owned()),
            };
            wishes.measure = sourced(at, measure);
        }
        "scratch" => {
            let text = text_of(key, value)?;
            if text.is_empty() {
                return Err("scratch is empty".to_owned());
            }
            wishes.scratch = sourced(at, text);
        }
        "journal" => wishes.journal = sourced(at, directory(key, value)?),
        "fast_ratio" => wishes.fast_ratio = sourced(at, ratio(key, value)?),
        "knob_off_below" => wishes.knob_off_below = sourced(at, ratio(key, value)?),
        "manage_knob" => {
            let on = value.as_bool().ok_or_else(|| format!("{key} must be true or false"))?;
            wishes.manage_knob = sourced(at, on);
        }
        "zeroing_mode" => wishes.zeroing_mode = sourced(at, word::<ZeroingMode>(key, value, ZeroingMode::ALL)?),
        "max_age" => {
            let age = value.as_str().and_then(parse_duration);
            let age = age.ok_or("max_age must be a number with s, m, h, d or w in quotes, like \"30d\"")?;
            wishes.max_age = sourced(at, age);
        }
        "why" => rule.why = Some(text_of(key, value)?),
        _ => return Err(format!("unknown key {}", escape_str(key))),
    }
    Ok(())
}

fn sourced<T>(from: &str, value: T) -> Option<Sourced<T>> {
    Some(Sourced { value, from: from.to_owned() })
}

/// What gives a text another meaning than itself in a regular expression.
fn is_meta(c: char) -> bool {
    matches!(c, '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$')
}

fn text_of(key: &str, value: &DeValue<'_>) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{key} must be a text in quotes"))
}

/// Directories that the unit of the automatic test does not see, or sees as others that go when it ends.
const NOT_IN_THE_UNIT: [&str; 5] = ["/tmp", "/var/tmp", "/home", "/root", "/run/user"];

/// A directory by its whole path, which the unit of the automatic test can see.
fn directory(key: &str, value: &DeValue<'_>) -> Result<String, String> {
    let text = text_of(key, value)?;
    let path = Path::new(&text);
    let plain = |c: Component<'_>| matches!(c, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(plain) || text.contains('\0') {
        return Err(format!("{key} must be the whole path of a directory, like \"/srv/zerocap\""));
    }
    match NOT_IN_THE_UNIT.iter().find(|dir| path.starts_with(dir)) {
        Some(dir) => Err(format!(
            "{key}: zerocap-measure@.service has a {dir} of its own, and a journal there would be lost when the \
             service ends; name another directory"
        )),
        None => Ok(text),
    }
}

fn word<T: FromStr + std::fmt::Display>(key: &str, value: &DeValue<'_>, all: &[T]) -> Result<T, String> {
    value.as_str().and_then(|s| s.parse().ok()).ok_or_else(|| {
        let words: Vec<String> = all.iter().map(T::to_string).collect();
        format!("{key} must be one of {}", words.join(", "))
    })
}

/// A ratio of times: from 0 on, finite. Written as 2 or 2.0.
fn ratio(key: &str, value: &DeValue<'_>) -> Result<f64, String> {
    let number = match value {
        DeValue::Float(f) => f.as_str().parse::<f64>().ok(),
        DeValue::Integer(i) if i.radix() == 10 => i.as_str().parse::<f64>().ok(),
        _ => None,
    };
    number.filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(|| format!("{key} must be a number from 0 on"))
}

#[cfg(test)]
mod tests;
