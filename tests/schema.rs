//! The JSON Schema of the document: every recorded machine's documents fit it, it rejects what is wrong, and its names are
//! those of the types and of zerocap-verdict(5).
//!
//! The validator knows the keywords that the schema uses and fails on any other, so that none is skipped in silence.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use serde_json::{from_value, json, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use verdict_format::{Plan, State};
use zerocap::facts::{self, Depth};
use zerocap::jobs::target;
use zerocap::machine::Roots;
use zerocap::protocol::result::{blank, Conditions};
use zerocap::store::measurements;
use zerocap::terms::{Basis, Class, FindingCode, Method, Severity};
use zerocap::verdict::measurement::{Hints, Measurement, MethodResult, Speedup, Sustained, TestFinding};

#[path = "schema/answers.rs"]
mod answers;
#[path = "schema/fleet.rs"]
mod fleet;
#[path = "schema/published.rs"]
mod published;
#[path = "schema/samples.rs"]
mod samples;
#[path = "schema/validator.rs"]
mod validator;

const SCHEMA: &str = verdict_format::SCHEMA;
const PAGE: &str = include_str!("../man/zerocap-verdict.5");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// What is wrong with a value; `root` is where `$ref` points into.
fn faults(root: &Value, schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "examples" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                let target = root.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is not there"));
                faults(root, target, value, at, out);
                true
            }
            "type" => match rule {
                Value::Array(any) => any.iter().any(|t| is_type(t, value)),
                one => is_type(one, value),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()),
            "anyOf" => rule.as_array().unwrap().iter().any(|option| {
                let mut inner = Vec::new();
                faults(root, option, value, at, &mut inner);
                inner.is_empty()
            }),
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults(root, rule, item, &format!("{at}[{i}]"), out);
                }
                true
            }
            "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        faults(root, rule, inner, &format!("{at}.{name}"), out);
                    }
                }
                true
            }
            other => panic!("the validator does not know {other}"),
        };
        if !holds {
            out.push(format!("{at}: {keyword} {rule} does not hold for {value}"));
        }
    }
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type is called {other}"),
    }
}

fn check(document: &Value) -> Vec<String> {
    let (schema, mut out) = (schema(), Vec::new());
    faults(&schema, &schema, document, "", &mut out);
    out
}

/// Runs the program; the documents on its standard output.
fn show(arguments: &[&str], root: &Path) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(arguments).arg("--root").arg(root).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}: {}", root.display(), String::from_utf8_lossy(&output.stderr));
    match serde_json::from_slice(&output.stdout).unwrap() {
        Value::Array(documents) => documents,
        one => vec![one],
    }
}

fn recorded() -> Vec<Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let machines: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    assert!(machines.len() >= 30, "{} machines", machines.len());
    machines.iter().flat_map(|m| show(&["show", "--all", "--json"], m)).collect()
}

