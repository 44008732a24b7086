//! The journal: the old content of the bytes that a test will overwrite, kept where a power cut cannot destroy it.
//!
//! Form: a line `zerocap-journal 2`, a line of JSON ([`Header`]), 32 bytes of SHA-256 over both; then for each piece of the
//! span its content and 32 bytes of SHA-256 over the header's digest, the number of the piece and the content. So a damaged
//! piece does not affect the others. The intent has the digest of the whole. Files are read and written through [`Durable`]
//! only.

use crate::device::{display, Instance};
use crate::error::{Error, Result};
use crate::machine::fs::durable::Durable;
use crate::machine::port::pattern::RunId;
use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

const MAGIC: &[u8] = b"zerocap-journal 2\n";
/// Bytes of SHA-256.
const DIGEST: u64 = 32;
/// Bytes in which magic and header line must have their end.
const MOST_HEAD: u64 = 64 << 10;
/// Bytes of a piece: one read, one append, one digest.
pub const PIECE: u64 = 4 << 20;

/// What the content belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The run: seed of its pattern, and its witness.
    pub run: RunId,
    /// When, RFC 3339.
    pub at: String,
    /// The boot in which the test ran.
    pub boot_id: Option<String>,
    /// The whole device's name at the time.
    pub device: String,
    /// Its number at the time.
    #[serde(default)]
    pub devnum: Option<String>,
    /// Its identity's text; null for a device without one.
    pub identity: Option<String>,
    /// The disk's sequence number.
    pub diskseq: Option<u64>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its logical block size in bytes.
    pub logical_block: u64,
    /// What the medium changes as a whole, in bytes: the witness has this length.
    pub physical_block: u64,
    /// The node's place on the whole device, in bytes.
    pub node_offset: u64,
    /// The node's length in bytes where it is a partition.
    pub node_length: Option<u64>,
    /// The number of the partition that bounds the range.
    pub partition: Option<u64>,
    /// Whether that partition was made by the test and is to be taken away.
    pub temporary: bool,
    /// First byte (on the node) and length of the journalled span, in bytes. Its first and last block bear the witness.
    pub span: (u64, u64),
    /// Bytes of a piece of it.
    pub piece: u64,
    /// Whether the device provisions thinly: blocks that were zero are put back by a verified punch.
    pub thin: bool,
    /// Device mapper's name for the logical volume that is the node, where it is one.
    #[serde(default)]
    pub volume: Option<String>,
}

impl Header {
    /// What tells the device from the next one of its number.
    pub fn instance(&self) -> Instance {
        Instance { diskseq: self.diskseq, boot_id: self.boot_id.clone(), size_bytes: Some(self.size_bytes) }
    }

    /// The first byte and the byte after the last of the span, on the whole device.
    pub fn on_device(&self) -> (u64, u64) {
        let first = self.node_offset.saturating_add(self.span.0);
        (first, first.saturating_add(self.span.1))
    }

    /// Where a byte of the node lies on the device that is looked at: the whole device, or the volume that is the node.
    pub fn place(&self, on_node: u64) -> u64 {
        if self.volume.is_some() {
            on_node
        } else {
            self.node_offset.saturating_add(on_node)
        }
    }

    /// The bytes of a block of the witness.
    pub fn witness_block(&self) -> u64 {
        self.physical_block.max(self.logical_block).max(512)
    }

    /// The places of the witness on the node: the first and the last block of the span.
    pub fn witnesses(&self) -> [u64; 2] {
        let (start, length) = self.span;
        [start, (start + length).saturating_sub(self.witness_block())]
    }

    /// The same, each with the byte of the whole device that it speaks of.
    pub fn witness_places(&self) -> Vec<(u64, u64)> {
        self.witnesses().map(|at| (at, self.node_offset.saturating_add(at))).to_vec()
    }

    /// The pieces: offset on the node and length.
    pub fn pieces(&self) -> impl Iterator<Item = (u64, u64)> {
        let ((start, length), piece) = (self.span, self.piece.max(1));
        (0..length.div_ceil(piece)).map(move |i| (start + i * piece, piece.min(length - i * piece)))
    }
}

/// A journal whose head is whole. Its content stays in the file, and is read in parts.
pub struct Journal<'a> {
    /// What the content belongs to.
    pub header: Header,
    /// The digest of the whole, as the intent has it; `None` where a piece is missing or damaged.
    pub digest: Option<String>,
    files: &'a dyn Durable,
    name: String,
    /// Where the first piece begins in the file.
    first: u64,
    /// Whether each piece is as it was written.
    intact: Vec<bool>,
}

