//! What goes to a fleet: the lines of a machine, and what they must not tell.

use super::*;

const MACHINE_ID: &str = "4c4c4544004b3910804ac3c04f333932";

fn lines(root: &Path) -> (Vec<Value>, String) {
    let arguments = ["show", "--jsonl", "--fleet", "--root"];
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(arguments).arg(root).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains(MACHINE_ID), "the machine-id is systemd's secret");
    let lines = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    (lines, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_line_for_a_fleet_is_a_document_that_names_its_machine() {
    let machine = full_machine();
    let write = |path: &str, text: &str| {
        let path = machine.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let schema = schema();
    let fits = |line: &Value| {
        let mut out = Vec::new();
        faults(&schema, &schema["$defs"]["fleet_line"], line, "", &mut out);
        out
    };
    let (without, said) = lines(machine.path());
    assert!(without.iter().all(|l| l["machine"].is_null() && l["hwdb"].is_null()), "{without:?}");
    assert!(said.contains("etc/machine-id: absent") && said.contains("systemd-machine-id-setup"), "{said}");
    write("etc/machine-id", &format!("{MACHINE_ID}\n"));
    write("udev/sda", "ID_MODEL=MODEL_LONG\nID_REVISION=1.0\n");
    let (lines, said) = lines(machine.path());
    assert_eq!((lines.len(), said.as_str()), (2, ""));
    let mut documents = show(&["show", "--json"], machine.path());
    // What people call their devices tells whose machine it is.
    for document in &mut documents {
        let device = document["device"].as_object_mut().unwrap();
        assert!(device.remove("names").is_some() && device.remove("mounts").is_some());
    }
    for (line, document) in lines.iter().zip(&documents) {
        assert_eq!(fits(line), [""; 0], "{line}");
        assert_eq!(check(line), [""; 0], "and it is a document still");
        for field in document.as_object().unwrap().keys() {
            assert_eq!(line[field], document[field], "{field}");
        }
        assert_eq!(line.as_object().unwrap().len(), document.as_object().unwrap().len() + 4);
        assert_eq!(line["machine"], lines[0]["machine"], "one machine");
        assert_eq!(line["collected"].as_str().unwrap().len(), "2026-11-30T08:00:00Z".len());
        let read: verdict_format::fleet::FleetLine = from_value(line.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), *line, "the types of the package read it");
    }
    assert_eq!(lines[0]["machine"].as_str().unwrap().len(), 32);
    let sda = lines.iter().find(|l| l["device"]["name"] == "sda").unwrap();
    assert_eq!(sda["hwdb"], json!({"model": "MODEL_LONG", "revision": "1.0"}));
    assert_eq!(sda["backend"], Value::Null);
    write("sys/block/sda/device/vendor", "QEMU\n");
    assert_eq!(
        self::lines(machine.path()).0.iter().find(|l| l["device"]["name"] == "sda").unwrap()["backend"],
        "a virtual disk"
    );
    for (field, wrong) in
        [("machine", json!(1)), ("collected", json!(null)), ("hwdb", json!("x")), ("backend", json!(true))]
    {
        let mut other = sda.clone();
        other[field] = wrong;
        assert!(!fits(&other).is_empty(), "{field}");
        other.as_object_mut().unwrap().remove(field);
        assert!(!fits(&other).is_empty(), "{field} missing");
    }
    let alone = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(["show", "--fleet"]).output().unwrap();
    assert_eq!(alone.status.code(), Some(2), "only with --jsonl");
}

#[test]
fn the_page_names_the_fields_of_a_line() {
    let schema = schema();
    let (mut names, mut documents) = (BTreeSet::new(), BTreeSet::new());
    names_of_schema(&schema, &schema["$defs"]["fleet_line"], "", &mut names);
    names_of_schema(&schema, &schema, "", &mut documents);
    let section = PAGE.split("\n.SH A LINE FOR A FLEET").nth(1).unwrap().split("\n.SH ").next().unwrap();
    let tags = section.split(".TP\n.B ").skip(1).map(|t| t.lines().next().unwrap());
    let page: BTreeSet<String> = tags.flat_map(|t| t.split(", ")).map(str::to_owned).collect();
    assert_eq!(page, names.difference(&documents).cloned().collect());
}

#[test]
fn a_summary_fits_its_definition_and_the_page() {
    let machine = full_machine();
    let lines: String = lines(machine.path()).0.iter().map(|l| format!("{l}\n")).collect();
    let other = lines
        .replace("\"class\":\"fast\"", "\"class\":\"slow\"")
        .replace("naa.5000000000000001", "naa.5000000000000002");
    let file = machine.path().join("lines");
    std::fs::write(&file, lines + &other + "bad\n").unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_zerocap")).args(["fleet", "summarize", "--json"]).arg(&file).output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (schema, mut out) = (schema(), Vec::new());
    faults(&schema, &schema["$defs"]["fleet"], &summary, "", &mut out);
    assert_eq!(out, [""; 0], "{summary}");
    assert_eq!(
        (summary["bad_lines"].as_array().unwrap().len(), summary["disagreements"].as_array().unwrap().len()),
        (1, 1)
    );
    assert!(summary["models"].as_array().unwrap().iter().any(|m| m["ratio"]["p50"] == 3.0), "{summary}");
    let (mut names, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    names_of_schema(&schema, &schema["$defs"]["fleet"], "", &mut wanted);
    names_of_value(&summary, "", &mut names);
    // Of a machine on which udev has seen nothing.
    wanted.retain(|n| !n.starts_with("models[].hwdb."));
    assert_eq!(names, wanted.iter().filter(|n| !n.contains("values[]")).cloned().collect());
    let read: verdict_format::fleet::Summary = from_value(summary.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), summary);
    let section = PAGE.split("\\fBzerocap fleet summarize").nth(1).unwrap().split(".PP").next().unwrap();
    // The words of the classes are told of where the document is.
    for name in wanted.iter().filter(|n| !n.contains("classes.")) {
        let last = name.rsplit('.').next().unwrap().trim_end_matches("[]").to_owned();
        assert!(section.contains(&last), "{name} is not on the page");
    }
    let words: Vec<&str> = verdict_format::fleet::Cause::ALL.iter().map(|w| w.as_str()).collect();
    assert_eq!(schema["$defs"]["disagreement"]["properties"]["cause"]["examples"], json!(words));
}
