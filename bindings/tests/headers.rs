//! Every constant, size and offset of `src/generated.rs` against the headers a machine has,
//! by the machine's C compiler: `generated.rs` was made elsewhere, from newer headers.
//!
//! What is compared is read out of the text of `generated.rs`, so that nothing added there
//! can be forgotten here. Older headers lack some of it. A name that the compiler does not
//! know is reported and not counted as wrong; a name that it knows must have our value.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GENERATED: &str = include_str!("../src/generated.rs");

/// Includes what there is. nvme/types.h comes with libnvme's development package, which
/// few machines have; the rest comes with every C compiler.
const PRELUDE: &str = "\
#include <stddef.h>
#if __has_include(<nvme/types.h>)
#include <nvme/types.h>
#endif
#if __has_include(<linux/nvme_ioctl.h>)
#include <linux/nvme_ioctl.h>
#endif
#if __has_include(<scsi/sg.h>)
#include <scsi/sg.h>
#endif
#if __has_include(<linux/fs.h>)
#include <linux/fs.h>
#endif
#if __has_include(<linux/falloc.h>)
#include <linux/falloc.h>
#endif
#if __has_include(<linux/blkpg.h>)
#include <linux/blkpg.h>
#endif
#if __has_include(<linux/loop.h>)
#include <linux/loop.h>
#endif
";

/// Known to differ in older headers.
///
/// * The vendor area of a namespace came 8 bytes later in libnvme 1.3, which had LBSTM in
///   front of it; nobody reads either there.
/// * OPTPERF was one bit before version 2.1 of the base specification, and two from then
///   on. Whoever tests it has to look at the controller's version first.
const MAY_DIFFER: &[&str] = &["offsetof(struct nvme_id_ns, vs)", "NVME_NS_FEAT_IO_OPT"];

/// Kernel interface of old, in the headers of any machine that can run this: when one of
/// these is not found, the test is broken and not the machine old.
const EVERYWHERE: &[&str] = &[
    "BLKZEROOUT",
    "BLKGETSIZE64",
    "FALLOC_FL_PUNCH_HOLE",
    "LOOP_CTL_GET_FREE",
    "LO_FLAGS_READ_ONLY",
    "NVME_IOCTL_ADMIN_CMD",
    "SG_IO",
    "sizeof(struct nvme_passthru_cmd)",
    "offsetof(struct sg_io_hdr, info)",
];

/// A C expression and the value it has in Rust.
struct Claim {
    c: String,
    value: i64,
}

/// What `generated.rs` claims. bindgen writes a constant as `pub const NAME: type = value;`
/// and a layout as `["Offset of field: s::f"][::core::mem::offset_of!(s, f) - 33usize];`,
/// which rustc has checked for Rust's side before this test can run.
fn claims() -> Vec<Claim> {
    // rustfmt breaks long ones over two lines.
    let flat = GENERATED.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut claims = Vec::new();
    for statement in flat.split(';').map(str::trim) {
        if let Some((_, constant)) = statement.split_once("pub const ") {
            let parts = constant
                .split_once(": ")
                .and_then(|(name, rest)| Some((name, rest.split_once(" = ")?.1.parse().ok()?)));
            let (name, value) = parts.unwrap_or_else(|| panic!("not understood: {statement}"));
            claims.push(Claim { c: name.to_owned(), value });
        } else if let Some(value) = statement.strip_suffix("usize]") {
            let value = value.rsplit(' ').next().and_then(|v| v.parse().ok());
            let value = value.unwrap_or_else(|| panic!("not understood: {statement}"));
            let label = statement.split('"').nth(1).unwrap_or_default();
            // The names bindgen gives to what has none in C; see below.
            if label.contains("__bindgen_") {
                continue;
            }
            let c = if let Some(name) = label.strip_prefix("Size of ") {
                format!("sizeof(struct {name})")
            } else if let Some(name) = label.strip_prefix("Alignment of ") {
                format!("_Alignof(struct {name})")
            } else if let Some((name, field)) = label.strip_prefix("Offset of field: ").and_then(|l| l.split_once("::"))
            {
                format!("offsetof(struct {name}, {field})")
            } else {
                panic!("not understood: {statement}");
            };
            claims.push(Claim { c, value });
        }
    }
    // The one anonymous union.
    for field in ["data_len", "vec_cnt"] {
        let offset = std::mem::offset_of!(nvme_cli_sys::nvme_passthru_cmd64, __bindgen_anon_1);
        claims.push(Claim {
            c: format!("offsetof(struct nvme_passthru_cmd64, {field})"),
            value: i64::try_from(offset).expect("an offset is small"),
        });
    }
    claims
}

/// Past the test harness, which keeps what a passing test prints to itself.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "headers: {line}");
}

/// Compiles one assertion a line after the prelude; `None` when there is no compiler.
fn compile(name: &str, flags: &[String], assertions: &[String]) -> Option<Output> {
    let mut source = String::from(PRELUDE);
    for assertion in assertions {
        let _ = writeln!(source, "_Static_assert({assertion}, \"\");");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, source).expect("the target directory can be written");
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c11", "-fsyntax-only", "-fmax-errors=0", "-x", "c"])
        .args(flags)
        .arg(&file)
        .env("LC_ALL", "C")
        .output()
        .ok()
}

