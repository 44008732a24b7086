//! `zerocap show`.

use crate::cli::{complain, print, remark};
use crate::error::{exit, Error, Result};
use crate::jobs::{show, Env};
use crate::output::{detail, table, Document};
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
        let (devices, errors) = show::devices(env, &self.devices, self.all)?;
        errors.iter().for_each(complain);
        let none = devices.is_empty();
        let (mut unknown, mut remark) = (None, remark);
        let mut documents = show::documents(env, devices, &mut remark)?;
        print(|out| {
            if self.json {
                write!(out, "[")?;
                documents.enumerate().try_for_each(|(i, d)| {
                    let before = if i > 0 { ",\n" } else { "" };
                    write!(out, "{before}{}", d.json())
                })?;
                return writeln!(out, "]");
            } else if self.jsonl {
                return documents.try_for_each(|d| writeln!(out, "{}", d.json()));
            }
            // The columns of a table are as wide as their widest cell.
            let documents: Vec<Document> = documents.collect();
            if let ([document], None, [_]) = (documents.as_slice(), columns, self.devices.as_slice()) {
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
        Ok(match (errors.first(), none) {
            (None, _) => exit::OK,
            (Some(e), true) => e.exit_code(),
            (Some(_), false) => exit::SOME_FAILED,
        })
    }
}
