//! The bodies of the fuzz targets: bytes in, a panic where a promise is broken. Shared by the fuzzer and by the replay of
//! the corpora.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use zerocap::assess;
use zerocap::fact::Fact;
use zerocap::facts::ata;
use zerocap::facts::field::{walk, Field};
use zerocap::facts::nvme;
use zerocap::facts::nvme::fields;
use zerocap::facts::scsi::fields as scsi_fields;
use zerocap::facts::scsi::vpd;
use zerocap::facts::Depth;
use zerocap::facts::Facts;
use zerocap::facts::Reading;
use zerocap::machine::block::devices;
use zerocap::machine::block::dm_status;
use zerocap::machine::fs::durable::{Durable, SimulatedDurable};
use zerocap::machine::fs::mounts;
use zerocap::machine::Roots;
use zerocap::measure::journal;
use zerocap::measure::partition_table::{Table, TableKind};
use zerocap::output::small::Glyphs;
use zerocap::store::intents::Intents;
use zerocap::store::measurements;

#[path = "fleet.rs"]
mod fleet;

/// What runs over one input.
pub type Body = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: &[(&str, Body)] = &[
    ("nvme_id_ctrl", |data| page(fields::ID_CTRL, data)),
    ("nvme_id_ns", nvme_id_ns),
    ("nvme_id_ctrl_nvm", |data| page(fields::ID_CTRL_NVM, data)),
    ("nvme_id_ns_nvm", |data| page(fields::ID_NS_NVM, data)),
    ("nvme_id_ns_independent", |data| page(fields::ID_NS_INDEPENDENT, data)),
    ("scsi_inquiry", |data| page(scsi_fields::INQUIRY, data)),
    ("scsi_read_capacity_16", |data| page(scsi_fields::READ_CAPACITY_16, data)),
    ("scsi_vpd_83", scsi_vpd_83),
    ("scsi_vpd_89", scsi_vpd_89),
    ("scsi_vpd_b0", |data| vpd_page(0xb0, scsi_fields::VPD_B0, data)),
    ("scsi_vpd_b1", |data| vpd_page(0xb1, scsi_fields::VPD_B1, data)),
    ("scsi_vpd_b2", |data| vpd_page(0xb2, scsi_fields::VPD_B2, data)),
    ("partition_table", partition_table),
    ("policy", policy),
    ("mountinfo", mountinfo),
    ("kept", kept),
    ("intent", intent),
    ("journal", journal),
    ("dm_status", dm_status),
    ("machine", machine),
    ("fleet", fleet::fleet),
];

/// Runs one target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(n, _)| *n == name).expect("a target of this name");
    target.1(data);
}

/// Nothing that a device said may reach a terminal raw.
fn printable(text: &str) {
    assert!(!text.chars().any(zerocap::device::display::is_deceptive), "{text:?}");
}

fn check(readings: &[Reading]) {
    for r in readings {
        let why = r.raw.why().map(ToString::to_string);
        [r.raw.known(), r.says.as_ref(), why.as_ref()].into_iter().flatten().for_each(|t| printable(t));
    }
}

fn page(table: &[&Field], data: &[u8]) {
    let page = Fact::Known(data.to_vec());
    let mut readings = Vec::new();
    walk(table, &page, &mut readings);
    assert_eq!(readings.len(), table.len());
    check(&readings);
    for field in table {
        if let Some(value) = field.value(&page).get() {
            assert!(data.len() >= field.offset + field.width, "{} beyond the page", field.spec_name);
            assert!(value <= field.mask >> field.mask.trailing_zeros(), "{} wider than its mask", field.spec_name);
        }
    }
}

fn vpd_page(code: u8, table: &[&Field], data: &[u8]) {
    if let Fact::Known(whole) = vpd::checked(code, data.to_vec()) {
        assert!(whole.len() <= data.len() && whole[1] == code);
        page(table, &whole);
    }
    page(table, data);
}

fn nvme_id_ns(data: &[u8]) {
    page(fields::ID_NS, data);
    if let Fact::Known(format) = nvme::lba_format(&Fact::Known(data.to_vec())) {
        assert!((9..=31).contains(&format.lbads));
    }
}