/// The indices of the assertions that the compiler complained about.
fn refused(output: &Output) -> Vec<usize> {
    let first = PRELUDE.lines().count() + 1;
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<usize> = text
        .lines()
        .filter(|line| line.contains(": error:"))
        .filter_map(|line| line.split(".c:").nth(1)?.split(':').next()?.parse().ok())
        .filter_map(|line: usize| line.checked_sub(first))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn check(what: &str, file: &str, flags: &[String]) {
    let claims = claims();

    // First every expression by itself: what does not even compile is not there.
    let known: Vec<String> = claims.iter().map(|c| format!("({0}) == ({0})", c.c)).collect();
    let Some(output) = compile(&format!("{file}-known.c"), flags, &known) else {
        return say(&format!("{what}: not run: no C compiler (cc, or $CC)"));
    };
    let absent = refused(&output);
    assert!(
        output.status.success() || !absent.is_empty(),
        "the headers do not compile:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let (there, missing): (Vec<_>, Vec<_>) =
        claims.iter().enumerate().partition(|(i, _)| absent.binary_search(i).is_err());
    let there: Vec<&Claim> = there.into_iter().map(|(_, claim)| claim).collect();
    let equal: Vec<String> = there.iter().map(|c| format!("(long long)({}) == {}LL", c.c, c.value)).collect();
    let output = compile(&format!("{file}-equal.c"), flags, &equal).expect("cc ran before");
    let unequal: Vec<&Claim> = refused(&output).into_iter().map(|i| there[i]).collect();
    let (changed, wrong): (Vec<_>, Vec<_>) = unequal.iter().partition(|c| MAY_DIFFER.contains(&c.c.as_str()));
    assert!(
        output.status.success() || !unequal.is_empty(),
        "the headers do not compile:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let list = |claims: &[&&Claim]| claims.iter().map(|c| c.c.as_str()).collect::<Vec<_>>().join(", ");
    assert!(wrong.is_empty(), "{what} have other values for: {}", list(&wrong));
    for needed in EVERYWHERE {
        assert!(there.iter().any(|c| c.c == *needed), "{what} do not know {needed}");
    }

    say(&format!("{what}: {} of {} checked and equal", there.len() - unequal.len(), claims.len()));
    if !changed.is_empty() {
        say(&format!("{what}: another value there, as is known of old headers: {}", list(&changed)));
    }
    let missing: Vec<&str> = missing.iter().map(|(_, claim)| claim.c.as_str()).collect();
    if there.iter().any(|c| c.c == "sizeof(struct nvme_id_ns)") {
        if !missing.is_empty() {
            say(&format!("{what}: not known there: {}", missing.join(", ")));
        }
    } else {
        let libnvme =
            |c: &&&str| !c.contains("passthru") && !c.starts_with("NVME_IOCTL") && c.to_lowercase().contains("nvme");
        let kernel: Vec<&str> = missing.iter().copied().filter(|c| !libnvme(&c)).collect();
        say(&format!(
            "{what}: not checked: {} of NVMe's structures and masks, libnvme's headers are not installed",
            missing.len() - kernel.len()
        ));
        if !kernel.is_empty() {
            say(&format!("{what}: not known there: {}", kernel.join(", ")));
        }
    }
}

#[test]
fn the_claims_in_the_identify_pages_are_found() {
    let claims = claims();
    let value = |c: &str| claims.iter().find(|claim| claim.c == c).map(|claim| claim.value);
    assert_eq!(value("offsetof(struct nvme_id_ns, dlfeat)"), Some(33));
    assert_eq!(value("sizeof(struct sg_io_hdr)"), Some(88));
    assert_eq!(value("SG_DXFER_FROM_DEV"), Some(-3));
    assert_eq!(value("NVME_IOCTL_ADMIN_CMD"), Some(0xc048_4e41));
    // Each `pub const` and each assertion but those of the anonymous union's names.
    assert_eq!(claims.iter().filter(|c| !c.c.contains('(')).count(), GENERATED.matches("pub const ").count());
}

#[test]
fn installed_headers() {
    check("installed headers", "installed", &[]);
}

#[test]
fn fetched_headers() {
    let headers = std::env::var_os("BINDINGS_HEADERS")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bindings-headers"), PathBuf::from);
    let include = headers.join("usr/include");
    if !include.is_dir() {
        return say("fetched headers: not run: bindings/fetch has not fetched any");
    }
    // Before the system's own directories. The packages are those of one architecture,
    // with whose compiler-dependent headers another's compiler may not get along.
    if !cfg!(target_arch = "x86_64") {
        return say("fetched headers: not run: they are for x86_64");
    }
    let flags: Vec<String> = [include.clone(), include.join("x86_64-linux-gnu")]
        .iter()
        .flat_map(|dir| ["-isystem".to_owned(), dir.display().to_string()])
        .collect();
    check("fetched headers", "fetched", &flags);
}
