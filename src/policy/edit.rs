//! Pins in the text of `99-pins.toml`: adds or removes one rule, and leaves everything else unchanged byte for byte. It is
//! pure.

use super::format::{self, Key, Rule};
use crate::device::display::{escape_str, is_deceptive, printable};
use crate::terms::{Class, Hazard};
use std::ops::Range;
use toml::de::DeTable;

/// What is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The text of the device's identity.
    pub identity: String,
    /// The class.
    pub class: Class,
    /// The hazard that the pin overrides too.
    pub accept: Option<Hazard>,
    /// The reason.
    pub why: Option<String>,
}

/// The head of a file that is new.
const HEAD: &str = "# Pins of single devices, written by `zerocap policy pin`; see zerocap-policy(5).\n";

/// A rule in the text: where its header stands, and each key with its value, as byte ranges.
struct Placed {
    header: usize,
    keys: Vec<(String, Range<usize>)>,
}

impl Placed {
    /// From the key to the end of its value.
    fn key(&self, name: &str) -> Option<&Range<usize>> {
        self.keys.iter().find(|(key, _)| key == name).map(|(_, range)| range)
    }

    /// Whether it wishes nothing but what a pin says.
    fn is_pin_alone(&self) -> bool {
        self.keys.iter().all(|(key, _)| matches!(key.as_str(), "identity" | "class" | "accept" | "why"))
    }
}

/// A change of the text: these bytes become that.
type Change = (Range<usize>, String);

/// The text with the pin in it: where an earlier one of the same device stands, else as the last rule, so that it wins.
/// Everything else stays byte for byte. The error says what is wrong with the text.
pub fn pin(text: &str, pin: &Pin) -> Result<String, String> {
    let (all, pins_of) = (placed(text)?, places(text, &pin.identity)?);
    let new = match pins_of.split_last() {
        None => appended(text, pin),
        Some((last, others)) => {
            // Of several the last one counts; the others say what no longer holds.
            let mut changes: Vec<Change> =
                others.iter().map(|at| without(text, &all, *at)).collect::<Result<Vec<_>, _>>()?.concat();
            changes.extend(in_place(text, &all[*last], pin)?);
            changed(text, changes)
        }
    };
    // What is written must read as what was meant, or every other pin of the file is lost with it.
    let (rules, problems) = format::parse("the new text", &new);
    let read = rules.iter().rfind(|r| pins(r, &pin.identity)).and_then(|r| r.wishes.class.as_ref());
    match problems.first() {
        Some(problem) => Err(problem.clone()),
        None if read.is_some_and(|class| class.value == pin.class) => Ok(new),
        None => Err("the pin would not be found when the file is read again".to_owned()),
    }
}

fn appended(text: &str, pin: &Pin) -> String {
    let mut text = if text.is_empty() { HEAD.to_owned() } else { text.to_owned() };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("\n[[rule]]\nidentity = {}\nclass = \"{}\"\n", quoted(&pin.identity), pin.class));
    for (key, value) in [("accept", pin.accept.map(|h| h.to_string())), ("why", pin.why.clone())] {
        text.extend(value.map(|value| format!("{key} = {}\n", quoted(&value))));
    }
    text
}

/// The changes that make an earlier pin this one. The reason of a rule that wishes something else too is the reason for
/// that, unless there is a new one.
fn in_place(text: &str, rule: &Placed, pin: &Pin) -> Result<Vec<Change>, String> {
    let class = rule.key("class").ok_or("the rule of the pin has no class")?;
    let line = whole_lines(text, class);
    let mut changes = vec![value_of(text, class, pin.class.as_str())];
    let accept = pin.accept.map(|h| h.to_string());
    let why = pin.why.clone().map_or(!rule.is_pin_alone(), |_| false);
    for (key, new, stays) in [("accept", accept, false), ("why", pin.why.clone(), why)] {
        match (rule.key(key), new) {
            (Some(old), Some(new)) => changes.push(value_of(text, old, &new)),
            (Some(old), None) if !stays => changes.push((whole_lines(text, old), String::new())),
            (None, Some(new)) => {
                let end = if text[..line.end].ends_with('\n') { "" } else { "\n" };
                changes.push((line.end..line.end, format!("{end}{key} = {}\n", quoted(&new))));
            }
            _ => {}
        }
    }
    Ok(changes)
}

/// The change that gives a key another value; `pair` goes from the key to the end of its value.
fn value_of(text: &str, pair: &Range<usize>, new: &str) -> Change {
    let blank = |c: char| c == ' ' || c == '\t';
    // A key is a plain word or in quotes, and holds no equals sign: the rule was read.
    let value = text[pair.clone()].find('=').map_or(pair.start, |at| pair.start + at + 1);
    let start = value + text[value..pair.end].find(|c| !blank(c)).unwrap_or(0);
    (start..pair.end, quoted(new))
}