fn scsi_vpd_83(data: &[u8]) {
    let whole = vpd::checked(0x83, data.to_vec());
    let mut readings = Vec::new();
    vpd::show_designators(&whole, &mut readings);
    vpd::show_designators(&Fact::Known(data.to_vec()), &mut readings);
    check(&readings);
}

fn scsi_vpd_89(data: &[u8]) {
    let mut readings = Vec::new();
    ata::parse(&Fact::Known(data.to_vec()), &mut readings);
    check(&readings);
    vpd_page(0x89, ata::VPD_89, data);
}

/// The device is the data itself, at its begin and, for the second half of a GPT, at its end.
fn partition_table(data: &[u8]) {
    let [block, size, rest @ ..] = data else { return };
    let block = 512u64 << (block % 4);
    let size = (rest.len() as u64).max(block).saturating_add(u64::from(*size) * (block * 7));
    let mut asked = 0usize;
    let mut read = |offset: u64, length: usize| {
        asked += length;
        // A bounded reader: a table cannot make it read for ever.
        assert!(asked < 64 << 20, "{asked} bytes read");
        let mut bytes = vec![0u8; length];
        let shift = if offset > size / 2 { size.saturating_sub(rest.len() as u64) } else { 0 };
        for (i, b) in bytes.iter_mut().enumerate() {
            let at = (offset + i as u64).checked_sub(shift);
            *b = at.and_then(|at| rest.get(at as usize)).copied().unwrap_or(0);
        }
        Some(bytes)
    };
    let table = Table::read(size, block, &mut read);
    table.entries.iter().for_each(|e| printable(&e.name));
    table.notes.iter().for_each(|n| printable(n));
    if let TableKind::Malformed(why) = &table.kind {
        printable(why);
        assert!(table.conflict(size / 2, block).is_some(), "a malformed table is in the way of everything");
    }
    for entry in table.entries.iter().filter(|e| e.first_byte < e.end_byte) {
        assert!(table.conflict(entry.first_byte, entry.end_byte - entry.first_byte).is_some(), "{entry:?}");
    }
}

fn policy(data: &[u8]) {
    use zerocap::policy::{format, matcher};
    let text = String::from_utf8_lossy(data);
    let (rules, problems) = format::parse("x.toml", &text);
    problems.iter().for_each(|p| printable(p));
    let node = "/dev/sda";
    let subject = matcher::Subject {
        kind: Some("scsi"),
        vendor: Some("ATA"),
        model: Some("X"),
        firmware: None,
        serial: Some("S1"),
        path: Some(node),
        driver: Some("sd"),
        identity: Some("naa.5"),
    };
    let (policy, _, wrong) = matcher::resolve(&rules, &subject);
    wrong.iter().for_each(|p| printable(p));
    assert!(policy.fast_ratio.is_finite() && policy.knob_off_below.is_finite());
}

/// What the parser keeps of a line is written and read again as the same; a path lies on one of the mounts or on none.
fn mountinfo(data: &[u8]) {
    let mounts = mounts::parse(data);
    for mount in &mounts {
        let again = mounts::parse(mount.line().as_bytes());
        let [again] = again.as_slice() else { panic!("{mount:?}: {again:?}") };
        assert_eq!((again.id, again.parent, &again.point), (mount.id, mount.parent, &mount.point));
    }
    for path in ["/", "/a", "/a/b/c"].into_iter().chain(mounts.iter().take(8).map(|m| m.point.as_str())) {
        if let Some(found) = mounts::above(&mounts, path) {
            assert!(Path::new(path).starts_with(&found.point), "{path}: {found:?}");
        }
    }
}

/// A directory of one file of this content.
fn holding(name: &str, data: &[u8]) -> SimulatedDurable {
    let mut files = SimulatedDurable::default();
    files.replace(name, data).expect("memory takes all");
    files
}

