//! `zerocap check`: the verdict of a device, or of the devices below a path, as an exit code.

use crate::assess;
use crate::device::display::escape_str;
use crate::device::Device;
use crate::error::{exit, Result};
use crate::facts::file;
use crate::facts::knob::Knob;
use crate::facts::path::{self, Can, OnPath};
use crate::facts::Depth;
use crate::jobs::answer;
use crate::jobs::instead;
use crate::jobs::target::{self, Target};
use crate::machine::block::{devices, stack};
use crate::machine::clock;
use crate::machine::port::Port;
use crate::machine::Roots;
use crate::terms::{Basis, Class, Method};
use crate::units::utc_seconds;
use crate::verdict::expected::weakest_of;
use crate::verdict::on_file;
use verdict_format::answers::{PathAnswer, PathDevice};
use verdict_format::{Document, Kind, FORMAT};

/// What a caller can require besides the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Requirement {
    /// The class rests on a test of this device.
    Measured,
    /// Every zeroed byte was read back as zero.
    Verified,
    /// The class is fast.
    Fast,
    /// write_zeroes_unmap_max_bytes is not 0, so that the kernel allows FALLOC_FL_WRITE_ZEROES.
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

    fn met(self, roots: &Roots, one: &One) -> bool {
        let d = &one.document;
        match self {
            Requirement::Measured => d.basis == Some(Basis::Measured),
            Requirement::Verified => d.zeroes_verified == Some(true),
            Requirement::Fast => d.class == Class::Fast,
            Requirement::KnobOn => one.knob(roots) == Knob::On,
            Requirement::WriteZeroes => d
                .methods
                .iter()
                .any(|m| m.method == Some(Method::WriteZeroes) && m.error.is_none() && m.verified == Some(true)),
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// A device, a partition, or a path of a file, directory or mount point.
    pub typed: &'a str,
    /// What has to hold.
    pub require: &'a [Requirement],
    /// The most seconds that a measurement may be old.
    pub max_age: Option<u64>,
    /// Whether only yes (0) and no (3) are asked for: may the caller zero here and count on it?
    pub boolean: bool,
}

impl Request<'_> {
    /// The exit code as it was asked for.
    fn spelled(&self, code: u8) -> u8 {
        match code {
            exit::OK => exit::OK,
            _ if self.boolean => exit::SLOW,
            code => code,
        }
    }
}

/// The answer.
#[derive(Debug)]
pub struct Checked {
    /// What was found.
    pub answer: Answer,
    /// The exit code of zerocap(8).
    pub code: u8,
    /// The words of the requirements that are not met, of the knob also why.
    pub unmet: Vec<String>,
}

/// What was found.
#[derive(Debug)]
pub enum Answer {
    /// The document of a device.
    Device(Box<Document>),
    /// Of a path.
    Path(Box<PathAnswer>),
}

/// One device that was looked at.
struct One {
    device: Device,
    document: Document,
}

impl One {
    /// The knob, read only where something is required of it.
    fn knob(&self, roots: &Roots) -> Knob {
        Knob::of(&roots.system, &self.device)
    }
}

/// Checks a device or a path.
pub fn run(roots: &Roots, request: &Request<'_>, remark: &mut dyn FnMut(&str)) -> Result<Checked> {
    match target::find(roots, request.typed)? {
        Target::Device(device) => {
            let one = look(roots, roots.port().as_mut(), &device, remark);
            let unmet = unmet(roots, request, std::slice::from_ref(&one), None, remark);
            let code = request.spelled(code(one.document.class, &unmet, None));
            Ok(Checked { answer: Answer::Device(Box::new(one.document)), code, unmet })
        }
        Target::Path(on) => on_path(roots, request, &on, remark),
    }
}

fn on_path(roots: &Roots, request: &Request<'_>, on: &OnPath, remark: &mut dyn FnMut(&str)) -> Result<Checked> {
    let root = &roots.system;
    let devices = target::devices(request.typed, on)?;
    let can = path::can_write_zeroes(root, on);
    let mut port = roots.port();
    let ones: Vec<One> = devices.iter().map(|d| look(roots, port.as_mut(), d, remark)).collect();
    let class = weakest_of(ones.iter().map(|o| o.document.class)).unwrap_or(Class::Unknown);
    let unmet = unmet(roots, request, &ones, Some(&can), remark);
    let code = request.spelled(code(class, &unmet, Some(&can)));
    let documents: Vec<&Document> = ones.iter().map(|o| &o.document).collect();
    let file = file::gather(root, on);
    let findings = on_file::findings(on, &can, &file);
    let instead = instead::of(on, &can, class, &documents, on_file::copies(&findings));
    let below = |device: &Device, one: One| PathDevice {
        leaves: stack::leaves(root, device).iter().map(|l| escape_str(l)).collect(),
        verdict: one.document,
    };
    let below = devices.iter().zip(ones).map(|(device, one)| below(device, one)).collect();
    Ok(Checked {
        answer: Answer::Path(Box::new(PathAnswer {
            instead,
            file: on_file::shares(&file),
            findings,
            ..path_answer(on, &can, class, below)
        })),
        code,
        unmet,
    })
}

