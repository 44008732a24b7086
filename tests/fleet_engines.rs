//! The questions of fleet/ as SQL, by DuckDB and by Spark: the same rows as `zerocap fleet summarize`, with damaged lines among the
//! documents, and with one of Spark's workers killed. The long ring (`tests/long fleet`), since neither engine is a package of Debian:
//! python3 needs `duckdb` and `pyspark` (pip), Spark a Java runtime (default-jre-headless).
//!
//! `ZEROCAP_PYTHON` names the interpreter that has them; `ZEROCAP_FLEET_DOCUMENTS` how many documents (20 000 without it).

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

#[path = "fleet/generate.rs"]
mod generate;
#[path = "common/not_run.rs"]
mod not_run;

use generate::Fleet;
use not_run::not_run;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

struct Input {
    dir: tempfile::TempDir,
    lines: PathBuf,
    summary: Value,
}

/// The lines, and what zerocap says of them.
fn input() -> Input {
    let documents = std::env::var("ZEROCAP_FLEET_DOCUMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let dir = tempfile::tempdir().unwrap();
    let lines = dir.path().join("lines.jsonl");
    let mut out = BufWriter::new(std::fs::File::create(&lines).unwrap());
    let damaged = generate::write(&mut out, Fleet { documents, damaged: 3, seed: 11 }).unwrap();
    out.flush().unwrap();
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap"))
        .args(["fleet", "summarize", "--json"])
        .arg(&lines)
        .output()
        .unwrap();
    println!("{documents} documents, {damaged} damaged lines; zerocap {:.1} s", start.elapsed().as_secs_f64());
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["bad"], damaged);
    assert!(damaged > 20);
    Input { dir, lines, summary }
}

/// The rows of each question by an engine; `None` where it is not installed, which is told.
fn asked(input: &Input, engine: &str, more: &[&str]) -> Option<BTreeMap<String, Value>> {
    let python = std::env::var("ZEROCAP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/engine.py");
    let place = input.dir.path().join([engine, more.first().copied().unwrap_or("")].concat());
    std::fs::create_dir(&place).unwrap();
    let start = Instant::now();
    let output = Command::new(&python).arg(script).arg(engine).arg(&input.lines).arg(&place).args(more).output();
    let output = match output {
        Ok(output) if output.status.code() == Some(77) => {
            not_run(&format!("{python} has no {engine} (pip install duckdb pyspark)"));
            return None;
        }
        Ok(output) => output,
        Err(e) => {
            not_run(&format!("{python}: {e}"));
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("JAVA_GATEWAY_EXITED") || said.contains("JAVA_HOME is not set") {
        not_run("there is no Java runtime (default-jre-headless)");
        return None;
    }
    assert!(output.status.success(), "{engine}: {said}");
    println!("{engine} {more:?} {:.1} s", start.elapsed().as_secs_f64());
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = answers.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(answers.iter().any(|a| a["killed"].is_u64()), more == ["kill"], "a worker was killed, or none");
    let named = answers.into_iter().filter_map(|a| Some((a["question"].as_str()?.to_owned(), a)));
    Some(named.collect())
}

/// The rows of `models`, as the SQL has its columns.
fn models(summary: &Value) -> Vec<Value> {
    let thousandths = |v: &Value| v.as_f64().map(|r| (r * 1000.0).round() as u64);
    let row = |m: &Value| {
        let (hwdb, c, measured) = (&m["hwdb"], &m["classes"], &m["measured"]);
        let (zero, write, ratio) = (&m["zero_bytes_per_second"], &m["write_bytes_per_second"], &m["ratio"]);
        json!([
            m["kind"],
            m["vendor"],
            m["model"],
            m["firmware"],
            m["command_path"],
            hwdb["model"],
            hwdb["revision"],
            m["backend"],
            m["machines"],
            m["devices"],
            m["answers"],
            c["fast"],
            c["slow"],
            c["none"],
            c["unknown"],
            c["broken"],
            measured["machines"],
            measured["devices"],
            measured["answers"],
            m["agreed"],
            m["silent"],
            m["stale"],
            m["measured_first"],
            m["measured_last"],
            m["collected_last"],
            zero["p10"],
            zero["p50"],
            zero["p90"],
            write["p10"],
            write["p50"],
            write["p90"],
            thousandths(&ratio["p10"]),
            thousandths(&ratio["p50"]),
            thousandths(&ratio["p90"]),
        ])
    };
    summary["models"].as_array().unwrap().iter().map(row).collect()
}

fn disagreements(summary: &Value) -> Vec<Value> {
    let row = |d: &Value| {
        let c = &d["classes"];
        json!([
            d["kind"],
            d["vendor"],
            d["model"],
            c["fast"],
            c["slow"],
            c["none"],
            c["unknown"],
            c["broken"],
            d["cause"]
        ])
    };
    summary["disagreements"].as_array().unwrap().iter().map(row).collect()
}

/// Row by row, so that the first that differs is told.
fn same(what: &str, found: &Value, wanted: &[Value]) {
    let rows = found["rows"].as_array().unwrap();
    for (row, wanted) in rows.iter().zip(wanted) {
        assert_eq!(row, wanted, "{what}: {}", found["columns"]);
    }
    assert_eq!(rows.len(), wanted.len(), "{what}");
    assert!(!rows.is_empty(), "{what}: nothing to compare");
}

fn those_of_zerocap(engine: &str, summary: &Value, answers: &BTreeMap<String, Value>) {
    same(&format!("{engine}, models"), &answers["models"], &models(summary));
    same(&format!("{engine}, disagreements"), &answers["disagreements"], &disagreements(summary));
    println!("{engine}: {} rows of models are those of zerocap", models(summary).len());
}

#[test]
#[ignore = "the long ring: needs duckdb, pyspark and Java (tests/long fleet)"]
fn zerocap_duckdb_and_spark_give_the_same_rows() {
    let input = input();
    let duckdb = asked(&input, "duckdb", &[]);
    if let Some(answers) = &duckdb {
        those_of_zerocap("duckdb", &input.summary, answers);
    }
    for more in [&[][..], &["kill"]] {
        let Some(spark) = asked(&input, "spark", more) else { return };
        those_of_zerocap("spark", &input.summary, &spark);
        let Some(duckdb) = &duckdb else { continue };
        for question in ["history", "gain"] {
            same(
                &format!("spark {more:?}, {question}"),
                &spark[question],
                duckdb[question]["rows"].as_array().unwrap(),
            );
            println!("{question}: {} rows are those of duckdb", spark[question]["rows"].as_array().unwrap().len());
        }
    }
}