impl Journal<'_> {
    /// Bytes of the content from an offset on the node, which must lie in one piece; `None` where that piece is damaged.
    pub fn content(&self, offset: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let malformed = || Error::Malformed {
            path: self.shown(),
            what: format!("it does not hold the {length} bytes at byte {offset} in one piece"),
        };
        let piece = self.header.piece.max(1);
        let at = offset.checked_sub(self.header.span.0).ok_or_else(malformed)?;
        let number = at / piece;
        let whole = at + length <= self.header.span.1 && (at + length).div_ceil(piece) == number + 1;
        let intact = *self.intact.get(number as usize).filter(|_| whole).ok_or_else(malformed)?;
        if !intact {
            return Ok(None);
        }
        let from = self.first + at + number * DIGEST;
        let bytes = self.files.part(&self.name, from, length)?.unwrap_or_default();
        if bytes.len() as u64 == length {
            Ok(Some(bytes))
        } else {
            Err(malformed())
        }
    }

    /// The pieces that are missing or damaged: offset on the node and length.
    pub fn damaged(&self) -> Vec<(u64, u64)> {
        self.header.pieces().zip(&self.intact).filter(|(_, intact)| !**intact).map(|(piece, _)| piece).collect()
    }

    /// How the file is named in a message.
    pub fn shown(&self) -> String {
        self.files.shown(&self.name).display().to_string()
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
    /// Its head makes no sense, so nothing in it can be placed: why.
    Damaged(String),
    /// Its head is whole; pieces may be damaged.
    There(Box<Journal<'a>>),
}

/// Writes a journal piece by piece, and syncs it; `next` gives the content of each piece in order. Gives the digest of the
/// whole. A file of that name that is there already is never touched: it may be the last copy of some device's content.
pub fn write(
    files: &mut dyn Durable,
    name: &str,
    header: &Header,
    mut next: impl FnMut(u64, u64) -> Result<Vec<u8>>,
) -> Result<String> {
    if files.part(name, 0, 1)?.is_some() {
        let what = "the journal of an earlier test is still there; run `zerocap recover` first".to_owned();
        return Err(Error::Malformed { path: files.shown(name).display().to_string(), what });
    }
    // Made here and by nobody else: never through a link, and never over what came meanwhile.
    files.create(name)?;
    let written = append(files, name, header, &mut next).and_then(|digest| files.sync(name).map(|()| digest));
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
) -> Result<String> {
    let mut head = MAGIC.to_vec();
    head.extend(serde_json::to_vec(header).map_err(|e| Error::file(files.shown(name), "write", e))?);
    head.push(b'\n');
    let head_digest = Sha256::hash(&head);
    head.extend_from_slice(&head_digest);
    files.append(name, &head)?;
    let mut whole = Sha256::new();
    whole.update(head_digest);
    for (number, (offset, length)) in header.pieces().enumerate() {
        let mut content = next(offset, length)?;
        let digest = piece_digest(&head_digest, number as u64, &content);
        whole.update(digest);
        content.extend_from_slice(&digest);
        files.append(name, &content)?;
    }
    Ok(display::hex(&whole.finalize()))
}

fn piece_digest(head: &[u8], number: u64, content: &[u8]) -> [u8; DIGEST as usize] {
    let mut digest = Sha256::new();
    digest.update(head);
    digest.update(number.to_le_bytes());
    digest.update(content);
    digest.finalize()
}

/// Reads a journal piece by piece and checks every digest.
pub fn read<'a>(files: &'a dyn Durable, name: &str) -> Result<Read<'a>> {
    let Some(head) = files.part(name, 0, MOST_HEAD)? else { return Ok(Read::None) };
    let damaged = |why: &str| Ok(Read::Damaged(why.to_owned()));
    let Some(rest) = head.strip_prefix(MAGIC) else { return damaged("it is not a journal of this version") };
    let Some(line) = rest.iter().position(|b| *b == b'\n') else { return damaged("it has no header line") };
    let text = MAGIC.len() + line + 1;
    let digest: [u8; DIGEST as usize] = Sha256::hash(&head[..text]);
    if head.get(text..text + DIGEST as usize) != Some(&digest[..]) {
        return damaged("its header is damaged");
    }
    let header: Header = match serde_json::from_slice(&rest[..line]) {
        Ok(header) => header,
        Err(e) => return damaged(&format!("its header is from another version: {e}")),
    };
    let first = text as u64 + DIGEST;
    let mut whole = Sha256::new();
    whole.update(digest);
    let (mut intact, mut at) = (Vec::new(), first);
    for (number, (_, length)) in header.pieces().enumerate() {
        let bytes = files.part(name, at, length + DIGEST)?.unwrap_or_default();
        let (content, written) = bytes.split_at(bytes.len().min(length as usize));
        let digest = piece_digest(&digest, number as u64, content);
        intact.push(written == digest);
        whole.update(digest);
        at += length + DIGEST;
    }
    let digest = intact.iter().all(|i| *i).then(|| display::hex(&whole.finalize()));
    Ok(Read::There(Box::new(Journal { header, digest, files, name: name.to_owned(), first, intact })))
}

