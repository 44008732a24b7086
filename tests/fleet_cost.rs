//! What a summary costs (`make bench`: a million documents; fewer otherwise): its time beside that of `jq` for the same
//! question over the same bytes, and its memory, which must not grow with the number of documents.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

#[path = "fleet/generate.rs"]
mod generate;
#[path = "common/not_run.rs"]
mod not_run;
#[path = "common/run.rs"]
mod run;

use generate::Fleet;
use not_run::not_run;
use run::run;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is allowed, in KiB, however many documents there are.
const PEAK_KIB: u64 = 64 * 1024;

/// The question in jq, line by line, so that it holds no more than it has to: answers, classes and the sum of rates of each model,
/// firmware and command. It leaves out the newest-only rule, different devices, quantiles and causes, which makes it the easier one.
const JQ: &str = r#"reduce inputs as $d ({}; ($d.device | "\(.kind)/\(.vendor)/\(.model)/\(.firmware)/\(.command_path)") as $k
    | .[$k].answers += 1 | .[$k][$d.class] += 1 | .[$k].zero += ($d.zero_bytes_per_second // 0))"#;

fn written(dir: &Path, documents: u64) -> PathBuf {
    let path = dir.join(format!("{documents}.jsonl"));
    let mut out = BufWriter::new(File::create(&path).unwrap());
    generate::write(&mut out, Fleet { documents, damaged: 0, seed: 7 }).unwrap();
    out.flush().unwrap();
    path
}

fn summarize(file: &Path) -> run::Run {
    run(Command::new(env!("CARGO_BIN_EXE_zerocap")).args(["fleet", "summarize", "--json"]).arg(file))
}

#[test]
fn a_summary_is_quick_and_small() {
    let documents: u64 = if std::env::var("ZEROCAP_SCALE").is_ok() { 1_000_000 } else { 4000 };
    let dir = tempfile::tempdir().unwrap();
    let (quarter, whole) = (written(dir.path(), documents / 4), written(dir.path(), documents));
    let bytes = std::fs::metadata(&whole).unwrap().len();
    // Interleaved with jq, least of each: what else the machine does is in both.
    let jq = |file: &Path| run(Command::new("jq").args(["-n", "-c", JQ]).arg(file));
    let have_jq = Command::new("jq").arg("--version").output().is_ok();
    let (mut ours, mut theirs) = (summarize(&whole), have_jq.then(|| jq(&whole)));
    let again = summarize(&whole);
    let summary: serde_json::Value = serde_json::from_slice(&again.output).unwrap();
    ours.took = ours.took.min(again.took);
    if let Some(theirs) = &mut theirs {
        theirs.took = theirs.took.min(jq(&whole).took);
        // The same question: as many answers and models, but for those that were told of twice.
        let answer: serde_json::Value = serde_json::from_slice(&theirs.output).unwrap();
        let counted: u64 = answer.as_object().unwrap().values().map(|m| m["answers"].as_u64().unwrap()).sum();
        assert_eq!((counted, summary["lines"].as_u64()), (documents, Some(documents)));
    }
    let small = summarize(&quarter);
    println!(
        "fleet summarize of {documents} documents, {} MB: {:.2} s, {:.0} MB/s, peak {} KiB",
        bytes / 1_000_000,
        ours.took.as_secs_f64(),
        bytes as f64 / 1e6 / ours.took.as_secs_f64(),
        again.peak_kib
    );
    println!("  a quarter of them: {:.2} s, peak {} KiB", small.took.as_secs_f64(), small.peak_kib);
    match &theirs {
        Some(theirs) => println!(
            "  jq, less of the same question: {:.2} s; {:.1} times ours (goal 5), peak {} KiB",
            theirs.took.as_secs_f64(),
            theirs.took.as_secs_f64() / ours.took.as_secs_f64(),
            theirs.peak_kib
        ),
        None => not_run("jq is not installed"),
    }
    for packer in ["gzip", "zstd"] {
        let packed = Command::new(packer).args(["-kqf", "-1"]).arg(&whole).status();
        if packed.is_ok_and(|s| s.success()) {
            let end = if packer == "gzip" { "gz" } else { "zst" };
            let file = dir.path().join(format!("{documents}.jsonl.{end}"));
            let unpacked = summarize(&file);
            assert_eq!(unpacked.output, again.output, "{packer}");
            println!("  packed by {packer}: {:.2} s, peak {} KiB", unpacked.took.as_secs_f64(), unpacked.peak_kib);
            assert!(unpacked.peak_kib < PEAK_KIB, "{packer}: {} KiB", unpacked.peak_kib);
            std::fs::remove_file(file).unwrap();
        }
    }
    assert!(again.peak_kib < PEAK_KIB, "{} KiB", again.peak_kib);
    assert!(again.peak_kib > 1000, "{} KiB: not looked at in time", again.peak_kib);
}
