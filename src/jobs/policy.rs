//! `zerocap policy`: the rules and their effect on a device, pins, kept measurements, model entries.

use crate::assess;
use crate::assess::policies;
use crate::device::display::{escape_str, printable};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::measure_auto;
use crate::jobs::show;
use crate::jobs::target;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::fs::lock::Lock;
use crate::machine::udev;
use crate::machine::Roots;
use crate::policy::edit::{self, Pin};
use crate::policy::format::Rule;
use crate::policy::matcher::{self, Applied};
use crate::store::measurements;
use crate::store::model_entries::{self, Sample};
use crate::store::samples;
use crate::terms::{Basis, Class, Hazard};
use verdict_format::Document;

/// The file of the pins.
const PINS: &str = "99-pins.toml";

/// What `policy test` tells.
#[derive(Debug)]
pub struct Tested {
    /// The wishes that hold, with file and line.
    pub applied: Vec<Applied>,
    /// What the verdict comes to.
    pub document: Document,
}

/// What `policy list` tells.
#[derive(Debug)]
pub struct Listed {
    /// The rules, in the order in which the last wins.
    pub rules: Vec<Rule>,
    /// The kept files: name, identity, class and hazard, when; or what is wrong.
    pub kept: Vec<(String, std::result::Result<String, String>)>,
    /// The identities of those kept files whose device is not here: it was taken away, or, a logical volume, removed.
    pub absent: Vec<String>,
    /// What is wrong with the files of rules.
    pub problems: Vec<String>,
}

/// A device of the machine, or an identity of one that is not there.
enum Whom {
    Present(Box<Facts>),
    Identity(String),
}

impl Whom {
    fn find(roots: &Roots, typed: &str) -> Result<Whom> {
        match target::named(roots, typed) {
            Ok(device) => {
                let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Quiet);
                Ok(Whom::Present(Box::new(facts)))
            }
            // A device that is gone is named by the identity that `policy list` shows.
            Err(Error::NoDevice { .. }) if !typed.contains('/') && typed.contains(['.', ':', '-']) => {
                Ok(Whom::Identity(typed.to_owned()))
            }
            Err(e) => Err(e),
        }
    }

    fn identity(&self) -> Result<String> {
        match self {
            Whom::Identity(identity) => Ok(identity.clone()),
            Whom::Present(facts) => match &facts.names.identity {
                Some(identity) => Ok(identity.as_str().to_owned()),
                None => Err(Error::Usage(format!(
                    "{}: it has no stable identity, so it cannot be pinned; write a rule with path = \"{}\" into a \
                     file in /etc/zerocap/policy.d",
                    facts.device.node(),
                    facts.device.node()
                ))),
            },
        }
    }

    /// Has udev look at the device again.
    fn announce(&self, roots: &Roots, remark: &mut dyn FnMut(&str)) {
        if let (Whom::Present(facts), true) = (self, roots.is_live()) {
            if let Err(e) = udev::send_change(&facts.device) {
                remark(&format!("{e}; udev publishes the change at the next event"));
            }
        }
    }
}

fn pins(roots: &Roots) -> LiveDurable {
    roots.lasting(roots.config().join("policy.d"), 0o644)
}

/// Changes the file of the pins durably, under the lock. `change` gives the new text, `None` for no change.
fn edit_pins(roots: &Roots, change: impl FnOnce(&str) -> std::result::Result<Option<String>, String>) -> Result<bool> {
    let _lock = Lock::take(&roots.run().join("lock"), "pins")?;
    let mut files = pins(roots);
    let path = files.shown(PINS).display().to_string();
    let malformed = |what: String| Error::Malformed {
        path: path.clone(),
        what: format!("{what}; correct it first; nothing was changed"),
    };
    let text =
        String::from_utf8(files.read(PINS)?.unwrap_or_default()).map_err(|_| malformed("not UTF-8".to_owned()))?;
    match change(&text).map_err(malformed)? {
        Some(new) => files.replace(PINS, new.as_bytes()).map(|()| true),
        None => Ok(false),
    }
}

/// Pins the class of a device.
pub fn pin(
    roots: &Roots,
    typed: &str,
    class: Class,
    accept: Option<Hazard>,
    why: Option<String>,
    remark: &mut dyn FnMut(&str),
) -> Result<()> {
    let whom = Whom::find(roots, typed)?;
    let pin = Pin { identity: whom.identity()?, class, accept, why };
    edit_pins(roots, |text| edit::pin(text, &pin).map(Some))?;
    whom.announce(roots, remark);
    Ok(())
}

/// Takes the pin of a device away.
pub fn unpin(roots: &Roots, typed: &str, remark: &mut dyn FnMut(&str)) -> Result<()> {
    let whom = Whom::find(roots, typed)?;
    let identity = whom.identity()?;
    if !edit_pins(roots, |text| edit::unpin(text, &identity))? {
        let path = pins(roots).shown(PINS).display().to_string();
        return Err(Error::Malformed { path, what: format!("{} is not pinned there", printable(identity)) });
    }
    whom.announce(roots, remark);
    Ok(())
}

