//! How text that came from a device or a file name is shown: never a raw control byte, never a newline.
//!
//! Decides escaping only; quoting for udev and JSON stands with those outputs.

/// Bytes from a device as printable text: valid UTF-8 without control characters stays, every other byte becomes `\xNN`,
/// and a backslash is doubled so that the escape cannot be forged.
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                // Bidirectional overrides and zero-width characters can make a terminal show another text.
                c if c.is_control()
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}') =>
                {
                    let mut buf = [0; 4];
                    for b in c.encode_utf8(&mut buf).bytes() {
                        push_hex(&mut out, b);
                    }
                }
                c => out.push(c),
            }
        }
        for &b in chunk.invalid() {
            push_hex(&mut out, b);
        }
    }
    out
}

/// Text of unknown origin for a message.
pub fn escape_str(s: &str) -> String {
    escape(s.as_bytes())
}

/// Text that this program wrote itself and reads again, of which somebody may have made something else: as it is where it
/// holds nothing but printable characters, else escaped.
pub fn printable(s: String) -> String {
    let escaped = escape_str(&s);
    // A backslash alone is printable: the escape doubles it, and nothing else changed.
    if escaped.replace("\\\\", "\\") == s {
        s
    } else {
        escaped
    }
}

/// `\xNN` for one byte.
pub fn push_hex(out: &mut String, b: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push_str("\\x");
    out.push(char::from(HEX[usize::from(b >> 4)]));
    out.push(char::from(HEX[usize::from(b & 15)]));
}

/// Lower-case hex digits of bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_raw_gets_through() {
        assert_eq!(escape(b"Samsung SSD"), "Samsung SSD");
        assert_eq!(escape(b"a\nb\x1b[0m\xff\\x"), "a\\x0ab\\x1b[0m\\xff\\\\x");
        assert_eq!(escape("naïve\u{202e}x".as_bytes()), "naïve\\xe2\\x80\\xaex");
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }
}
