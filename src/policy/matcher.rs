//! Which rules match a device, and their combined effect. It decides nothing about the device, and compiles an expression
//! only when a rule depends on it.
//!
//! The order of the rules is the order of the files ([`drop_in_order`]) and of the rules in them; for each setting the last
//! matching rule wins.

use super::format::{Key, Pattern, Rule};
use super::{Policy, Sourced};
use std::collections::BTreeMap;

/// A compiled expression may take so many bytes: enough for any list of models, too little to exhaust a machine at
/// boot.
const SIZE_LIMIT: usize = 1 << 18;

/// What the rules are asked about. A value that is not there fits no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subject<'a> {
    /// What drives it.
    pub kind: Option<&'a str>,
    /// The vendor.
    pub vendor: Option<&'a str>,
    /// The model.
    pub model: Option<&'a str>,
    /// The firmware revision.
    pub firmware: Option<&'a str>,
    /// The serial number.
    pub serial: Option<&'a str>,
    /// The path of its node: `/dev/sda`.
    pub path: Option<&'a str>,
    /// The kernel driver's name.
    pub driver: Option<&'a str>,
    /// The text of the stable identity.
    pub identity: Option<&'a str>,
}

impl Subject<'_> {
    fn value(&self, key: Key) -> Option<&str> {
        match key {
            Key::Kind => self.kind,
            Key::Vendor => self.vendor,
            Key::Model => self.model,
            Key::Firmware => self.firmware,
            Key::Serial => self.serial,
            Key::Path => self.path,
            Key::Driver => self.driver,
            Key::Identity => self.identity,
        }
    }
}

/// A wish that came to hold, for `policy test` and for the reasons in a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The wish's key.
    pub key: &'static str,
    /// Its value as written in a rule.
    pub value: String,
    /// File and line.
    pub from: String,
    /// The rule's reason, as written.
    pub why: Option<String>,
}

/// What the rules come to for this device: the policy, where each wish that holds came from (one a key), and the
/// patterns that are no expressions, as `file:line: what`; their rules count as not fitting.
pub fn resolve(rules: &[Rule], subject: &Subject<'_>) -> (Policy, Vec<Applied>, Vec<String>) {
    let (mut policy, mut applied, mut problems) = (Policy::default(), Vec::new(), Vec::new());
    for rule in rules {
        match fits(rule, subject) {
            Ok(true) => apply(rule, &mut policy, &mut applied),
            Ok(false) => {}
            Err(problem) => problems.push(problem),
        }
    }
    (policy, applied, problems)
}

/// Every pattern of these rules that is no expression, whether a device hangs on it or not: for `policy list`.
pub fn check(rules: &[Rule]) -> Vec<String> {
    rules.iter().flat_map(|r| &r.patterns).filter(|p| !p.exact).filter_map(|p| compiled(p).err()).collect()
}

