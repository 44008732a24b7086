//! `zerocap show`.

use crate::cli::terminal::{branches, columns as columns_of_terminal, complain, glyphs, print, remark};
use crate::error::{exit, Error, Result};
use crate::jobs::report;
use crate::jobs::show;
use crate::jobs::Roots;
use crate::output::{detail, openmetrics, table};
use std::io::Write;
use std::path::PathBuf;
use verdict_format::answers::json;

/// Show the verdicts: all devices as a table, or one device in detail
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zerocap show                               list every device
  zerocap show /dev/nvme0n1                  show one device in detail
  zerocap show -o +MODEL,+SIZE --sort CLASS  add two columns
  zerocap show --tree                        show disks and the stacks on them
  zerocap show /home                         show the device below /home
  zerocap show --json /dev/sda               print JSON, see zerocap-verdict(5)")]
pub struct Show {
    /// The devices, or paths that lie on them; without one, all devices
    #[arg(value_name = "DEV")]
    devices: Vec<String>,
    /// Also list hidden multipath paths, parts of logical volumes, RAM disks and empty devices
    #[arg(long)]
    all: bool,
    /// Leave out named devices that do not exist, instead of failing
    #[arg(long)]
    missing_ok: bool,
    /// Show these columns, separated by commas; `+COL` adds one to the usual columns; `help` lists all columns
    #[arg(short = 'o', long = "output", value_name = "COL,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Sort by this column; values that are not known come last
    #[arg(long, value_name = "COL")]
    sort: Option<String>,
    /// Show each device with the stacks on it as a tree; for a named device, also the devices that it lies on
    #[arg(long, conflicts_with = "sort")]
    tree: bool,
    /// Print no line of headings
    #[arg(long)]
    no_headings: bool,
    /// Print sizes and rates as numbers of bytes
    #[arg(long)]
    bytes: bool,
    /// Print a JSON array of documents of format 1
    #[arg(long, conflicts_with_all = ["columns", "sort", "no_headings", "bytes", "tree"])]
    json: bool,
    /// Print one JSON document on each line
    #[arg(long, conflicts_with_all = ["columns", "sort", "no_headings", "bytes", "tree", "json"])]
    jsonl: bool,
    /// With --jsonl: add the time and an opaque number that stands for the machine, for `zerocap fleet`
    #[arg(long, requires = "jsonl")]
    fleet: bool,
    /// Print OpenMetrics text for the textfile collector of node_exporter
    #[arg(long, conflicts_with_all = ["columns", "sort", "no_headings", "bytes", "tree", "json", "jsonl"])]
    openmetrics: bool,
    /// Also write a report of the one named device to FILE: an HTML page with pictures, which needs no network
    #[arg(long, value_name = "FILE", requires = "devices")]
    report: Option<PathBuf>,
}

impl Show {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let columns = self.columns.as_deref();
        let asks = |name: &str| name.strip_prefix('+').unwrap_or(name) == "help";
        if columns.is_some_and(|c| c.iter().any(|c| asks(c))) || self.sort.as_deref() == Some("help") {
            print(|out| out.write_all(table::help().as_bytes()))?;
            return Ok(exit::OK);
        }
        if let Some(file) = &self.report {
            report::may_be_written(file)?;
        }
        let style = table::Style {
            columns,
            sort: self.sort.as_deref(),
            no_headings: self.no_headings,
            bytes: self.bytes,
            colour: show::wants_colour(),
            width: columns_of_terminal(),
            tree: self.tree.then(branches),
        };
        let (mut devices, mut errors) = show::devices(roots, &self.devices, self.all, &mut remark)?;
        if self.tree && !self.devices.is_empty() {
            devices = show::stacked_with(roots, &devices, self.all)?;
        }
        errors.retain(|e| !(self.missing_ok && matches!(e, Error::NoDevice { .. })));
        errors.iter().for_each(complain);
        let none = devices.is_empty();
        if let Some(file) = &self.report {
            let [device] = devices.as_slice() else {
                return match errors.pop() {
                    Some(e) => Err(e),
                    None => Err(Error::Usage("--report describes one device; name exactly one device".to_owned())),
                };
            };
            let document = show::documents(roots, vec![device.clone()], &mut |_: &str| ())?.next();
            document.iter().try_for_each(|d| report::write(roots, d, file))?;
        }
        let ended = match (errors.first(), none) {
            (None, _) => exit::OK,
            (Some(e), true) => e.exit_code(),
            (Some(_), false) => exit::SOME_FAILED,
        };
        let (mut unknown, mut next, mut remark) = (None, None, remark);
        if self.fleet {
            let mut lines = show::fleet_lines(roots, devices, &mut remark)?;
            print(|out| lines.try_for_each(|line| writeln!(out, "{}", json(&line))))?;
            return Ok(ended);
        }
        let mut documents = show::documents(roots, devices, &mut remark)?;
        // The detail of one device stands for its table, unless the table was asked for.
        let table_wanted = columns.is_some() || self.sort.is_some() || self.no_headings || self.bytes || self.tree;
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
            // The columns of a table are as wide as their widest cell, and the samples of a family stand together.
            let mut documents: Vec<_> = documents.collect();
            if self.tree {
                show::seen_through(roots, &mut documents);
            }
            if self.openmetrics {
                return openmetrics::write(out, &documents);
            }
            if let ([document], false, [_]) = (documents.as_slice(), table_wanted, self.devices.as_slice()) {
                detail::write(out, document, report::samples_of(roots, document).ok().as_ref(), glyphs())
            } else if documents.is_empty() && !self.devices.is_empty() {
                Ok(())
            } else {
                next = detail::next_of_all(&documents).filter(|_| roots.is_live() && !table_wanted);
                table::write(out, &documents, &style).unwrap_or_else(|name| {
                    unknown = Some(name);
                    Ok(())
                })
            }
        })?;
        next.iter().for_each(|step: &String| remark(step));
        if none && self.devices.is_empty() && !(self.json || self.jsonl || self.openmetrics) {
            let all = "hidden multipath paths, parts of logical volumes, RAM disks and empty devices";
            remark(&match self.all {
                true => "there is no block device".to_owned(),
                false => format!("there is no device to list; `zerocap show --all` also lists {all}"),
            });
        }
        if let Some(name) = unknown {
            let known = table::headings().join(", ");
            let shown = crate::device::display::escape_str(&name);
            return Err(Error::Usage(match shown.as_str() {
                "" => format!("a column name is empty; the columns are {known}"),
                _ => format!("no column is called {shown}; the columns are {known}"),
            }));
        }
        Ok(ended)
    }
}
