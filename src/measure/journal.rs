//! The journal: the old content of what a test will overwrite, kept where a power cut cannot take it.
//!
//! Form: a line `zerocap-journal 1`, a line of JSON ([`Header`]), the content of the segments in order, and 32 bytes of
//! SHA-256 over all before. It is synced before the first write to the device; a journal whose digest does not fit was
//! never finished, so nothing was written under it. Reads and writes files through [`Durable`] only.

use crate::error::{Error, Result};
use crate::machine::durable::Durable;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"zerocap-journal 1\n";

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

/// A finished journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// What the content belongs to.
    pub header: Header,
    /// The content of the spans, one after the other.
    pub content: Vec<u8>,
}

impl Journal {
    /// The content of one span by its number.
    pub fn span(&self, index: usize) -> Option<&[u8]> {
        let start: u64 = self.header.spans.iter().take(index).map(|(_, length)| length).sum();
        let length = self.header.spans.get(index)?.1;
        self.content.get(start as usize..(start + length) as usize)
    }
}

/// What a journal file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// There is none.
    None,
    /// It was never finished: nothing was written to the device under it.
    Unfinished,
    /// It is whole.
    Whole(Box<Journal>),
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

/// Reads a journal and checks its digest.
pub fn read(files: &dyn Durable, name: &str) -> Result<Read> {
    let Some(bytes) = files.read(name)? else { return Ok(Read::None) };
    let Some((body, digest)) = bytes.split_last_chunk::<32>() else { return Ok(Read::Unfinished) };
    if Sha256::digest(body)[..] != digest[..] {
        return Ok(Read::Unfinished);
    }
    let malformed =
        |what: &str| Error::Malformed { path: files.shown(name).display().to_string(), what: what.to_owned() };
    // From here on the digest fits: a form that cannot be read is another version's, not an unfinished one.
    let rest = body
        .strip_prefix(MAGIC)
        .ok_or_else(|| malformed("not a journal of this version; use the one that wrote it"))?;
    let line = rest.iter().position(|b| *b == b'\n').ok_or_else(|| malformed("no header line"))?;
    let header: Header = serde_json::from_slice(&rest[..line]).map_err(|e| malformed(&format!("header: {e}")))?;
    let content = rest[line + 1..].to_vec();
    if content.len() as u64 != header.content_bytes() {
        return Err(malformed("the content is not as long as the header says"));
    }
    Ok(Read::Whole(Box::new(Journal { header, content })))
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
    use crate::machine::durable::SimulatedDurable;

    #[test]
    fn whole_or_unfinished_at_every_cut() {
        let header = simulated_header(7, 1 << 20, vec![(0, 1024), (4096, 512)]);
        let content = |offset: u64, length: u64| Ok(vec![offset as u8 + 1; length as usize]);
        let mut files = SimulatedDurable::default();
        write(&mut files, "j", &header, content).unwrap();
        let Read::Whole(journal) = read(&files, "j").unwrap() else { panic!("whole") };
        assert_eq!(journal.header, header);
        assert_eq!(journal.span(1), Some(&[1u8; 512][..]));
        assert_eq!(journal.span(2), None);
        let bytes = files.read("j").unwrap().unwrap();
        for end in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
            let mut cut = SimulatedDurable::default();
            cut.append("j", &bytes[..end]).unwrap();
            assert_eq!(read(&cut, "j").unwrap(), Read::Unfinished, "{end}");
        }
        assert_eq!(read(&files, "k").unwrap(), Read::None);
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
        assert_eq!(journal.content, [1; 512]);
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
