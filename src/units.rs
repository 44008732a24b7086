//! Sizes, times and rates with their units, how a person reads them, and times as text. It uses nothing of the crate.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One kibibyte, mebibyte, gibibyte in bytes.
pub const KIB: u64 = 1 << 10;
/// See [`KIB`].
pub const MIB: u64 = 1 << 20;
/// See [`KIB`].
pub const GIB: u64 = 1 << 30;
/// The kernel's own unit of sizes and offsets in sysfs, whatever the device's block size.
pub const SECTOR: u64 = 512;

/// A point on, or a span of, a monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The span of so many seconds.
    pub const fn from_secs(s: u64) -> Self {
        Nanos(s.saturating_mul(1_000_000_000))
    }
    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The span from `earlier` to this point; 0 if the clock went back.
    pub const fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A rate in bytes per second from a total and a span; `None` for a span of 0.
pub fn rate(bytes: u64, t: Nanos) -> Option<u64> {
    if t.0 == 0 {
        return None;
    }
    Some((bytes as f64 / t.as_secs_f64()) as u64)
}

/// Bytes as a person reads them: IEC units, one decimal below ten (`5.8 GiB`, `512 KiB`, `0 B`).
pub fn human_bytes(n: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    // 9.96 would round to "10.0": from there on no decimal is shown.
    if unit > 0 && value < 9.95 && value.fract() != 0.0 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.0} {}", UNITS[unit])
    }
}

/// A rate as a person reads it: `5.8 GiB/s`.
pub fn human_rate(n: u64) -> String {
    format!("{}/s", human_bytes(n))
}

/// What [`parse_size`] reads, for messages.
pub const SIZE_FORMS: &str =
    "a number of bytes, or a number with K, M, G, T, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers \
     of 1000), such as 100G, 1.5TiB or 100GB";

/// Reads a size as people type it, in any case of letters: a number, a fraction of a unit too, and a unit. As with dd(1) and
/// truncate(1), `100G` and `100GiB` are powers of 1024 and `100GB` is one of 1000. What is less than a byte is left out.
/// `None` for anything else or an overflow.
pub fn parse_size(s: &str) -> Option<u64> {
    let end = s.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, suffix) = s.split_at(end);
    let (whole, fraction) = number.split_once('.').map_or((number, None), |(whole, f)| (whole, Some(f)));
    // A space as in what is printed: `52 MiB`.
    let suffix = suffix.strip_prefix(' ').filter(|rest| !rest.is_empty()).unwrap_or(suffix).to_ascii_lowercase();
    let (unit, base) = match suffix.strip_suffix("ib") {
        Some(unit) => (unit, 1024),
        None => suffix.strip_suffix('b').map_or((suffix.as_str(), 1024), |unit| (unit, 1000)),
    };
    let power = match unit {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    // There is no half of a byte, and no `iB` without a letter.
    if power == 0 && (fraction.is_some() || suffix == "ib") {
        return None;
    }
    let scale = u64::pow(base, power);
    let part = match fraction {
        None => 0,
        Some(digits) => {
            // Twelve decimals tell each byte of a tebibyte.
            let tens = 10u128.checked_pow(u32::try_from(digits.len()).ok().filter(|n| (1..=12).contains(n))?)?;
            u64::try_from(digits.parse::<u128>().ok()? * u128::from(scale) / tens).ok()?
        }
    };
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)
}

/// What is known of an interval, in words: `2.50 to 6.00`, `at least 2.50`, `at most 6.00`; `None` where neither end is known.
pub fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    match (low, high) {
        (Some(low), Some(high)) => Some(format!("{low:.2} to {high:.2}")),
        (Some(low), None) => Some(format!("at least {low:.2}")),
        (None, Some(high)) => Some(format!("at most {high:.2}")),
        (None, None) => None,
    }
}

/// A text whose numbers are padded, so that `nvme2n1` sorts before `nvme10n1`.
pub fn natural(text: &str) -> String {
    let (mut out, mut digits) = (String::new(), String::new());
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            out.push_str(&format!("{digits:0>20}"));
            digits.clear();
        }
        out.push(c);
    }
    out
}

