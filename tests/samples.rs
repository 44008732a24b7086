//! The single times of a test: they are what its figures are made of, they are bounded, and they are kept, recorded and
//! forgotten with its measurement.

#![allow(clippy::unwrap_used)] // A test may panic.

mod sim;

use serde_json::Value;
use sim::machine::{self, DISK, IDENTITY};
use std::path::Path;
use std::process::Command;
use verdict_format::samples::{Pair, Samples, MOST_BYTES, MOST_PAIRS};
use zerocap::machine::simulated::{Model, Noise, Zeroing};
use zerocap::measure::order::{SCREENED, SCREENING_PAIRS};
use zerocap::measure::outcome::Outcome;
use zerocap::measure::stats::sustained::{Calls, Part, Sustained};
use zerocap::protocol::samples::of_run;
use zerocap::store;
use zerocap::units::{Nanos, KIB};

const SEGMENT: u64 = 128 * KIB;

fn noisy() -> Model {
    Model { noise: Noise::Uniform(10.0), ..Model::steady(8_000_000, 1_000_000) }
}

fn taken(model: Model, seed: u64) -> (Samples, Outcome) {
    let (_, _, kept) = sim::measured(model, seed, SEGMENT);
    let outcome = kept.unwrap().0;
    (of_run(&sim::facts(), &sim::conditions(), &outcome), outcome)
}

#[test]
fn the_figures_follow_from_the_samples() {
    let (samples, outcome) = taken(noisy(), 3);
    assert_eq!(samples.pairs.len() as u32, samples.trials);
    assert_eq!((samples.trials as usize, samples.pairs_left_out), (outcome.pairs.len(), 0));
    let mut ratios: Vec<f64> = samples.pairs.iter().map(Pair::ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = (ratios[(ratios.len() - 1) / 2] + ratios[ratios.len() / 2]) / 2.0;
    assert_eq!(Some(middle), outcome.pairs.median());
    let written: u64 = samples.pairs.iter().map(|p| p.write_nanoseconds).sum();
    assert_eq!(Nanos(written), outcome.written.1);
    assert!(samples.pairs.windows(2).all(|w| w[0].at_nanoseconds < w[1].at_nanoseconds), "in the order of time");
    let first = samples.pairs.iter().filter(|p| p.zero_first).count();
    assert!(first > 0 && first < samples.pairs.len(), "the coin fell on one side {first} of {} times", samples.trials);
    let screened: Vec<_> = samples.screened.iter().map(|s| s.method.unwrap()).collect();
    assert_eq!(screened, SCREENED);
    assert!(samples.screened.iter().all(|s| s.pairs.len() == SCREENING_PAIRS as usize && s.bytes <= SEGMENT));
    assert!(samples.edges.len() == 3 && samples.edges.iter().all(|e| e.held && e.zero_nanoseconds.is_some()));
    assert!(!samples.first_writes.is_empty() && !samples.first_zeroings.is_empty());
    let [stretch] = samples.stretches.as_slice() else { panic!("{} stretches", samples.stretches.len()) };
    let sustained = outcome.sustained.as_ref().unwrap();
    assert_eq!(stretch.bytes, sustained.bytes);
    let calls = stretch.bytes / SEGMENT;
    assert_eq!((stretch.w.zeroes.calls_each, stretch.w.zeroes.nanoseconds.len() as u64), (1, calls));
    assert_eq!(stretch.z.zeroes.total(), sustained.z.zeroes.0.iter().sum::<u64>());
    assert_eq!(stretch.d1.flushes.nanoseconds.len() as u64, stretch.passes);
}

#[test]
fn samples_contain_nothing_that_was_not_measured() {
    // It zeroes only the granules of 4 KiB inside a span: the first ragged one shows it, and the test ends.
    let (samples, outcome) = taken(Model { zeroing: Zeroing::WholeGranules(4096), ..noisy() }, 1);
    assert!(
        samples.pairs.is_empty() && samples.stretches.is_empty() && samples.screened.is_empty(),
        "{:?}",
        outcome.end
    );
    assert!(samples.trials == 0 && !samples.first_zeroings.is_empty());
    let [edge] = samples.edges.as_slice() else { panic!("{:?}", samples.edges) };
    assert_eq!((edge.held, edge.zero_nanoseconds), (false, None));
}

#[test]
fn the_fullest_file_is_within_its_bound() {
    let (_, mut run) = taken(noisy(), 3);
    let slow = 59_999_999_999;
    let pair = Pair {
        at_nanoseconds: slow,
        zero_first: false,
        write_nanoseconds: slow,
        zero_nanoseconds: slow,
        data_over_zeroed_nanoseconds: slow,
        data_over_written_nanoseconds: slow,
    };
    run.trace.pairs = (0..7001).map(|i| Pair { at_nanoseconds: slow + i, ..pair }).collect();
    let calls = |n: usize| Calls(vec![slow; n]);
    let part = |n| Part { data: calls(n), zeroes: calls(n), flushes: calls(n) };
    let long =
        Sustained { bytes: 1 << 40, d1: part(9000), w: part(9000), d2: part(9000), z: part(9000), r: part(9000) };
    run.trace.stretches = vec![long.clone(), long];
    let dir = machine::untested("ATA", "MODEL");
    let (roots, facts) = machine::look(dir.path());
    let samples = of_run(&facts, &sim::conditions(), &run);
    assert_eq!((samples.pairs.len(), samples.pairs_left_out), (MOST_PAIRS, 7001 - MOST_PAIRS as u64));
    assert_eq!((samples.pairs[249].at_nanoseconds, samples.pairs[250].at_nanoseconds), (slow + 249, slow + 7001 - 250));
    store::samples::save(&roots, &facts, &samples).unwrap();
    let file = dir.path().join(format!("etc/zerocap/samples/{IDENTITY}.json"));
    let bytes = std::fs::metadata(&file).unwrap().len() as usize;
    println!("the fullest file has {} KiB", bytes / 1024);
    assert!(bytes <= MOST_BYTES, "{bytes}");
    assert_eq!(store::samples::load(&roots, &facts).unwrap(), Some(samples));
    // No shorter bound by chance: a file a little larger is refused and the old one stays.
    let text = std::fs::read(&file).unwrap();
    let mut more = store::samples::load(&roots, &facts).unwrap().unwrap();
    more.first_writes = vec![verdict_format::samples::Call { bytes: 1, nanoseconds: 1 }; MOST_BYTES / 20];
    assert!(store::samples::save(&roots, &facts, &more).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), text);
}

