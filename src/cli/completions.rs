//! `zerocap completions`: the parser's own words (clap_complete), and what no parser knows: the names of the devices that are
//! there, which each shell reads from sysfs when it is asked, and the words of `--scratch`. Asks no device.

use crate::cli::terminal::print;
use crate::error::{exit, Result};
use clap::{Arg, Command};
use clap_complete::Shell;
use std::io::Write;

/// The words of `--scratch` that are neither node nor path.
const SCRATCH: &str = "auto label gap vg:";
const BASH: &str = include_str!("completions/words.bash");
const ZSH: &str = include_str!("completions/words.zsh");
const FISH: &str = include_str!("completions/words.fish");

/// Print a completion script for a shell
///
/// Packages install it. To try it in a running bash: `source <(zerocap completions bash)`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap completions bash  print the script for bash")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: ShellName,
}

/// The shells.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    /// Runs the verb. clap_complete makes the script from the parser itself, so that the script has exactly the parser's options.
    pub fn run(&self, command: &mut clap::Command) -> Result<u8> {
        let shell = match self.shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, command, "zerocap", &mut script);
        let script = with_words(self.shell, String::from_utf8_lossy(&script).into_owned(), command);
        print(|out| out.write_all(script.as_bytes()))?;
        Ok(exit::OK)
    }
}

/// A verb, or an action of one, and its arguments.
type Verb<'a> = (String, &'a Command);

/// The script with the names of devices and the words of `--scratch`.
fn with_words(shell: ShellName, script: String, command: &Command) -> String {
    let verbs = below(command, "");
    match shell {
        ShellName::Bash => script + &bash(&verbs),
        ShellName::Zsh => zsh(&script, &verbs),
        ShellName::Fish => script + &fish(&verbs),
    }
}

/// The verbs of a command with their actions, `help` aside.
fn below<'a>(command: &'a Command, before: &str) -> Vec<Verb<'a>> {
    let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    let with_actions = |verb: &'a Command| {
        let name = format!("{before}{}", verb.get_name());
        let actions = below(verb, &format!("{name} "));
        std::iter::once((name, verb)).chain(actions)
    };
    verbs.flat_map(with_actions).collect()
}

/// The argument that names a device.
fn device<'a>((_, verb): &Verb<'a>) -> Option<&'a Arg> {
    let named = |a: &&Arg| a.get_value_names().is_some_and(|n| n.iter().any(|n| n.starts_with("DEV")));
    verb.get_positionals().find(named)
}

fn bash(verbs: &[Verb<'_>]) -> String {
    let takes_value = |a: &&Arg| !a.is_positional() && a.get_action().takes_values();
    let options = verbs.iter().flat_map(|(_, verb)| verb.get_arguments()).filter(takes_value);
    let mut values: Vec<String> = options
        .flat_map(|a| {
            let long = a.get_long().map(|l| format!("--{l}"));
            long.into_iter().chain(a.get_short().map(|s| format!("-{s}")))
        })
        .collect();
    values.sort();
    values.dedup();
    let joined = |all: Vec<&Verb<'_>>| all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("|");
    let with = |only: fn(&Arg) -> bool| joined(verbs.iter().filter(|v| device(v).is_some_and(only)).collect());
    BASH.replace("@VALUES@", &values.join(" "))
        .replace("@BOTH@", &joined(verbs.iter().collect()))
        .replace("@DEVICES@", &with(|_| true))
        .replace("@MANY@", &with(|a| matches!(a.get_action(), clap::ArgAction::Append)))
        .replace("@SCRATCH@", SCRATCH)
}

/// What is asked for stands at the end of an argument's line, after its text.
fn zsh(script: &str, verbs: &[Verb<'_>]) -> String {
    let names: Vec<&str> = verbs.iter().filter_map(device).map(|a| a.get_id().as_str()).collect();
    let is_device = |line: &str| {
        let name = line.trim_start_matches(['\'', '*', ':']).split_once(" -- ").map(|(name, _)| name);
        line.starts_with("'") && name.is_some_and(|name| names.contains(&name))
    };
    let word = |line: &str| match line {
        l if is_device(l) => l.replace(":_default'", ":_zerocap_devices'"),
        l if l.starts_with("'--scratch=") => l.replace(":_default'", ":_zerocap_scratch'"),
        l => l.to_owned(),
    };
    let mut lines: Vec<String> = script.lines().map(word).collect();
    // Before the functions that name these; the first line is for zsh.
    lines.insert(1, ZSH.replace("@SCRATCH@", SCRATCH));
    lines.join("\n") + "\n"
}

fn fish(verbs: &[Verb<'_>]) -> String {
    let line = |(name, _): &Verb<'_>| {
        let here = match name.split_once(' ') {
            None => format!("__fish_zerocap_using_subcommand {name}"),
            Some((verb, action)) => {
                format!("__fish_zerocap_using_subcommand {verb}; and __fish_seen_subcommand_from {action}")
            }
        };
        format!("complete -c zerocap -n \"{here}\" -a \"(__zerocap_devices)\"\n")
    };
    let devices: String = verbs.iter().filter(|v| device(v).is_some()).map(line).collect();
    FISH.replace("@SCRATCH@", SCRATCH) + &devices
}