/// A machine whose one disk has a measurement with every field filled in.
fn full_machine() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("sys/block/sda/dev", "8:0"),
        ("sys/block/sda/diskseq", "7"),
        ("sys/block/sda/size", "2097152"),
        ("sys/block/sda/device/vendor", "ATA"),
        ("sys/block/sda/device/model", "MODEL"),
        ("sys/block/sda/device/rev", "1.0"),
        ("sys/block/sda/device/wwid", "naa.5000000000000001"),
        ("sys/block/sda/device/scsi_disk/0:0:0:0/zeroing_mode", "writesame_16_unmap"),
        ("sys/block/sda/queue/logical_block_size", "512"),
        ("sys/block/sda/queue/physical_block_size", "4096"),
        ("sys/block/sda/queue/write_zeroes_max_bytes", "2097152"),
        ("sys/block/sda/queue/write_zeroes_unmap_max_hw_bytes", "2097152"),
        ("sys/block/sda/queue/write_zeroes_unmap_max_bytes", "512"),
        ("sys/block/sda/queue/discard_granularity", "4096"),
        ("sys/bus/scsi/drivers/sd/bind", ""),
        ("sys/block/sda/sda1/partition", "1"),
        ("sys/block/sda/sda1/start", "2048"),
        ("sys/block/sda/sda1/size", "4096"),
        ("sys/block/sda/sda1/dev", "8:1"),
        ("sys/block/dm-0/dev", "253:0"),
        ("sys/block/dm-0/dm/uuid", "LVM-x"),
        ("sys/block/dm-0/size", "4096"),
        ("sys/block/dm-0/slaves/sda1/dev", "8:1"),
        ("sys/block/dm-0/queue/write_zeroes_max_bytes", "2097152"),
        ("sys/block/dm-0/queue/write_zeroes_unmap_max_hw_bytes", "2097152"),
        ("sys/block/dm-0/queue/write_zeroes_unmap_max_bytes", "2097152"),
        ("proc/sys/kernel/random/boot_id", "5f0e"),
        ("proc/sys/kernel/osrelease", "6.17.0"),
    ];
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }
    std::os::unix::fs::symlink("../../../bus/scsi/drivers/sd", dir.path().join("sys/block/sda/device/driver")).unwrap();
    let roots = Roots::new(Some(dir.path()), None).unwrap();
    let device = target::named(&roots, "sda").unwrap();
    let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
    let conditions = Conditions {
        at: "2026-11-30T08:00:00Z".to_owned(),
        scratch: "partition".to_owned(),
        proof: vec!["not read-only".to_owned()],
        unit: 4096,
        fast_ratio: 2.0,
        ..Conditions::default()
    };
    let one =
        json!({"count": 1, "p50_nanoseconds": 1, "p99_nanoseconds": 1, "max_nanoseconds": 1, "bytes_per_second": 1});
    let beside = json!({"without": one, "with": one});
    let measurement = Measurement {
        class: Class::Fast,
        method: Some(Method::PunchHole),
        zeroes_verified: true,
        zero_bytes_per_second: Some(6_000_000_000),
        write_bytes_per_second: Some(2_000_000_000),
        overwrite_after_zero_bytes_per_second: Some(1_900_000_000),
        speedup: Some(Speedup { median: 3.0, low: Some(2.7), high: Some(3.1), confidence: 0.999 }),
        methods: vec![MethodResult {
            method: Method::PunchHole,
            class: Some(Class::Fast),
            zero_bytes_per_second: Some(6_000_000_000),
            error: None,
            verified: Some(true),
        }],
        data_write_bytes_per_second: Some(7),
        sustained: Some(Sustained { bytes: 256 << 20, speedup: Some(2.5) }),
        modes: from_value(json!([{"mode": "writesame", "class": "fast", "zero_bytes_per_second": 6, "ratio": 3.0,
            "verified": true, "error": "seen"}]))
        .unwrap(),
        hints: Hints { alignment_bytes: Some(4096), chunk_bytes: Some(8 << 20), break_even_bytes: Some(65536) },
        findings: vec![TestFinding { code: FindingCode::DeferredCost, text: "seen".to_owned() }],
        trials: 14,
        segment_bytes: 16 << 20,
        bytes_written: 640 << 20,
        seconds: 2.5,
        overwrite: from_value(
            json!({"at": "2026-11-30T08:00:00Z", "filesystem": "xfs", "mount_point": "/srv", "unwritten": 9, "write_zeroes": 290,
            "written": 300, "gain": 32.2, "gain_low": 30.0, "gain_high": 34.0, "gain_written": 33.3, "zero_bytes_per_second": 6, "verified": true, "lacks": "seen"}),
        )
        .unwrap(),
        interference: from_value(json!({"read": beside, "write": beside, "zero_bytes_per_second": 1})).unwrap(),
        deep: from_value(json!({"bytes": 1, "write_bytes_per_second": 1, "zero_bytes_per_second": 1, "ratio": 1.0,
            "command_bytes": 1}))
        .unwrap(),
        ..blank(&facts, &conditions)
    };
    measurements::save(&roots, &facts, &measurement).unwrap().unwrap();
    dir
}

