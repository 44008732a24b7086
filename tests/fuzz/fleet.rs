//! The body of the fuzz target `fleet`.

use super::printable;
use zerocap::jobs::fleet::{entries, Least, Lines};

/// Lines of many machines, packed or not: what is counted adds up, and nothing of them reaches a terminal or hwdb raw.
pub fn fleet(data: &[u8]) {
    let mut lines = Lines::default();
    let Ok(unpacked) = zerocap::machine::fs::packed::unpacked(Box::new(std::io::Cursor::new(data.to_vec()))) else {
        return;
    };
    let _ = lines.read("x", unpacked).expect("few answers need no disk");
    let (summary, tested) = lines.finish().expect("few answers need no disk");
    assert!(summary.bad <= summary.lines && summary.answers <= summary.lines - summary.bad);
    assert_eq!(summary.models.iter().map(|m| m.answers).sum::<u64>(), summary.answers);
    for m in &summary.models {
        let c = m.classes;
        assert_eq!(c.fast + c.slow + c.none + c.unknown + c.broken, m.answers);
        assert!(m.devices <= m.answers && m.machines <= m.answers && m.measured.answers <= m.answers);
    }
    let again = verdict_format::answers::json(&summary);
    assert_eq!(serde_json::from_str::<verdict_format::fleet::Summary>(&again).ok().as_ref(), Some(&summary));
    let mut text = Vec::new();
    zerocap::output::fleet::write(&mut text, &summary, Some(80)).expect("a Vec takes all");
    String::from_utf8(text).expect("UTF-8").lines().for_each(printable);
    let records = entries(&tested, Least { devices: 1, machines: 0, margin: 1.0 });
    records.lines().for_each(printable);
    for line in records.lines().filter(|l| l.starts_with("zerocap:model:")) {
        assert!(!line.contains(['*', '?', '[', '"', '\\']), "{line:?} is a pattern");
    }
}
