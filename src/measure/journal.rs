//! The journal: the old content of what a test will overwrite, kept where a power cut cannot take it.
//!
//! Form: a line `zerocap-journal 1`, a line of JSON ([`Header`]), the content of the segments in order, and 32 bytes of
//! SHA-256 over all before. It is synced before the first write to the device; a journal whose digest does not fit was
//! never finished, so nothing was written under it. Reads and writes files through [`Durable`] only.

use crate::error::{Error, Result};
use crate::machine::fs::durable::Durable;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"zerocap-journal 1\n";
/// Bytes of SHA-256.
const DIGEST: usize = 32;
/// Bytes of one read of the file; magic and header are shorter.
const PIECE: u64 = 1 << 20;

/// What the content belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The seed of the run's pattern.
    pub seed: u64,
    /// When, RFC 3339.
    pub at: String,
    /// The boot in which the test ran.
    pub boot_id: Option<String>,
    /// The whole device's name at the time.
    pub device: String,
    /// Its identity's text; null for a device without one, which is then known by diskseq and boot.
    pub identity: Option<String>,
    /// The disk's sequence number.
    pub diskseq: Option<u64>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its logical block size in bytes.
    pub logical_block: u64,
    /// The node's place on the whole device, in bytes.
    pub node_offset: u64,
    /// The node's length in bytes where it is a partition.
    pub node_length: Option<u64>,
    /// The number of the partition that bounds the range.
    pub partition: Option<u64>,
    /// Whether that partition was made by the test and is to be taken away.
    pub temporary: bool,
    /// Offset (on the node) and length of each span, in bytes.
    pub spans: Vec<(u64, u64)>,
    /// Whether the device provisions thinly: blocks that were zero are put back by a verified punch.
    pub thin: bool,
}

impl Header {
    /// Bytes of content.
    pub fn content_bytes(&self) -> u64 {
        self.spans.iter().map(|(_, length)| length).sum()
    }
}

/// A finished journal. Its content stays in the file, and is read in pieces.
pub struct Journal<'a> {
    /// What the content belongs to.
    pub header: Header,
    files: &'a dyn Durable,
    name: String,
    /// Where the content begins in the file.
    content: u64,
}

impl Journal<'_> {
    /// A piece of the content, by its place among all spans one after the other.
    pub fn piece(&self, from: u64, length: u64) -> Result<Vec<u8>> {
        let bytes = self.files.part(&self.name, self.content + from, length)?.unwrap_or_default();
        // Past the content stands the digest.
        if bytes.len() as u64 != length || from + length > self.header.content_bytes() {
            let path = self.files.shown(&self.name).display().to_string();
            return Err(Error::Malformed { path, what: format!("no {length} bytes of content at {from}") });
        }
        Ok(bytes)
    }
}

impl std::fmt::Debug for Journal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("name", &self.name).field("header", &self.header).finish_non_exhaustive()
    }
}

/// What a journal file is.
#[derive(Debug)]
pub enum Read<'a> {
    /// There is none.
    None,
    /// It was never finished: nothing was written to the device under it.
    Unfinished,
    /// It is whole.
    Whole(Box<Journal<'a>>),
}

/// Writes a journal piece by piece; `next` gives the content of each span in order.
pub fn write(
    files: &mut dyn Durable,
    name: &str,
    header: &Header,
    mut next: impl FnMut(u64, u64) -> Result<Vec<u8>>,
) -> Result<()> {
    // A whole one is all that is left of some device's content: only recovery, or a person, may remove it.
    if let Read::Whole(_) = read(files, name)? {
        let what = "the journal of an earlier test is still there; run `zerocap recover` first".to_owned();
        return Err(Error::Malformed { path: files.shown(name).display().to_string(), what });
    }
    files.remove(name)?;
    let written = append(files, name, header, &mut next).and_then(|()| files.sync(name));
    if written.is_err() {
        // Nothing was written to the device yet: one that stays all the same says what is there anyway.
        let _ = files.remove(name);
    }
    written
}

fn append(
    files: &mut dyn Durable,
    name: &str,
    header: &Header,
    next: &mut dyn FnMut(u64, u64) -> Result<Vec<u8>>,
) -> Result<()> {
    let mut digest = Sha256::new();
    let mut head = MAGIC.to_vec();
    head.extend(serde_json::to_vec(header).map_err(|e| Error::file(files.shown(name), "write", e))?);
    head.push(b'\n');
    digest.update(&head);
    files.append(name, &head)?;
    for (offset, length) in &header.spans {
        let content = next(*offset, *length)?;
        digest.update(&content);
        files.append(name, &content)?;
    }
    files.append(name, &digest.finalize())
}

