//! Every recorded machine says what its `expect.json` says, from exactly the evidence in its files.
//!
//! A key that is absent there is not checked; a code in none of its lists is not checked; a device that is not named is not
//! checked. See `tests/machines/README.md`.

#![allow(clippy::unwrap_used)] // A test may panic.

#[path = "common/recorded.rs"]
mod recorded;

use recorded::machines;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;
use zerocap::terms::{Class, FindingCode};

/// What `zerocap show --all --json --root DIR` prints.
fn documents(machine: &Path) -> Vec<Value> {
    let roots = zerocap::machine::Roots::new(Some(machine), None).unwrap();
    let (documents, errors) = zerocap::jobs::show::run(&roots, &[], true, &mut |_| ()).unwrap();
    assert!(errors.is_empty(), "{}: {errors:?}", machine.display());
    documents.iter().map(|d| serde_json::to_value(d).unwrap()).collect()
}

/// The codes of a list; an unknown word is a fault of the expectation.
fn codes(device: &Value, list: &str) -> BTreeSet<String> {
    let words = device.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
    let word = |w: &Value| w.as_str().map(str::to_owned).unwrap();
    let words: BTreeSet<String> = words.iter().map(word).collect();
    for word in &words {
        assert!(FindingCode::from_str(word).is_ok(), "{word} is no finding");
    }
    words
}

/// What is wrong with one device's document.
fn faults(want: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for key in ["class", "basis", "expected"] {
        if let Some(wanted) = want.get(key) {
            if key != "basis" {
                assert!(Class::from_str(wanted.as_str().unwrap()).is_ok(), "{wanted} is no class");
            }
            if document.get(key) != Some(wanted) {
                faults.push(format!("{key} is {}, {wanted} expected", document[key]));
            }
        }
    }
    let found: BTreeSet<String> =
        document["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect();
    let open = codes(want, "open");
    faults.extend(codes(want, "findings").difference(&found).map(|code| format!("{code} is missing")));
    let never = codes(want, "never");
    faults.extend(
        never.intersection(&found).filter(|c| !open.contains(*c)).map(|code| format!("{code} must not be there")),
    );
    faults
}

#[test]
fn every_recorded_machine_says_what_is_expected_of_it() {
    let mut wrong = Vec::new();
    let machines = machines();
    assert!(machines.len() >= 50, "{} machines", machines.len());
    for machine in &machines {
        let name = machine.file_name().unwrap().to_string_lossy();
        let text = std::fs::read_to_string(machine.join("expect.json")).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expect: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let documents = documents(machine);
        for (device, want) in expect["devices"].as_object().unwrap() {
            match documents.iter().find(|d| d["device"]["name"] == device.as_str()) {
                None => wrong.push(format!("{name}: {device}: no document")),
                Some(document) => {
                    let why = want.get("why").and_then(Value::as_str).unwrap_or("-");
                    wrong.extend(faults(want, document).iter().map(|f| format!("{name}: {device}: {f} ({why})")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_finding_is_raised_by_one_machine_and_missed_by_another() {
    let (mut raised, mut missed) = (BTreeSet::new(), BTreeSet::new());
    for machine in machines() {
        let expect: Value =
            serde_json::from_str(&std::fs::read_to_string(machine.join("expect.json")).unwrap()).unwrap();
        for want in expect["devices"].as_object().unwrap().values() {
            raised.extend(codes(want, "findings"));
            missed.extend(codes(want, "never"));
        }
    }
    for code in FindingCode::ALL {
        assert!(raised.contains(code.as_str()), "{code} is expected nowhere");
        assert!(missed.contains(code.as_str()), "{code} has no near miss");
    }
}

#[test]
fn every_machine_says_where_it_comes_from() {
    for machine in machines() {
        let text = std::fs::read_to_string(machine.join("machine.toml")).unwrap();
        let origin = text.lines().find_map(|l| l.strip_prefix("origin = ")).unwrap_or_default();
        let known = ["\"hardware\"", "\"vm\"", "\"kernel-test\"", "\"synthetic\""];
        assert!(known.contains(&origin), "{}: origin {origin}", machine.display());
    }
}
