//! The models of a fleet by a plain program, which holds every line as a tree and sorts whole lists: what the counts should be.

use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The newest document of each device on each machine.
fn newest(lines: &[u8]) -> Vec<Value> {
    let mut newest: BTreeMap<(Option<String>, String), Value> = BTreeMap::new();
    for line in lines.split(|b| *b == b'\n') {
        let Ok(v) = serde_json::from_slice::<Value>(line) else { continue };
        let collected = v["collected"].as_str().is_some_and(|c| zerocap::units::utc_seconds(c).is_some());
        if v["format"] != 1 || v["type"] != "verdict" || !collected || !v["class"].is_string() {
            continue;
        }
        let device = match v["device"]["identity"].as_str() {
            Some(identity) => format!("identity {identity}"),
            None => format!("name {}", v["device"]["name"]),
        };
        let key = (v["machine"].as_str().map(str::to_owned), device);
        // Text of this form sorts as time does; null, which sorts before text, is no measurement.
        let age = |v: &Value| {
            let text = |v: &Value| v.as_str().map(str::to_owned);
            let worse = std::cmp::Reverse((text(&v["class"]), v["zero_bytes_per_second"].as_u64()));
            (text(&v["collected"]), text(&v["measured"]["at"]), worse)
        };
        match newest.get(&key) {
            Some(there) if age(there) > age(&v) => {}
            _ => drop(newest.insert(key, v)),
        }
    }
    newest.into_values().collect()
}

/// The first three digits, then zeroes.
fn cut(n: u64) -> u64 {
    let text = n.to_string();
    text.chars().enumerate().map(|(i, c)| if i < 3 { c } else { '0' }).collect::<String>().parse().unwrap()
}

fn quantiles(mut numbers: Vec<u64>, scale: impl Fn(u64) -> Value) -> Value {
    numbers.sort_unstable();
    let n = numbers.len();
    if n == 0 {
        return Value::Null;
    }
    let at = |tenths: usize| scale(cut(numbers[(n * tenths).div_ceil(10) - 1]));
    json!({"p10": at(1), "p50": at(5), "p90": at(9)})
}

/// The rows of `models`.
pub fn models(lines: &[u8]) -> Vec<Value> {
    let documents = newest(lines);
    let latest = documents.iter().filter_map(|v| v["collected"].as_str()).max().unwrap_or_default().to_owned();
    let day = |text: &str| zerocap::units::utc_seconds(text).unwrap() / 86_400;
    let mut rows: BTreeMap<Vec<Option<String>>, Vec<&Value>> = BTreeMap::new();
    for v in &documents {
        let d = &v["device"];
        let key = [&d["kind"], &d["vendor"], &d["model"], &d["firmware"], &d["command_path"]];
        let key = key.into_iter().chain([&v["hwdb"]["model"], &v["hwdb"]["revision"], &v["backend"]]);
        rows.entry(key.map(|t| t.as_str().map(str::to_owned)).collect()).or_default().push(v);
    }
    let row = |(key, all): (Vec<Option<String>>, Vec<&Value>)| {
        let different = |of: &[&Value], pointer: &str| {
            of.iter().filter_map(|v| v.pointer(pointer)?.as_str()).collect::<BTreeSet<_>>().len()
        };
        let measured: Vec<&Value> = all.iter().copied().filter(|v| v["basis"] == "measured").collect();
        let rated: Vec<&Value> = measured.iter().copied().filter(|v| v["class"] != "broken").collect();
        let numbers = |field: &str| rated.iter().filter_map(|v| v[field].as_u64()).collect::<Vec<_>>();
        let ratios = rated.iter().filter_map(|v| Some((v["speedup"]["median"].as_f64()? * 1000.0) as u64)).collect();
        let class = |of: &[&Value], word: &str| of.iter().filter(|v| v["class"] == word).count();
        let words = ["fast", "slow", "none", "unknown", "broken"];
        let classes: Value = words.map(|w| (w.to_owned(), json!(class(&all, w)))).into_iter().collect();
        let agreed: Vec<&str> = words.into_iter().filter(|w| class(&measured, w) > 0).collect();
        let mut at: Vec<&str> = measured.iter().filter_map(|v| v["measured"]["at"].as_str()).collect();
        at.sort_unstable();
        let has = |v: &Value, code: &str| v["findings"].as_array().unwrap().iter().any(|f| f["code"] == code);
        let silent = all.iter().filter(|v| day(v["collected"].as_str().unwrap()) + 30 < day(&latest)).count();
        json!({
            "kind": key[0], "vendor": key[1], "model": key[2], "firmware": key[3], "command_path": key[4],
            "hwdb": key[5].as_ref().map(|model| json!({"model": model, "revision": key[6]})),
            "backend": key[7],
            "machines": different(&all, "/machine"), "devices": different(&all, "/device/identity"), "answers": all.len(),
            "classes": classes,
            "measured": {"machines": different(&measured, "/machine"), "devices": different(&measured, "/device/identity"),
                "answers": measured.len()},
            "agreed": if agreed.len() == 1 { json!(agreed[0]) } else { Value::Null },
            "zero_bytes_per_second": quantiles(numbers("zero_bytes_per_second"), |n| json!(n)),
            "write_bytes_per_second": quantiles(numbers("write_bytes_per_second"), |n| json!(n)),
            "ratio": quantiles(ratios, |n| json!(n as f64 / 1000.0)),
            "silent": silent,
            "stale": all.iter().filter(|v| has(v, "measurement-stale")).count(),
            "measured_first": at.first(), "measured_last": at.last(),
            "collected_last": all.iter().filter_map(|v| v["collected"].as_str()).max(),
        })
    };
    rows.into_iter().map(row).collect()
}
