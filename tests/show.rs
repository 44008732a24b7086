//! `show` by habit: columns, order, bytes, colour, OpenMetrics; and the completions.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/synthetic-kept");
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(arguments).arg("--root").arg(kept).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn out(arguments: &[&str]) -> String {
    let (code, out, err) = run(arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

fn column(table: &str, name: &str) -> Vec<String> {
    let at = table.lines().next().unwrap().split_whitespace().position(|h| h == name).unwrap();
    table.lines().skip(1).map(|l| l.split_whitespace().nth(at).unwrap().to_owned()).collect()
}

#[test]
fn columns_are_added_to_the_usual_ones() {
    let usual = out(&["show"]);
    let heading = |table: &str| table.lines().next().unwrap().to_owned();
    assert_eq!(heading(&out(&["show", "-o", "+SIZE"])).split_whitespace().last(), Some("SIZE"));
    assert!(heading(&out(&["show", "-o", "+SIZE,+kind"])).ends_with("SIZE  KIND"));
    assert_eq!(out(&["show", "-o", "+FINDINGS"]), usual, "it stands there already");
    assert_eq!(run(&["show", "-o", "+NOPE"]).0, Some(2));
    assert_eq!(run(&["show", "--sort", "NOPE"]).0, Some(2));
    let bare = out(&["show", "--no-headings"]);
    assert_eq!(bare.lines().count() + 1, usual.lines().count());
    assert!(!bare.contains("DEVICE"));
}

#[test]
fn one_disk_by_two_names_is_one_row_and_one_series() {
    let table = out(&["show", "--no-headings", "-o", "DEVICE", "sde", "/dev/sde"]);
    assert_eq!(table.lines().count(), 1, "{table}");
}

#[test]
fn rows_are_sorted_by_value_and_unknown_ones_come_last() {
    let table = out(&["show", "--sort", "RATIO", "-o", "DEVICE,RATIO"]);
    let ratios = column(&table, "RATIO");
    let known: Vec<f64> = ratios.iter().map_while(|r| r.strip_suffix('x')?.parse().ok()).collect();
    assert!(known.len() >= 2 && known.is_sorted(), "{table}");
    assert!(ratios[known.len()..].iter().all(|r| r == "-"), "{table}");
    let devices = column(&out(&["show", "--sort", "device", "-o", "DEVICE"]), "DEVICE");
    assert_eq!(devices, column(&out(&["show", "-o", "DEVICE"]), "DEVICE"), "the usual order is that of names");
    let classes = column(&out(&["show", "--sort", "CLASS", "-o", "CLASS"]), "CLASS");
    assert!(classes.is_sorted(), "{classes:?}");
}

#[test]
fn bytes_are_numbers_and_colour_is_for_terminals() {
    let table = out(&["show", "sde", "--bytes", "-o", "ZERO,SIZE"]);
    let row = table.lines().nth(1).unwrap();
    assert!(row.split_whitespace().all(|n| n.parse::<u64>().is_ok_and(|n| n > 1_000_000)), "{table}");
    assert!(out(&["show", "sde", "-o", "ZERO"]).contains("iB/s"));
    assert!(!out(&["show"]).contains('\x1b'), "no colour into a pipe");
    // util-linux's script gives the program a terminal.
    let coloured = |variable: &str| {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/synthetic-kept");
        let line = format!("'{}' show --root '{}'", env!("CARGO_BIN_EXE_zerocap"), kept.display());
        let script = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .envs(variable.split_once('='))
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&script.stdout).into_owned())
    };
    match (coloured(""), coloured("NO_COLOR=1"), coloured("TERM=dumb")) {
        (Some(usual), Some(without), Some(dumb)) => {
            assert!(usual.contains("\x1b[32mfast\x1b[0m"), "{usual:?}");
            assert!(!without.contains('\x1b') && !dumb.contains('\x1b'));
        }
        _ => not_run("script(1) is not installed"),
    }
}

/// What the program prints on a terminal of 80 columns, without colours; `None` without script(1).
fn on_terminal(arguments: &str) -> Option<String> {
    let line = format!("stty cols 80; '{}' {arguments}", env!("CARGO_BIN_EXE_zerocap"));
    let script = Command::new("script").args(["-qec", &line, "/dev/null"]).env("NO_COLOR", "1").output().ok()?;
    assert!(script.status.success(), "{arguments}");
    Some(String::from_utf8(script.stdout).unwrap().replace('\r', ""))
}

