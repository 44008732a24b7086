//! The arithmetic of `estimate` against published figures, and the command against a kept measurement.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use verdict_format::{Plan, Speedup};
use zerocap::verdict::estimate::{plans, seconds, zeroing, Rates};

const GIB: u64 = 1 << 30;

/// A NetApp LUN under qemu-img convert: zeroing 2.445 GB/s, writing 0.445 GB/s.
const LUN: Rates = Rates {
    zero: Some(2_445_000_000),
    write: Some(445_000_000),
    overwrite: None,
    speedup: None,
    data: None,
    stretch: None,
};

fn near(value: Option<f64>, wanted: f64, by: f64) {
    let value = value.unwrap();
    assert!((value - wanted).abs() <= by, "{value} is not {wanted} within {by}");
}

#[test]
fn zeroing_the_whole_lun_first_cost_21_seconds() {
    let plans = plans(100 * GIB, 0.484, &LUN);
    // Measured in public: 122.3 s with the whole target zeroed first, 102.1 s without, so 20.2 s of difference.
    near(Some(plans.zero_first.unwrap() - plans.zero_rest.unwrap()), 21.3, 0.1);
    assert_eq!(plans.best().unwrap().0, Plan::ZeroRest);
    near(plans.write_all, 241.3, 0.1);
}

#[test]
fn a_device_that_zeroes_no_faster_is_written() {
    let slow =
        Rates { zero: Some(100), write: Some(100), overwrite: Some(100), speedup: None, data: None, stretch: None };
    assert_eq!(plans(1000, 0.5, &slow).best().unwrap(), (Plan::WriteAll, 10.0));
    let slower = Rates { zero: Some(50), ..slow };
    assert_eq!(plans(1000, 0.5, &slower).best().unwrap(), (Plan::WriteAll, 10.0));
    let fast = Rates { zero: Some(1000), ..slow };
    assert_eq!(plans(1000, 0.5, &fast).best().unwrap(), (Plan::ZeroRest, 5.5));
    // What is written over zeroed space at another rate, is.
    let deferred = Rates { overwrite: Some(50), ..fast };
    near(plans(1000, 0.5, &deferred).zero_first, 11.0, 1e-9);
}

#[test]
fn an_unknown_rate_gives_no_number() {
    let unknown = Rates::default();
    assert_eq!((seconds(1.0, None), seconds(1.0, Some(0)), zeroing(1, &unknown)), (None, None, None));
    assert_eq!(plans(1000, 0.5, &unknown).best(), None);
    let no_write = Rates { zero: Some(100), ..unknown };
    assert_eq!(plans(1000, 0.5, &no_write).best(), None);
    let no_zero = Rates { write: Some(100), ..unknown };
    let p = plans(1000, 0.5, &no_zero);
    assert_eq!((p.zero_first, p.zero_rest, p.write_all), (None, None, Some(10.0)));
    assert_eq!(plans(1000, 1.0, &no_zero).zero_rest, Some(10.0), "nothing is to be zeroed");
}

