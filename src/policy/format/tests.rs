#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use super::*;

const WHOLE: &str = r#"# a comment
[[rule]]
kind = "nvme"
model = "PERC H7[0-9]{2}"
identity = "naa.5000(1)"
class = "slow"
accept = "no-answer"
hazard = "old-data-left"
measure = "never"
scratch = "label"
fast_ratio = 3
knob_off_below = 0.5
manage_knob = false
zeroing_mode = "writesame"
why = "case 1"

[[rule]]
measure = "auto"
"#;

#[test]
fn every_key_is_parsed() {
    let (rules, problems) = parse("10.toml", WHOLE);
    assert_eq!((rules.len(), problems), (2, vec![]));
    let (first, second) = (&rules[0], &rules[1]);
    assert_eq!((first.from.as_str(), second.from.as_str()), ("10.toml:2", "10.toml:17"));
    let seen: Vec<_> = first.patterns.iter().map(|p| (p.key, p.exact, p.from.as_str())).collect();
    let wanted = [(Key::Identity, true, "10.toml:5"), (Key::Kind, true, "10.toml:3"), (Key::Model, false, "10.toml:4")];
    assert_eq!(seen, wanted);
    let at = |n: u32| format!("10.toml:{n}");
    assert_eq!(first.wishes.class, Some(Sourced { value: Class::Slow, from: at(6) }));
    assert_eq!(first.wishes.accept, Some(Sourced { value: Hazard::NoAnswer, from: at(7) }));
    assert_eq!(first.wishes.hazard, Some(Sourced { value: Hazard::OldDataLeft, from: at(8) }));
    assert_eq!(first.wishes.measure, Some(Sourced { value: Measure::Never, from: at(9) }));
    assert_eq!(first.wishes.scratch, Some(Sourced { value: "label".to_owned(), from: at(10) }));
    assert_eq!(first.wishes.fast_ratio, Some(Sourced { value: 3.0, from: at(11) }));
    assert_eq!(first.wishes.knob_off_below, Some(Sourced { value: 0.5, from: at(12) }));
    assert_eq!(first.wishes.manage_knob, Some(Sourced { value: false, from: at(13) }));
    assert_eq!(first.wishes.zeroing_mode, Some(Sourced { value: ZeroingMode::Writesame, from: at(14) }));
    assert_eq!(first.why.as_deref(), Some("case 1"));
    assert!(second.patterns.is_empty());
    assert!(rules.iter().flat_map(|r| &r.patterns).all(|p| p.compiled.get().is_none()), "parse compiles nothing");
}

#[test]
fn a_bad_rule_leaves_the_others() {
    let bad = [
        ("colour = \"red\"", "unknown key colour"),
        ("class = \"quick\"", "class must be one of fast, slow, none, unknown, broken"),
        ("class = 1", "class must be one of"),
        ("accept = \"all\"", "accept must be one of old-data-left"),
        ("measure = \"always\"", "measure must be"),
        ("scratch = \"\"", "scratch is empty"),
        ("journal = 1", "journal must be a text"),
        ("journal = \"srv\"", "journal must be the whole path of a directory"),
        ("journal = \"/srv/../tmp\"", "journal must be the whole path of a directory"),
        ("journal = \"/tmp/j\"", "journal: zerocap-measure@.service has a /tmp of its own"),
        ("journal = \"/var/tmp\"", "journal: zerocap-measure@.service has a /var/tmp of its own"),
        ("journal = \"/home/a\"", "journal: zerocap-measure@.service has a /home of its own"),
        ("model = 7", "model must be a text"),
        ("fast_ratio = \"2\"", "fast_ratio must be a number"),
        ("fast_ratio = -1.0", "fast_ratio must be a number"),
        ("max_age = 30", "max_age must be a number with"),
        ("max_age = \"a month\"", "max_age must be a number with"),
        ("fast_ratio = nan", "fast_ratio must be a number"),
        ("fast_ratio = inf", "fast_ratio must be a number"),
        ("manage_knob = \"yes\"", "manage_knob must be true or false"),
        (
            "zeroing_mode = \"unmap\"",
            "zeroing_mode must be one of writesame_16_unmap, writesame_10_unmap, writesame, write",
        ),
        ("\"a\\u0007\\n\" = 1", "unknown key a\\x07\\x0a"),
    ];
    for (line, what) in bad {
        let text =
            format!("[[rule]]\nclass = \"fast\"\n[[rule]]\nknob_off_below = 1\n{line}\n[[rule]]\nclass = \"slow\"\n");
        let (rules, problems) = parse("a.toml", &text);
        assert_eq!(rules.iter().map(|r| r.from.as_str()).collect::<Vec<_>>(), ["a.toml:1", "a.toml:6"], "{line}");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with(&format!("a.toml:5: {what}")), "{problems:?}");
    }
}

#[test]
fn problems_of_a_whole_file_are_reported() {
    for (text, what) in [
        ("[[rule]]\nclass = \"fast\"\n[[rule]]\nclass =\n", "a.toml:4: "),
        ("[[rule]]\nclass = \"fast\"\nclass = \"slow\"\n", "a.toml:3: "),
        ("[[rule]\n", "a.toml:1: "),
        ("x = 1", "a.toml:1: unknown key x"),
        ("\n[rule]\nclass = \"fast\"", "a.toml:2: a rule has to start with [[rule]]"),
        ("rule = [1]", "a.toml:1: a rule has to be a table"),
        ("\n[[rule]]\nmodel = \"x\"\n", "a.toml:2: the rule sets nothing"),
    ] {
        let (rules, problems) = parse("a.toml", text);
        assert!(rules.is_empty() && problems.len() == 1 && problems[0].starts_with(what), "{text}: {problems:?}");
    }
    assert!(parse("a.toml", "").1.is_empty());
    let written = parse("a.toml", "[[rule]]\nfast_ratio = 1_0.5\nknob_off_below = +1_0\n").0.remove(0).wishes;
    assert_eq!(written.fast_ratio.map(|r| r.value), Some(10.5));
    assert_eq!(written.knob_off_below.map(|r| r.value), Some(10.0));
    let journal = parse("a.toml", "[[rule]]\njournal = '/tmpfs/j'\n").0.remove(0).wishes.journal;
    assert_eq!(journal, Some(Sourced { value: "/tmpfs/j".to_owned(), from: "a.toml:2".to_owned() }));
    let (rules, problems) = parse("a\n.toml", "other = 1\n[[rule]]\nclass = \"fast\"\n");
    assert_eq!((rules.len(), problems.len()), (1, 1));
    assert!(!problems[0].contains('\n'));
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "(\\[\\[rule\\]\\]\n|(class|model|why|x) = |\"[a-z.(]{0,4}\"|\n|[ -~]|\\PC){0,40}") {
        let (_, problems) = parse("f", &text);
        proptest::prop_assert!(problems.iter().all(|p| p.starts_with("f:") && !p.contains('\n')));
    }
}