/// A kept file that is used holds together, and nothing of one reaches a terminal raw.
fn kept(data: &[u8]) {
    let identity = serde_json::from_slice::<serde_json::Value>(data).ok();
    let identity = identity.as_ref().and_then(|v| v["identity"].as_str()).unwrap_or("naa.5");
    let name = format!("{}.json", zerocap::device::Identity::file_name_of(identity));
    if let Ok(m) = measurements::listed(&holding(&name, data), &name) {
        assert_eq!(m.contradiction(), None);
        let text = serde_json::to_string(&m).expect("a measurement is JSON");
        text.lines().for_each(printable);
    }
}

fn intent(data: &[u8]) {
    let intents = Intents::new(holding("x", data), holding("8:0", data));
    if let Ok(all) = intents.all() {
        assert!(all.len() <= 1);
    }
    if let Ok(Some(word)) = intents.of("x") {
        let again = serde_json::to_vec(&word).expect("an intent is JSON");
        let read = Intents::new(holding("x", &again), SimulatedDurable::default()).of("x");
        assert_eq!(read.ok().flatten().as_ref(), Some(&word));
    }
    assert!(intents.open_in_this_boot(zerocap::device::Devnum { major: 8, minor: 0 }));
}

/// Bytes of nobody, and a good journal with some bytes turned over and its tail cut: what is given as content is what was
/// written.
fn journal(data: &[u8]) {
    if let Ok(journal::Read::There(there)) = journal::read(&holding("j", data), "j") {
        there.damaged();
    }
    let header = journal::Header {
        piece: 1024,
        ..journal::simulated_header(zerocap::machine::port::pattern::RunId(7, 9), 1 << 20, (512, 2560))
    };
    let content =
        |offset: u64, length: u64| (offset..offset + length).map(|n| (n / 512) as u8 + 1).collect::<Vec<u8>>();
    let mut files = SimulatedDurable::default();
    journal::write(&mut files, "j", &header, |o, n| Ok(content(o, n))).expect("memory takes all");
    let mut bytes = files.read("j").ok().flatten().expect("what was written");
    for change in data.chunks_exact(3).take(64) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] ^= change[2];
    }
    if let Some(cut) = data.chunks_exact(3).remainder().first() {
        bytes.truncate(bytes.len() * usize::from(*cut) / 255);
    }
    if let Ok(journal::Read::There(there)) = journal::read(&holding("j", &bytes), "j") {
        assert_eq!(there.header, header, "a damaged head is not read as another one");
        for (offset, length) in header.pieces() {
            if let Ok(Some(read)) = there.content(offset, length) {
                assert_eq!(read, content(offset, length), "a damaged piece is not read as content");
            }
        }
    }
}

fn dm_status(data: &[u8]) {
    if let Some(targets) = dm_status::targets(data) {
        assert!(targets.len() <= data.len() / 40 + 1);
    }
}

/// Device names that lead to every arm of the gathering.
const NAMES: &[&str] = &["sda", "nvme0n1", "dm-0", "md0", "vda", "loop0", "mmcblk0", "nvme1c0n1", "zram0", "sdb"];

/// What a machine may hold; `%` is the device's name.
const PATHS: &[&str] = &[
    "sys/block/%/queue/write_zeroes_max_bytes",
    "sys/block/%/queue/write_zeroes_unmap_max_hw_bytes",
    "sys/block/%/queue/write_zeroes_unmap_max_bytes",
    "sys/block/%/queue/discard_max_bytes",
    "sys/block/%/queue/discard_granularity",
    "sys/block/%/queue/logical_block_size",
    "sys/block/%/queue/physical_block_size",
    "sys/block/%/queue/rotational",
    "sys/block/%/size",
    "sys/block/%/dev",
    "sys/block/%/hidden",
    "sys/block/%/wwid",
    "sys/block/%/serial",
    "sys/block/%/dm/uuid",
    "sys/block/%/md/level",
    "sys/block/%/loop/backing_file",
    "sys/block/%/device/vendor",
    "sys/block/%/device/model",
    "sys/block/%/device/quirks",
    "sys/block/%/device/vpd_pgb0",
    "sys/block/%/device/vpd_pgb2",
    "sys/block/%/device/vpd_pg83",
    "sys/block/%/device/inquiry",
    "sys/block/%/device/scsi_disk/0:0:0:0/zeroing_mode",
    "sys/block/%/device/scsi_disk/0:0:0:0/thin_provisioning",
    "sys/block/%/device/scsi_disk/0:0:0:0/max_write_same_blocks",
    "sys/block/%/slaves/sdb",
    "sys/block/sdb/queue/write_zeroes_max_bytes",
    "commands/%/nvme-id-ctrl.bin",
    "commands/%/nvme-id-ns.bin",
    "commands/%/nvme-id-ns.err",
    "commands/%/scsi-read-capacity-16.bin",
    "commands/%/scsi-vpd-b2.err",
    "proc/sys/kernel/osrelease",
    "udev/%",
    "etc/zerocap/policy.d/50.toml",
    "etc/zerocap/devices/virtio.S1.json",
];

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// A directory in memory, used again for every input: a root for each name, whose directories are there from the start,
/// so that an input costs its own files only and leaves the next one nothing.
struct Place {
    dir: PathBuf,
}

