//! `zerocap policy`.

use crate::cli::terminal::{complain, print, remark};
use crate::device::display::{escape_str, printable};
use crate::error::{exit, Error, Result};
use crate::jobs::policy::{self, Listed, Tested};
use crate::jobs::Roots;
use crate::output::detail;
use std::fmt::Write as _;
use std::io::Write;

/// Show and change rules, pins, kept measurements and model entries
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap policy test /dev/sda      show which rule decides what
  zerocap policy pin /dev/sda slow  pin the class, whatever was measured
  zerocap policy unpin /dev/sda     remove the pin
  zerocap policy forget /dev/sda    remove the kept measurement")]
pub struct Policy {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the rules in order, the kept measurements, and what is wrong with them
    List,
    /// Pin the class of a device in 99-pins.toml
    Pin {
        /// The device, or its identity
        #[arg(value_name = "DEV")]
        device: String,
        /// fast, slow, none, unknown or broken
        #[arg(value_name = "CLASS")]
        class: String,
        /// Also override this recorded hazard: old-data-left, zeroing-error or no-answer
        #[arg(long, value_name = "HAZARD")]
        accept: Option<String>,
        /// The reason, as a note for people
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
    },
    /// Remove the pin of a device
    Unpin {
        /// The device, or its identity
        #[arg(value_name = "DEV")]
        device: String,
    },
    /// Show which file and line decides what for a device
    Test {
        /// The device
        #[arg(value_name = "DEV")]
        device: String,
    },
    /// Remove the kept measurement or hazard of a device
    Forget {
        /// The device, or its identity
        #[arg(value_name = "DEV")]
        device: String,
    },
    /// Print model entries for hwdb from measured devices
    Model {
        /// The devices; without one, all devices
        #[arg(value_name = "DEV")]
        devices: Vec<String>,
    },
}

impl Policy {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        match &self.action {
            Action::List => {
                let listed = policy::list(roots)?;
                print(|out| out.write_all(list(&listed).as_bytes()))?;
                let bad =
                    listed.kept.iter().filter_map(|(name, said)| Some(format!("{name}: {}", said.as_ref().err()?)));
                let problems: Vec<String> = listed.problems.iter().cloned().chain(bad).collect();
                problems.iter().for_each(|p| remark(p));
                return Ok(if problems.is_empty() { exit::OK } else { exit::FAILURE });
            }
            Action::Pin { device, class, accept, why } => {
                let class =
                    class.parse().map_err(|_| not_a_word("CLASS", class, "fast, slow, none, unknown, broken"))?;
                let hazard = |h: &String| {
                    h.parse().map_err(|_| not_a_word("--accept", h, "old-data-left, zeroing-error, no-answer"))
                };
                let accept = accept.as_ref().map(hazard).transpose()?;
                policy::pin(roots, device, class, accept, why.clone(), &mut remark)?;
            }
            Action::Unpin { device } => policy::unpin(roots, device, &mut remark)?,
            Action::Forget { device } => policy::forget(roots, device, &mut remark)?,
            Action::Test { device } => {
                let tested = policy::test(roots, device, &mut remark)?;
                print(|out| out.write_all(test(&tested).as_bytes()))?;
            }
            Action::Model { devices } => {
                let (text, errors) = policy::models(roots, devices, &mut remark)?;
                print(|out| out.write_all(text.as_bytes()))?;
                errors.iter().for_each(complain);
                return Ok(match errors.first() {
                    None => exit::OK,
                    Some(e) if text.is_empty() => e.exit_code(),
                    Some(_) => exit::SOME_FAILED,
                });
            }
        }
        Ok(exit::OK)
    }
}

fn not_a_word(what: &str, word: &str, words: &str) -> Error {
    Error::Usage(format!("{what}: {} is not one of {words}", escape_str(word)))
}

// Writing to a String does not fail.
fn list(listed: &Listed) -> String {
    let mut text = String::new();
    for rule in &listed.rules {
        let conditions = rule.patterns.iter().map(|p| {
            let key = p.key.as_str();
            format!("{key}={}", printable(p.text.clone()))
        });
        let on: Vec<String> = conditions.collect();
        let on = if on.is_empty() { "every device".to_owned() } else { on.join(" ") };
        let _ = write!(text, "{}: {on}: {}", rule.from, crate::jobs::policy::wishes_of(rule).join(" "));
        let _ = match &rule.why {
            Some(why) => writeln!(text, " ({})", escape_str(why)),
            None => writeln!(text),
        };
    }
    for (name, said) in listed.kept.iter().filter_map(|(n, s)| Some((n, s.as_ref().ok()?))) {
        let _ = writeln!(text, "{name}: {said}");
    }
    for identity in &listed.absent {
        let _ = writeln!(
            text,
            "# {identity} is not present now (it was unplugged, or it is a logical volume that was removed or is not \
             active); `zerocap policy forget {identity}` removes what is kept of it"
        );
    }
    text
}

fn test(tested: &Tested) -> String {
    let mut text = format!("{}\n", detail::sentence(&tested.document));
    if tested.applied.is_empty() {
        text.push_str("  no rule applies to it\n");
    }
    for wish in &tested.applied {
        let why = wish.why.as_deref().map_or_else(String::new, |w| format!(" ({})", escape_str(w)));
        let _ = writeln!(text, "  {} = {}  by {}{why}", wish.key, printable(wish.value.clone()), wish.from);
    }
    text
}
