//! Each rule and a near miss; what the call really does is held against them in a guest (tests/vm/t/files-cow-long.sh).

use super::*;
use crate::device::Devnum;
use crate::fact::Why;
use crate::facts::file::FileMap;
use crate::machine::fs::location::Place;
use crate::machine::fs::path_info::Marks;

fn on(filesystem: &str) -> OnPath {
    let no = Some(false);
    OnPath {
        path: "/m/file".to_owned(),
        filesystem: filesystem.to_owned(),
        mount_point: "/m".to_owned(),
        real: "/m/file".to_owned(),
        number: Devnum { major: 8, minor: 1 },
        options: vec!["rw".to_owned()],
        layers: Vec::new(),
        read_only: false,
        is_file: true,
        marks: Marks {
            immutable: false,
            append_only: false,
            encrypted: no,
            extents: Some(true),
            no_cow: no,
            compressed: no,
            journaled: no,
            realtime: no,
        },
        place: Place::Devices(Vec::new()),
    }
}

fn file() -> FileFacts {
    let map = FileMap { size: 1000, looked_at: 1000, written: 1000, ..FileMap::default() };
    FileFacts {
        file: Some((Fact::Known(1000), Fact::Known(map))),
        ext4_options: Fact::Known(vec!["rw".to_owned(), "delalloc".to_owned(), "data=ordered".to_owned()]),
        xfs_zoned: false,
        xfs_always_cow: Fact::ABSENT,
        f2fs_policy: Fact::Known(16),
        snapshots: Vec::new(),
    }
}

fn with_map(of: impl Fn(&mut FileMap)) -> FileFacts {
    let mut map = FileMap { size: 1000, looked_at: 1000, ..FileMap::default() };
    of(&mut map);
    FileFacts { file: Some((Fact::Known(1000), Fact::Known(map))), ..file() }
}

fn no() -> Can {
    Can::No("it does not".to_owned())
}

/// Code, whether it holds, effect.
type Short = (PathCode, Option<bool>, Option<Effect>);

fn short(on: &OnPath, can: &Can, file: &FileFacts) -> Vec<Short> {
    findings(on, can, file).iter().map(|f| (f.code.unwrap(), f.holds, f.effect)).collect()
}

fn marked(filesystem: &str, set: impl Fn(&mut Marks)) -> OnPath {
    let mut on = on(filesystem);
    set(&mut on.marks);
    on
}

const YES: Option<bool> = Some(true);
const FAILS: Option<Effect> = Some(Effect::Fails);

#[test]
fn a_plain_file_has_none() {
    for kind in ["ext4", "xfs"] {
        assert_eq!(short(&on(kind), &Can::Yes, &file()), [], "{kind}");
    }
}

#[test]
fn who_copies_what_is_written_over() {
    let cow = |on: &OnPath| short(on, &no(), &file());
    let copies = vec![(PathCode::CopyOnWrite, YES, FAILS)];
    let unknown = vec![(PathCode::CopyOnWrite, None, None)];
    for kind in ["btrfs", "f2fs"] {
        assert_eq!(cow(&on(kind)), copies, "{kind}");
        assert_eq!(cow(&marked(kind, |m| m.no_cow = Some(true))), [], "{kind}: in place");
        assert_eq!(cow(&marked(kind, |m| m.no_cow = None)), unknown, "{kind}: flags cannot be read");
    }
    for kind in ["nilfs2", "zfs"] {
        assert_eq!(cow(&marked(kind, |m| m.no_cow = None)), copies, "{kind}");
    }
    assert_eq!(cow(&marked("bcachefs", |m| m.no_cow = None)), unknown);
    // The mount option is of what is made from now on.
    let mounted = |is_file| OnPath { options: vec!["nodatacow".to_owned()], is_file, ..on("btrfs") };
    let directory = FileFacts { file: None, ..file() };
    assert_eq!(short(&mounted(false), &no(), &directory), []);
    assert_eq!(cow(&mounted(true)), copies);
}

