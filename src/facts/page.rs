//! Reads fields of a page at the offsets of a specification. It checks the bounds: a short page is malformed, and never
//! causes a panic.

use crate::fact::Fact;
use crate::fact::Why;
use crate::machine::port::AskError;

/// The bytes of one reply.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a>(pub &'a [u8]);

impl<'a> Page<'a> {
    /// `N` bytes at an offset.
    pub fn bytes<const N: usize>(&self, offset: usize) -> Fact<[u8; N]> {
        let end = offset.checked_add(N);
        match end.and_then(|end| self.0.get(offset..end)).and_then(|s| <[u8; N]>::try_from(s).ok()) {
            Some(b) => Fact::Known(b),
            None => Fact::malformed(format!(
                "it has {} bytes, but byte {} is needed",
                self.0.len(),
                offset.saturating_add(N).saturating_sub(1)
            )),
        }
    }

    /// One byte.
    pub fn u8(&self, offset: usize) -> Fact<u8> {
        self.bytes::<1>(offset).map(|[b]| b)
    }
    /// Little-endian, as NVMe writes.
    pub fn le16(&self, offset: usize) -> Fact<u16> {
        self.bytes(offset).map(u16::from_le_bytes)
    }
    /// Little-endian, as NVMe writes.
    pub fn le32(&self, offset: usize) -> Fact<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }
    /// Little-endian, as NVMe writes.
    pub fn le64(&self, offset: usize) -> Fact<u64> {
        self.bytes(offset).map(u64::from_le_bytes)
    }
    /// Big-endian, as SCSI writes.
    pub fn be16(&self, offset: usize) -> Fact<u16> {
        self.bytes(offset).map(u16::from_be_bytes)
    }
    /// Big-endian, as SCSI writes.
    pub fn be32(&self, offset: usize) -> Fact<u32> {
        self.bytes(offset).map(u32::from_be_bytes)
    }
    /// Big-endian, as SCSI writes.
    pub fn be64(&self, offset: usize) -> Fact<u64> {
        self.bytes(offset).map(u64::from_be_bytes)
    }
}

/// A reply, or why there is none, as a fact.
pub fn reply(answer: Result<Vec<u8>, AskError>) -> Fact<Vec<u8>> {
    match answer {
        Ok(bytes) => Fact::Known(bytes),
        Err(AskError::NotAsked) => Fact::NOT_ASKED,
        Err(AskError::TimedOut) => Fact::Unknown(Why::TimedOut),
        Err(other) => Fact::Unknown(Why::Refused(other.to_string())),
    }
}