/// The header of a simulated device's journal.
pub fn simulated_header(run: RunId, size_bytes: u64, span: (u64, u64)) -> Header {
    Header {
        run,
        at: "simulated".to_owned(),
        boot_id: None,
        device: "simulated".to_owned(),
        devnum: None,
        identity: None,
        diskseq: None,
        size_bytes,
        logical_block: 512,
        physical_block: 512,
        node_offset: 0,
        node_length: None,
        partition: None,
        temporary: false,
        span,
        piece: PIECE,
        thin: false,
        volume: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fs::durable::SimulatedDurable;

    fn header() -> Header {
        Header { piece: 1024, ..simulated_header(RunId(7, 9), 1 << 20, (512, 2560)) }
    }

    fn content(offset: u64, length: u64) -> Vec<u8> {
        (offset..offset + length).map(|n| (n / 512) as u8 + 1).collect()
    }

    fn written() -> (SimulatedDurable, String, Vec<u8>) {
        let mut files = SimulatedDurable::default();
        let digest = write(&mut files, "j", &header(), |o, n| Ok(content(o, n))).unwrap();
        let bytes = files.read("j").unwrap().unwrap();
        (files, digest, bytes)
    }

    fn with(bytes: &[u8]) -> SimulatedDurable {
        let mut files = SimulatedDurable::default();
        files.append("j", bytes).unwrap();
        files
    }

    #[test]
    fn what_was_written_is_read_back() {
        let (files, digest, _) = written();
        let Read::There(journal) = read(&files, "j").unwrap() else { panic!("there") };
        assert_eq!((&journal.header, journal.digest.as_ref()), (&header(), Some(&digest)));
        assert_eq!(journal.content(512, 1024).unwrap().unwrap(), content(512, 1024));
        assert_eq!(journal.content(2560, 512).unwrap().unwrap(), content(2560, 512));
        for (offset, length) in [(0, 512), (1024, 1024), (3072, 1), (2560, 1024)] {
            assert!(journal.content(offset, length).is_err(), "{offset}+{length} is in no single piece");
        }
        assert!(matches!(read(&files, "k").unwrap(), Read::None));
        assert_eq!(header().witnesses(), [512, 2560]);
    }

    #[test]
    fn a_flipped_byte_damages_only_one_piece_or_the_header() {
        let (_, digest, bytes) = written();
        let first = bytes.len() - 2560 - 3 * 32;
        for at in (0..bytes.len()).step_by(13) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            let files = with(&flipped);
            match read(&files, "j").unwrap() {
                Read::Damaged(_) => assert!(at < first, "{at}"),
                Read::There(journal) => {
                    assert!(at >= first && journal.digest.is_none(), "{at}");
                    assert_eq!(journal.damaged().len(), 1, "{at}");
                    let (bad, _) = journal.damaged()[0];
                    assert_eq!(journal.content(bad, 512).unwrap(), None);
                    let other = if bad == 512 { 1536 } else { 512 };
                    assert_eq!(journal.content(other, 1024).unwrap().unwrap(), content(other, 1024), "{at}");
                }
                Read::None => panic!("{at}"),
            }
        }
        assert!(!digest.is_empty());
    }

    #[test]
    fn a_cut_tail_of_the_journal_loses_only_its_own_pieces() {
        let (_, _, bytes) = written();
        for end in (0..bytes.len()).step_by(61) {
            match read(&with(&bytes[..end]), "j").unwrap() {
                Read::There(journal) => assert!(journal.digest.is_none() && !journal.damaged().is_empty(), "{end}"),
                Read::Damaged(_) => {}
                Read::None => panic!("{end}"),
            };
        }
    }

    #[test]
    fn an_existing_journal_is_never_overwritten() {
        for there in [&b"cut off"[..], b""] {
            let mut files = with(there);
            assert!(write(&mut files, "j", &header(), |o, n| Ok(content(o, n))).is_err());
            assert_eq!(files.read("j").unwrap().as_deref(), Some(there));
        }
    }
}
