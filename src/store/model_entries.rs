//! Model entries: the result for other devices of the same model and firmware, which the udev rule imports from hwdb
//! (`ZEROCAP_MODEL_*`), and the entry that follows from measured devices.

use crate::device::display::escape_str;
use crate::device::{Device, Kind};
use crate::machine::udev::{self, NoLibudev};
use crate::machine::Roots;
use crate::terms::Class;
use crate::verdict::ModelEntry;
use std::collections::{BTreeMap, BTreeSet};

/// The property of the class.
const CLASS: &str = "ZEROCAP_MODEL_CLASS";
/// The property that tells on how many devices it was measured.
const DEVICES: &str = "ZEROCAP_MODEL_DEVICES";

/// The entry in a device's properties. Only a class that others can have measured counts; `none` and `unknown` say nothing.
pub fn from_properties(get: impl Fn(&str) -> Option<String>) -> Option<ModelEntry> {
    let class = get(CLASS)?.parse().ok().filter(|c| matches!(c, Class::Fast | Class::Slow | Class::Broken))?;
    let devices: Option<u64> = get(DEVICES).and_then(|n| n.parse().ok());
    let from = devices.map_or_else(|| "hwdb".to_owned(), |n| format!("hwdb, {n} devices"));
    Some(ModelEntry { class, from })
}

/// The entry of a device, from udev's database or the recorded properties.
pub fn known(roots: &Roots, device: &Device) -> Result<Option<ModelEntry>, NoLibudev> {
    // Nothing else has a model that the rule looks up.
    if !matches!(device.kind, Kind::Nvme | Kind::Scsi | Kind::Mmc) {
        return Ok(None);
    }
    // Reading the database through libudev costs more than all the rest of an answer: only where its file has the word at all,
    // or is not where it is looked for.
    if roots.is_live() && device.devnum.is_some_and(|devnum| !udev::may_have(&roots.system, devnum, CLASS)) {
        return Ok(None);
    }
    let properties = properties(roots, device)?;
    Ok(from_properties(|name| properties.get(name).cloned()))
}

/// What the rule looks a device up by: udev's ID_MODEL and ID_REVISION; `None` where udev gives it no ID_MODEL.
pub fn looked_up(properties: &BTreeMap<String, String>) -> Option<(String, String)> {
    let model = properties.get("ID_MODEL").filter(|model| !model.trim().is_empty())?;
    Some((model.clone(), properties.get("ID_REVISION").cloned().unwrap_or_default()))
}

/// udev's properties of a device.
pub fn properties(roots: &Roots, device: &Device) -> Result<BTreeMap<String, String>, NoLibudev> {
    udev::properties_below(&roots.system, &device.name)
}

/// One measured device, for an entry.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The kernel's name of the device.
    pub device: String,
    /// `ID_MODEL` and `ID_REVISION`, as the rule looks them up.
    pub model: (String, String),
    /// What stands behind it where that may be exchanged: then it is no property of its model.
    pub backend: Option<&'static str>,
    /// What tells it from others of its model; without one it counts for none.
    pub identity: Option<String>,
    /// Its class.
    pub class: Class,
    /// The median speedup.
    pub speedup: Option<f64>,
    /// The kernel it was measured under.
    pub kernel: String,
}

/// What was measured of one model and firmware, on one machine or on many.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// How a comment names it.
    pub shown: String,
    /// `ID_MODEL` and `ID_REVISION`; `None` where it is not known under which name udev looks it up.
    pub name: Option<(String, String)>,
    /// What stands behind it where that may be exchanged.
    pub backend: Option<String>,
    /// The classes that were measured.
    pub classes: BTreeSet<Class>,
    /// The devices that are known to be different ones.
    pub different: u64,
    /// The machines that they are in, where there may be several.
    pub machines: Option<u64>,
    /// On how many devices it was measured, for people.
    pub devices: u64,
    /// The kernels it was measured under.
    pub kernels: BTreeSet<String>,
    /// The median speedup.
    pub speedup: Option<f64>,
    /// The least and the greatest speedup of the tested devices.
    pub ends: Option<(f64, f64)>,
}

/// So many must agree before something is believed of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// Devices that can be told apart.
    pub devices: u64,
    /// Machines.
    pub machines: u64,
    /// So many times as far from the threshold as it must be is every tested device; 1: however close.
    pub margin: f64,
}

/// Of a model on this machine alone: its administrator knows how alike the devices are, and takes the entry over by hand.
pub const HERE: Least = Least { devices: 3, machines: 1, margin: 1.0 };

/// Of a model of a fleet, which nobody looks over: tests/fleet_simulation.rs says how often such an entry is wrong.
pub const FLEET: Least = Least { devices: 16, machines: 16, margin: 1.5 };