/// Dotted names of the fields of a schema, `[]` for an element.
fn names_of_schema(root: &Value, schema: &Value, at: &str, out: &mut BTreeSet<String>) {
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
        names_of_schema(root, root.pointer(pointer.strip_prefix('#').unwrap()).unwrap(), at, out);
    }
    schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().for_each(|s| names_of_schema(root, s, at, out));
    if let Some(items) = schema.get("items") {
        names_of_schema(root, items, &format!("{at}[]"), out);
    }
    for (name, rule) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        names_of_schema(root, rule, &at, out);
        out.insert(at);
    }
}

/// The same of a document.
fn names_of_value(value: &Value, at: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|v| names_of_value(v, &format!("{at}[]"), out)),
        Value::Object(fields) => {
            for (name, v) in fields {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                names_of_value(v, &at, out);
                out.insert(at);
            }
        }
        _ => {}
    }
}

/// The names in the tags of THE DOCUMENT.
fn names_of_page() -> BTreeSet<String> {
    let section = PAGE.split(".SH THE DOCUMENT").nth(1).unwrap().split("\n.SH ").next().unwrap();
    let tags = section.split(".TP\n.B ").skip(1).map(|t| t.lines().next().unwrap());
    let names: Vec<String> = tags.flat_map(|t| t.split(", ")).map(str::to_owned).collect();
    let set: BTreeSet<String> = names.iter().cloned().collect();
    assert_eq!(set.len(), names.len(), "a field is documented twice");
    set
}

fn schema_names() -> BTreeSet<String> {
    let (schema, mut names) = (schema(), BTreeSet::new());
    names_of_schema(&schema, &schema, "", &mut names);
    names
}

#[test]
fn the_documents_of_every_recorded_machine_match_the_schema() {
    let documents = recorded();
    assert!(documents.len() > 100, "{} documents", documents.len());
    for document in &documents {
        assert_eq!(check(document), [""; 0], "{document}");
    }
}

/// Of two definitions of one name a parser takes the last, and says nothing.
#[test]
fn no_definition_of_the_schema_is_duplicated() {
    let of_defs = SCHEMA.split("\"$defs\": {").nth(1).unwrap();
    let names: Vec<&str> = of_defs.lines().filter_map(|l| l.strip_prefix("    \"")?.split('"').next()).collect();
    let once: BTreeSet<&str> = names.iter().copied().collect();
    assert!(names.len() > 40);
    assert_eq!(names.len(), once.len(), "{names:?}");
    assert_eq!(once.len(), schema()["$defs"].as_object().unwrap().len());
}

#[test]
fn the_names_are_those_of_the_types_and_of_the_page() {
    let machine = full_machine();
    let documents = show(&["show", "--json", "sda"], machine.path());
    let [document] = documents.as_slice() else { panic!("{documents:?}") };
    assert_eq!(document["class"], "fast", "{document}");
    assert_eq!(check(document), [""; 0]);
    let mut names = BTreeSet::new();
    names_of_value(document, "", &mut names);
    let stack = show(&["show", "--json", "dm-0"], machine.path()).remove(0);
    assert_eq!(check(&stack), [""; 0]);
    assert_eq!(stack["device"]["members"], json!([{"name": "sda1", "devnum": "8:1", "diskseq": 7}]));
    names_of_value(&stack, "", &mut names);
    // What is printed is not published.
    let mut wanted = schema_names();
    wanted.retain(|n| !n.starts_with("published."));
    assert_eq!(names, wanted);
    assert_eq!(schema_names(), names_of_page());
    // Where something is known it is not null: of this machine everything is, but for one error and two reasons.
    let nulls: Vec<&String> = names
        .iter()
        .filter(|n| !n.starts_with("device.members[]"))
        .filter(|n| {
            document.pointer(&format!("/{}", n.replace('.', "/").replace("[]", "/0"))).is_none_or(Value::is_null)
        })
        .collect();
    assert_eq!(
        nulls,
        [
            "deep.incomplete",
            "device.allocated_bytes",
            "initial_state.how",
            "measured.inconclusive",
            "methods[].error",
            "published",
        ]
    );
}