fn path_answer(on: &OnPath, can: &Can, class: Class, devices: Vec<PathDevice>) -> PathAnswer {
    let (write_zeroes, offloaded, why) = match can {
        Can::Yes => (Some(true), Some(true), None),
        Can::Written(why) => (Some(true), Some(false), Some(why.clone())),
        Can::No(why) => (Some(false), Some(false), Some(why.clone())),
        Can::Unknown(why) => (None, None, Some(why.clone())),
    };
    PathAnswer {
        format: FORMAT,
        kind: Kind::Path,
        path: on.path.clone(),
        filesystem: on.filesystem.clone(),
        mount_point: on.mount_point.clone(),
        layers: on.layers.clone(),
        class,
        write_zeroes,
        offloaded,
        why,
        instead: None,
        file: None,
        findings: Vec::new(),
        devices,
    }
}

/// One device: what is published where the rest may not be asked, else looked at anew.
pub(crate) fn document(roots: &Roots, port: &mut dyn Port, device: &Device, remark: &mut dyn FnMut(&str)) -> Document {
    answer::published(roots, device)
        .unwrap_or_else(|| assess::look_at(roots, port, device, Depth::Answer, remark).document)
}

fn look(roots: &Roots, port: &mut dyn Port, device: &Device, remark: &mut dyn FnMut(&str)) -> One {
    One { device: device.clone(), document: document(roots, port, device, remark) }
}

/// The requirements that are not met, each by all devices.
fn unmet(
    roots: &Roots,
    request: &Request<'_>,
    ones: &[One],
    can: Option<&Can>,
    remark: &mut dyn FnMut(&str),
) -> Vec<String> {
    // What was tried on the device must be possible on the path too.
    let reachable = |r: Requirement| r != Requirement::WriteZeroes || matches!(can, None | Some(Can::Yes));
    let met = |r: Requirement| reachable(r) && ones.iter().all(|o| r.met(roots, o));
    let said = |r: &Requirement| match r {
        Requirement::KnobOn => {
            let why: Vec<String> = ones.iter().filter_map(|o| o.knob(roots).why_not(&o.document.device.name)).collect();
            format!("{} ({})", r.as_str(), why.join("; "))
        }
        r => r.as_str().to_owned(),
    };
    let mut unmet: Vec<String> = request.require.iter().filter(|r| !met(**r)).map(said).collect();
    if let Some(most) = request.max_age {
        let mut old = false;
        for one in ones {
            match age(roots, &one.document, &clock::now_utc(), remark) {
                Age::NotMeasured => {}
                Age::Seconds(age) => old |= age > most,
                Age::Unknown(why) => {
                    remark(&why);
                    old = true;
                }
            }
        }
        if old {
            unmet.push("max-age".to_owned());
        }
    }
    unmet
}

fn code(class: Class, unmet: &[String], can: Option<&Can>) -> u8 {
    match (class, can) {
        _ if !unmet.is_empty() => exit::REQUIREMENT,
        (Class::Fast, None | Some(Can::Yes)) => exit::OK,
        (Class::Fast, Some(Can::No(_) | Can::Written(_))) => exit::PATH_CANNOT,
        (Class::Fast, Some(Can::Unknown(_))) | (Class::Unknown, _) => exit::UNKNOWN,
        (Class::Slow, _) => exit::SLOW,
        (Class::None, _) => exit::NONE,
        (Class::Broken, _) => exit::BROKEN,
    }
}

/// The age of what a class rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Age {
    /// No measurement is involved.
    NotMeasured,
    /// Seconds since the oldest one.
    Seconds(u64),
    /// It cannot be told; why.
    Unknown(String),
}

/// The age of the measurement of a document; of a derived class, of the oldest one of its members. `now`: RFC 3339, UTC.
fn age(roots: &Roots, top: &Document, now: &str, remark: &mut dyn FnMut(&str)) -> Age {
    let members = |d: &Document| {
        let derived = d.measured.is_none() && d.basis == Some(Basis::Derived);
        let members = d.device.members.iter().filter(|_| derived);
        let devices = members.filter_map(|member| devices::resolve_name(&roots.system, &member.name));
        devices.map(|device| document(roots, roots.port().as_mut(), &device, &mut *remark)).collect()
    };
    let mut oldest = Age::NotMeasured;
    for one in stack::descend(top.clone(), |d| d.device.name.clone(), members) {
        let Some(measured) = &one.measured else { continue };
        let name = &one.device.name;
        match (utc_seconds(&measured.at), utc_seconds(now)) {
            (Some(at), Some(now)) if at <= now => {
                let before = if let Age::Seconds(s) = oldest { s } else { 0 };
                oldest = Age::Seconds(before.max(now - at));
            }
            (Some(_), Some(_)) => {
                return Age::Unknown(format!("{name} was measured at {}, which is in the future", measured.at));
            }
            _ => return Age::Unknown(format!("{name} was measured at {}, which is not a time", measured.at)),
        }
    }
    oldest
}