/// The text without the pins of a device; `None` where there is none. A rule that wishes something else too keeps that, and
/// its reason.
pub fn unpin(text: &str, identity: &str) -> Result<Option<String>, String> {
    let (all, pins_of) = (placed(text)?, places(text, identity)?);
    if pins_of.is_empty() {
        return Ok(None);
    }
    let changes: Vec<Change> =
        pins_of.iter().map(|at| without(text, &all, *at)).collect::<Result<Vec<_>, _>>()?.concat();
    let new = changed(text, changes);
    let (left, problems) = format::parse("the text without the pin", &new);
    match problems.first() {
        Some(problem) => Err(problem.clone()),
        None if left.iter().any(|r| pins(r, identity)) => Err("the pin would stay".to_owned()),
        None => Ok(Some(new)),
    }
}

/// The changes that take the pin out of a rule: the whole rule where it says nothing else.
fn without(text: &str, all: &[Placed], at: usize) -> Result<Vec<Change>, String> {
    let rule = &all[at];
    let start = line_start(text, rule.header);
    if !text[start..].trim_start().starts_with("[[") {
        let line = text[..start].matches('\n').count() + 1;
        return Err(format!("{line}: the rule stands in one line; write it as a table that begins with [[rule]]"));
    }
    if !rule.is_pin_alone() {
        let keys = ["class", "accept"].into_iter().filter_map(|key| rule.key(key));
        return Ok(keys.map(|pair| (whole_lines(text, pair), String::new())).collect());
    }
    // Blank lines and comments before the next rule belong to that: the rule ends with its last key.
    let last = rule.keys.iter().map(|(_, pair)| pair).max_by_key(|pair| pair.end);
    let end = last.map_or(start, |pair| whole_lines(text, pair).end);
    // One blank line before it was written with it.
    let before = line_start(text, start.saturating_sub(1));
    let blank = start > 0 && text[before..start].trim().is_empty();
    Ok(vec![(if blank { before } else { start }..end, String::new())])
}

/// The text after the changes, which do not overlap.
fn changed(text: &str, mut changes: Vec<Change>) -> String {
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut new, mut at) = (String::with_capacity(text.len()), 0);
    for (range, with) in changes {
        new.push_str(&text[at..range.start.max(at)]);
        new.push_str(&with);
        at = range.end.max(at);
    }
    new.push_str(&text[at..]);
    new
}

/// Where the line begins that holds this byte.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The lines of a key and its value, their ends included.
fn whole_lines(text: &str, pair: &Range<usize>) -> Range<usize> {
    line_start(text, pair.start)..text[pair.end..].find('\n').map_or(text.len(), |end| pair.end + end + 1)
}

/// Where the rules of a text stand, in the order of [`format::parse`].
fn placed(text: &str) -> Result<Vec<Placed>, String> {
    let table = DeTable::parse(text).map_err(|e| escape_str(e.message()))?;
    let rules = table.get_ref().get("rule").and_then(|rules| rules.get_ref().as_array());
    let one = |rule: &toml::Spanned<toml::de::DeValue<'_>>| Placed {
        header: rule.span().start,
        keys: rule
            .get_ref()
            .as_table()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.get_ref().to_string(), key.span().start..value.span().end))
            .collect(),
    };
    Ok(rules.into_iter().flat_map(|rules| rules.iter()).map(one).collect())
}

/// Which of the rules are pins of this device. A text with a problem is not touched.
fn places(text: &str, identity: &str) -> Result<Vec<usize>, String> {
    let (rules, problems) = format::parse("", text);
    match problems.first() {
        Some(problem) => Err(problem.trim_start_matches(':').to_owned()),
        None => Ok(rules.iter().enumerate().filter(|(_, r)| pins(r, identity)).map(|(at, _)| at).collect()),
    }
}

