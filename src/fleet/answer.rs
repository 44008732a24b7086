//! Parses one line of a fleet, without copying what a summary does not need, or says why the line is not valid. It decides
//! what a damaged line is, and keeps nothing.

use crate::device::display::escape_str;
use crate::terms::FindingCode;
use crate::terms::{Basis, Class};
use crate::units::utc_seconds;
use serde::Deserialize;
use std::borrow::Cow;
use verdict_format::{Kind, FORMAT};

/// A text that is borrowed from the line where it holds no escape.
#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Debug, Deserialize)]
struct Line<'a> {
    format: u64,
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    machine: Option<Text<'a>>,
    #[serde(borrow, default)]
    collected: Option<Text<'a>>,
    #[serde(borrow, default)]
    hwdb: Option<Name<'a>>,
    #[serde(borrow, default)]
    backend: Option<Text<'a>>,
    #[serde(borrow)]
    device: Device<'a>,
    #[serde(borrow)]
    class: Text<'a>,
    #[serde(borrow, default)]
    basis: Option<Text<'a>>,
    #[serde(default)]
    zero_bytes_per_second: Option<u64>,
    #[serde(default)]
    write_bytes_per_second: Option<u64>,
    #[serde(default)]
    speedup: Option<Speedup>,
    #[serde(borrow, default)]
    findings: Vec<Finding<'a>>,
    #[serde(borrow, default)]
    measured: Option<Measured<'a>>,
}

#[derive(Debug, Deserialize)]
struct Name<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    revision: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Device<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    transport: Option<Text<'a>>,
    #[serde(borrow, default)]
    command_path: Option<Text<'a>>,
    #[serde(borrow, default)]
    identity: Option<Text<'a>>,
    #[serde(borrow, default)]
    vendor: Option<Text<'a>>,
    #[serde(borrow, default)]
    model: Option<Text<'a>>,
    #[serde(borrow, default)]
    firmware: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct Speedup {
    median: f64,
}

#[derive(Debug, Deserialize)]
struct Finding<'a> {
    #[serde(borrow)]
    code: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Measured<'a> {
    #[serde(borrow)]
    at: Text<'a>,
    #[serde(borrow)]
    kernel: Text<'a>,
}

/// What one document says of one device of one machine.
#[derive(Debug)]
pub struct Answer<'a> {
    line: Line<'a>,
    /// When it was collected, seconds since 1970.
    pub collected: u64,
    /// The class; a word that is not known is `unknown`.
    pub class: Class,
    /// Whether the class rests on a test of this very device.
    pub measured: bool,
    /// When that was, seconds since 1970.
    pub measured_at: Option<u64>,
    /// Write time over zero time in thousandths, cut.
    pub ratio: Option<u64>,
    /// What the device was tested beside may have decided: the findings say so.
    pub disturbed: bool,
    /// What the measurement stood on has changed since.
    pub stale: bool,
}

/// What says that the surroundings had a part in a measurement.
const DISTURBED: [FindingCode; 3] = [FindingCode::OtherIo, FindingCode::NotStationary, FindingCode::StallDominated];

fn text<'a>(text: &'a Option<Text<'_>>) -> Option<&'a str> {
    text.as_ref().map(|t| &*t.0)
}

/// A time as zerocap writes it, `2026-11-30T08:00:00Z`, and no other form.
fn time(text: &str) -> Option<u64> {
    utc_seconds(text).filter(|_| text.len() == 20 && text.ends_with('Z'))
}