/// The threshold of `fast` that a policy has by default, which the margin counts from.
const THRESHOLD: f64 = 2.0;

/// The record for hwdb, or why there is none.
pub fn record(candidate: &Candidate, least: Least) -> std::result::Result<String, String> {
    if let Some(what) = &candidate.backend {
        return Err(format!("it is {}, so what lies behind it does not follow from the model", escape_str(what)));
    }
    let Some((model, firmware)) = &candidate.name else {
        return Err("no line has the name under which udev looks it up".to_owned());
    };
    if let Some(why) = unfit(model, firmware) {
        return Err(why.to_owned());
    }
    let mut classes = candidate.classes.iter();
    let (Some(class), None) = (classes.next(), classes.next()) else {
        return Err("its devices are of different classes".to_owned());
    };
    if !matches!(class, Class::Fast | Class::Slow) {
        return Err(format!("{class} is not a property of a model; a rule in policy.d can set it"));
    }
    if candidate.different < least.devices {
        return Err(format!(
            "{} devices that can be told apart were measured; at least {} are needed",
            candidate.different, least.devices
        ));
    }
    if let Some(machines) = candidate.machines.filter(|n| *n < least.machines) {
        return Err(format!("it was measured on {machines} machines; at least {} are needed", least.machines));
    }
    // Units of one build differ: where some are close to the threshold, others lie beyond it.
    if least.margin > 1.0 {
        let (needed, is, clear) = match (class, candidate.ends) {
            (_, None) => return Err("no tested device has a ratio".to_owned()),
            (Class::Fast, Some((low, _))) => ("at least", low, low >= THRESHOLD * least.margin),
            (_, Some((_, high))) => ("at most", high, high <= THRESHOLD / least.margin),
        };
        if !clear {
            let bound = if *class == Class::Fast { THRESHOLD * least.margin } else { THRESHOLD / least.margin };
            return Err(format!(
                "a tested device has a ratio of {is:.2}, but for {class} each needs {needed} \
                                {bound:.2}"
            ));
        }
    }
    let kernels: Vec<String> = candidate.kernels.iter().map(|k| escape_str(k)).collect();
    let on = candidate.machines.map_or_else(String::new, |n| format!(", on {n} machines"));
    let mut text = format!("# measured under {}{on}\n", kernels.join(", "));
    text.push_str(&format!("zerocap:model:{model}:fw:{firmware}:\n {CLASS}={class}\n"));
    text.push_str(&format!(" {DEVICES}={}\n", candidate.devices));
    if let Some(median) = candidate.speedup {
        text.push_str(&format!(" ZEROCAP_MODEL_SPEEDUP={median:.2}\n"));
    }
    Ok(text)
}

/// Entries for hwdb, a record a model; what cannot become one stands in a comment.
pub fn records<'a>(candidates: impl IntoIterator<Item = &'a Candidate>, least: Least) -> String {
    let one = |candidate: &Candidate| match record(candidate, least) {
        Ok(record) => format!("{record}\n"),
        Err(why) => format!("# {}: no entry: {why}\n\n", candidate.shown),
    };
    candidates.into_iter().map(one).collect()
}

/// The same of devices of this machine.
pub fn entries(samples: &[Sample]) -> String {
    let mut models: BTreeMap<&(String, String), Vec<&Sample>> = BTreeMap::new();
    samples.iter().for_each(|s| models.entry(&s.model).or_default().push(s));
    let candidates: Vec<Candidate> = models.into_iter().map(|(name, devices)| candidate(name, &devices)).collect();
    records(&candidates, HERE)
}

fn candidate((model, firmware): &(String, String), devices: &[&Sample]) -> Candidate {
    let shown = match model.trim() {
        // Without a model only the devices' own names tell which are meant.
        "" => devices.iter().map(|d| escape_str(&d.device)).collect::<Vec<_>>().join(", "),
        _ => format!("{} firmware {}", escape_str(model), escape_str(firmware)),
    };
    let mut ratios: Vec<f64> = devices.iter().filter_map(|d| d.speedup).collect();
    ratios.sort_by(f64::total_cmp);
    Candidate {
        shown,
        name: Some((model.clone(), firmware.clone())),
        backend: devices.iter().find_map(|d| d.backend).map(str::to_owned),
        classes: devices.iter().map(|d| d.class).collect(),
        different: devices.iter().filter_map(|d| d.identity.as_deref()).collect::<BTreeSet<_>>().len() as u64,
        machines: None,
        devices: devices.len() as u64,
        kernels: devices.iter().map(|d| d.kernel.clone()).collect(),
        speedup: ratios.get(ratios.len() / 2).copied(),
        ends: ratios.first().copied().zip(ratios.last().copied()),
    }
}