/// Reads a journal piece by piece and checks its digest.
pub fn read<'a>(files: &'a dyn Durable, name: &str) -> Result<Read<'a>> {
    let (mut digest, mut last, mut length) = (Sha256::new(), Vec::new(), 0u64);
    loop {
        let Some(piece) = files.part(name, length, PIECE)? else { return Ok(Read::None) };
        if piece.is_empty() {
            break;
        }
        length += piece.len() as u64;
        last.extend(piece);
        // What may be the digest waits for what comes after it.
        let body = last.len().saturating_sub(DIGEST);
        digest.update(&last[..body]);
        last.drain(..body);
    }
    if digest.finalize()[..] != last[..] {
        return Ok(Read::Unfinished);
    }
    let malformed =
        |what: &str| Error::Malformed { path: files.shown(name).display().to_string(), what: what.to_owned() };
    // From here on the digest fits: a form that cannot be read is another version's, not an unfinished one.
    let head = files.part(name, 0, PIECE)?.unwrap_or_default();
    let rest = head
        .strip_prefix(MAGIC)
        .ok_or_else(|| malformed("not a journal of this version; use the one that wrote it"))?;
    let line = rest.iter().position(|b| *b == b'\n').ok_or_else(|| malformed("no header line"))?;
    let header: Header = serde_json::from_slice(&rest[..line]).map_err(|e| malformed(&format!("header: {e}")))?;
    let content = (MAGIC.len() + line + 1) as u64;
    if length != content + header.content_bytes() + DIGEST as u64 {
        return Err(malformed("the content is not as long as the header says"));
    }
    Ok(Read::Whole(Box::new(Journal { header, files, name: name.to_owned(), content })))
}

/// The header of a simulated device's journal.
pub fn simulated_header(seed: u64, size_bytes: u64, spans: Vec<(u64, u64)>) -> Header {
    Header {
        seed,
        at: "simulated".to_owned(),
        boot_id: None,
        device: "simulated".to_owned(),
        identity: None,
        diskseq: None,
        size_bytes,
        logical_block: 512,
        node_offset: 0,
        node_length: None,
        partition: None,
        temporary: false,
        spans,
        thin: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fs::durable::SimulatedDurable;

    #[test]
    fn whole_or_unfinished_at_every_cut() {
        let header = simulated_header(7, 1 << 20, vec![(0, 1024), (4096, 512)]);
        let content = |_, length: u64| Ok(vec![1; length as usize]);
        let mut files = SimulatedDurable::default();
        write(&mut files, "j", &header, content).unwrap();
        let Read::Whole(journal) = read(&files, "j").unwrap() else { panic!("whole") };
        assert_eq!(journal.header, header);
        assert_eq!(journal.piece(1000, 100).unwrap(), [1; 100]);
        assert!(journal.piece(1024, 513).is_err() && journal.piece(1537, 1).is_err(), "the digest is no content");
        let bytes = files.read("j").unwrap().unwrap();
        for end in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
            let mut cut = SimulatedDurable::default();
            cut.append("j", &bytes[..end]).unwrap();
            assert!(matches!(read(&cut, "j").unwrap(), Read::Unfinished), "{end}");
        }
        assert!(matches!(read(&files, "k").unwrap(), Read::None));
    }

    #[test]
    fn a_whole_one_is_never_overwritten() {
        let mut files = SimulatedDurable::default();
        let write_one = |files: &mut SimulatedDurable, fill: u8| {
            write(files, "j", &simulated_header(7, 1 << 20, vec![(0, 512)]), |_, length| {
                Ok(vec![fill; length as usize])
            })
        };
        files.append("j", b"cut off").unwrap();
        write_one(&mut files, 1).unwrap();
        assert!(write_one(&mut files, 2).is_err());
        let Read::Whole(journal) = read(&files, "j").unwrap() else { panic!("whole") };
        assert_eq!(journal.piece(0, 512).unwrap(), [1; 512]);
    }

    #[test]
    fn another_version_is_not_thrown_away() {
        let mut body = b"zerocap-journal 2\n{}\n".to_vec();
        let digest = Sha256::digest(&body);
        body.extend_from_slice(&digest);
        let mut files = SimulatedDurable::default();
        files.append("j", &body).unwrap();
        assert!(read(&files, "j").is_err());
    }
}