/// Seconds since 1970 as RFC 3339 in UTC with seconds: `2026-11-30T08:00:00Z`.
pub fn utc(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|s| Timestamp::from_second(s).ok());
    // Past the year 9999: the last that has a text.
    time.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Seconds since 1970 of an RFC 3339 time; `None` for anything else, or a time before that.
pub fn utc_seconds(text: &str) -> Option<u64> {
    u64::try_from(text.parse::<Timestamp>().ok()?.as_second()).ok()
}

/// Seconds of a duration: a number and `s`, `m`, `h`, `d` or `w`.
pub fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_shown() {
        for (text, bytes) in [
            ("64MiB", 64 * MIB),
            ("4096", 4096),
            ("4096B", 4096),
            ("100G", 100 * GIB),
            ("100g", 100 * GIB),
            ("100GB", 100_000_000_000),
            ("512k", 512 * KIB),
            ("512kB", 512_000),
            ("1.5TiB", 3 << 39),
            ("0.5gib", GIB / 2),
            ("1.50G", 3 * GIB / 2),
            ("52 MiB", 52 * MIB),
            ("1.1k", 1126),
            ("2.5 GB", 2_500_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        let bad = [
            "", "MiB", "-1", "+1", "1  MiB", "1 ", "1.5", "1.5B", "1iB", "1.G", ".5G", "1..5G", "1.5.5G", "1e9", "1PB",
        ];
        for bad in
            bad.into_iter().chain(["99999999999999999999", "17000000TiB", "0x10", "1MiBs", "1,5G", "1.0000000000001T"])
        {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
        assert_eq!(interval(Some(2.5), Some(6.0)).as_deref(), Some("2.50 to 6.00"));
        assert_eq!(interval(Some(2.5), None).as_deref(), Some("at least 2.50"));
        assert_eq!(interval(None, Some(6.0)).as_deref(), Some("at most 6.00"));
        assert_eq!(interval(None, None), None);
        assert_eq!(human_bytes(0), "0 B");
        assert_eq!(human_bytes(512 * KIB), "512 KiB");
        assert_eq!(human_bytes(6_263_000_000), "5.8 GiB");
        assert_eq!(human_bytes(u64::MAX), "16 EiB");
        assert_eq!(human_rate(MIB), "1 MiB/s");
    }

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["nvme10n1", "nvme2n10", "nvme2n1", "sda", "nvme2"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["nvme2", "nvme2n1", "nvme2n10", "nvme10n1", "sda"]);
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, at) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:34:56Z", 951_827_696),
            ("2026-11-30T08:00:00Z", 1_796_025_600),
            ("2099-12-31T23:59:59Z", 4_102_444_799),
        ] {
            assert_eq!((utc_seconds(text), utc(at).as_str()), (Some(at), text));
        }
        let bad = ["", "2026-11-30", "2026-13-30T08:00:00Z", "2026-11-30T08:00:00", "x026-11-30T08:00:00Z"];
        for bad in bad.into_iter().chain(["2026-1-30T08:00:00Z", "2026-02-30T08:00:00Z", "1969-12-31T23:59:59Z"]) {
            assert_eq!(utc_seconds(bad), None, "{bad}");
        }
        assert!(utc(u64::MAX).starts_with("9999-"));
    }

    #[test]
    fn rates_are_shown_in_iec_units() {
        assert_eq!(rate(MIB, Nanos(0)), None);
        assert_eq!(rate(MIB, Nanos::from_secs(2)), Some(MIB / 2));
        assert_eq!(Nanos(3).since(Nanos(5)), Nanos(0));
    }

    #[test]
    fn durations_are_parsed() {
        assert_eq!(parse_duration("90s"), Some(90));
        assert_eq!(parse_duration("30d"), Some(2_592_000));
        assert_eq!(parse_duration("2w"), Some(1_209_600));
        for bad in ["", "90", "d", "1y", "1.5d", "-1d", "1 d", "99999999999999999999w"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