#[test]
fn a_small_f2fs_writes_in_place() {
    let of = |policy, option: &str| {
        let on = OnPath { options: vec![option.to_owned()], ..on("f2fs") };
        short(&on, &no(), &FileFacts { f2fs_policy: policy, ..file() })
    };
    let copies = vec![(PathCode::CopyOnWrite, YES, FAILS)];
    assert_eq!(of(Fact::Known(0x81), "mode=adaptive"), []);
    assert_eq!(of(Fact::Known(0x81), "mode=lfs"), copies);
    assert_eq!(of(Fact::Known(0x10), "mode=adaptive"), copies);
    assert_eq!(of(Fact::ABSENT, "mode=adaptive"), [(PathCode::CopyOnWrite, None, None)]);
}

#[test]
fn an_xfs_that_copies_always() {
    let of = |zoned, realtime, always: Fact<bool>| {
        let file = FileFacts { xfs_zoned: zoned, xfs_always_cow: always, ..file() };
        short(&marked("xfs", |m| m.realtime = realtime), &no(), &file)
    };
    assert_eq!(of(true, Some(true), Fact::ABSENT), [(PathCode::CopyOnWrite, YES, FAILS)]);
    assert_eq!(of(true, None, Fact::ABSENT), [(PathCode::CopyOnWrite, None, None)]);
    assert_eq!(of(true, Some(false), Fact::ABSENT), []);
    assert_eq!(of(false, Some(false), Fact::Known(true)), [(PathCode::CopyOnWrite, None, None)]);
    assert_eq!(of(false, Some(false), Fact::Known(false)), []);
}

#[test]
fn shares_of_the_file() {
    let lies = with_map(|m| (m.holes, m.unwritten, m.written, m.shared) = (500, 250, 250, 100));
    let said = findings(&on("xfs"), &Can::Yes, &lies);
    let got: Vec<_> = said.iter().map(|f| (f.code.unwrap(), f.share, f.effect)).collect();
    let works = Some(Effect::Works);
    assert_eq!(
        got,
        [
            (PathCode::SharedExtents, Some(0.1), works),
            (PathCode::FileHoles, Some(0.5), works),
            (PathCode::UnwrittenExtents, Some(0.25), works)
        ]
    );
    assert!(said[0].text.contains("10.0 %") && said[0].instead.as_ref().unwrap().contains("UNSHARE"), "{said:?}");
    assert!(said[1].instead.as_ref().unwrap().contains("erase"), "{said:?}");
    // Where the call fails: write them once, but not where that goes elsewhere all the same.
    let said = findings(&on("ext4"), &no(), &lies);
    assert_eq!((said[1].effect, said[1].instead.as_deref()), (FAILS, Some("write zeroes there once, ahead of use")));
    assert!(findings(&on("btrfs"), &no(), &lies)
        .iter()
        .any(|f| f.code == Some(PathCode::FileHoles) && f.instead.is_none()));
    // Whether the call works at all is not known.
    assert_eq!(short(&on("xfs"), &Can::Unknown(String::new()), &lies)[1], (PathCode::FileHoles, YES, None));
}

#[test]
fn a_map_that_is_refused_is_no_map_without_shares() {
    let refused = Fact::Unknown(Why::Refused("FIEMAP: not supported".to_owned()));
    let facts = FileFacts { file: Some((Fact::Known(1000), refused)), ..file() };
    assert_eq!(short(&on("xfs"), &Can::Yes, &facts), [(PathCode::SharedExtents, None, None)]);
    let shares = shares(&facts).unwrap();
    assert_eq!((shares.size_bytes, shares.hole_bytes), (1000, None));
    assert!(shares.unknown.unwrap().contains("FIEMAP"));
}

