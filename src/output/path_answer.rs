//! What `check` says of a path: file system, layers, the devices below with their documents, and whether
//! fallocate(FALLOC_FL_WRITE_ZEROES) works there (zerocap-verdict(5), THE ANSWER FOR A PATH).

use crate::assess::document::Document;
use crate::assess::document::FORMAT;
use crate::facts::path::{Can, OnPath};
use crate::terms::Class;
use serde::Serialize;
use std::io::{self, Write};

/// The answer for a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathAnswer {
    /// The number of the form, that of the documents.
    pub format: u32,
    /// The path, links followed.
    pub path: String,
    /// The type of the file system that holds the data.
    pub filesystem: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What was passed on the way, a sentence each.
    pub layers: Vec<String>,
    /// The class of the weakest device.
    pub class: Class,
    /// Whether fallocate(FALLOC_FL_WRITE_ZEROES) succeeds on the path; null: it cannot be told.
    pub write_zeroes: Option<bool>,
    /// Whether it is handed to the device as zeroing.
    pub offloaded: Option<bool>,
    /// Why not, or why it cannot be told; null where it works.
    pub why: Option<String>,
    /// The devices that the file system uses.
    pub devices: Vec<PathDevice>,
}

/// A device below a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathDevice {
    /// The kernel's names of the devices that it is made of in the end; its own where it is no stack.
    pub leaves: Vec<String>,
    /// Its document.
    pub verdict: Document,
}

impl PathAnswer {
    /// The answer of these findings.
    pub fn new(on: &OnPath, can: &Can, class: Class, devices: Vec<PathDevice>) -> PathAnswer {
        let (write_zeroes, offloaded, why) = match can {
            Can::Yes => (Some(true), Some(true), None),
            Can::Written(why) => (Some(true), Some(false), Some(why.clone())),
            Can::No(why) => (Some(false), Some(false), Some(why.clone())),
            Can::Unknown(why) => (None, None, Some(why.clone())),
        };
        PathAnswer {
            format: FORMAT,
            path: on.path.clone(),
            filesystem: on.filesystem.clone(),
            mount_point: on.mount_point.clone(),
            layers: on.layers.clone(),
            class,
            write_zeroes,
            offloaded,
            why,
            devices,
        }
    }

    /// JSON on one line, without a newline.
    pub fn json(&self) -> String {
        // As of a document: strings, numbers and words only, so it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What fallocate does here, in one clause.
    fn call(&self) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        match (self.write_zeroes, self.offloaded) {
            (Some(true), Some(true)) => "fallocate(FALLOC_FL_WRITE_ZEROES) works here".to_owned(),
            (Some(true), _) => format!("fallocate(FALLOC_FL_WRITE_ZEROES) works here but writes: {why}"),
            (Some(false), _) => format!("fallocate(FALLOC_FL_WRITE_ZEROES) fails here: {why}"),
            (None, _) => format!("whether fallocate(FALLOC_FL_WRITE_ZEROES) works here cannot be told: {why}"),
        }
    }

    /// Writes the view; the first line is the answer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let device = match self.class {
            Class::Fast => "zeroes fast",
            Class::Slow => "zeroes slowly",
            Class::None => "has no zeroing offload",
            Class::Unknown => "is not known to zero fast",
            Class::Broken => "must not be trusted with zeroing",
        };
        let weakest = self.devices.iter().find(|d| d.verdict.class == self.class).filter(|_| self.devices.len() > 1);
        let device = match weakest {
            Some(weakest) => format!("the weakest of its devices, {}, {device}", weakest.verdict.device.name),
            None => format!("its device {device}"),
        };
        writeln!(out, "{}: {device}; {}.", self.path, self.call())?;
        writeln!(out, "  {:<12} {} on {}", "filesystem", self.filesystem, self.mount_point)?;
        self.layers.iter().try_for_each(|layer| writeln!(out, "  {:<12} {layer}", "layer"))?;
        for d in &self.devices {
            let name = &d.verdict.device.name;
            let of =
                if d.leaves == [name.clone()] { String::new() } else { format!(" (made of {})", d.leaves.join(", ")) };
            let reason = if d.verdict.reason.is_empty() { String::new() } else { format!(": {}", d.verdict.reason) };
            writeln!(out, "  {:<12} {name}{of} is {}{reason}", "device", d.verdict.class)?;
        }
        Ok(())
    }
}
