//! `zerocap completions`.

use crate::cli::terminal::print;
use crate::error::{exit, Result};
use clap_complete::Shell;
use std::io::Write;

/// Prints a completion script for a shell
///
/// For packages, and for `source <(zerocap completions bash)`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap completions bash  what bash is to source")]
pub struct Completions {
    /// bash, zsh or fish
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
    /// Runs the verb. Made from the parser itself (clap_complete), so that it cannot know an option too many or too few.
    pub fn run(&self, command: &mut clap::Command) -> Result<u8> {
        let shell = match self.shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, command, "zerocap", &mut script);
        print(|out| out.write_all(&script))?;
        Ok(exit::OK)
    }
}
