//! What an event costs with 10 000 kept devices and 1000 policy rules (`make bench`; fewer of both otherwise) against a
//! state with neither, of the program that the rule calls. The answer is the same; of system calls there are no more for what
//! is kept, and a fixed number more for rules, however many there are; the time is at most four times as long. The exact ratio
//! of times is only printed.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "common/not_run.rs"]
mod not_run;
use not_run::not_run;

/// What rules may add in system calls, however many they are: finding the compiled ones, and reading them.
const RULES_COST: usize = 12;

/// Arguments and environment of one event.
fn add_event(command: &mut Command, root: &Path, state: &Path) {
    command.arg("--root").arg(root).arg("--state").arg(state).arg("/dev/sda").env("ACTION", "change");
    // Cargo's own library path would make the loader look in places no installed program looks.
    command.env_remove("LD_LIBRARY_PATH");
}

/// The program that the rule calls, and the whole one, which compiles the rules.
const SMALL: &[&str] = &[env!("CARGO_BIN_EXE_zerocap-event")];
const WHOLE: &[&str] = &[env!("CARGO_BIN_EXE_zerocap"), "udev"];

/// The time of one event, and what it printed.
fn event(program: &[&str], root: &Path, state: &Path) -> (Duration, String) {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]);
    add_event(&mut command, root, state);
    let start = Instant::now();
    let output = command.stdout(Stdio::piped()).output().unwrap();
    let took = start.elapsed();
    assert!(output.status.success());
    (took, String::from_utf8(output.stdout).unwrap())
}

/// The system calls of one event; none where strace is not installed.
fn calls(root: &Path, state: &Path) -> Option<usize> {
    let record = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(record.path()).arg(SMALL[0]);
    add_event(&mut command, root, state);
    let output = command.output().ok()?;
    assert!(output.stdout.starts_with(b"ZEROCAP_CLASS="), "{output:?}");
    Some(std::fs::read_to_string(record.path()).unwrap().lines().filter(|l| l.contains('(')).count())
}

#[test]
fn an_event_costs_the_same_however_much_is_kept() {
    let large = std::env::var("ZEROCAP_SCALE").is_ok();
    let (kept, rules, runs) = if large { (10_000, 1000, 200) } else { (200, 50, 5) };
    let machine = tempfile::tempdir().unwrap();
    let own = "etc/zerocap/devices/naa.5000000000000005.json";
    let text = include_bytes!("machines/synthetic-kept/etc/zerocap/devices/naa.5000000000000005.json");
    for (file, content) in [
        ("dev", "8:0"),
        ("size", "2048"),
        ("diskseq", "1"),
        ("device/wwid", "naa.5000000000000005"),
        ("device/vendor", "Linux"),
        ("device/model", "disk"),
        ("queue/write_zeroes_max_bytes", "33553920"),
        ("queue/write_zeroes_unmap_max_hw_bytes", "33553920"),
        ("queue/write_zeroes_unmap_max_bytes", "33553920"),
    ] {
        let path = machine.path().join("sys/block/sda").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{content}\n")).unwrap();
    }
    let root = machine.path();
    let (empty, full, only_kept) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for state in [&empty, &full, &only_kept] {
        std::fs::create_dir_all(state.path().join("etc/zerocap/devices")).unwrap();
        std::fs::create_dir_all(state.path().join("etc/zerocap/policy.d")).unwrap();
        std::fs::write(state.path().join(own), text).unwrap();
    }
    for state in [&full, &only_kept] {
        for i in 0..kept {
            std::fs::write(state.path().join(format!("etc/zerocap/devices/naa.6{i:015}.json")), text).unwrap();
        }
    }
    let rule = |i: usize| {
        format!("[[rule]]\nvendor = \"V{i}\"\nmodel = \"Model {i}.*\"\nclass = \"slow\"\nwhy = \"r{i}\"\n\n")
    };
    let all: String = (0..rules).map(rule).collect();
    std::fs::write(full.path().join("etc/zerocap/policy.d/50-many.toml"), all).unwrap();
    // The first event after a change of the rules reads them all; the later ones use what it compiled. A file that was just
    // changed is read at each event: its next change may bear the same time.
    std::thread::sleep(Duration::from_millis(1200));
    let (first, answer) = event(WHOLE, root, full.path());
    for state in [&empty, &only_kept] {
        event(WHOLE, root, state.path());
    }
    let answer = answer.replace(".ZEROCAP_TELL=1\n", "");
    let keys: Vec<&str> = answer.lines().filter_map(|l| l.split_once('=')).map(|(key, _)| key).collect();
    assert!(keys.contains(&"ZEROCAP_CLASS") && keys.contains(&"ZEROCAP_BASIS"), "{answer}");
    // Interleaved, minimum against minimum: what else the machine does is in both.
    let mut least = [Duration::MAX; 3];
    for _ in 0..runs {
        for (least, state) in least.iter_mut().zip([&empty, &only_kept, &full]) {
            let (took, said) = event(SMALL, root, state.path());
            // Whether something else is to look as well depends on what was published before.
            let said = said.replace(".ZEROCAP_TELL=1\n", "");
            *least = (*least).min(took);
            assert_eq!(said, answer, "rules that match nothing and other devices' files change no answer");
        }
    }
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!("an event: {:.2} ms with nothing else kept", ms(least[0]));
    println!("  {kept} devices kept: {:.2} ms, {:.2}x", ms(least[1]), ms(least[1]) / ms(least[0]));
    println!("  and {rules} rules: {:.2} ms, {:.2}x (goal 1.2x)", ms(least[2]), ms(least[2]) / ms(least[0]));
    println!("  the first event after a change of the rules: {:.2} ms", ms(first));
    for (what, took) in [("devices kept", least[1]), ("rules", least[2])] {
        assert!(took < least[0] * 4, "{what}: {took:?} against {:?} without", least[0]);
    }
    let [Some(none), Some(kept), Some(ruled)] = [&empty, &only_kept, &full].map(|state| calls(root, state.path()))
    else {
        return not_run("strace is not installed");
    };
    println!("  system calls: {none}, {kept} with devices kept, {ruled} with rules too");
    assert_eq!(kept, none, "an event looks at the file of its own device only");
    assert!(ruled <= none + RULES_COST, "{ruled} system calls with rules, {none} without");
}