/// Why a name cannot stand in a match of hwdb: the rule looks up plain names only, and a match is a pattern.
fn unfit(model: &str, firmware: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ._+/()-".contains(c);
    match () {
        () if model.trim().is_empty() => Some("udev gives it no ID_MODEL"),
        () if !model.chars().all(plain) || !firmware.chars().all(plain) => {
            Some("its name has characters that the udev rule cannot look up")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(model: &str, class: Class, speedup: f64) -> Sample {
        let model = (model.to_owned(), "1.0".to_owned());
        let identity = Some(format!("naa.{speedup}"));
        let kernel = "7.3.4".to_owned();
        Sample { device: "sdx".to_owned(), model, backend: None, identity, class, speedup: Some(speedup), kernel }
    }

    #[test]
    fn an_entry_is_what_its_devices_agree_on() {
        let text = entries(&[
            sample("Disk A", Class::Fast, 3.0),
            sample("Disk A", Class::Fast, 5.0),
            sample("Disk A", Class::Fast, 6.0),
            sample("Disk B", Class::Fast, 3.0),
            sample("Disk B", Class::Slow, 1.0),
            sample("Disk C", Class::Broken, 1.0),
            // Twice the same, by its identity.
            sample("Disk D", Class::Fast, 3.0),
            sample("Disk D", Class::Fast, 4.0),
            sample("Disk D", Class::Fast, 4.0),
            Sample { backend: Some("a virtual disk"), ..sample("QEMU", Class::Fast, 3.0) },
            sample("", Class::Fast, 1.0),
            sample("Disk*\n ZEROCAP_MODEL_CLASS=fast", Class::Fast, 1.0),
        ]);
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "zerocap:model:Disk A:fw:1.0:",
                " ZEROCAP_MODEL_CLASS=fast",
                " ZEROCAP_MODEL_DEVICES=3",
                " ZEROCAP_MODEL_SPEEDUP=5.00"
            ]
        );
        assert!(text.contains("Disk B firmware 1.0: no entry: its devices are of different classes"), "{text}");
        assert!(text.contains("Disk C firmware 1.0: no entry: broken"), "{text}");
        assert!(
            text.contains("Disk D firmware 1.0: no entry: 2 devices that can be told apart were measured; at least 3"),
            "{text}"
        );
        assert!(text.contains("QEMU firmware 1.0: no entry: it is a virtual disk"), "{text}");
        assert!(text.contains("# sdx: no entry: udev gives it no ID_MODEL"), "{text}");
        assert!(text.contains("Disk*\\x0a"), "{text}");
    }

    #[test]
    fn an_entry_of_a_fleet_keeps_clear_of_the_threshold() {
        assert_eq!(crate::policy::Policy::default().fast_ratio, THRESHOLD);
        let of = |class, ends, different, machines| {
            let candidate = Candidate {
                shown: "M".to_owned(),
                name: Some(("M".to_owned(), "1".to_owned())),
                backend: None,
                classes: BTreeSet::from([class]),
                different,
                machines: Some(machines),
                devices: different,
                kernels: BTreeSet::from(["7.3".to_owned()]),
                speedup: Some(4.0),
                ends,
            };
            record(&candidate, FLEET)
        };
        assert!(of(Class::Fast, Some((3.0, 9.0)), 16, 16)
            .unwrap()
            .starts_with("# measured under 7.3, on 16 machines\n"));
        assert!(of(Class::Slow, Some((0.1, 1.3)), 16, 16).is_ok());
        assert!(of(Class::Fast, Some((2.99, 9.0)), 16, 16)
            .unwrap_err()
            .contains("2.99, but for fast each needs at least 3.00"));
        assert!(of(Class::Slow, Some((0.1, 1.4)), 16, 16)
            .unwrap_err()
            .contains("1.40, but for slow each needs at most 1.33"));
        assert!(of(Class::Fast, None, 16, 16).is_err());
        assert!(of(Class::Fast, Some((3.0, 9.0)), 15, 16)
            .unwrap_err()
            .contains("15 devices that can be told apart were measured; at least 16"));
        assert!(of(Class::Fast, Some((3.0, 9.0)), 99, 15).unwrap_err().contains("15 machines; at least 16 are needed"));
    }

    #[test]
    fn an_entry_is_read_back() {
        let get = |name: &str| match name {
            CLASS => Some("fast".to_owned()),
            DEVICES => Some("3".to_owned()),
            _ => None,
        };
        let entry = from_properties(get).unwrap();
        assert_eq!((entry.class, entry.from.as_str()), (Class::Fast, "hwdb, 3 devices"));
        for class in ["unknown", "none", "", "FAST", "fast\n"] {
            assert!(from_properties(|n| (n == CLASS).then(|| class.to_owned())).is_none(), "{class:?}");
        }
    }
}
