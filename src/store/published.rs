//! Publishes a verdict: `/run/zerocap/<major>:<minor>.json`, readable by all, old or new, never torn. It says whether the
//! answer changed, so that devices that depend on it can be processed again (`dependents`).

use crate::device::{Devnum, Instance};
use crate::error::Result;
use crate::machine::clock;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::Roots;
use serde_json::Value;
use verdict_format::{Document, Published};

/// The fields by which others act. Where one of them changes, the answer has changed.
const ANSWER: &[&str] = &[
    "class",
    "basis",
    "method",
    "zeroes_verified",
    "zero_bytes_per_second",
    "write_bytes_per_second",
    "data_write_bytes_per_second",
    "hints",
];

/// What a write changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing: nothing was written.
    Nothing,
    /// The same answer, with other remarks.
    Remarks,
    /// Another answer than the one before.
    Answer,
    /// There was none before.
    First,
}

fn files(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run(), 0o644)
}

fn name(devnum: Devnum) -> String {
    format!("{devnum}.json")
}

/// Writes the document of a device; nothing for a device without a number.
pub fn write(roots: &Roots, devnum: Option<Devnum>, document: &Document) -> Result<Change> {
    let Some(devnum) = devnum else { return Ok(Change::Nothing) };
    let published = Published {
        at: clock::now_utc(),
        boot_id: clock::boot_id(&roots.system),
        program: concat!("zerocap ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let at = published.at.clone();
    let text = Document { published: Some(published), ..document.clone() }.json();
    let before = files(roots).read(&name(devnum))?;
    if before.as_ref().is_some_and(|before| same_but_for_the_time(before, &text, &at)) {
        return Ok(Change::Nothing);
    }
    let before = before.map(|bytes| serde_json::from_slice(&bytes).unwrap_or(Value::Null));
    let change = change(before, serde_json::from_str(&text).unwrap_or(Value::Null));
    // Most events change nothing: then nothing is written.
    if change != Change::Nothing {
        files(roots).replace(&name(devnum), format!("{text}\n").as_bytes())?;
    }
    Ok(change)
}

/// Whether a file holds this text, but for the time when it was written: most events find it so, and need not look into it.
fn same_but_for_the_time(before: &[u8], text: &str, at: &str) -> bool {
    let start = format!("\"published\":{{\"at\":\"{at}");
    let Some(end) = text.find(&start).map(|from| from + start.len()) else { return false };
    let (to, text) = (end - at.len(), text.as_bytes());
    // The times of RFC 3339 in UTC are of one length.
    before.len() == text.len() + 1
        && before.ends_with(b"\n")
        && before[..to] == text[..to]
        && before[to..end].iter().all(|b| b.is_ascii_digit() || b"-:TZ".contains(b))
        && before[end..text.len()] == text[end..]
}

/// What is different between two documents as they stand in the file, but for the time when they were written.
fn change(before: Option<Value>, mut now: Value) -> Change {
    let Some(mut before) = before else { return Change::First };
    if ANSWER.iter().any(|field| before.get(field) != now.get(field)) {
        return Change::Answer;
    }
    for document in [&mut before, &mut now] {
        if let Some(published) = document.get_mut("published").and_then(Value::as_object_mut) {
            published.remove("at");
        }
    }
    if before == now {
        Change::Nothing
    } else {
        Change::Remarks
    }
}

/// The published document of a device; `None` where there is none, or it is of another device with that number.
pub fn read(roots: &Roots, devnum: Devnum, now: &Instance) -> Option<Document> {
    let bytes = files(roots).read(&name(devnum)).ok()??;
    verdict_format::accept(&bytes, now.diskseq, now.size_bytes).ok()?
}

/// Whether something is published of a number.
pub fn is_there(roots: &Roots, devnum: Devnum) -> bool {
    files(roots).read(&name(devnum)).is_ok_and(|bytes| bytes.is_some())
}

/// Removes the document of a device that is gone, or that is not to be spoken of.
pub fn remove(roots: &Roots, devnum: Devnum) -> Result<()> {
    files(roots).remove(&name(devnum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_of_another_time_is_the_same_and_any_other_byte_is_not() {
        let (at, text) =
            ("2026-12-01T00:00:00Z", r#"{"format":1,"published":{"at":"2026-12-01T00:00:00Z","program":"z"}}"#);
        let before = |before: &str| same_but_for_the_time(format!("{before}\n").as_bytes(), text, at);
        assert!(before(text) && before(&text.replace("12-01T00", "11-30T23")));
        for other in [
            text.replace("00Z", "0\"Z"),
            text.replace("\"z\"", "\"y\""),
            text.replace("mat\":1", "mat\":2"),
            format!("{text} "),
            String::new(),
        ] {
            assert!(!before(&other), "{other}");
        }
        assert!(!same_but_for_the_time(text.as_bytes(), text, at), "without the end of its line");
        assert!(!same_but_for_the_time(b"{}\n", "{}", at));
    }

    #[test]
    fn a_new_time_or_remark_is_not_a_changed_answer() {
        let one = json!({"class": "fast", "hints": {"chunk_bytes": 1}, "findings": [], "published": {"at": "a", "program": "z"}});
        let with = |pointer: &str, value: Value| {
            let mut other = one.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            other
        };
        assert_eq!(change(None, one.clone()), Change::First);
        assert_eq!(change(Some(one.clone()), with("/published/at", json!("b"))), Change::Nothing);
        assert_eq!(change(Some(one.clone()), with("/published/program", json!("y"))), Change::Remarks);
        assert_eq!(change(Some(one.clone()), with("/findings", json!([1]))), Change::Remarks);
        assert_eq!(change(Some(one.clone()), with("/class", json!("broken"))), Change::Answer);
        assert_eq!(change(Some(one.clone()), with("/hints/chunk_bytes", json!(2))), Change::Answer);
        // A file of nobody's making is replaced, and what rests on it looked at.
        assert_eq!(change(Some(Value::Null), one), Change::Answer);
    }
}
