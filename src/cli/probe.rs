//! `zerocap probe`.

use crate::assess;
use crate::assess::document;
use crate::cli::{print, remark};
use crate::error::{exit, Result};
use crate::facts::Depth;
use crate::jobs::find;
use crate::machine::Roots;
use crate::output::probe;
use std::io::Write;
use verdict_format::answers::json;

/// Every reading with its source; never opens the device for writing
#[derive(Debug, clap::Args)]
pub struct Probe {
    /// The device
    #[arg(value_name = "DEV")]
    device: String,
    /// Raw and decoded values, and the reason for each unknown
    #[arg(long)]
    pub(super) json: bool,
}

impl Probe {
    /// Runs the verb.
    pub fn run(&self, roots: &Roots) -> Result<u8> {
        let device = find::named(roots, &self.device)?;
        let picture = assess::of(roots, roots.port().as_mut(), &device, Depth::All, &mut remark);
        let answer = document::probe(&picture.facts, &picture.document);
        print(|out| {
            if self.json {
                writeln!(out, "{}", json(&answer))
            } else {
                probe::write(out, &answer, &picture.document)
            }
        })?;
        Ok(exit::OK)
    }
}
