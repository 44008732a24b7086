//! How text from a device or a file name is shown: it never contains a raw control byte or a newline.
//!
//! This file decides the escaping only; the quoting for udev and JSON is with those outputs.

use unicode_properties::{GeneralCategory as Category, UnicodeGeneralCategory};

/// Whether a terminal or a reader could be made to show something else by this character: control characters, marks that
/// change direction or are not seen, private ones, surrogates, line and paragraph separators. Whole categories of Unicode
/// (Cc, Cf, Co, Cs, Zl, Zp), since a list of the known ones is never whole.
pub fn is_deceptive(c: char) -> bool {
    !matches!(c, ' '..='~')
        && matches!(
            c.general_category(),
            Category::Control
                | Category::Format
                | Category::PrivateUse
                | Category::Surrogate
                | Category::LineSeparator
                | Category::ParagraphSeparator
        )
}

/// Bytes from a device as printable text: valid UTF-8 without [deceptive](is_deceptive) characters stays, every other byte
/// becomes `\xNN`, and a backslash is doubled so that the escape cannot be forged.
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                c if is_deceptive(c) => {
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

    #[test]
    fn whole_categories_are_escaped() {
        // A mark of Arabic, a soft hyphen and a tag were let through by a list of code points.
        for c in
            ['\u{61c}', '\u{ad}', '\u{e0041}', '\u{9b}', '\u{180e}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{e000}']
        {
            let text = format!("a{c}b");
            assert!(is_deceptive(c) && !escape_str(&text).contains(c), "U+{:04X}", u32::from(c));
            assert!(escape_str(&text).starts_with("a\\x"), "U+{:04X}", u32::from(c));
            assert_eq!(printable(text.clone()), escape_str(&text));
        }
        for c in ['é', 'я', '中', 'ا', '🙂', '\u{a0}', '\u{301}', '~', ' '] {
            assert!(!is_deceptive(c), "U+{:04X}", u32::from(c));
            assert_eq!(escape_str(&c.to_string()), c.to_string());
        }
        // As many as Unicode has at least: 65 control characters, 6400 and two planes of private ones.
        let all = (0..=0x10_ffffu32).filter_map(char::from_u32).filter(|c| is_deceptive(*c)).count();
        assert!(all > 65 + 6400 + 2 * 65_000 + 160, "{all}");
    }
}