#[test]
fn the_interval_is_that_of_the_ratio() {
    let ratio = Speedup { median: 5.0, low: Some(4.0), high: Some(8.0), confidence: 0.999 };
    let rates = Rates {
        zero: Some(500),
        write: Some(100),
        overwrite: None,
        speedup: Some(ratio),
        data: None,
        stretch: Some((1000, None)),
    };
    let t = zeroing(1000, &rates).unwrap();
    assert_eq!((t.value, t.low, t.high), (2.0, Some(1.25), Some(2.5)));
    let open = Rates { speedup: Some(Speedup { low: None, high: None, ..ratio }), ..rates };
    let t = zeroing(1000, &open).unwrap();
    assert_eq!((t.value, t.low, t.high), (2.0, None, None));
    // The estimate comes from totals: where these lie above the interval of the median, nothing bounds them.
    let aside = Rates { zero: Some(200), ..rates };
    assert_eq!(zeroing(1000, &aside).unwrap().high, None);
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/synthetic-kept");
    let output = Command::new(env!("CARGO_BIN_EXE_zerocap")).args(arguments).arg("--root").arg(kept).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn beyond_the_stretch_that_was_seen_there_is_no_upper_end() {
    let ratio = Speedup { median: 5.0, low: Some(4.0), high: Some(8.0), confidence: 0.999 };
    let rates = Rates {
        zero: Some(500),
        write: Some(100),
        data: None,
        overwrite: None,
        stretch: Some((1000, Some(4.5))),
        speedup: Some(ratio),
    };
    let seen = zeroing(1000, &rates).unwrap();
    assert!((seen.value - 10.0 / 4.5).abs() < 1e-9, "what followed is charged: {seen:?}");
    assert_eq!(seen.high, Some(2.5));
    assert_eq!(zeroing(1001, &rates).unwrap().high, None);
    assert_eq!(zeroing(1000, &Rates { stretch: None, ..rates }).unwrap().high, None, "no stretch was seen");
}

#[test]
fn more_bytes_than_a_device_has_are_a_mistake_of_the_caller() {
    let (code, _, err) = run(&["estimate", "sde", "2GiB"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("sde has only 1073741824 bytes"), "{err}");
}

#[test]
fn the_command_answers_from_what_is_kept() {
    let (code, out, err) = run(&["estimate", "sde", "1GiB", "--json"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let answer: Value = serde_json::from_str(&out).unwrap();
    let (_, shown, _) = run(&["show", "sde", "--json"]);
    let document = &serde_json::from_str::<Value>(&shown).unwrap()[0];
    let rate = |name: &str| document[name].as_u64().unwrap() as f64;
    near(answer["zero_seconds"].as_f64(), GIB as f64 / rate("zero_bytes_per_second"), 1e-9);
    near(answer["write_seconds"].as_f64(), GIB as f64 / rate("write_bytes_per_second"), 1e-9);
    assert_eq!((answer["best"].as_str(), answer["plan"].as_str()), (Some("punch-hole"), None));
    let (_, out, _) = run(&["estimate", "sde", "1GiB", "--data-fraction", "0.484", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["plan"], "zero-rest");
    let (_, out, _) = run(&["estimate", "sde", "1GiB", "--data-fraction", "0.484"]);
    assert!(out.lines().next().unwrap().starts_with("sde, 1 GiB: zeroing takes "), "{out}");
    assert!(out.contains("zero-rest"), "{out}");
}

#[test]
fn below_the_break_even_size_writing_is_best() {
    let best = |bytes: &str| {
        let (code, out, _) = run(&["estimate", "sde", bytes, "--json"]);
        assert_eq!(code, Some(0));
        serde_json::from_str::<Value>(&out).unwrap()["best"].clone()
    };
    // hints.break_even_bytes of sde is 65536.
    assert_eq!((best("4096"), best("65536")), ("write".into(), "punch-hole".into()));
}

#[test]
fn unknown_rates_exit_with_5() {
    for device in ["sdd", "md2"] {
        let (code, out, _) = run(&["estimate", device, "1GiB"]);
        assert_eq!(code, Some(5), "{device}: {out}");
        assert!(out.contains("unknown") && !out.contains(" s "), "{out}");
        let (code, out, _) = run(&["estimate", device, "1GiB", "--json", "--data-fraction", "0.5"]);
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &answer["best_seconds"], &answer["zero_seconds"]), (Some(5), &Value::Null, &Value::Null));
        assert_eq!(answer["plan"], Value::Null);
    }
    let (_, out, _) = run(&["estimate", "md0", "1GiB"]);
    assert!(
        out.contains("no estimate of zeroing: no rates were measured of this device (class fast, basis derived)"),
        "{out}"
    );
    // What a stale file says of rates is used no more than without its hazard.
    let (code, out, _) = run(&["estimate", "sdc", "1GiB", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["write_seconds"]), (Some(5), &Value::Null), "{out}");
    let (_, out, _) = run(&["show", "sdc", "sda"]);
    let cells = |name: &str| -> Vec<String> {
        let line = out.lines().find(|l| l.starts_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(cells("sdc")[1..7], ["broken", "measured", "-", "-", "-", "-"]);
    assert_eq!(cells("sda")[1..8], ["broken", "measured", "-", "2.0", "GiB/s", "-", "-"]);
    // A liar's zeroing has a rate, which must not be recommended.
    let (code, out, _) = run(&["estimate", "sda", "1GiB", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, answer["best"].as_str()), (Some(0), Some("write")), "{out}");
    assert_eq!(answer["zero_seconds"], Value::Null);
}

#[test]
fn invalid_arguments_exit_with_2() {
    for arguments in [
        &["estimate", "sde", "many"][..],
        &["estimate", "sde", "1GiB", "--data-fraction", "1.5"],
        &["estimate", "sde", "1GiB", "--data-fraction", "NaN"],
        &["estimate", "sde"],
    ] {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
    assert_eq!(run(&["estimate", "none", "1GiB"]).0, Some(32));
}

#[test]
fn a_path_on_no_block_device_is_exit_32_as_in_check() {
    let code = |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_zerocap")).args(arguments).output().unwrap();
    for path in ["/proc", "/no/such/path"] {
        let (check, estimate) = (code(&["check", path]), code(&["estimate", path, "1GiB"]));
        assert_eq!((check.status.code(), estimate.status.code()), (Some(32), Some(32)), "{path}");
        assert_eq!(check.stderr, estimate.stderr, "{path}");
    }
}
