//! The same documents before a validator of somebody else's.

use super::*;

#[test]
fn another_validator_says_the_same() {
    let have = Command::new("python3").args(["-c", "import jsonschema; jsonschema.Draft202012Validator"]).output();
    if !have.is_ok_and(|o| o.status.success()) {
        eprintln!("not run: python3 has no jsonschema with draft 2020-12");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("documents.json");
    let full = full_machine();
    let mut documents = recorded();
    documents.extend(show(&["show", "--json", "sda"], full.path()));
    // The last one is wrong, so that a validator which accepts everything is found out.
    let mut wrong = documents[0].clone();
    wrong["class"] = json!(1);
    documents.push(wrong);
    std::fs::write(&file, serde_json::to_vec(&documents).unwrap()).unwrap();
    let script = "
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
v = jsonschema.Draft202012Validator(schema)
print([i for i, d in enumerate(json.load(open(sys.argv[2]))) if not v.is_valid(d)])";
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("verdict-format/verdict.schema.json");
    let output = Command::new("python3").arg("-c").arg(script).arg(schema).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.trim(), format!("[{}]", documents.len() - 1));
}
