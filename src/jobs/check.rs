//! `zerocap check`: the verdict of one device as an exit code.

use crate::error::{exit, Result};
use crate::facts::Depth;
use crate::jobs::{find, picture, publish, Env};
use crate::output::Document;
use crate::words::{Basis, Class};

/// What a caller can require besides the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Requirement {
    /// The class rests on a test of this very device.
    Measured,
    /// Every zeroed byte was read back as zero.
    Verified,
    /// The class is fast.
    Fast,
    /// The kernel's knob lets FALLOC_FL_WRITE_ZEROES through.
    KnobOn,
    /// FALLOC_FL_WRITE_ZEROES was tried on this device and worked.
    WriteZeroes,
}

impl Requirement {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Requirement::Measured => "measured",
            Requirement::Verified => "verified",
            Requirement::Fast => "fast",
            Requirement::KnobOn => "knob-on",
            Requirement::WriteZeroes => "write-zeroes",
        }
    }

    fn met(self, d: &Document, knob: Option<u64>) -> bool {
        match self {
            Requirement::Measured => d.basis == Some(Basis::Measured),
            Requirement::Verified => d.zeroes_verified == Some(true),
            Requirement::Fast => d.class == Class::Fast,
            Requirement::KnobOn => knob.is_some_and(|k| k > 0),
            Requirement::WriteZeroes => d.methods.iter().any(|m| {
                m.method == crate::words::Method::WriteZeroes && m.error.is_none() && m.verified == Some(true)
            }),
        }
    }
}

/// The answer: the document, the exit code, and the requirements that are not met.
#[derive(Debug)]
pub struct Checked {
    /// The document.
    pub document: Document,
    /// The exit code of zerocap(8).
    pub code: u8,
    /// Requirements that are not met.
    pub unmet: Vec<Requirement>,
}

/// Checks one device; a partition stands for its disk.
pub fn run(env: &Env, typed: &str, require: &[Requirement], remark: &mut dyn FnMut(&str)) -> Result<Checked> {
    let device = find::named(env, typed)?;
    let root = &env.roots.system;
    let privileged = !env.roots.is_live() || rustix::process::geteuid().is_root();
    let published = || publish::read(env, device.devnum?, root.number(&device.attr("diskseq")).get());
    let document = match (!privileged).then(published).flatten() {
        Some(document) => document,
        None => picture::of(env, env.port().as_mut(), &device, Depth::Claims, remark).document,
    };
    let knob = root.number(&device.attr("queue/write_zeroes_unmap_max_bytes")).get();
    let unmet: Vec<Requirement> = require.iter().copied().filter(|r| !r.met(&document, knob)).collect();
    let code = match document.class {
        _ if !unmet.is_empty() => exit::REQUIREMENT,
        Class::Fast => exit::OK,
        Class::Slow => exit::SLOW,
        Class::None => exit::NONE,
        Class::Unknown => exit::UNKNOWN,
        Class::Broken => exit::BROKEN,
    };
    Ok(Checked { document, code, unmet })
}