impl<'a> Answer<'a> {
    /// Reads a line; why it cannot be used, in words, where it cannot.
    pub fn read(line: &'a [u8]) -> Result<Answer<'a>, String> {
        let line: Line = serde_json::from_slice(line).map_err(|e| why_not(line, &e))?;
        if line.format != u64::from(FORMAT) {
            return Err(other_format(line.format));
        }
        if &*line.kind.0 != Kind::Verdict.as_str() {
            return Err(format!("its type is {}, so it is not a document", escape_str(&line.kind.0)));
        }
        let Some(collected) = &line.collected else {
            return Err(
                "it has no time of collection (collected); `zerocap show --jsonl --fleet` makes lines for a fleet"
                    .to_owned(),
            );
        };
        let Some(collected) = time(&collected.0) else {
            return Err(format!(
                "collected is {}, which is not a time like 2026-11-30T08:00:00Z",
                escape_str(&collected.0)
            ));
        };
        let has = |codes: &[FindingCode]| {
            line.findings.iter().any(|f| f.code.0.parse::<FindingCode>().is_ok_and(|code| codes.contains(&code)))
        };
        let class = line.class.0.parse().unwrap_or(Class::Unknown);
        let measured = text(&line.basis) == Some(Basis::Measured.as_str());
        let ratio = line.speedup.as_ref().map(|s| (s.median * 1000.0).floor()).filter(|r| (0.0..1e15).contains(r));
        Ok(Answer {
            collected,
            class,
            measured,
            measured_at: line.measured.as_ref().and_then(|m| time(&m.at.0)),
            ratio: ratio.map(|r| r as u64),
            disturbed: has(&DISTURBED),
            stale: has(&[FindingCode::MeasurementStale]),
            line,
        })
    }

    /// The machine, where it has a number.
    pub fn machine(&self) -> Option<&str> {
        text(&self.line.machine)
    }

    /// What tells the device from others everywhere.
    pub fn identity(&self) -> Option<&str> {
        text(&self.line.device.identity)
    }

    /// The kernel's name, which tells a device from the others of its machine where nothing better does.
    pub fn name(&self) -> &str {
        &self.line.device.name.0
    }

    /// What drives it.
    pub fn kind(&self) -> &str {
        &self.line.device.kind.0
    }

    /// Vendor, model, firmware and command path.
    pub fn model(&self) -> [Option<&str>; 4] {
        let d = &self.line.device;
        [text(&d.vendor), text(&d.model), text(&d.firmware), text(&d.command_path)]
    }

    /// How it is attached.
    pub fn transport(&self) -> Option<&str> {
        text(&self.line.device.transport)
    }

    /// The kernel that it was measured under by its first two numbers, which is as fine as behaviour changes.
    pub fn kernel(&self) -> Option<&str> {
        let release = &*self.line.measured.as_ref()?.kernel.0;
        let major = release.bytes().take_while(u8::is_ascii_digit).count();
        let rest = release.get(major..)?.strip_prefix('.')?;
        let minor = rest.bytes().take_while(u8::is_ascii_digit).count();
        (major > 0 && minor > 0).then(|| &release[..major + 1 + minor])
    }

    /// What udev looks its model up by: model and revision.
    pub fn hwdb(&self) -> Option<(&str, &str)> {
        self.line.hwdb.as_ref().map(|name| (&*name.model.0, &*name.revision.0))
    }

    /// What stands behind it, where that may be exchanged.
    pub fn backend(&self) -> Option<&str> {
        text(&self.line.backend)
    }

    /// Zeroing, bytes per second.
    pub fn zero(&self) -> Option<u64> {
        self.line.zero_bytes_per_second
    }

    /// Writing, bytes per second.
    pub fn write(&self) -> Option<u64> {
        self.line.write_bytes_per_second
    }
}

fn other_format(format: u64) -> String {
    format!("it has format {format}, but this program reads format {FORMAT}")
}

/// A document of another format need not have the fields of this one: then the format is what is wrong with it.
fn why_not(line: &[u8], e: &serde_json::Error) -> String {
    #[derive(Deserialize)]
    struct Only {
        format: u64,
    }
    match serde_json::from_slice::<Only>(line) {
        Ok(Only { format }) if format != u64::from(FORMAT) => other_format(format),
        _ if line.is_empty() => "an empty line".to_owned(),
        _ => escape_str(&e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"format":1,"type":"verdict","machine":"m1","collected":"2026-11-30T08:00:00Z","device":{"name":"sda",
        "kind":"scsi","identity":"naa.5","model":"X\u0041","firmware":"1"},"class":"fast","basis":"measured","speedup":{"median":2.9412},
        "findings":[{"code":"other-io"}],"measured":{"at":"2026-11-01T00:00:00Z","kernel":"6.17.0-1-amd64"}}"#;

    #[test]
    fn a_line_is_read_as_far_as_it_is_needed() {
        let a = Answer::read(GOOD.as_bytes()).unwrap();
        assert_eq!((a.class, a.measured, a.ratio), (Class::Fast, true, Some(2941)));
        assert_eq!((a.collected, a.measured_at), (1_796_025_600, Some(1_793_491_200)));
        assert_eq!((a.machine(), a.identity(), a.kernel()), (Some("m1"), Some("naa.5"), Some("6.17")));
        assert_eq!(a.model(), [None, Some("XA"), Some("1"), None]);
        assert!(a.disturbed && !a.stale);
        for (release, is) in [("6.17.0", Some("6.17")), ("7.3", Some("7.3")), ("x", None), ("6", None), ("6.x", None)] {
            let line = GOOD.replace("6.17.0-1-amd64", release);
            assert_eq!(Answer::read(line.as_bytes()).unwrap().kernel(), is, "{release}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let wrong = |from: &str, to: &str| Answer::read(GOOD.replace(from, to).as_bytes()).err();
        assert_eq!(wrong("\"format\":1", "\"format\":2").unwrap(), "it has format 2, but this program reads format 1");
        assert_eq!(wrong("verdict", "path").unwrap(), "its type is path, so it is not a document");
        assert!(wrong("\"collected\"", "\"made\"").unwrap().contains("zerocap show --jsonl --fleet"));
        for time in ["2026-11-30", "2026-13-30T08:00:00Z", "2026-11-30T08:00:00+00:00", "now\\u001b[2J"] {
            let said = wrong("2026-11-30T08:00:00Z", time).unwrap();
            assert!(said.contains("is not a time") && !said.contains('\u{1b}'), "{said}");
        }
        assert!(wrong("\"fast\"", "7").unwrap().contains("invalid type"));
        assert!(wrong("\"name\":\"sda\"", "\"nom\":\"sda\"").unwrap().contains("missing field `name`"));
        for bytes in [&b""[..], b"{", b"null", b"[]", b"\xff\xfe", b"{\"format\":1}", b"zerocap: no such device"] {
            assert!(Answer::read(bytes).is_err());
        }
        assert_eq!(
            Answer::read(b"{\"format\":9,\"news\":1}").err().unwrap(),
            "it has format 9, but this program reads format 1"
        );
        assert!(
            wrong("2.9412", "-1").is_none() && wrong("2.9412", "1e300").is_none(),
            "a ratio that is none counts for none"
        );
    }
}
