//! The man pages say what the program has, and nothing that it has not: verbs, options, exit codes, findings, properties,
//! policy keys; and what their examples show is what the program prints.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use clap::{Command as Clap, CommandFactory, Parser};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use verdict_format::Document;
use zerocap::cli::Cli;
use zerocap::output::properties;
use zerocap::policy::format;
use zerocap::terms::{Effect, FindingCode, PathCode, Severity};
use zerocap::verdict::findings::severity;

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

const MAIN: &str = include_str!("../man/zerocap.8");
const VERDICT: &str = include_str!("../man/zerocap-verdict.5");
const POLICY: &str = include_str!("../man/zerocap-policy.5");
const GUIDE: &str = include_str!("../man/zerocap.7");

/// The text without fonts and escapes; macros stay.
fn plain(text: &str) -> String {
    ["\\fB", "\\fI", "\\fP", "\\fR", "\\&"]
        .iter()
        .fold(text.replace("\\-", "-"), |t, font| t.replace(font, ""))
        .replace("\\(aq", "'")
        .replace("\\e", "\\")
}

/// What stands below a heading (`.SH NAME`, `.SS name`) up to the next one of the same or a higher level.
fn below<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let end = if heading.starts_with(".SH") { rest.find("\n.SH ") } else { rest.find("\n.S") };
    &rest[..end.unwrap_or(rest.len())]
}

/// The tags of `.TP` paragraphs, without fonts.
fn tags(section: &str) -> Vec<String> {
    let lines = section.split(".TP\n").skip(1).map(|t| plain(t.lines().next().unwrap()));
    lines.map(|l| l.trim_start_matches(".BR ").trim_start_matches(".B ").trim_start_matches(".I ").to_owned()).collect()
}

/// The options in a text: `--flag` and `-f`, where a word starts.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words
        .filter(|w| w.starts_with('-') && w.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic()))
        .map(str::to_owned)
        .collect()
}

/// The options of a verb and of its actions, or of the whole program.
fn options_of(command: &Clap) -> BTreeSet<String> {
    let actions = command.get_subcommands().filter(|c| c.get_name() != "help" && command.get_name() != "zerocap");
    own_options(command).into_iter().chain(actions.flat_map(own_options)).collect()
}

fn own_options(command: &Clap) -> BTreeSet<String> {
    let long = command.get_arguments().filter_map(|a| a.get_long()).map(|l| format!("--{l}"));
    let short = command.get_arguments().filter_map(|a| a.get_short()).map(|s| format!("-{s}"));
    long.chain(short).collect()
}

/// The examples of a page, as they are typed.
fn examples(page: &str) -> Vec<String> {
    let blocks = page.split("\n.EX\n").skip(1).map(|b| b.split("\n.EE").next().unwrap());
    blocks.map(|b| plain(b) + "\n").collect()
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zerocap"))
}

fn kept_machine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/synthetic-kept")
}

