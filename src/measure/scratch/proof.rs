//! What a proof knows, asks and gives. Types alone: what is proved stands in the files beside this one.

use super::linear::Tables;
use crate::device::{Device, Devnum};
use crate::machine::block::hold::{Hold, Opened};
use crate::machine::fs::root::Root;
use crate::machine::lvm::Own;
use crate::machine::port::file_acts::Extent;
use crate::machine::port::ScratchRange;
use crate::machine::udev::Resumed;
use crate::units::MIB;

/// The most that a test uses of a thinly provisioned device, in bytes.
pub const THIN_LIMIT: u64 = 64 * MIB;

/// The GPT name of a partition that is scratch.
pub const LABEL: &str = "zerocap-scratch";

/// What the caller knows of the device that the proof rests on.
#[derive(Debug, Clone)]
pub struct Known {
    /// `zoned` is not known to be `none`, though the kernel has the file.
    pub zoned: bool,
    /// `ro` is not known to be clear.
    pub read_only: bool,
    /// Why the device counts as thinly provisioned, if it does.
    pub thin: Option<String>,
    /// Names of other present devices that bear the same identity.
    pub same_identity: Vec<String>,
    /// `--thin-ok`.
    pub thin_ok: bool,
    /// Why other machines may use the medium too, if they may.
    pub shared: Option<String>,
    /// `--shared-ok`.
    pub shared_ok: bool,
    /// The device was made for this test by this process: nobody else knows of it.
    pub private: bool,
    /// What the device deallocates at once, in bytes; 0 where it does not say.
    pub granularity: u64,
}

/// A proved range.
#[derive(Debug)]
pub struct Proof {
    /// The range.
    pub range: ScratchRange,
    /// `partition`, `label`, `range`, `gap`, `swap`, `lv`, `directory`, or `vg` for a logical volume that was made for the test.
    pub kind: &'static str,
    /// A line a check.
    pub checks: Vec<String>,
    /// The number of the partition that bounds the range, and whether the test makes it.
    pub partition: Option<(u64, bool)>,
    /// The most that may be used, in bytes.
    pub limit: u64,
    /// Whether the device provisions thinly.
    pub thin: bool,
    /// Whether the range is a partition whose GPT name says that it is scratch.
    pub labelled: bool,
    /// Whether all of it was read and is zero: a gap, which nobody named.
    pub is_zero: bool,
    /// Whether what lies there is nobody's, inactive swap space: it is neither kept nor put back.
    pub ownerless: bool,
    /// See [`Known::private`].
    pub private: bool,
    /// What the whole disk said when it was locked.
    pub opened: Opened,
    /// The logical volume that the range is a part of, where it is one.
    pub volume: Option<Volume>,
    /// What it rests on where the range is one of a file that was made for the test.
    pub file: Option<InFile>,
}

impl Proof {
    /// A proof of a range that rests on these checks: nobody's partition, volume or file, and all of it may be used.
    pub fn of(range: ScratchRange, kind: &'static str, checks: Vec<String>, opened: Opened) -> Proof {
        Proof {
            limit: range.length,
            range,
            kind,
            checks,
            partition: None,
            thin: false,
            labelled: false,
            is_zero: false,
            ownerless: false,
            private: false,
            opened,
            volume: None,
            file: None,
        }
    }
}

/// What a proof asks: the system's files, the disk that is held, and what it says.
pub struct Asked<'a> {
    /// Files of the system.
    pub root: &'a Root,
    /// The disk is locked through it.
    pub hold: &'a mut dyn Hold,
    /// What the disk said when it was locked.
    pub opened: Opened,
}

/// The volume of a proof.
#[derive(Debug)]
pub struct Volume {
    /// The device.
    pub device: Device,
    /// What device mapper calls it, whatever its name becomes.
    pub uuid: String,
    /// Its table and those that it leads through, as they were.
    pub tables: Tables,
    /// The volume's own limit refuses FALLOC_FL_WRITE_ZEROES.
    pub gated: bool,
    /// It was made for the test, and is removed after it.
    pub made: Option<Own>,
    /// Tells of suspensions that are over; none where nothing will be tested.
    pub(super) resumed: Option<Resumed>,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The directory.
    pub directory: String,
    /// The number of its file system.
    pub filesystem: Devnum,
    /// The type of that: `ext4`.
    pub kind: String,
    /// Where it is mounted, escaped.
    pub mount_point: String,
    /// Bytes of a block of it.
    pub block: u64,
    /// Bytes of the file.
    pub length: u64,
}

/// What the range of a file rests on.
#[derive(Debug, Clone)]
pub struct InFile {
    /// What was asked for.
    pub wanted: Wanted,
    /// Where the file system has put the range, by its own word.
    pub extents: Vec<Extent>,
    /// The device-mapper tables that lead to the disk.
    pub tables: Tables,
}

impl Proof {
    /// What is kept of where the test was made.
    pub fn place(&self) -> String {
        let of = self.file.as_ref().map(|f| &f.wanted);
        of.map_or_else(|| self.kind.to_owned(), |w| format!("{} {} ({})", self.kind, w.mount_point, w.kind))
    }
}
