//! `zerocap show`.

use crate::cli::{complain, print, remark};
use crate::error::{exit, Error, Result};
use crate::jobs::{show, Env};
use crate::output::{detail, table};
use std::io::Write;

/// The verdicts: all devices as a table, one device in detail
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Devices; none: all
    #[arg(value_name = "DEV")]
    devices: Vec<String>,
    /// List hidden multipath paths, RAM disks and empty devices too
    #[arg(long)]
    all: bool,
    /// Columns, separated by commas; `help` lists them
    #[arg(short = 'o', long = "output", value_name = "COL,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// An array of documents of format 1
    #[arg(long, conflicts_with = "columns")]
    json: bool,
    /// A document a line
    #[arg(long, conflicts_with_all = ["columns", "json"])]
    jsonl: bool,
}

impl Show {
    /// Runs the verb.
    pub fn run(&self, env: &Env) -> Result<u8> {
        let columns = self.columns.as_deref();
        if columns.is_some_and(|c| c.iter().any(|c| c == "help")) {
            print(|out| writeln!(out, "{}", table::headings().join("\n")))?;
            return Ok(exit::OK);
        }
        let (documents, errors) = show::run(env, &self.devices, self.all, &mut remark)?;
        errors.iter().for_each(complain);
        let mut unknown = None;
        print(|out| {
            if self.json {
                let texts: Vec<String> = documents.iter().map(|d| d.json()).collect();
                writeln!(out, "[{}]", texts.join(",\n"))
            } else if self.jsonl {
                documents.iter().try_for_each(|d| writeln!(out, "{}", d.json()))
            } else if let ([document], None, [_]) = (documents.as_slice(), columns, self.devices.as_slice()) {
                detail::write(out, document)
            } else if documents.is_empty() && !self.devices.is_empty() {
                Ok(())
            } else {
                table::write(out, &documents, columns).unwrap_or_else(|name| {
                    unknown = Some(name);
                    Ok(())
                })
            }
        })?;
        if let Some(name) = unknown {
            let known = table::headings().join(", ");
            let shown = crate::device::display::escape_str(&name);
            return Err(Error::Usage(format!("no column is called {shown}; there are {known}")));
        }
        Ok(match (errors.first(), documents.is_empty()) {
            (None, _) => exit::OK,
            (Some(e), true) => e.exit_code(),
            (Some(_), false) => exit::SOME_FAILED,
        })
    }
}