#[test]
fn every_field_but_one_is_required_and_of_its_type() {
    let machine = full_machine();
    let document = show(&["show", "--json", "sda"], machine.path()).remove(0);
    let (nested, members): (Vec<_>, Vec<_>) = schema_names().into_iter().partition(|n| !n.contains("members[]"));
    assert_eq!(members.len(), 3);
    let nested = nested.into_iter().filter(|n| !n.starts_with("published."));
    for name in nested {
        let pointer = format!("/{}", name.replace('.', "/").replace("[]", "/0"));
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let mut without = document.clone();
        without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(field).unwrap();
        let printed = ["tunables[].now", "device.names", "device.mounts"].contains(&name.as_str());
        assert_eq!(check(&without).is_empty(), printed, "{name} missing");
        for wrong in [json!([[]]), json!({"": 0})] {
            let mut other = document.clone();
            *other.pointer_mut(&pointer).unwrap() = wrong.clone();
            assert!(!check(&other).is_empty(), "{name} as {wrong}");
        }
    }
    for (pointer, wrong) in [
        ("/format", json!(2)),
        ("/type", json!("path")),
        ("/class", json!(null)),
        ("/class", json!(["fast"])),
        ("/published", json!("now")),
        ("/zero_bytes_per_second", json!(-1)),
        ("/zero_bytes_per_second", json!(1.5)),
        ("/speedup/confidence", json!(1.5)),
        ("/findings/0/code", json!(null)),
        ("/findings/0/severity", json!(1)),
    ] {
        let mut other = document.clone();
        *other.pointer_mut(pointer).unwrap() = wrong.clone();
        assert!(!check(&other).is_empty(), "{pointer} as {wrong}");
    }
    let mut newer = document;
    newer["a_field_of_a_later_version"] = json!(1);
    for (pointer, word) in [
        ("/class", "quick"),
        ("/expected", "quick"),
        ("/basis", "rumour"),
        ("/method", "sanitize"),
        ("/methods/0/method", "sanitize"),
        ("/findings/0/code", "new-code"),
        ("/findings/0/severity", "fatal"),
        ("/initial_state/state", "half"),
        ("/initial_state/how", "asked"),
        ("/measured/baseline", "noise"),
    ] {
        *newer.pointer_mut(pointer).unwrap() = json!(word);
    }
    assert_eq!(check(&newer), [""; 0], "a document of the future fits");
    let read = verdict_format::accept(newer.to_string().as_bytes(), Some(7), None).unwrap().unwrap();
    assert_eq!((read.class, read.basis), (Class::Unknown, Some(Basis::Model)), "and is no better for it");
}

#[test]
fn the_words_are_those_of_the_program() {
    let schema = schema();
    let at = |pointer: &str| -> BTreeSet<String> {
        let list = schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}")).as_array().unwrap();
        list.iter().filter(|v| !v.is_null()).map(|v| v.as_str().unwrap().to_owned()).collect()
    };
    let all = |words: Vec<&str>| -> BTreeSet<String> { words.into_iter().map(str::to_owned).collect() };
    assert_eq!(at("/$defs/class/examples"), all(Class::ALL.iter().map(|w| w.as_str()).collect()));
    assert_eq!(at("/properties/basis/examples"), all(Basis::ALL.iter().map(|w| w.as_str()).collect()));
    assert_eq!(at("/$defs/method/examples"), all(Method::ALL.iter().map(|w| w.as_str()).collect()));
    let finding = "/$defs/finding/properties";
    assert_eq!(at(&format!("{finding}/code/examples")), all(FindingCode::ALL.iter().map(|w| w.as_str()).collect()));
    assert_eq!(at(&format!("{finding}/severity/examples")), all(Severity::ALL.iter().map(|w| w.as_str()).collect()));
    let state = "/$defs/initial_state/properties/state/examples";
    assert_eq!(at(state), all(State::ALL.iter().map(|w| w.as_str()).collect()));
    let plan = "/$defs/estimate/properties/plan/examples";
    assert_eq!(at(plan), all(Plan::ALL.iter().map(|w| w.as_str()).collect()));
}
