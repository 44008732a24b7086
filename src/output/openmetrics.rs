//! `show --openmetrics`: OpenMetrics text for node_exporter's textfile collector.
//!
//! Every family is a gauge, also the infos and states: the collector reads the older Prometheus format, which has neither
//! `info` nor `stateset`, and both formats read gauges. A value that is not known has no sample.

use crate::terms::{Class, Severity};
use crate::units::utc_seconds;
use std::io::{self, Write};
use verdict_format::{Document, Speedup, Tunable};

/// A family: its name, its unit where it has one (the name ends in it), its help, and the samples of a document.
struct Family {
    name: &'static str,
    unit: Option<&'static str>,
    help: &'static str,
    samples: fn(&Document) -> Vec<Sample>,
}

/// Labels besides `device`, and the value.
type Sample = (Vec<(&'static str, String)>, f64);

fn one(value: Option<f64>) -> Vec<Sample> {
    value.map(|v| (Vec::new(), v)).into_iter().collect()
}

fn rate(value: Option<u64>) -> Vec<Sample> {
    one(value.map(|v| v as f64))
}

fn ratio(d: &Document, of: fn(&Speedup) -> Option<f64>) -> Vec<Sample> {
    one(d.speedup.as_ref().and_then(of))
}

const RATE: Option<&str> = Some("bytes_per_second");
const RATIO: Option<&str> = Some("ratio");

const FAMILIES: &[Family] = &[
    Family {
        name: "zerocap_device_info",
        unit: None,
        help: "A device; basis and method are empty if it has none.",
        samples: |d| {
            let text = |value: &Option<String>| value.clone().unwrap_or_default();
            let labels = vec![
                ("kind", d.device.kind.clone()),
                ("transport", text(&d.device.transport)),
                ("model", text(&d.device.model)),
                ("firmware", text(&d.device.firmware)),
                ("identity", text(&d.device.identity)),
                ("basis", d.basis.map(|b| b.to_string()).unwrap_or_default()),
                ("method", d.method.map(|m| m.to_string()).unwrap_or_default()),
            ];
            vec![(labels, 1.0)]
        },
    },
    Family {
        name: "zerocap_class",
        unit: None,
        help: "1 for the class of the device, 0 for the others.",
        samples: |d| states(d.class, Class::ALL),
    },
    Family {
        name: "zerocap_expected",
        unit: None,
        help: "1 for the class that the claims alone suggest, 0 for the others.",
        samples: |d| states(d.expected, &[Class::Fast, Class::Slow, Class::None, Class::Unknown]),
    },
    Family {
        name: "zerocap_zeroes_verified",
        unit: None,
        help: "1 if every byte that the test zeroed was read back as zero, else 0.",
        samples: |d| one(d.zeroes_verified.map(|v| f64::from(u8::from(v)))),
    },
    Family {
        name: "zerocap_zero_bytes_per_second",
        unit: RATE,
        help: "Measured rate of zeroing.",
        samples: |d| rate(d.zero_bytes_per_second),
    },
    Family {
        name: "zerocap_write_bytes_per_second",
        unit: RATE,
        help: "Measured rate of writing.",
        samples: |d| rate(d.write_bytes_per_second),
    },
    Family {
        name: "zerocap_overwrite_after_zero_bytes_per_second",
        unit: RATE,
        help: "Measured rate of writing data over a range that was just zeroed.",
        samples: |d| rate(d.overwrite_after_zero_bytes_per_second),
    },
    Family {
        name: "zerocap_speedup_ratio",
        unit: RATIO,
        help: "Time of writing divided by time of zeroing, median of the pairs.",
        samples: |d| ratio(d, |s| Some(s.median)),
    },
    Family {
        name: "zerocap_speedup_low_ratio",
        unit: RATIO,
        help: "Lower end of the interval of the speedup.",
        samples: |d| ratio(d, |s| s.low),
    },
    Family {
        name: "zerocap_speedup_high_ratio",
        unit: RATIO,
        help: "Upper end of the interval of the speedup.",
        samples: |d| ratio(d, |s| s.high),
    },
    Family {
        name: "zerocap_findings",
        unit: None,
        help: "The number of findings of a severity.",
        samples: |d| {
            let count = |s: Severity| d.findings.iter().filter(|f| f.severity == s).count() as f64;
            Severity::ALL.iter().map(|s| (vec![("severity", s.to_string())], count(*s))).collect()
        },
    },
    Family {
        name: "zerocap_finding",
        unit: None,
        help: "1 for each finding of the device.",
        samples: |d| {
            let mut codes = d.codes();
            codes.sort_unstable();
            codes.dedup();
            codes.into_iter().map(|code| (vec![("code", code.to_owned())], 1.0)).collect()
        },
    },
    Family {
        name: "zerocap_tunable_as_wanted",
        unit: None,
        help: "1 if the tunable has the wanted value, else 0.",
        samples: |d| {
            let is = |t: &Tunable| t.now.as_ref().map(|now| f64::from(u8::from(*now == t.wanted)));
            d.tunables.iter().filter_map(|t| Some((vec![("tunable", t.name.clone())], is(t)?))).collect()
        },
    },
    Family {
        name: "zerocap_measured_timestamp_seconds",
        unit: Some("seconds"),
        help: "Time at which the test began, since 1970.",
        samples: |d| one(d.measured.as_ref().and_then(|m| utc_seconds(&m.at)).map(|t| t as f64)),
    },
];

fn states(is: Class, all: &[Class]) -> Vec<Sample> {
    all.iter().map(|c| (vec![("class", c.to_string())], f64::from(u8::from(*c == is)))).collect()
}

/// The value of a label, escaped as both formats want it.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Writes all families of all documents, and the end mark.
pub fn write(out: &mut impl Write, documents: &[Document]) -> io::Result<()> {
    for family in FAMILIES {
        let samples: Vec<(&str, Sample)> = documents
            .iter()
            .flat_map(|d| (family.samples)(d).into_iter().map(|s| (d.device.name.as_str(), s)))
            .collect();
        if samples.is_empty() {
            continue;
        }
        writeln!(out, "# HELP {} {}", family.name, family.help)?;
        writeln!(out, "# TYPE {} gauge", family.name)?;
        if let Some(unit) = family.unit {
            writeln!(out, "# UNIT {} {unit}", family.name)?;
        }
        for (device, (labels, value)) in samples {
            write!(out, "{}{{device=\"{}\"", family.name, label(device))?;
            labels.iter().try_for_each(|(name, value)| write!(out, ",{name}=\"{}\"", label(value)))?;
            writeln!(out, "}} {value}")?;
        }
    }
    writeln!(out, "# EOF")
}
