//! `--report FILE`: the page of a measured, a recorded and a hostile device, and which files it is written over.

#![allow(clippy::unwrap_used)] // A test may panic.

mod sim;

use sim::machine::{self, DISK, IDENTITY};
use std::path::{Path, PathBuf};
use std::process::Command;
use zerocap::machine::simulated::zoo::zoo;
use zerocap::machine::simulated::{Model, Noise};
use zerocap::units::KIB;

const SEGMENT: u64 = 128 * KIB;

fn zerocap(words: &[&str], root: &Path) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerocap"));
    let output = command.args(words).arg("--root").arg(root).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The page of a device of a machine, as it lies in the file.
fn page_of(root: &Path, device: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.html");
    let (code, out, error) = zerocap(&["show", device, "--report", file.to_str().unwrap()], root);
    assert_eq!((code, error.as_str()), (0, ""), "{device} of {}", root.display());
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("<h1>") && !out.is_empty());
    page
}

fn noisy() -> Model {
    Model { noise: Noise::Uniform(10.0), ..Model::steady(8_000_000, 1_000_000) }
}

/// What holds of every page: it asks for nothing, and each picture stands in words too.
fn is_sound(page: &str, at: &str) {
    assert!(page.starts_with("<!DOCTYPE html>\n<!-- a report of zerocap -->\n") && page.ends_with("</html>\n"), "{at}");
    assert!(page.contains("Content-Security-Policy\" content=\"default-src &#39;none&#39;"), "{at}");
    for asks in [
        "<script",
        "<img",
        "<iframe",
        "<object",
        "<form",
        "src=",
        "http:",
        "https:",
        "url(",
        "@import",
        "onload",
        "javascript:",
    ] {
        assert!(!page.contains(asks), "{at}: {asks}");
    }
    // Only the empty icon is named, so that no browser asks for one.
    assert_eq!(page.matches("href=").count(), page.matches("href=\"data:,\"").count(), "{at}");
    let pictures = page.matches("role=\"img\"").count();
    assert_eq!(page.matches("<title id=").count(), pictures, "{at}");
    assert_eq!(page.matches("<desc id=").count(), pictures, "{at}");
    assert_eq!(page.matches("<figcaption>").count(), pictures, "{at}");
    for figure in page.split("<figure>").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.contains("<table>"), "{at}: a picture without its numbers");
    }
    for tag in ["section", "table", "figure", "details", "ul", "dl", "svg", "main", "header", "footer"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{at}: {tag}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf\"") && !page.contains("=\"inf"), "{at}");
}

#[test]
fn a_measured_device_is_drawn_with_all_its_times() {
    let dir = machine::untested("ACME", "MODEL");
    machine::test(dir.path(), noisy(), 3, SEGMENT);
    let page = page_of(dir.path(), DISK);
    is_sound(&page, "measured");
    let (_, detail, _) = zerocap(&["show", DISK], dir.path());
    assert!(page.contains(&format!("<h1>{}</h1>", detail.lines().next().unwrap())), "the answer in a sentence");
    for title in [
        "Zero against write",
        "Every pair in the order of time",
        "How the times are spread",
        "Time against size",
        "One long stretch",
        "Methods and edges",
        "Claims beside what was found",
        "Findings",
        "Tunables",
        "The machine and its surroundings",
    ] {
        assert!(page.contains(&format!(">{title}</h2>")), "{title}");
    }
    // Each pair is a row, with the time that is kept of it.
    let text = std::fs::read_to_string(dir.path().join(format!("etc/zerocap/samples/{IDENTITY}.json"))).unwrap();
    let samples: verdict_format::samples::Samples = serde_json::from_str(&text).unwrap();
    let table = page.split("<caption>The pairs</caption>").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(table.matches("<th scope=\"row\"").count(), samples.pairs.len());
    let first = samples.pairs[0].zero_nanoseconds as f64 / 1e3;
    assert!(table.contains(&format!("{first:.0} µs")), "{first} in {table}");
    let coin = samples.pairs.iter().filter(|p| p.zero_first).count();
    assert_eq!(table.matches("<td>zeroing</td>").count(), coin);
    for method in ["punch-hole", "write-zeroes", "zero-range", "blkzeroout", "blkdiscard"] {
        assert!(page.contains(&format!("<th scope=\"row\">{method}</th>")), "{method}");
    }
    assert_eq!(page.matches(">yes</td>").count(), 3, "the ragged spans");
    // Nothing that this device has is called missing.
    assert!(!page.contains("No single times"));
}