#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let narrow = |what: &str, table: &str| {
        let widest = table.lines().map(|l| l.chars().count()).max().unwrap_or(0);
        assert!(widest <= 80, "{what}: {widest} columns\n{table}");
    };
    for machine in std::fs::read_dir(&machines).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let Some(table) = on_terminal(&format!("show --all --root '{}'", machine.display())) else {
            not_run("script(1) is not installed");
            return;
        };
        narrow(&machine.display().to_string(), &table);
    }
    let kept = machines.join("synthetic-kept");
    let table = on_terminal(&format!("show --root '{}'", kept.display())).unwrap();
    // Findings are counted; what a command was asked for by name it prints, however wide.
    let row = table.lines().find(|l| l.starts_with("sdf ")).unwrap();
    assert!(row.ends_with("fast      6 warnings +8"), "{table}");
    assert!(!table.contains("METHOD") && !out(&["show"]).contains("6 warnings"));
    let asked = on_terminal(&format!("show sdf -o DEVICE,FINDINGS --root '{}'", kept.display())).unwrap();
    assert!(asked.contains("not-sustained,"), "{asked}");
    // Of two firmwares of a model with long names.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fleet.jsonl");
    // The machine has no machine-id, which is said.
    let (_, line, _) = run(&["show", "sde", "--jsonl", "--fleet"]);
    let model = "A MODEL WITH A NAME AS LONG AS FORTY LETTERS";
    let mut document: serde_json::Value = serde_json::from_str(&line).unwrap();
    document["device"]["model"] = model.into();
    let lines: String = ["1.0", "FIRMWARE"]
        .map(|f| {
            document["device"]["firmware"] = f.into();
            format!("{document}\n")
        })
        .concat();
    std::fs::write(&file, lines).unwrap();
    let table = on_terminal(&format!("fleet summarize '{}'", file.display())).unwrap();
    narrow("fleet", &table);
    assert!(
        table.contains("A MODEL WITH A NAME") && table.contains("FIRMWARE  ") && table.contains("fast 1"),
        "{table}"
    );
    let piped = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(["fleet", "summarize"]).arg(&file).output().unwrap();
    let piped = String::from_utf8(piped.stdout).unwrap();
    assert!(piped.contains(model) && piped.contains("MACHINES"), "{piped}");
}

