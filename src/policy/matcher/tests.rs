#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use super::super::format::parse;
use super::super::Measure;
use super::*;
use crate::terms::{Class, Hazard, ZeroingMode};

const DISK: Subject<'_> = Subject {
    kind: Some("nvme"),
    vendor: None,
    model: Some("Acme 1.6T (rev 2)"),
    firmware: Some("FW10"),
    serial: Some("S1"),
    path: Some("/dev/nvme0n1"),
    driver: Some("nvme"),
    identity: Some("eui.01"),
};

fn rules(text: &str) -> Vec<Rule> {
    let (rules, problems) = parse("f", text);
    assert!(problems.is_empty(), "{problems:?}");
    rules
}

fn class_for(condition: &str) -> Option<Class> {
    let (policy, _, problems) = resolve(&rules(&format!("[[rule]]\n{condition}\nclass = \"fast\"\n")), &DISK);
    assert!(problems.is_empty(), "{problems:?}");
    policy.class.map(|c| c.value)
}

#[test]
fn patterns_are_anchored_and_exact_texts_are_exact() {
    for yes in [
        "",
        "model = 'Acme .*'",
        "model = 'Acme 1\\.6T \\(rev \\d\\)'",
        "firmware = 'FW10'",
        "firmware = 'FW9|FW10'",
        "firmware = '(?i)fw1.'",
        "firmware = 'FW\\d+'\nkind = 'nvme'",
        "identity = 'eui.01'",
        "path = '/dev/nvme.*'",
    ] {
        assert_eq!(class_for(yes), Some(Class::Fast), "{yes}");
    }
    for no in [
        "model = 'Acme'",
        "model = 'cme .*'",
        "firmware = 'FW1|W10'",
        "firmware = 'FW'",
        "firmware = ''",
        "identity = 'eui.0.'",
        "identity = 'eui.*'",
        "vendor = '.*'",
        "vendor = ''",
        "firmware = 'FW10'\nkind = 'scsi'",
        "model = '(?m)Acme$'",
    ] {
        assert_eq!(class_for(no), None, "{no}");
    }
}

#[test]
fn the_last_rule_wins_key_by_key() {
    let all = rules(
        "[[rule]]\nclass = 'slow'\nfast_ratio = 3\nmeasure = 'never'\nwhy = 'first'\n\
         [[rule]]\nmodel = 'Other'\nclass = 'none'\n\
         [[rule]]\nkind = 'nvme'\nclass = 'fast'\naccept = 'no-answer'\nmanage_knob = false\nhazard = 'zeroing-error'\n\
         scratch = 'gap'\nknob_off_below = 0.5\nzeroing_mode = 'writesame'\nmax_age = '90d'\njournal = '/srv/zerocap'\n",
    );
    let (policy, applied, problems) = resolve(&all, &DISK);
    let at = |n: u32| format!("f:{n}");
    let wanted = Policy {
        class: Some(Sourced { value: Class::Fast, from: at(11) }),
        hazard: Some(Sourced { value: Hazard::ZeroingError, from: at(14) }),
        accept: Some(Sourced { value: Hazard::NoAnswer, from: at(12) }),
        measure: Some(Sourced { value: Measure::Never, from: at(4) }),
        scratch: Some(Sourced { value: "gap".to_owned(), from: at(15) }),
        journal: Some(Sourced { value: "/srv/zerocap".to_owned(), from: at(19) }),
        fast_ratio: 3.0,
        knob_off_below: 0.5,
        manage_knob: false,
        zeroing_mode: Some(Sourced { value: ZeroingMode::Writesame, from: at(17) }),
        max_age: Some(Sourced { value: 7_776_000, from: at(18) }),
    };
    assert_eq!((policy, problems), (wanted, vec![]));
    assert_eq!(applied.iter().filter(|a| a.key == "class").count(), 1);
    let find = |key| applied.iter().find(|a| a.key == key).unwrap();
    assert_eq!((find("class").value.as_str(), find("class").from.as_str()), ("fast", "f:11"));
    assert_eq!((find("measure").value.as_str(), find("measure").why.as_deref()), ("never", Some("first")));
    assert_eq!((applied.len(), find("fast_ratio").value.as_str()), (11, "3"));
    assert_eq!(resolve(&[], &DISK), (Policy::default(), vec![], vec![]));
}