fn zerocap(words: &[&str], root: &Path) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    let output = command.args(words).arg("--root").arg(root).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn samples_are_recorded_and_forgotten_with_the_measurement() {
    let dir = machine::untested("ATA", "MODEL");
    machine::test(dir.path(), noisy(), 3, SEGMENT);
    let samples_of = |root: &Path| -> Vec<(String, Value)> {
        let files =
            std::fs::read_dir(root.join("etc/zerocap/samples")).into_iter().flatten().map(|e| e.unwrap().path());
        let read = |p: &Path| serde_json::from_slice(&std::fs::read(p).unwrap()).unwrap();
        files.map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), read(&p))).collect()
    };
    let [(name, kept)] = samples_of(dir.path()).try_into().unwrap();
    assert_eq!(name, format!("{IDENTITY}.json"));
    // A recording has them, with another identity, under which a replay finds them.
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("recorded");
    let (code, said) = zerocap(&["record", DISK, to.to_str().unwrap()], dir.path());
    assert_eq!(code, 0, "{said}");
    let [(name, recorded)] = samples_of(&to).try_into().unwrap();
    assert!(!name.contains("50014ee2b1c2d3e4") && !recorded.to_string().contains("50014ee2b1c2d3e4"), "{name}");
    assert_eq!((&recorded["pairs"], &recorded["at"]), (&kept["pairs"], &kept["at"]));
    let (roots, facts) = machine::look(&to);
    let replayed = store::samples::load(&roots, &facts).unwrap().unwrap();
    assert_eq!(replayed.identity.as_deref(), facts.names.identity.as_ref().map(|i| i.as_str()));
    // Those of another device are named, not taken.
    let file = dir.path().join(format!("etc/zerocap/samples/{IDENTITY}.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    for (wrong, why) in [
        (text.replace(IDENTITY, "naa.5000000000000002"), "another identity"),
        (text.replace("\"samples\"", "\"verdict\""), "not samples of format 1"),
        (text.replacen("\"format\":1", "\"format\":2", 1), "not samples of format 1"),
        ("[".to_owned(), "not samples of a test"),
    ] {
        std::fs::write(&file, wrong).unwrap();
        let (roots, facts) = machine::look(dir.path());
        let error = store::samples::load(&roots, &facts).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(IDENTITY), "{error}");
    }
    // What no test writes is refused before anything is drawn from it.
    let kept = serde_json::to_value(replayed)
        .unwrap()
        .to_string()
        .replace(facts.names.identity.as_ref().unwrap().as_str(), IDENTITY);
    for (pointer, wrong, what) in [
        ("/stretches/0/passes", serde_json::json!(u64::MAX), "such a stretch"),
        ("/stretches/0/passes", 0.into(), "such a stretch"),
        ("/stretches/0/z/zeroes/calls_each", 0.into(), "such a stretch"),
        ("/stretches/0/z/zeroes/nanoseconds/0", u64::MAX.into(), "such times"),
        ("/pairs/0/at_nanoseconds", 900_000_000_000_u64.into(), "such times"),
        ("/pairs/0/zero_nanoseconds", u64::MAX.into(), "such times"),
        ("/first_writes/0/nanoseconds", u64::MAX.into(), "such times"),
        (
            "/lengths",
            serde_json::json!(vec![kept.parse::<Value>().unwrap()["lengths"][0].clone(); 1001]),
            "so many times",
        ),
        ("/fast_ratio", 0.into(), "such a ratio"),
    ] {
        let mut value: Value = kept.parse().unwrap();
        *value.pointer_mut(pointer).unwrap() = wrong;
        std::fs::write(&file, value.to_string()).unwrap();
        let (roots, facts) = machine::look(dir.path());
        let error = store::samples::load(&roots, &facts).unwrap_err().to_string();
        assert!(error.contains(what), "{pointer}: {error}");
        let (code, said) = zerocap(&["show", DISK], dir.path());
        assert!(code == 0 && !said.contains("in order"), "{said}");
    }
    // Without them the verdict is the same.
    let (_, with) = zerocap(&["show", "--json", DISK], dir.path());
    assert!(with.contains("\"class\":\"fast\""), "{with}");
    std::fs::write(&file, &text).unwrap();
    let (code, said) = zerocap(&["policy", "forget", DISK], dir.path());
    assert_eq!((code, samples_of(dir.path()).len()), (0, 0), "{said}");
}

#[test]
fn a_reused_device_number_has_no_samples() {
    let dir = machine::untested("ATA", "MODEL");
    std::fs::remove_file(dir.path().join(format!("sys/block/{DISK}/device/wwid"))).unwrap();
    machine::test(dir.path(), noisy(), 3, SEGMENT);
    let file = dir.path().join("run/zerocap/samples/8:0.json");
    assert!(file.exists() && !dir.path().join("etc").exists());
    let of_this = || {
        let (roots, facts) = machine::look(dir.path());
        store::samples::load(&roots, &facts).unwrap()
    };
    assert!(of_this().is_some());
    std::fs::write(dir.path().join(format!("sys/block/{DISK}/diskseq")), "8\n").unwrap();
    assert_eq!(of_this(), None);
    let (roots, facts) = machine::look(dir.path());
    store::samples::forget_unnamed(&roots, facts.device.devnum.unwrap()).unwrap();
    assert!(!file.exists());
}