/// Reads OpenMetrics text strictly: metadata before samples, a family in one piece, no sample twice, the end mark last.
/// Gives `name{labels}` -> value.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut seen, mut current) = (BTreeMap::new(), BTreeSet::new(), String::new());
    assert!(text.ends_with("# EOF\n"), "no end mark");
    assert!(!text.contains("\n\n"));
    let name_ok = |n: &str| !n.is_empty() && n.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    for line in text.strip_suffix("# EOF\n").unwrap().lines() {
        if let Some(meta) = line.strip_prefix("# ") {
            let words: Vec<&str> = meta.splitn(3, ' ').collect();
            let [kind, name, rest] = words.as_slice() else { panic!("{line}") };
            assert!(name_ok(name) && !rest.is_empty(), "{line}");
            match *kind {
                "HELP" => {
                    assert!(seen.insert((*name).to_owned()), "{name} stands in two pieces");
                    current = (*name).to_owned();
                }
                "TYPE" => assert_eq!((*name, *rest), (current.as_str(), "gauge")),
                "UNIT" => assert!(*name == current && name.ends_with(&format!("_{rest}")), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (head, rest) = line.split_once('{').unwrap_or_else(|| panic!("{line}"));
        assert_eq!(head, current, "a sample outside its family");
        let (mut labels, mut rest) = (Vec::new(), rest);
        loop {
            let (label, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(name_ok(label), "{line}");
            labels.push(label.to_owned());
            let mut chars = value.char_indices();
            let end = loop {
                match chars.next().unwrap_or_else(|| panic!("{line}")) {
                    (_, '\\') => assert!(matches!(chars.next().unwrap().1, '\\' | '"' | 'n'), "{line}"),
                    (at, '"') => break at,
                    _ => {}
                }
            };
            match value[end + 1..].split_at(1) {
                (",", more) => rest = more,
                ("}", more) => {
                    rest = more;
                    break;
                }
                _ => panic!("{line}"),
            }
        }
        assert_eq!(labels.iter().collect::<BTreeSet<_>>().len(), labels.len(), "{line}");
        let number: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(number.is_finite());
        let key = line.rsplit_once(' ').unwrap().0.to_owned();
        assert!(samples.insert(key, number).is_none(), "{line} stands twice");
    }
    samples
}

#[test]
fn openmetrics_says_what_the_documents_say() {
    let text = out(&["show", "--openmetrics"]);
    let samples = parse(&text);
    let get = |key: &str| samples.get(key).copied();
    assert_eq!(get(r#"zerocap_class{device="sde",class="fast"}"#), Some(1.0));
    assert_eq!(get(r#"zerocap_class{device="sde",class="broken"}"#), Some(0.0));
    assert_eq!(get(r#"zerocap_class{device="sda",class="broken"}"#), Some(1.0));
    assert_eq!(get(r#"zerocap_findings{device="sda",severity="error"}"#), Some(1.0));
    assert_eq!(get(r#"zerocap_finding{device="sda",code="old-data-left"}"#), Some(1.0));
    assert_eq!(get(r#"zerocap_zeroes_verified{device="sde"}"#), Some(1.0));
    assert_eq!(get(r#"zerocap_measured_timestamp_seconds{device="sde"}"#), Some(1_796_025_600.0));
    let documents: serde_json::Value = serde_json::from_str(&out(&["show", "--json", "sde"])).unwrap();
    let rate = documents[0]["zero_bytes_per_second"].as_f64();
    assert_eq!(get(r#"zerocap_zero_bytes_per_second{device="sde"}"#), rate);
    let knob = |device| {
        get(&format!(r#"zerocap_tunable_as_wanted{{device="{device}",tunable="write_zeroes_unmap_max_bytes"}}"#))
    };
    assert_eq!([knob("sde"), knob("sda"), knob("md4")], [Some(1.0), Some(0.0), None]);
    // Of each device exactly one class holds; what is not known has no sample.
    for device in ["sda", "sdd", "sde", "md2"] {
        let sum: f64 = samples
            .iter()
            .filter(|(k, _)| k.starts_with(&format!("zerocap_class{{device=\"{device}\"")))
            .map(|(_, v)| v)
            .sum();
        assert!((sum - 1.0).abs() < f64::EPSILON, "{device}");
    }
    assert_eq!(get(r#"zerocap_zero_bytes_per_second{device="md2"}"#), None);
    // Its members were verified, so it is.
    assert_eq!(get(r#"zerocap_zeroes_verified{device="md2"}"#), Some(1.0));
    assert_eq!(parse(&out(&["show", "--openmetrics", "md2"])).len(), 1 + 5 + 4 + 3 + 1 + 1);
}

/// An alert on a metric that nobody writes never fires.
#[test]
fn alerts_and_dashboard_use_existing_metrics() {
    let samples = parse(&out(&["show", "--openmetrics"]));
    let is_metric = |name: &str| samples.keys().any(|k| k.split('{').next() == Some(name));
    let mut asked = BTreeSet::new();
    for file in ["zerocap.yml", "zerocap-dashboard.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/prometheus").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        asked.extend(words.filter(|w| w.starts_with("zerocap_")).map(str::to_owned));
    }
    assert!(asked.len() >= 7, "{asked:?}");
    let strange: Vec<_> = asked.iter().filter(|w| !is_metric(w)).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn another_parser_reads_it_too() {
    let script = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as new
from prometheus_client.parser import text_string_to_metric_families as old
text = sys.stdin.read()
families = list(new(text))
assert {f.name for f in families} == {f.name for f in old(text)}
print(sum(len(f.samples) for f in families))
";
    // The distribution's package belongs to the distribution's Python, which need not be the first one.
    let has = |python: &&str| {
        let have = Command::new(python).args(["-c", "import prometheus_client.openmetrics"]).output();
        have.is_ok_and(|o| o.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has) else {
        not_run("python3 has no prometheus_client");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("metrics");
    let text = out(&["show", "--all", "--openmetrics"]);
    std::fs::write(&file, &text).unwrap();
    let input = std::fs::File::open(&file).unwrap();
    let parsed = Command::new(python).arg("-c").arg(script).stdin(input).output().unwrap();
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
    let count: usize = String::from_utf8_lossy(&parsed.stdout).trim().parse().unwrap();
    assert_eq!(count, parse(&text).len());
}

#[test]
fn completions_know_every_verb() {
    for shell in ["bash", "zsh", "fish"] {
        let script = out(&["completions", shell]);
        for word in ["measure", "is-zero", "estimate", "max-age", "openmetrics"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // Where the shell is there, it takes the script.
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("script");
        std::fs::write(&file, script).unwrap();
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(o) => assert!(o.status.success(), "{shell}: {}", String::from_utf8_lossy(&o.stderr)),
            Err(_) => not_run(&format!("{shell} is not installed")),
        }
    }
    assert_eq!(run(&["completions", "csh"]).0, Some(2));
}

/// What is typed is completed by the shells themselves: a device of this machine, and a word of `--scratch`.
#[test]
fn shells_complete_devices_and_the_words_of_scratch() {
    let size = |name: &str| std::fs::read_to_string(format!("/sys/block/{name}/size")).is_ok_and(|s| s.trim() != "0");
    let names = std::fs::read_dir("/sys/block").unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    // The longest: it is the beginning of no other.
    let Some(device) = names.filter(|name| size(name)).max_by_key(String::len) else {
        return not_run("this machine shows no block device");
    };
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (typed, end) = device.split_at(device.len() - 1);
    let bash = format!(
        "source ./bash; t() {{ COMP_WORDS=(zerocap \"$@\") COMP_CWORD=$# COMPREPLY=(); _zerocap_words zerocap \"${{@:$#}}\" \"${{@:$#-1:1}}\"; \
         echo \"$*: ${{COMPREPLY[*]}}\"; }}; t measure {typed}; t measure --scratch la; t tune apply {typed}; \
         t measure --jobs {typed}; t record {device} {typed}; t show {device} {typed}"
    );
    let fish = format!(
        "source ./fish; for line in 'measure {typed}' 'measure --scratch la' 'tune apply {typed}'; \
         echo $line: (complete -C \"zerocap $line\"); end"
    );
    // In a terminal of its own; ^T writes down what stands in the line, and empties it.
    let zsh = format!(
        "zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z 'PS1=; autoload -Uz compinit; compinit -D -u; source ./zsh; \
         w() {{ print -r -- $BUFFER >>lines; BUFFER= }}; zle -N w; bindkey \"^T\" w; print RE\"\"ADY'; zpty -r -m z out '*READY*'; \
         zpty -n -w z $'zerocap measure {device}\\t\\x14zerocap measure --scratch la\\t\\x14exit\\n'; \
         while zpty -r z out; do :; done; cat lines"
    );
    for (shell, script) in [("bash", bash), ("fish", fish), ("zsh", zsh)] {
        std::fs::write(at(shell), out(&["completions", shell])).unwrap();
        let mut command = Command::new("timeout");
        command.args(["60", shell]).args(if shell == "zsh" { &["-f", "-c"][..] } else { &["-c"] }).arg(&script);
        let output = command.current_dir(dir.path()).env("HOME", dir.path()).output().unwrap();
        if output.status.code() == Some(127) {
            not_run(&format!("{shell} is not installed"));
            continue;
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let line =
            |typed: &str| said.lines().find(|l| l.starts_with(typed)).unwrap_or_else(|| panic!("{shell}: {said}"));
        if shell == "zsh" {
            assert_eq!(line("zerocap measure --scratch"), "zerocap measure --scratch label");
            assert_eq!(line(&format!("zerocap measure {typed}")), format!("zerocap measure {typed}{end} "));
            continue;
        }
        let offers = |typed: &str| line(typed).split_once(": ").map_or("", |(_, words)| words).split(' ');
        assert!(offers("measure --scratch la:").any(|w| w == "label"), "{shell}: {said}");
        for typed in [format!("measure {typed}:"), format!("tune apply {typed}:")] {
            assert!(offers(&typed).any(|w| w == device), "{shell}: {said}");
        }
        if shell == "bash" {
            let offered = |typed: String| offers(&typed).any(|w| w == device);
            assert!(offered(format!("show {device} {typed}:")), "as many as wanted: {said}");
            assert!(!offered(format!("record {device} {typed}:")), "one device: {said}");
            assert!(!offered(format!("measure --jobs {typed}:")), "a number: {said}");
        }
    }
}

#[test]
fn a_missing_device_fails_unless_it_may_be_missing() {
    assert_eq!(run(&["show", "sde", "no-such-disk", "--json"]).0, Some(64));
    assert_eq!(run(&["show", "no-such-disk", "--json"]).0, Some(32));
    let one = out(&["show", "sde", "no-such-disk", "--missing-ok", "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&one).unwrap().as_array().unwrap().len(), 1);
    assert_eq!(out(&["show", "no-such-disk", "--missing-ok", "--json"]), "[]\n");
}

#[test]
fn check_boolean_answers_yes_or_no() {
    for (arguments, code) in [
        (&["sde"][..], 0),
        (&["sde", "--require", "verified"], 0),
        (&["sde", "--require", "write-zeroes", "--require", "knob-on"], 3),
        (&["sda"], 3),
        (&["sdd"], 3),
        (&["md2"], 3),
        (&["no-such-disk"], 32),
        (&["sde", "--require", "speed"], 2),
    ] {
        assert_eq!(run(&[&["check", "--boolean", "--quiet"], arguments].concat()).0, Some(code), "{arguments:?}");
    }
    // Without it a requirement that is not met gives 7 whatever the class, but for a slow device that was verified.
    for (device, code) in [("sda", 7), ("sdd", 7), ("md2", 3), ("sde", 0)] {
        assert_eq!(run(&["check", "--quiet", device, "--require", "verified"]).0, Some(code), "{device}");
    }
}
