//! The corpora of the fuzz targets, replayed as ordinary tests, with every input also cut short and turned over.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may panic.

use std::path::Path;

#[path = "fuzz/targets.rs"]
mod targets;

#[test]
fn every_corpus_is_replayed() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for (name, _) in targets::TARGETS {
        let mut inputs = 0;
        for entry in std::fs::read_dir(corpora.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")) {
            let data = std::fs::read(entry.unwrap().path()).unwrap();
            targets::run(name, &data);
            // What a bad cable and a short reply make of it.
            for cut in [0, 1, 2, 3, 5, 8, 13, 21, 34, 63, 127, 200] {
                targets::run(name, &data[..cut.min(data.len())]);
            }
            let turned: Vec<u8> = data.iter().map(|b| !b).collect();
            targets::run(name, &turned);
            inputs += 1;
        }
        assert!(inputs >= 3, "{name}: {inputs} inputs");
    }
}

#[test]
fn every_target_has_its_program() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let manifest = std::fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    for (name, _) in targets::TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is no program of tests/fuzz/Cargo.toml");
        assert!(dir.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name}");
    }
}