impl Place {
    fn new() -> Place {
        let base = if Path::new("/dev/shm").is_dir() { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
        let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "-");
        let dir = base.join(format!("zerocap-fuzz-{}-{thread}", std::process::id()));
        for name in NAMES {
            for path in PATHS {
                let file = dir.join(name).join(path.replace('%', name));
                fs::create_dir_all(file.parent().expect("a file in a directory")).expect("a directory for the machine");
            }
        }
        Place { dir }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// An input is a device's name, then records of a path, a length and content. A path beyond the list makes a link with
/// the content as its target; a content of one byte 0xff a directory.
fn machine(data: &[u8]) {
    let [name, rest @ ..] = data else { return };
    let name = NAMES[usize::from(*name) % NAMES.len()];
    PLACE.with_borrow_mut(|place| {
        let dir = place.get_or_insert_with(Place::new).dir.join(name);
        let (mut rest, mut made) = (rest, Vec::new());
        while let [path, low, high, tail @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
            let (content, after) = tail.split_at(length);
            rest = after;
            let wanted = usize::from(*path);
            let at = dir.join(PATHS[wanted % PATHS.len()].replace('%', name));
            // The first record of a path counts. Never through a link: it might lead out of the directory.
            let done = match (wanted >= 2 * PATHS.len(), content) {
                (_, [0xff]) => fs::create_dir(&at),
                (true, target) => symlink(OsStr::from_bytes(target), &at),
                (false, content) => fs::File::create_new(&at).and_then(|mut f| f.write_all(content)),
            };
            if done.is_ok() {
                made.push(at);
            }
        }
        look(&dir, name);
        for path in made {
            let gone = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
            gone.expect("what an input made goes with it");
        }
    });
}

fn look(dir: &Path, name: &str) {
    let Ok(roots) = Roots::new(Some(dir), None) else { return };
    let device = devices::device(&roots.system, name);
    let picture = assess::look_at(&roots, roots.port().as_mut(), &device, Depth::All, &mut |text| printable(text));
    let facts: &Facts = &picture.facts;
    check(&facts.readings);
    let json = picture.document.json();
    let back: serde_json::Value = serde_json::from_str(&json).expect("valid JSON");
    assert_eq!(back["device"]["name"], name);
    let probe = verdict_format::answers::json(&zerocap::assess::document::probe(facts, &picture.document));
    serde_json::from_str::<serde_json::Value>(&probe).expect("valid JSON");
    let mut text = Vec::new();
    zerocap::output::detail::write(&mut text, &picture.document, None, Glyphs::PLAIN).expect("a Vec takes all");
    let answer = zerocap::assess::document::probe(facts, &picture.document);
    zerocap::output::probe::write(&mut text, &answer, &picture.document).expect("a Vec takes all");
    String::from_utf8(text).expect("UTF-8").lines().for_each(printable);
    if facts.queue.write_zeroes_max.known().is_none() && picture.verdict.measurement.is_none() {
        let pinned = picture.verdict.basis.is_some();
        assert!(pinned || picture.verdict.class.as_str() == "unknown", "a class without evidence");
    }
}
