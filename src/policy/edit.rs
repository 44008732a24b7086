//! Pins in the text of `99-pins.toml`: adds and takes away one rule, leaves everything else byte for byte. Pure.

use super::format::{self, Key, Rule, Wishes};
use crate::device::display::{escape_str, is_deceptive, printable};
use crate::terms::{Class, Hazard};

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

/// The text with the pin in it, in place of an earlier one of the same device; as the last rule, so that it wins. The error
/// says what is wrong with the text.
pub fn pin(text: &str, pin: &Pin) -> Result<String, String> {
    let mut text = match unpin(text, &pin.identity)? {
        Some(without) => without,
        None if text.is_empty() => HEAD.to_owned(),
        None => text.to_owned(),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("\n[[rule]]\nidentity = {}\nclass = \"{}\"\n", quoted(&pin.identity), pin.class));
    if let Some(hazard) = pin.accept {
        text.push_str(&format!("accept = \"{hazard}\"\n"));
    }
    if let Some(why) = &pin.why {
        text.push_str(&format!("why = {}\n", quoted(why)));
    }
    // What is written must read as what was meant, or every other pin of the file is lost with it.
    let (rules, problems) = format::parse("the new text", &text);
    match problems.first() {
        Some(problem) => Err(problem.clone()),
        None if rules.iter().any(|r| pins(r, &pin.identity)) => Ok(text),
        None => Err("the pin would not be read back".to_owned()),
    }
}

/// The text without the pins of a device; `None` where there is none. A rule that wishes something else too keeps that, and
/// its reason.
pub fn unpin(text: &str, identity: &str) -> Result<Option<String>, String> {
    let (rules, problems) = format::parse("", text);
    if let Some(problem) = problems.first() {
        return Err(problem.trim_start_matches(':').to_owned());
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let starts: Vec<usize> = rules.iter().filter_map(|r| line_of(&r.from)).collect();
    let mut gone = vec![false; lines.len()];
    for rule in rules.iter().filter(|r| pins(r, identity)) {
        let Some(start) = line_of(&rule.from) else { continue };
        if !lines[start].trim_start().starts_with("[[") {
            return Err(format!("{}: a rule within a line; write it as [[rule]]", start + 1));
        }
        if (Wishes { class: None, accept: None, ..rule.wishes.clone() }) != Wishes::default() {
            let class = rule.wishes.class.iter().map(|s| &s.from);
            let keys = class.chain(rule.wishes.accept.iter().map(|s| &s.from));
            // Their values are single words: only one in triple quotes spans lines, and leaves text that is refused below.
            keys.filter_map(|from| line_of(from)).for_each(|line| gone[line] = true);
            continue;
        }
        let mut end = starts.iter().copied().filter(|s| *s > start).min().unwrap_or(lines.len());
        // Blank lines and comments before the next rule belong to that.
        while end > start + 1 && lines.get(end - 1).is_some_and(|l| l.trim().is_empty() || l.trim().starts_with('#')) {
            end -= 1;
        }
        // One blank line before it was written with it.
        let from = if start > 0 && lines[start - 1].trim().is_empty() { start - 1 } else { start };
        gone[from..end].fill(true);
    }
    if !gone.contains(&true) {
        return Ok(None);
    }
    let without: String = lines.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(l, _)| *l).collect();
    let (left, problems) = format::parse("the text without the pin", &without);
    match problems.first() {
        Some(problem) => Err(problem.clone()),
        None if left.iter().any(|r| pins(r, identity)) => Err("the pin would stay".to_owned()),
        None => Ok(Some(without)),
    }
}

/// Whether a rule is a pin of this device: its class, by its identity alone.
fn pins(rule: &Rule, identity: &str) -> bool {
    let [pattern] = rule.patterns.as_slice() else { return false };
    pattern.key == Key::Identity && pattern.text == identity && rule.wishes.class.is_some()
}

/// The 0-based line in `file:line`.
fn line_of(from: &str) -> Option<usize> {
    from.rsplit(':').next()?.parse::<usize>().ok()?.checked_sub(1)
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
    fn a_pin_comes_goes_and_leaves_the_rest() {
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
    fn other_wishes_of_a_pinned_rule_stay() {
        let with = |pin: &str| {
            format!("[[rule]]\nidentity = \"naa.5\"\n{pin}hazard = \"no-answer\"\nmeasure = \"never\" # by hand\nmanage_knob = false\nwhy = \"hung\"\n")
        };
        let (old, bare) = (with("class = \"slow\"\naccept = \"no-answer\"\n"), with(""));
        assert_eq!(unpin(&old, "naa.5").unwrap().unwrap(), bare);
        assert_eq!(unpin(&bare, "naa.5").unwrap(), None, "what is left is no pin");
        let new = pin(&old, &of("naa.5", Class::Fast)).unwrap();
        assert_eq!(new, format!("{bare}\n[[rule]]\nidentity = \"naa.5\"\nclass = \"fast\"\n"));
        assert_eq!(unpin(&new, "naa.5").unwrap().unwrap(), bare);
        let inline = "rule = [{identity = \"naa.5\", class = \"slow\"}, {identity = \"naa.6\", class = \"slow\"}]\n";
        assert!(unpin(inline, "naa.5").is_err(), "the other rule of the line is not lost");
    }

    #[test]
    fn text_that_is_no_toml_is_not_touched() {
        for bad in ["[[rule]\n", "[[rule]]\nclas = \"slow\"\n", "x = 1\n"] {
            assert!(pin(bad, &of("naa.5", Class::Slow)).is_err(), "{bad}");
            assert!(unpin(bad, "naa.5").is_err(), "{bad}");
        }
    }

    #[test]
    fn odd_text_stays_text() {
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
