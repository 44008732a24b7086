//! Times as a document has them, as numbers. Pure.

/// Seconds since 1970 of an RFC 3339 time in UTC with seconds (`2026-11-30T08:00:00Z`).
pub fn seconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, by: char, lengths: [usize; 3]| -> Option<[u64; 3]> {
        let parts: Vec<&str> = text.split(by).collect();
        let [a, b, c] = parts.as_slice() else { return None };
        let one = |p: &str, length: usize| {
            (p.len() == length && p.bytes().all(|b| b.is_ascii_digit())).then(|| p.parse().ok()).flatten()
        };
        Some([one(a, lengths[0])?, one(b, lengths[1])?, one(c, lengths[2])?])
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60
    {
        return None;
    }
    // Days from the civil calendar (Howard Hinnant): the year begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let (era, year_of_era) = (year / 400, year % 400);
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, at) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:34:56Z", 951_827_696),
            ("2026-11-30T08:00:00Z", 1_796_025_600),
            ("2099-12-31T23:59:59Z", 4_102_444_799),
        ] {
            assert_eq!(seconds(text), Some(at));
        }
        for bad in [
            "",
            "2026-11-30",
            "2026-13-30T08:00:00Z",
            "2026-11-30T08:00:00",
            "x026-11-30T08:00:00Z",
            "2026-1-30T08:00:00Z",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
