//! Parses the bytes of a sysfs attribute or a sysctl. It reads nothing.

use crate::fact::Fact;

/// The text: UTF-8, trailing NULs and white space trimmed, nothing else changed.
pub fn text(bytes: Fact<Vec<u8>>) -> Fact<String> {
    bytes.and_then(|bytes| {
        let end = bytes.iter().rposition(|b| !matches!(b, 0 | b'\n' | b' ' | b'\t' | b'\r')).map_or(0, |i| i + 1);
        match std::str::from_utf8(&bytes[..end]) {
            Ok(text) => Fact::Known(text.to_owned()),
            Err(_) => Fact::malformed("it is not UTF-8"),
        }
    })
}

/// An unsigned decimal number.
pub fn number(bytes: Fact<Vec<u8>>) -> Fact<u64> {
    text(bytes).and_then(|text| match text.parse() {
        Ok(n) if text.bytes().all(|b| b.is_ascii_digit()) => Fact::Known(n),
        _ => Fact::malformed("it is not an unsigned number"),
    })
}

/// 0 or 1.
pub fn flag(bytes: Fact<Vec<u8>>) -> Fact<bool> {
    number(bytes).and_then(|n| match n {
        0 => Fact::Known(false),
        1 => Fact::Known(true),
        _ => Fact::malformed("it is neither 0 nor 1"),
    })
}
