//! A recorded machine with one SCSI disk on which a whole test was made: its times are those of a simulated device, its
//! measurement and its samples are kept as the program keeps them.

use super::{conditions, measured};
use std::path::Path;
use tempfile::TempDir;
use zerocap::facts::{self, Depth, Facts};
use zerocap::jobs::target;
use zerocap::machine::simulated::Model;
use zerocap::machine::Roots;
use zerocap::protocol::result::{self, Conditions};
use zerocap::protocol::samples;
use zerocap::store;

/// The name of the disk.
pub const DISK: &str = "sda";
/// Its identity, which is the name of its files too.
pub const IDENTITY: &str = "naa.50014ee2b1c2d3e4";

fn put(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("{text}\n")).unwrap();
}

/// A machine with the disk, of this vendor's model; nothing is kept.
pub fn untested(vendor: &str, model: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let disk = format!("sys/block/{DISK}");
    for (path, text) in [
        ("dev", "8:0"),
        ("diskseq", "7"),
        ("size", "2097152"),
        ("device/vendor", vendor),
        ("device/model", model),
        ("device/rev", "1.0"),
        ("device/wwid", IDENTITY),
        ("device/scsi_disk/0:0:0:0/zeroing_mode", "writesame_16_unmap"),
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "4096"),
        ("queue/write_zeroes_max_bytes", "2097152"),
        ("queue/write_zeroes_unmap_max_hw_bytes", "2097152"),
        ("queue/write_zeroes_unmap_max_bytes", "2097152"),
        ("queue/discard_granularity", "4096"),
        ("queue/rotational", "0"),
    ] {
        put(dir.path(), &format!("{disk}/{path}"), text);
    }
    put(dir.path(), "proc/sys/kernel/osrelease", "6.17.0");
    dir
}

/// The roots of such a machine, and the facts of its disk.
pub fn look(dir: &Path) -> (Roots, Facts) {
    let roots = Roots::new(Some(dir), None).unwrap();
    let device = target::named(&roots, DISK).unwrap();
    let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
    (roots, facts)
}

/// Makes the test on a device of this model, with segments of so many bytes, and keeps what it gave.
pub fn test(dir: &Path, model: Model, seed: u64, segment: u64) {
    let (_, result, kept) = measured(model, seed, segment);
    let (outcome, _) = kept.unwrap_or_else(|| panic!("nothing was kept: {result:?}"));
    let (roots, facts) = look(dir);
    let conditions = Conditions { block: 512, proof: vec!["nobody else has it open".to_owned()], ..conditions() };
    let measurement = result::of_run(&facts, &conditions, &outcome);
    store::measurements::save(&roots, &facts, &measurement).unwrap();
    store::samples::save(&roots, &facts, &samples::of_run(&facts, &conditions, &outcome)).unwrap();
}