#[test]
fn snapshots_below() {
    let of = |all: Vec<(&str, Fact<Snapshot>)>| {
        let snapshots = all.into_iter().map(|(name, what)| (name.to_owned(), what)).collect();
        findings(&on("ext4"), &no(), &FileFacts { snapshots, ..file() })
    };
    let refused = || Fact::Unknown(Why::Refused("device mapper: no".to_owned()));
    for what in [Snapshot::Origin, Snapshot::Copy, Snapshot::Thin] {
        let said = of(vec![("dm-3", refused()), ("dm-4", Fact::Known(what))]);
        assert_eq!((said.len(), said[0].code, said[0].holds), (1, Some(PathCode::SnapshotBelow), YES));
        assert!(said[0].text.contains("dm-4") && said[0].text.contains("whether dm-3"), "{said:?}");
    }
    let said = of(vec![("dm-3", refused())]);
    assert_eq!((said[0].holds, said[0].effect), (None, None));
    assert_eq!(of(vec![]), []);
}

#[test]
fn data_in_the_journal() {
    let of = |options: &[&str], all: Option<&[&str]>, mark: Option<bool>| {
        let words = |o: &[&str]| o.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let on = OnPath { options: words(options), ..marked("ext4", |m| m.journaled = mark) };
        let ext4_options = all.map_or(Fact::ABSENT, |o| Fact::Known(words(o)));
        short(&on, &Can::Yes, &FileFacts { ext4_options, ..file() })
    };
    let holds = vec![(PathCode::DataJournal, YES, Some(Effect::GainsLess))];
    let unknown = vec![(PathCode::DataJournal, None, None)];
    let (ordered, plain) = (&["delalloc", "data=ordered"][..], &["nodelalloc", "data=ordered"][..]);
    assert_eq!(of(&["data=journal"], None, None), holds);
    // By the default of the file system, which the mount table leaves out.
    assert_eq!(of(&["rw"], Some(&["nodelalloc", "data=journal"]), Some(false)), holds);
    // The mark alone is not heeded while allocation is delayed.
    assert_eq!(of(&["rw"], Some(ordered), Some(true)), []);
    assert_eq!(of(&["rw"], Some(plain), Some(true)), holds);
    assert_eq!(of(&["rw", "nodelalloc"], Some(plain), Some(false)), []);
    assert_eq!(of(&["rw"], Some(ordered), None), []);
    assert_eq!(of(&["rw"], Some(plain), None), unknown);
    assert_eq!(of(&["rw"], None, Some(false)), unknown);
}

#[test]
fn compressed_and_encrypted() {
    let code = |on: &OnPath, file: &FileFacts| {
        let all = short(on, &no(), file).into_iter().map(|(code, holds, _)| (code, holds));
        all.filter(|(code, _)| *code != PathCode::CopyOnWrite).collect::<Vec<_>>()
    };
    let option = |on: OnPath| OnPath { options: vec!["compress-force=zstd:3".to_owned()], ..on };
    let compressed = vec![(PathCode::FileCompressed, YES)];
    assert_eq!(code(&marked("btrfs", |m| m.compressed = Some(true)), &file()), compressed);
    assert_eq!(code(&option(on("btrfs")), &file()), compressed);
    assert_eq!(code(&option(marked("btrfs", |m| m.no_cow = Some(true))), &file()), []);
    assert_eq!(code(&option(marked("btrfs", |m| m.no_cow = None)), &file()), [(PathCode::FileCompressed, None)]);
    assert_eq!(code(&marked("f2fs", |m| m.compressed = None), &file()), [(PathCode::FileCompressed, None)]);
    let was = with_map(|m| (m.written, m.encoded) = (1000, 100));
    assert_eq!(code(&on("btrfs"), &was), compressed);
    // Neither ext4 nor xfs compresses, whatever the flag says.
    assert_eq!(code(&marked("ext4", |m| m.compressed = Some(true)), &file()), []);

    assert_eq!(code(&marked("ext4", |m| m.encrypted = None), &file()), [(PathCode::FileEncrypted, None)]);
    assert_eq!(code(&marked("xfs", |m| m.encrypted = None), &file()), []);
    let written = Can::Written("ciphertext".to_owned());
    let said = short(&marked("ext4", |m| m.encrypted = Some(true)), &written, &file());
    assert_eq!(said, [(PathCode::FileEncrypted, YES, Some(Effect::Writes))]);
}