fn output(command: &mut Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn every_verb_has_its_section_with_its_options_and_no_others() {
    let mut command = Cli::command();
    command.build();
    let everywhere = options(&plain(below(MAIN, ".SS Every verb")));
    let global: BTreeSet<String> = command
        .get_arguments()
        .filter(|a| a.is_global_set() || ["help", "version"].contains(&a.get_id().as_str()))
        .flat_map(|a| a.get_long().map(|l| format!("--{l}")).into_iter().chain(a.get_short().map(|s| format!("-{s}"))))
        .collect();
    assert_eq!(everywhere, global);
    let synopsis = plain(below(MAIN, ".SH SYNOPSIS"));
    let verbs: Vec<&Clap> = command.get_subcommands().filter(|c| c.get_name() != "help").collect();
    assert!(verbs.len() >= 7);
    for verb in &verbs {
        let name = verb.get_name();
        assert!(synopsis.contains(&format!("\nzerocap {name}")), "{name} is not in the synopsis");
        let section = below(MAIN, &format!(".SS {name}"));
        let own: BTreeSet<String> = options_of(verb).difference(&global).cloned().collect();
        let tagged: BTreeSet<String> = tags(section).iter().flat_map(|t| options(t)).collect();
        assert_eq!(tagged, own, "{name}");
        for line in synopsis.lines().filter(|l| l.starts_with(&format!("zerocap {name} "))) {
            assert!(options(line).is_subset(&own), "{name}: {line}");
        }
    }
    let headings: BTreeSet<&str> = below(MAIN, ".SH VERBS").lines().filter_map(|l| l.strip_prefix(".SS ")).collect();
    let names: BTreeSet<&str> = verbs.iter().map(|v| v.get_name()).chain(["Every verb"]).collect();
    assert_eq!(headings, names);
}

#[test]
fn every_option_that_a_page_names_exists() {
    let mut command = Cli::command();
    command.build();
    let own = command.get_subcommands().flat_map(options_of).chain(options_of(&command));
    // Of chattr, udevadm, stat, readlink, sed, the shell and cc.
    let others = ["--name", "--query", "-L", "-c", "-e", "-f", "-j", "-lsystemd", "-n", "-r"].map(str::to_owned);
    let all: BTreeSet<String> = own.chain(others).collect();
    for page in [MAIN, VERDICT, POLICY] {
        let named = options(&plain(page));
        let unknown: Vec<&String> = named.difference(&all).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
    assert!(options(&plain(VERDICT)).contains("--json"), "the options of a page are found at all");
}

#[test]
fn a_requirement_of_check_is_documented() {
    let mut command = Cli::command();
    let check = command.find_subcommand_mut("check").unwrap();
    let require = check.get_arguments().find(|a| a.get_id() == "require").unwrap();
    let section = plain(below(MAIN, ".SS check"));
    let documented: BTreeSet<&str> = section.lines().filter_map(|l| l.strip_prefix(".B ")?.strip_suffix(':')).collect();
    let words: Vec<String> = require.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
    assert_eq!(documented, words.iter().map(String::as_str).collect());
}

#[test]
fn the_exit_codes_are_those_of_the_program() {
    let table = below(MAIN, ".SH EXIT STATUS");
    let listed: Vec<u8> = table.lines().filter_map(|l| l.split_once("\tT{")).map(|(n, _)| n.parse().unwrap()).collect();
    let source = include_str!("../src/error.rs");
    let mut codes: Vec<u8> = source
        .lines()
        .filter_map(|l| l.trim().strip_prefix("pub const ")?.split_once(": u8 = "))
        .map(|(_, n)| n.trim_end_matches(';').parse().unwrap())
        .collect();
    codes.sort_unstable();
    assert_eq!(listed, codes);
    let check = plain(table);
    for (code, word) in [(3, "slow"), (4, "none"), (5, "unknown"), (6, "broken")] {
        assert!(check.contains(&format!("\n{code}\tT{{\ncheck: {word}\n")), "{code}");
        assert!(plain(below(VERDICT, ".SH EXIT CODES")).contains(&format!("{code} {word}")), "{code}");
    }
}

#[test]
fn every_finding_stands_under_its_severity() {
    let section = below(VERDICT, ".SH FINDINGS");
    for wanted in Severity::ALL {
        let (_, rest) = section.split_once(&format!("\n.SS {wanted}: ")).unwrap();
        let part = rest.split("\n.SS ").next().unwrap();
        let named: BTreeSet<String> = tags(part).iter().flat_map(|t| t.split(", ")).map(str::to_owned).collect();
        let codes: BTreeSet<String> =
            FindingCode::ALL.iter().filter(|c| severity(**c) == *wanted).map(ToString::to_string).collect();
        assert_eq!(named, codes, "{wanted}");
    }
}

#[test]
fn every_finding_of_a_path_is_explained_and_no_other() {
    let section = below(VERDICT, ".SS Findings on zeroing a file ahead of use");
    let codes: BTreeSet<String> = PathCode::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(tags(section).into_iter().collect::<BTreeSet<_>>(), codes);
    let effects = plain(below(VERDICT, ".SH THE ANSWER FOR A PATH"));
    let effects = effects.split(".B findings[].effect").nth(1).unwrap().split(".TP").next().unwrap();
    assert!(Effect::ALL.iter().all(|e| effects.contains(e.as_str())), "{effects}");
}

#[test]
fn every_property_is_documented_and_no_other() {
    let json = r#"{"format":1,"device":{"name":"sda","node":"/dev/sda","diskseq":7,"kind":"scsi","members":[]},
        "class":"fast","basis":"measured","expected":"fast","reason":"","method":"punch-hole","zeroes_verified":true,
        "zero_bytes_per_second":2,"write_bytes_per_second":1,"overwrite_after_zero_bytes_per_second":1,
        "speedup":null,"methods":[],"hints":{"alignment_bytes":1,"chunk_bytes":1,"break_even_bytes":1},"data_write_bytes_per_second":1,"claims":[],
        "findings":[{"code":"knob-off","severity":"notice","text":""}],
        "tunables":[{"name":"write_zeroes_unmap_max_bytes","path":"queue/x","wanted":"0","why":""}],"measured":null}"#;
    let document: Document = serde_json::from_str(json).unwrap();
    let lines = properties::lines(&document, &[("write_zeroes_unmap_max_bytes".to_owned(), "0".to_owned())]);
    let mut printed: BTreeSet<String> = lines.lines().map(|l| l.split_once('=').unwrap().0.to_owned()).collect();
    // The rule itself gives a partition its own.
    let own = "ZEROCAP_OFFSET_SECTORS";
    assert!(include_str!("../rules/90-zerocap.rules").contains(&format!("ENV{{{own}}}=\"$attr{{start}}\"")));
    printed.insert(own.to_owned());
    let named = tags(below(VERDICT, ".SH UDEV PROPERTIES"));
    assert_eq!(named.iter().flat_map(|t| t.split(", ")).map(str::to_owned).collect::<BTreeSet<_>>(), printed);
}

#[test]
fn the_policy_page_names_the_keys_that_are_read() {
    let mut named: Vec<String> = tags(below(POLICY, ".SS Which devices"));
    named.extend(tags(below(POLICY, ".SS What is wished")));
    let named: BTreeSet<String> = named.iter().flat_map(|t| t.split(", ")).map(str::to_owned).collect();
    let known = |key: &str| {
        let (_, problems) = format::parse("x", &format!("[[rule]]\nclass = \"slow\"\n'{key}' = 1979-05-27\n"));
        !problems.iter().any(|p| p.contains("unknown key"))
    };
    for key in named.iter().filter(|k| *k != "class") {
        assert!(known(key), "{key} is no key");
    }
    assert!(!known("clas"));
    // The keys that the source knows: what is matched on, and the arms of the wishes.
    let source = include_str!("../src/policy/format.rs");
    let source = source.split("match key {").nth(1).unwrap().split("unknown key").next().unwrap();
    let arms =
        source.lines().filter_map(|l| l.trim().strip_prefix('"')?.split_once("\" =>")).map(|(k, _)| k.to_owned());
    let keys: BTreeSet<String> = arms.chain(format::Key::ALL.iter().map(|(_, k)| (*k).to_owned())).collect();
    assert!(keys.len() >= 15, "{keys:?}");
    assert_eq!(named, keys);
}

#[test]
fn the_policy_examples_are_read_as_the_page_says() {
    let blocks = examples(POLICY);
    let (rules, problems) = format::parse("example.toml", &blocks[0]);
    assert_eq!((rules.len(), problems), (3, Vec::new()));
    let (rules, problems) = format::parse("/etc/zerocap/policy.d/10-site.toml", &blocks[1]);
    assert!(rules.is_empty());
    assert_eq!(format!("zerocap: {}\n", problems.join("\n")), blocks[2]);
}

#[test]
fn the_table_of_the_page_is_what_the_program_prints() {
    let block = &examples(MAIN)[0];
    let (line, shown) = block.split_once('\n').unwrap();
    assert_eq!(line, "# zerocap show");
    let printed = output(program().args(["show", "sda", "sdd", "sde", "md2", "--root"]).arg(kept_machine()));
    assert_eq!(printed, shown);
    let listed = shown.lines().skip(1).map(|l| l.split(' ').next().unwrap()).collect::<BTreeSet<_>>();
    assert_eq!(listed, BTreeSet::from(["md2", "sda", "sdd", "sde"]));
}

#[test]
fn every_command_of_the_examples_is_one() {
    let mut ran = 0;
    for block in examples(MAIN) {
        let mut lines = block.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(typed) = line.strip_prefix("# ") else { continue };
            let words: Vec<&str> = typed.split(' ').collect();
            Cli::try_parse_from(&words).unwrap_or_else(|e| panic!("{typed}: {e}"));
            // Those that only read are run; what stands below them is their first line.
            if ["check", "show"].contains(&words[1]) && words.len() > 2 {
                let printed = output(program().args(&words[1..]).arg("--root").arg(kept_machine()));
                assert!(!printed.is_empty(), "{typed}");
                if let Some(shown) = lines.next_if(|l| !l.starts_with("# ")) {
                    assert_eq!(printed.lines().next(), Some(shown), "{typed}");
                }
                ran += 1;
            }
        }
    }
    assert!(ran >= 3, "{ran} were run");
}

