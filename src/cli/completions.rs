//! `zerocap completions`.

use crate::cli::terminal::print;
use crate::error::{exit, Result};
use clap_complete::Shell;
use std::io::Write;

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
        print(|out| out.write_all(&script))?;
        Ok(exit::OK)
    }
}