#[test]
fn expressions_are_compiled_only_if_a_rule_depends_on_them() {
    let all = rules(
        "[[rule]]\nmodel = '('\nkind = 'scsi'\nclass = 'slow'\n\
         [[rule]]\nmodel = '('\nvendor = 'x'\nclass = 'slow'\n\
         [[rule]]\nfirmware = 'FW10'\nclass = 'fast'\n",
    );
    let (policy, _, problems) = resolve(&all, &DISK);
    assert_eq!((policy.class.map(|c| c.value), problems), (Some(Class::Fast), vec![]));
    assert!(all.iter().flat_map(|r| &r.patterns).all(|p| p.compiled.get().is_none()));
    assert_eq!(check(&all).len(), 2);
}

#[test]
fn an_invalid_expression_is_reported_with_its_line() {
    for (pattern, what) in [
        ("(", "unclosed group"),
        ("a)|(?:Acme.*", "unopened group"),
        ("(?:(?:.{1000}){1000}){1000}", "too large"),
        ("[z-a]", "invalid character class range"),
        ("(?x)Acme # .*", ""),
    ] {
        let all = rules(&format!("[[rule]]\nclass = 'slow'\nmodel = '{pattern}'\n[[rule]]\nclass = 'fast'\n"));
        for _ in 0..2 {
            let (policy, _, problems) = resolve(&all, &DISK);
            assert_eq!(policy.class.map(|c| c.value), Some(Class::Fast));
            assert_eq!(problems.len(), 1, "{pattern}");
            assert!(problems[0].starts_with("f:3: model: ") && problems[0].contains(what), "{problems:?}");
            assert!(!problems[0].contains('\n'));
        }
    }
}

#[test]
fn drop_ins_replace_each_other_by_name() {
    let names = |n: &[&str]| n.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let usr = names(&["50-b.toml", "10-a.toml", "README", ".hidden.toml"]);
    let etc = names(&["99-pins.toml", "10-a.toml", "20-x.toml", "20-x.toml~", "30.toml.rpmsave"]);
    let local = names(&["20-x.toml", "50-b.toml"]);
    let files = drop_in_order(&[usr, local, etc]);
    let seen: Vec<_> = files.iter().map(|(d, n)| (*d, n.as_str())).collect();
    assert_eq!(seen, [(2, "10-a.toml"), (2, "20-x.toml"), (1, "50-b.toml"), (2, "99-pins.toml")]);
}

proptest::proptest! {
    #[test]
    fn no_pattern_panics(pattern in "[ -&(-~]{0,12}", value in "\\PC{0,12}") {
        let all = rules(&format!("[[rule]]\nmodel = '{pattern}'\nclass = 'fast'\n"));
        let _ = resolve(&all, &Subject { model: Some(&value), ..Subject::default() });
    }
}

proptest::proptest! {
    /// What the literal start passes over, the expression would not fit either.
    #[test]
    fn the_literal_start_of_a_pattern_never_hides_a_match(text in "[ab 0,*?+{}|.()\\\\^$-]{0,7}", value in "[ab 0,-]{0,5}") {
        let whole = regex::bytes::RegexBuilder::new(&format!("^(?:{text})$")).unicode(false).build();
        if let Ok(whole) = whole {
            if whole.is_match(value.as_bytes()) {
                proptest::prop_assert!(value.starts_with(literal_start(&text)), "{text:?} {value:?}");
            }
        }
    }
}

#[test]
fn a_literal_start_ends_where_a_text_may_differ() {
    for (text, start) in [
        ("Model 1.*", "Model 1"),
        ("Model 12?", "Model 1"),
        ("Model 1+", "Model 1"),
        ("a{0}b", ""),
        ("a|b", ""),
        ("(?i)a", ""),
        ("a\\.b", "a"),
        ("", ""),
    ] {
        assert_eq!(literal_start(text), start, "{text}");
    }
}