/// Whether a line of a shell is a call of zerocap that its parser takes; what stands after it for the shell is left out.
fn is_a_call(line: &str) -> bool {
    let call = line.split("&&").flat_map(|l| l.split("||")).find(|l| l.split(' ').any(|w| w == "zerocap"));
    let words = call.into_iter().flat_map(|l| l.trim().split(' ')).skip_while(|w| *w != "zerocap");
    Cli::try_parse_from(words).map_err(|e| println!("{line}: {e}")).is_ok()
}

#[test]
fn every_call_that_the_guide_shows_is_one() {
    let lines: Vec<String> =
        examples(GUIDE).iter().flat_map(|b| b.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let calls: Vec<&str> = lines.iter().filter_map(|l| l.strip_prefix("# zerocap ")).collect();
    assert!(calls.len() >= 10, "{calls:?}");
    for call in calls {
        assert!(is_a_call(&format!("zerocap {call}")), "{call}");
    }
    assert!(!is_a_call("zerocap is-zero") && !is_a_call("zerocap chekc /dev/sda"));
}

#[test]
fn the_help_of_every_verb_shows_calls_of_it() {
    let mut command = Cli::command();
    for verb in command.get_subcommands_mut().filter(|c| c.get_name() != "help") {
        let name = verb.get_name().to_owned();
        let help = verb.render_long_help().to_string();
        let (_, block) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{name} has no examples"));
        let calls: Vec<&str> =
            block.lines().filter_map(|l| Some(l.strip_prefix("  ")?.split("  ").next().unwrap())).collect();
        assert!(!calls.is_empty(), "{name}");
        for call in calls {
            assert!(is_a_call(call) && call.contains(&name), "{name}: {call}");
        }
    }
}

/// The clients that the page shows, in its order; tests/vm/t/consult.sh builds them and runs them on a matrix of devices.
const CLIENTS: [&str; 5] = [
    include_str!("clients/consult/consult.sh"),
    include_str!("clients/consult/consult.py"),
    include_str!("clients/consult/consult.c"),
    include_str!("../verdict-format/examples/consult.rs"),
    include_str!("clients/consult/consult.go"),
];

#[test]
fn the_examples_of_the_page_are_the_clients_that_the_guest_runs() {
    let blocks = examples(VERDICT);
    assert_eq!(blocks.len(), CLIENTS.len() + 1);
    for (block, client) in blocks.iter().zip(CLIENTS) {
        assert_eq!(block.trim_end(), client.trim_end());
    }
}

#[test]
fn the_clients_say_what_the_table_of_the_page_says_and_nothing_else() {
    let acts =
        ["zero", "zero, read back a sample", "zero only what stays empty", "write", "write, never zero or discard"];
    for client in CLIENTS {
        for act in acts {
            assert!(client.contains(&format!("\"{act}\"")), "{act} is not in\n{client}");
        }
    }
}

#[test]
fn the_shell_example_for_a_path_says_yes_no_or_nothing() {
    let blocks = examples(VERDICT);
    let bin = Path::new(env!("CARGO_BIN_EXE_zerocap")).parent().unwrap();
    let path = std::env::join_paths([bin, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    // The example has no --root: a function of that name adds it.
    let shell = blocks.last().unwrap();
    let wrapped = format!("zerocap() {{ command zerocap \"$@\" --root '{}'; }}\n{shell}", kept_machine().display());
    for (device, says) in [("sde", "zero"), ("sda", "write"), ("sdd", "write"), ("none", "")] {
        let run = Command::new("sh").arg("-c").arg(&wrapped).arg("sh").arg(device).env("PATH", &path).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), says, "{device}");
        assert_eq!(run.status.code(), Some(i32::from(says.is_empty())), "{device}");
    }
}

#[test]
fn the_pages_are_sound() {
    for name in ["zerocap.7", "zerocap.8", "zerocap-verdict.5", "zerocap-policy.5"] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("man").join(name);
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(
            text.lines().any(|l| l.starts_with(".TH ") && l.contains(concat!("zerocap ", env!("CARGO_PKG_VERSION")))),
            "{name}"
        );
        for section in [".SH NAME", ".SH DESCRIPTION", ".SH EXAMPLES", ".SH SEE ALSO"] {
            assert!(text.contains(section), "{name}: {section}");
        }
        let lint =
            Command::new("man").args(["--warnings", "-E", "UTF-8", "-l"]).arg(&page).env("MANWIDTH", "80").output();
        match lint {
            Err(e) => not_run(&format!("man: {e}")),
            Ok(o) => {
                assert!(o.status.success(), "{name}: {}", String::from_utf8_lossy(&o.stderr));
                assert_eq!(String::from_utf8_lossy(&o.stderr), "", "{name}");
            }
        }
        match Command::new("mandoc").args(["-T", "lint"]).arg(&page).output() {
            Err(e) => not_run(&format!("mandoc: {e}")),
            Ok(o) => {
                let said = String::from_utf8_lossy(&o.stdout).into_owned();
                // How long a line of the source is, is this repository's own matter.
                let said: Vec<&str> = said.lines().filter(|l| !l.contains("longer than 80 bytes")).collect();
                assert_eq!(said, Vec::<&str>::new(), "{name}");
            }
        }
    }
    for section in ["EXIT STATUS", "FILES", "ENVIRONMENT", "NOTES"] {
        assert!(MAIN.contains(&format!("\n.SH {section}\n")), "{section}");
    }
}