#[test]
fn every_device_of_the_zoo_has_a_page() {
    for (i, specimen) in zoo(SEGMENT).into_iter().enumerate() {
        let dir = machine::untested("ACME", "MODEL");
        if specimen.name.contains("hang") {
            continue;
        }
        machine::test(dir.path(), specimen.model, 1, SEGMENT);
        let page = page_of(dir.path(), DISK);
        is_sound(&page, specimen.name);
        assert!(
            page.contains(&format!("<header class=\"{}\">", specimen.class)) || page.contains("class=\"unknown\""),
            "{i}"
        );
        if let Ok(keep) = std::env::var("ZEROCAP_KEEP_REPORTS") {
            std::fs::write(Path::new(&keep).join(format!("{}.html", specimen.name.replace([' ', ','], "-"))), page)
                .unwrap();
        }
    }
}

#[test]
fn every_recorded_device_has_a_page() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let machines: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    let mut pages = 0;
    for machine in &machines {
        let mut names: Vec<String> = std::fs::read_dir(machine.join("sys/block"))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        // The first and the last of each: those between are alike.
        names.dedup();
        let some = names.len().min(2);
        for name in names.iter().take(1).chain(names.iter().skip(1).rev().take(some - 1)) {
            let place = tempfile::tempdir().unwrap();
            let file = place.path().join("report.html");
            let (code, _, error) = zerocap(&["show", name, "--report", file.to_str().unwrap()], machine);
            assert_eq!(code, 0, "{name} of {}: {error}", machine.display());
            is_sound(&std::fs::read_to_string(&file).unwrap(), &format!("{name} of {}", machine.display()));
            pages += 1;
        }
    }
    assert!(pages > 60, "{pages}");
}

#[test]
fn what_a_device_or_a_file_says_is_never_markup() {
    let hostile = "<script>alert(1)</script>\"'><img src=x onerror=a>&amp;\u{202e}";
    let dir = machine::untested("\"><b>", hostile);
    machine::test(dir.path(), noisy(), 3, SEGMENT);
    // Texts of the kept file, as somebody may have put them there.
    let file = dir.path().join(format!("etc/zerocap/devices/{IDENTITY}.json"));
    let mut kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    kept["proof"] = serde_json::json!([hostile]);
    kept["scratch"] = hostile.into();
    kept["kernel"] = hostile.into();
    kept["methods"][1]["error"] = hostile.into();
    kept["findings"] = serde_json::json!([{"code": "other-io", "text": hostile}]);
    std::fs::write(&file, kept.to_string()).unwrap();
    std::fs::write(dir.path().join("proc/sys/kernel/osrelease"), hostile).unwrap();
    let page = page_of(dir.path(), DISK);
    is_sound(&page.replace("src=x", "").replace("onerror", ""), "hostile");
    let shown = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img";
    assert!(page.matches(shown).count() >= 6, "{}", page.matches(shown).count());
    assert!(!page.contains("<b>") && !page.contains('\u{202e}') && page.contains("\\xe2\\x80\\xae"));
}

