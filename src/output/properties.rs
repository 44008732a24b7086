//! udev properties: `KEY=value` lines for `IMPORT{program}`. The key properties come first, and all together are under 4 KiB.
//!
//! They contain no text of the device, only words, numbers and finding codes, so firmware cannot inject a line.

use verdict_format::Document;

/// The most that is printed, in bytes; udev cuts at 16 KiB, silently.
const LIMIT: usize = 4096;

/// The upper-case name of a tunable in a property.
fn key(name: &str) -> String {
    name.to_ascii_uppercase()
}

/// The lines of one document. `set`: names and values of the tunables that are to be written at this event.
pub fn lines(d: &Document, set: &[(String, String)]) -> String {
    let mut out = format!("ZEROCAP_CLASS={}\nZEROCAP_EXPECTED={}\n", d.class, d.expected);
    let mut push = |key: String, value: String| {
        // An empty value makes udev reject the line.
        if !value.is_empty() && out.len() + key.len() + value.len() + 2 <= LIMIT {
            out.push_str(&format!("{key}={value}\n"));
        }
    };
    for (name, value) in set {
        push(format!("ZEROCAP_SET_{}", key(name)), value.clone());
    }
    for t in &d.tunables {
        push(format!("ZEROCAP_WANT_{}", key(&t.name)), t.wanted.clone());
    }
    push("ZEROCAP_BASIS".to_owned(), d.basis.map(|b| b.to_string()).unwrap_or_default());
    push("ZEROCAP_METHOD".to_owned(), d.method.map(|m| m.to_string()).unwrap_or_default());
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    push("ZEROCAP_VERIFIED".to_owned(), d.zeroes_verified.map(|v| u8::from(v).to_string()).unwrap_or_default());
    push("ZEROCAP_ZERO_BPS".to_owned(), number(d.zero_bytes_per_second));
    push("ZEROCAP_WRITE_BPS".to_owned(), number(d.write_bytes_per_second));
    push("ZEROCAP_DATA_WRITE_BPS".to_owned(), number(d.data_write_bytes_per_second));
    push("ZEROCAP_ALIGN".to_owned(), number(d.hints.alignment_bytes));
    push("ZEROCAP_CHUNK".to_owned(), number(d.hints.chunk_bytes));
    push("ZEROCAP_BREAK_EVEN".to_owned(), number(d.hints.break_even_bytes));
    push("ZEROCAP_DISKSEQ".to_owned(), number(d.device.diskseq));
    push("ZEROCAP_FINDINGS".to_owned(), d.codes().join(","));
    out
}