/// Whether every pattern of the rule fits; the error names a pattern that is no expression.
pub fn fits(rule: &Rule, subject: &Subject<'_>) -> Result<bool, String> {
    // What costs nothing comes first: a value that is missing or a plain text that differs spares the expressions.
    let plain = |p: &Pattern| subject.value(p.key).is_some_and(|v| !p.exact || v == p.text);
    if !rule.patterns.iter().all(plain) {
        return Ok(false);
    }
    let begins = |p: &Pattern| subject.value(p.key).is_some_and(|v| p.exact || v.starts_with(literal_start(&p.text)));
    if !rule.patterns.iter().all(begins) {
        return Ok(false);
    }
    for pattern in rule.patterns.iter().filter(|p| !p.exact) {
        let expression = compiled(pattern)?;
        if !subject.value(pattern.key).is_some_and(|v| expression.is_match(v.as_bytes())) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What every text that an expression fits begins with: the plain characters at its begin. A thousand rules of other models
/// are passed over without an expression being made of each.
fn literal_start(text: &str) -> &str {
    // An alternative may begin otherwise.
    if text.contains('|') {
        return "";
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '/' | ':' | ',');
    let end = text.find(|c| !plain(c)).unwrap_or(text.len());
    // The last character may be one that a repetition makes optional.
    let optional = text[end..].starts_with(['*', '?', '{']);
    &text[..if optional { end.saturating_sub(1) } else { end }]
}

fn compiled(pattern: &Pattern) -> Result<&regex::bytes::Regex, String> {
    let build = |text: &str| {
        // Bytes and no Unicode tables: device texts are ASCII, and \d means 0 to 9.
        regex::bytes::RegexBuilder::new(text).unicode(false).size_limit(SIZE_LIMIT).build()
    };
    let outcome = pattern.compiled.get_or_init(|| {
        // Alone first: "a)|(?:b" would be an expression only inside the brackets, and escape the anchors.
        build(&pattern.text).and_then(|_| build(&format!("^(?:{})$", pattern.text))).map_err(|e| match e {
            regex::Error::CompiledTooBig(_) => "the expression is too large".to_owned(),
            other => reason(&other.to_string()),
        })
    });
    outcome.as_ref().map_err(|what| {
        let key = Key::ALL.iter().find(|(k, _)| *k == pattern.key).map_or("", |(_, name)| name);
        format!("{}: {key}: {what}; the rule is not used", pattern.from)
    })
}

/// The parser's message without its drawing of the place.
fn reason(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    crate::device::display::escape_str(last.strip_prefix("error: ").unwrap_or(last))
}

fn apply(rule: &Rule, policy: &mut Policy, applied: &mut Vec<Applied>) {
    let wishes = &rule.wishes;
    let mut wish = |key: &'static str, taken: Option<(String, &str)>| {
        if let Some((value, from)) = taken {
            applied.retain(|a| a.key != key);
            applied.push(Applied { key, value, from: from.to_owned(), why: rule.why.clone() });
        }
    };
    wish("class", take(&wishes.class, &mut policy.class, |v| v.to_string()));
    wish("accept", take(&wishes.accept, &mut policy.accept, |v| v.to_string()));
    wish("hazard", take(&wishes.hazard, &mut policy.hazard, |v| v.to_string()));
    wish("measure", take(&wishes.measure, &mut policy.measure, |v| format!("{v:?}").to_lowercase()));
    wish("scratch", take(&wishes.scratch, &mut policy.scratch, String::clone));
    wish("journal", take(&wishes.journal, &mut policy.journal, String::clone));
    wish("fast_ratio", put(&wishes.fast_ratio, &mut policy.fast_ratio));
    wish("knob_off_below", put(&wishes.knob_off_below, &mut policy.knob_off_below));
    wish("zeroing_mode", take(&wishes.zeroing_mode, &mut policy.zeroing_mode, |v| v.to_string()));
    wish("max_age", take(&wishes.max_age, &mut policy.max_age, |v| format!("{v}s")));
    wish("manage_knob", put(&wishes.manage_knob, &mut policy.manage_knob));
}

/// Takes a wish over with its source.
fn take<'a, T: Clone>(
    wish: &'a Option<Sourced<T>>,
    into: &mut Option<Sourced<T>>,
    show: impl Fn(&T) -> String,
) -> Option<(String, &'a str)> {
    let wish = wish.as_ref()?;
    *into = Some(wish.clone());
    Some((show(&wish.value), &wish.from))
}

/// Takes a wish over where the policy keeps the bare value.
fn put<'a, T: Copy + std::fmt::Display>(wish: &'a Option<Sourced<T>>, into: &mut T) -> Option<(String, &'a str)> {
    let wish = wish.as_ref()?;
    *into = wish.value;
    Some((wish.value.to_string(), &wish.from))
}

/// The files to read, in order, from the names in each directory: sorted by name whatever the directory, and a name in a
/// later directory takes the place of the same name in an earlier one. Each with the number of its directory. Only
/// `*.toml` counts, and nothing that starts with a dot.
pub fn drop_in_order<const N: usize>(dirs: &[Vec<String>; N]) -> Vec<(usize, String)> {
    let mut files = BTreeMap::new();
    for (dir, names) in dirs.iter().enumerate() {
        let counts = names.iter().filter(|name| name.ends_with(".toml") && !name.starts_with('.'));
        files.extend(counts.map(|name| (name, dir)));
    }
    files.into_iter().map(|(name, dir)| (dir, name.clone())).collect()
}

#[cfg(test)]
mod tests;