/// Forgets the kept measurement, or hazard, of a device.
pub fn forget(roots: &Roots, typed: &str, remark: &mut dyn FnMut(&str)) -> Result<()> {
    let whom = Whom::find(roots, typed)?;
    let (mut files, name) = match &whom {
        Whom::Present(facts) => measurements::place(roots, &facts.as_ref().into()).ok_or_else(|| {
            Error::Usage(format!("{}: it has neither an identity nor a device number", facts.device.node()))
        })?,
        Whom::Identity(text) => by_identity(roots, text)?,
    };
    let _lock = Lock::take(&roots.run().join("lock"), "kept")?;
    if files.read(&name)?.is_none() {
        let path = files.shown(&name).display().to_string();
        return Err(Error::Malformed { path, what: "nothing is kept of this device".to_owned() });
    }
    files.remove(&name)?;
    // Its samples are of no use without it.
    samples::forget(roots, &name, whom.identity().is_ok())?;
    whom.announce(roots, remark);
    Ok(())
}

/// The kept file of an identity, by what stands in it: a long identity is not its own file name.
fn by_identity(roots: &Roots, text: &str) -> Result<(LiveDurable, String)> {
    let files = roots.lasting(roots.devices(), 0o644);
    for name in files.list()? {
        let tree: Option<serde_json::Value> = files.read(&name)?.and_then(|b| serde_json::from_slice(&b).ok());
        let fits = tree.as_ref().and_then(|t| t["identity"].as_str()) == Some(text);
        if fits || name.strip_suffix(".json") == Some(text) {
            return Ok((files, name));
        }
    }
    Err(Error::NoDevice {
        path: escape_str(text),
        what: "no such device, and nothing is kept under that identity".to_owned(),
    })
}

/// Which file and line decided what for a device.
pub fn test(roots: &Roots, typed: &str, remark: &mut dyn FnMut(&str)) -> Result<Tested> {
    let device = target::disk_of(roots, typed, remark)?;
    let picture = assess::look_at(roots, roots.port().as_mut(), &device, Depth::Claims, remark);
    let (_, applied, _) = policies::traced(roots, &picture.facts);
    let of_it = |from: &str| applied.iter().any(|a| a.key == "scratch" && a.from == from);
    let (rules, _) = policies::rules(roots);
    let wrong = rules.into_iter().filter(|r| r.wishes.scratch.as_ref().is_some_and(|s| of_it(&s.from)));
    measure_auto::no_places(&wrong.collect::<Vec<_>>()).iter().for_each(|p| remark(p));
    Ok(Tested { applied, document: picture.document })
}

/// The rules, the kept verdicts, and what is wrong with either.
pub fn list(roots: &Roots) -> Result<Listed> {
    let (rules, mut problems) = policies::rules(roots);
    problems.extend(matcher::check(&rules));
    problems.extend(measure_auto::no_places(&rules));
    let files = roots.lasting(roots.devices(), 0o644);
    let here: Vec<String> = target::listed(roots, true)
        .unwrap_or_default()
        .iter()
        .filter_map(|d| facts::device::identity(&roots.system, d).map(|i| i.as_str().to_owned()))
        .collect();
    let (mut kept, mut absent) = (Vec::new(), Vec::new());
    for name in files.list()? {
        let said = measurements::listed(&files, &name).map(|m| {
            absent.extend(m.identity.clone().filter(|i| !here.contains(i)).map(printable));
            let hazard = m.hazard.map_or_else(String::new, |h| format!(" {}", h.hazard));
            format!("{} {}{hazard} {}", printable(m.identity.unwrap_or_default()), m.class, printable(m.at))
        });
        kept.push((printable(name), said.map_err(printable)));
    }
    Ok(Listed { rules, kept, absent, problems })
}

/// Model entries for hwdb from the measured devices among those named, or all.
pub fn models(roots: &Roots, typed: &[String], remark: &mut dyn FnMut(&str)) -> Result<(String, Vec<Error>)> {
    let (devices, errors) = show::devices(roots, typed, false, remark)?;
    let mut samples = Vec::new();
    for device in devices {
        let d: Device = device;
        let picture = assess::look_at(roots, roots.port().as_mut(), &d, Depth::Claims, remark);
        let (document, backend) = (picture.document, picture.facts.changeable_backend());
        let (Some(Basis::Measured), Some(measured)) = (document.basis, document.measured) else {
            if !typed.is_empty() {
                remark(&format!("{}: its class does not come from a test of it; measure it first", d.node()));
            }
            continue;
        };
        let properties = model_entries::properties(roots, &d).unwrap_or_default();
        samples.push(Sample {
            device: d.name.clone(),
            model: model_entries::looked_up(&properties).unwrap_or_default(),
            backend,
            identity: document.device.identity.clone(),
            class: document.class,
            speedup: document.speedup.map(|s| s.median),
            kernel: measured.kernel,
        });
    }
    Ok((model_entries::entries(&samples), errors))
}

/// What a rule wishes, as `key=value`.
pub fn wishes_of(rule: &Rule) -> Vec<String> {
    // A rule without conditions fits whatever it is asked about: resolving it alone gives its wishes.
    let alone = Rule { patterns: Vec::new(), ..rule.clone() };
    let (_, applied, _) = matcher::resolve(&[alone], &matcher::Subject::default());
    applied.iter().map(|a| format!("{}={}", a.key, printable(a.value.clone()))).collect()
}