#[test]
fn without_samples_it_says_so_and_draws_the_rest() {
    let dir = machine::untested("ACME", "MODEL");
    machine::test(dir.path(), noisy(), 3, SEGMENT);
    let file = dir.path().join(format!("etc/zerocap/samples/{IDENTITY}.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    for (samples, why) in [
        (text.replace("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"), "from another test"),
        ("{".to_owned(), "cannot be used"),
        (String::new(), "cannot be used"),
    ] {
        std::fs::write(&file, samples).unwrap();
        let page = page_of(dir.path(), DISK);
        is_sound(&page, why);
        assert!(page.contains("No single times") && page.contains(why), "{why}");
        assert!(!page.contains("Every pair") && page.contains("Zero against write"), "{why}");
    }
    std::fs::remove_file(&file).unwrap();
    assert!(page_of(dir.path(), DISK).contains("The next test keeps them."));
    // What was never measured lacks nothing.
    let dir = machine::untested("ACME", "MODEL");
    let page = page_of(dir.path(), DISK);
    assert!(!page.contains("No single times") && page.contains("class=\"unknown\""), "{page}");
}

#[test]
fn only_a_report_is_overwritten() {
    let dir = machine::untested("ACME", "MODEL");
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let ask = |file: &Path| zerocap(&["show", DISK, "--report", file.to_str().unwrap()], dir.path());
    let report = at("report.html");
    assert_eq!(ask(&report).0, 0);
    let first = std::fs::read(&report).unwrap();
    std::fs::write(&report, [&first[..60], b"an older one"].concat()).unwrap();
    assert_eq!(ask(&report).0, 0, "an older report is replaced");
    assert_eq!(std::fs::read(&report).unwrap().len(), first.len());
    for (name, text) in [("notes.html", &b"<!DOCTYPE html>\n<p>mine"[..]), ("empty", b""), ("begins", &first[..20])] {
        std::fs::write(at(name), text).unwrap();
        let (code, out, error) = ask(&at(name));
        assert_eq!(code, 2, "{error}");
        assert!(out.is_empty() && error.contains(name) && error.contains("remove it first"), "{error}");
        assert_eq!(std::fs::read(at(name)).unwrap(), text);
    }
    std::os::unix::fs::symlink(&report, at("link")).unwrap();
    std::fs::create_dir(at("dir")).unwrap();
    for (file, what) in
        [(at("link"), "a link"), (at("dir"), "a directory"), (PathBuf::from("/dev/null"), "not a regular file")]
    {
        let (code, _, error) = ask(&file);
        assert!(code == 2 && error.contains(what), "{code} {error}");
    }
    for missing in [at("no/report.html"), report.join("below")] {
        let (code, _, error) = ask(&missing);
        assert!(code == 1 && error.contains("look at"), "{code} {error}");
    }
    // Of one device, and of one that is there.
    let file = at("other.html");
    let (code, _, error) = zerocap(&["show", "--report", file.to_str().unwrap()], dir.path());
    assert_eq!(code, 2, "{error}");
    let (code, _, error) = zerocap(&["show", "sdz", "--report", file.to_str().unwrap()], dir.path());
    assert_eq!(code, 32, "{error}");
    let mut left: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["begins", "dir", "empty", "link", "notes.html", "report.html"], "and nothing temporary");
}

#[test]
fn the_detail_view_draws_small_versions_of_the_pictures() {
    let dir = machine::untested("ACME", "MODEL");
    machine::test(dir.path(), noisy(), 3, SEGMENT);
    let (_, detail, _) = zerocap(&["show", DISK], dir.path());
    let line =
        |name: &str| detail.lines().find(|l| l.trim_start().split(' ').next() == Some(name)).unwrap_or("").to_owned();
    let (zero, write, pairs) = (line("zero"), line("write"), line("pairs"));
    let cells = |line: &str| line.matches('#').count();
    assert_eq!((cells(&zero), cells(&write)), (50, 6), "8 times as fast\n{detail}");
    assert!([&zero, &write].iter().all(|l| l.len() <= 80 && l.ends_with("MiB/s")), "{detail}");
    let text = std::fs::read_to_string(dir.path().join(format!("etc/zerocap/samples/{IDENTITY}.json"))).unwrap();
    let samples: verdict_format::samples::Samples = serde_json::from_str(&text).unwrap();
    let strip = pairs.split_whitespace().nth(1).unwrap();
    assert_eq!(strip.len(), samples.pairs.len());
    // The quickest pair has the highest cell.
    let quickest =
        (0..strip.len()).max_by(|a, b| samples.pairs[*a].ratio().total_cmp(&samples.pairs[*b].ratio())).unwrap();
    assert_eq!(strip.as_bytes()[quickest], b'#', "{strip}");
    assert!(detail.is_ascii(), "in a file only plain characters");
    // Without samples only the bars; of a device that must not be trusted neither.
    std::fs::remove_dir_all(dir.path().join("etc/zerocap/samples")).unwrap();
    let (_, detail, _) = zerocap(&["show", DISK], dir.path());
    assert!(detail.contains(&zero) && !detail.contains("in order"), "{detail}");
    let liar = zoo(SEGMENT).into_iter().find(|s| s.name == "fails midway").unwrap();
    machine::test(dir.path(), liar.model, 1, SEGMENT);
    let (_, detail, _) = zerocap(&["show", DISK], dir.path());
    assert!(detail.contains("must not be trusted") && !detail.contains("##"), "{detail}");
}
