//! The answers that are no documents: of `estimate`, and of `check` for a path.

use super::*;
use verdict_format::{Effect, PathCode};

/// What is wrong with an answer that is no document, by its definition in the schema.
fn check_answer(definition: &str, answer: &Value) -> Vec<String> {
    let (schema, mut out) = (schema(), Vec::new());
    faults(&schema, &schema["$defs"][definition], answer, "", &mut out);
    let fields = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(fields(answer), fields(&schema["$defs"][definition]["properties"]));
    let sections = PAGE.split(".SH THE ANSWER FOR A PATH").nth(1).unwrap().split("\n.SH EXIT").next().unwrap();
    let plain = sections.replace('\\', "");
    assert!(fields(answer).iter().all(|f| plain.contains(f.as_str())), "{definition}: not all fields are on the page");
    out
}

#[test]
fn the_answers_that_are_no_documents_fit_their_definitions() {
    let machine = full_machine();
    let run = |arguments: &[&str], root: Option<&Path>| -> Option<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
        command.args(arguments).args(root.map(|_| "--root")).args(root);
        serde_json::from_slice(&command.output().unwrap().stdout).ok()
    };
    for more in [&[][..], &["--data-fraction", "0.25"]] {
        let arguments = [&["estimate", "sda", "1GiB", "--json"][..], more].concat();
        let answer = run(&arguments, Some(machine.path())).unwrap();
        assert_eq!(check_answer("estimate", &answer), [""; 0], "{answer}");
    }
    // No such device: an object all the same, and the exit code in it.
    for verb in [&["check"][..], &["estimate"], &["is-zero"], &["probe"]] {
        let size = if verb == ["estimate"] { &["1GiB"][..] } else { &[] };
        let answer = run(&[verb, &["no-such-disk", "--json"], size].concat(), Some(machine.path())).unwrap();
        assert_eq!(check_answer("failure", &answer), [""; 0], "{answer}");
        assert_eq!(answer["code"], 32);
    }
    // Only where this directory lies on a block device of this machine, which in a container it need not.
    match run(&["check", "--json", env!("CARGO_MANIFEST_DIR")], None) {
        Some(answer) => {
            assert_eq!(check_answer("path_answer", &answer), [""; 0], "{answer}");
            assert_eq!(answer["file"], Value::Null, "a directory has no map");
        }
        None => eprintln!("not run: {} is on no block device that can be seen", env!("CARGO_MANIFEST_DIR")),
    }
}

#[test]
fn the_words_of_a_path_are_those_of_the_program() {
    let schema = schema();
    let words = |field: &str| -> BTreeSet<&str> {
        let list = schema["$defs"]["path_finding"]["properties"][field]["examples"].as_array().unwrap();
        list.iter().filter_map(Value::as_str).collect()
    };
    assert_eq!(words("code"), PathCode::ALL.iter().map(|w| w.as_str()).collect());
    assert_eq!(words("effect"), Effect::ALL.iter().map(|w| w.as_str()).collect());
}