/// Whether a rule is a pin of this device: its class, by its identity alone.
fn pins(rule: &Rule, identity: &str) -> bool {
    let [pattern] = rule.patterns.as_slice() else { return false };
    pattern.key == Key::Identity && pattern.text == identity && rule.wishes.class.is_some()
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_deceptive(c) => out.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The pins of a text: identity, class, reason; for lists. Text is escaped.
pub fn list(text: &str) -> Vec<(String, Class, String)> {
    let (rules, _) = format::parse("", text);
    let pin = |r: &Rule| {
        let pattern = r.patterns.first().filter(|p| r.patterns.len() == 1 && p.key == Key::Identity)?;
        let class = r.wishes.class.as_ref()?.value;
        Some((printable(pattern.text.clone()), class, r.why.as_deref().map(escape_str).unwrap_or_default()))
    };
    rules.iter().filter_map(pin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(identity: &str, class: Class) -> Pin {
        Pin { identity: identity.to_owned(), class, accept: None, why: None }
    }

    #[test]
    fn adding_and_removing_a_pin_leaves_the_rest_unchanged() {
        let mine = "# mine\n[[rule]]\nmodel = \"X.*\"\nmeasure = \"never\"\n\n# about the next\n[[rule]]\nvendor = \"V\"\nhazard = \"no-answer\"";
        let with = pin(mine, &of("naa.5", Class::Slow)).unwrap();
        assert!(with.starts_with(mine), "{with}");
        assert_eq!(list(&with), [("naa.5".to_owned(), Class::Slow, String::new())]);
        let again = pin(&with, &of("naa.5", Class::Fast)).unwrap();
        assert_eq!(list(&again).len(), 1, "one pin a device");
        assert_eq!(list(&again)[0].1, Class::Fast);
        assert_eq!(unpin(&again, "naa.5").unwrap().unwrap().trim_end(), mine);
        assert_eq!(unpin(mine, "naa.5").unwrap(), None);
        let two = pin(&with, &of("naa.6", Class::Slow)).unwrap();
        assert_eq!(list(&unpin(&two, "naa.5").unwrap().unwrap()).len(), 1, "the other pin stays");
    }

    #[test]
    fn other_keys_of_a_pinned_rule_stay() {
        let with = |pin: &str| {
            format!("[[rule]]\nidentity = \"naa.5\"\n{pin}hazard = \"no-answer\"\nmeasure = \"never\" # by hand\nmanage_knob = false\nwhy = \"hung\"\n")
        };
        let (old, bare) = (with("class = \"slow\"\naccept = \"no-answer\"\n"), with(""));
        assert_eq!(unpin(&old, "naa.5").unwrap().unwrap(), bare);
        assert_eq!(unpin(&bare, "naa.5").unwrap(), None, "what is left is no pin");
        let new = pin(&old, &of("naa.5", Class::Fast)).unwrap();
        assert_eq!(
            new,
            with("class = \"fast\"\n"),
            "in the place of the old one, whose hazard is not accepted any more"
        );
        assert_eq!(unpin(&new, "naa.5").unwrap().unwrap(), bare);
        assert_eq!(
            pin(&bare, &of("naa.5", Class::Fast)).unwrap(),
            format!("{bare}\n[[rule]]\nidentity = \"naa.5\"\nclass = \"fast\"\n")
        );
        let inline = "rule = [{identity = \"naa.5\", class = \"slow\"}, {identity = \"naa.6\", class = \"slow\"}]\n";
        assert!(unpin(inline, "naa.5").is_err(), "the other rule of the line is not lost");
    }

    #[test]
    fn a_pin_is_written_where_the_old_one_stood_and_every_other_byte_stays() {
        let old = "# head\r\n[[rule]] # first\nidentity='naa.5'   # mine\n  class =  'slow' # for now\nwhy = \"\"\"two\nlines\"\"\"\n\n\
                   # about the next\n[[ rule ]]\nmodel = \"X\"\nclass = \"none\"\n\n# the end";
        let new = pin(old, &of("naa.5", Class::Fast)).unwrap();
        assert_eq!(new, old.replace("'slow'", "\"fast\"").replace("why = \"\"\"two\nlines\"\"\"\n", ""));
        let gone = unpin(&new, "naa.5").unwrap().unwrap();
        assert_eq!(gone, "# head\r\n\n# about the next\n[[ rule ]]\nmodel = \"X\"\nclass = \"none\"\n\n# the end");
        let twice = "[[rule]]\nidentity = \"a\"\nclass = \"slow\"\n[[rule]]\nidentity = \"a\"\nclass = \"none\"\n";
        assert_eq!(list(&pin(twice, &of("a", Class::Fast)).unwrap()).len(), 1, "one pin a device");
        let why = Some("because".to_owned());
        let with = pin(old, &Pin { why, ..of("naa.5", Class::Slow) }).unwrap();
        assert_eq!(with, old.replace("'slow'", "\"slow\"").replace("\"\"\"two\nlines\"\"\"", "\"because\""));
    }

    #[test]
    fn text_that_is_no_toml_is_not_touched() {
        for bad in ["[[rule]\n", "[[rule]]\nclas = \"slow\"\n", "x = 1\n"] {
            assert!(pin(bad, &of("naa.5", Class::Slow)).is_err(), "{bad}");
            assert!(unpin(bad, "naa.5").is_err(), "{bad}");
        }
    }

    #[test]
    fn odd_text_is_quoted_and_read_back() {
        for odd in ["a\"b", "a\\b", "a\nclass = \"fast\"", "\u{7f}\u{1b}[0m", "é'#]] ="] {
            let why = Some(odd.to_owned());
            let text =
                pin("", &Pin { identity: odd.to_owned(), class: Class::Slow, accept: Some(Hazard::NoAnswer), why });
            let text = text.unwrap();
            assert_eq!(list(&text), [(printable(odd.to_owned()), Class::Slow, escape_str(odd))], "{text}");
            assert_eq!(unpin(&text, odd).unwrap().unwrap(), HEAD);
        }
    }
}
