//! Reads the published document of a device, and trusts it only if root owns the file and nobody else may write it, if this
//! package knows its format, and if it is about the disk that has the number now.

use crate::{Devnum, Document, Kind, FORMAT};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where zerocap publishes.
pub const DIRECTORY: &str = "/run/zerocap";

/// No document comes near this size; what is larger is none.
const MOST: u64 = 1 << 20;
/// Why there is no answer, where that is not simply that nothing is published.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// No block device has this number.
    NoDevice(Devnum),
    /// A file could not be read.
    Io(PathBuf, std::io::Error),
    /// The file is not a regular file of root that only root may write.
    NotTrusted(PathBuf),
    /// The file is no document.
    NotADocument(PathBuf, String),
    /// The document has another format number.
    OtherFormat(PathBuf, u64),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::NoDevice(devnum) => write!(f, "no block device has the number {devnum}"),
            ReadError::Io(path, e) => write!(f, "{}: read: {e}", path.display()),
            ReadError::NotTrusted(path) => {
                write!(
                    f,
                    "{}: only a file that root owns and only root may write is used; this one is not",
                    path.display()
                )
            }
            ReadError::NotADocument(path, why) => {
                write!(f, "{}: this is not a document of zerocap: {why}", path.display())
            }
            ReadError::OtherFormat(path, format) => {
                write!(f, "{}: it has format {format}, but this program reads format {FORMAT}", path.display())
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// The published document of a device, or of the disk of a partition. `None`: nothing is published of this very disk, so
/// that its class counts as `unknown`.
///
/// # Errors
/// Where no device has the number, and where the file must not be believed.
pub fn read(devnum: Devnum) -> Result<Option<Document>, ReadError> {
    read_below(Path::new("/sys"), Path::new(DIRECTORY), 0, devnum)
}

/// As [`read`], with the mount of sysfs, the directory and the owner that is believed: for a container that sees them at
/// other places, and for tests.
///
/// # Errors
/// As [`read`].
pub fn read_below(sysfs: &Path, directory: &Path, owner: u32, devnum: Devnum) -> Result<Option<Document>, ReadError> {
    let (disk, diskseq, size) = disk_of(sysfs, devnum)?;
    let path = directory.join(format!("{disk}.json"));
    let failed = |e| ReadError::Io(path.clone(), e);
    // Before it is opened: what is no regular file, as a pipe, may block whoever opens it.
    let named = match std::fs::symlink_metadata(&path) {
        Ok(named) => named,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
    };
    if !trusted(&named, owner) {
        return Err(ReadError::NotTrusted(path));
    }
    let file = match File::open(&path) {
        Ok(file) => file,
        // It was removed in between.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
    };
    // A newer document may have been renamed into its place meanwhile, so that is asked of what is open.
    if !trusted(&file.metadata().map_err(failed)?, owner) {
        return Err(ReadError::NotTrusted(path));
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).map_err(failed)?;
    accept(&bytes, diskseq, size).map_err(|e| e.at(path))
}

/// Whether file and owner are such as to be believed.
fn trusted(meta: &Metadata, owner: u32) -> bool {
    meta.is_file() && meta.uid() == owner && meta.mode() & 0o022 == 0 && meta.len() <= MOST
}

/// The number and the sequence number of the disk that a number belongs to; a partition has neither a document nor a
/// sequence number of its own. On a kernel before 5.15, which has none, `None` and the size in bytes.
fn disk_of(sysfs: &Path, devnum: Devnum) -> Result<(Devnum, Option<u64>, Option<u64>), ReadError> {
    let link = sysfs.join(format!("dev/block/{devnum}"));
    let mut dir = match std::fs::canonicalize(&link) {
        Ok(dir) => dir,
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(ReadError::NoDevice(devnum)),
        Err(e) => return Err(ReadError::Io(link, e)),
    };
    let mut disk = devnum;
    if dir.join("partition").exists() {
        dir.pop();
        let text = std::fs::read_to_string(dir.join("dev")).map_err(|e| ReadError::Io(dir.join("dev"), e))?;
        disk = text.parse().map_err(|()| ReadError::NoDevice(devnum))?;
    }
    let path = dir.join("diskseq");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((disk, text.trim_end().parse().ok(), None)),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let sectors = std::fs::read_to_string(dir.join("size")).ok();
            let sectors = sectors.and_then(|text| text.trim_end().parse::<u64>().ok());
            Ok((disk, None, sectors.and_then(|n| n.checked_mul(512))))
        }
        Err(e) => Err(ReadError::Io(path, e)),
    }
}

/// Why bytes are no document; [`ReadError`] without the path.
#[derive(Debug)]
pub struct Rejected(Option<u64>, String);

impl Rejected {
    fn at(self, path: PathBuf) -> ReadError {
        match self.0 {
            Some(format) => ReadError::OtherFormat(path, format),
            None => ReadError::NotADocument(path, self.1),
        }
    }
}

/// The document in these bytes; `None` where it is of another disk than the one with this sequence number. Where neither has
/// one (Linux before 5.15), the size in bytes has to be that of the disk, as far as both are known.
///
/// # Errors
/// Where the bytes are no document, or one of another format.
pub fn accept(bytes: &[u8], diskseq: Option<u64>, size: Option<u64>) -> Result<Option<Document>, Rejected> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| Rejected(None, e.to_string()))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => return Err(Rejected(Some(format), String::new())),
        None => return Err(Rejected(None, "it has no format number".to_owned())),
    }
    let document: Document = serde_json::from_value(value).map_err(|e| Rejected(None, e.to_string()))?;
    if document.kind != Kind::Verdict {
        return Err(Rejected(None, format!("its type is {}", document.kind)));
    }
    let device = &document.device;
    let resized = device.size_bytes.zip(size).is_some_and(|(then, now)| then != now);
    Ok((device.diskseq == diskseq && (diskseq.is_some() || !resized)).then_some(document))
}
