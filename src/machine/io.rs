//! Whole reads and writes at an offset, the first byte that is not zero, and a buffer that O_DIRECT accepts.

use rustix::io::{Errno, Result};
use std::os::fd::AsFd;

/// Largest alignment any Linux block device asks of a buffer (`dma_alignment` is below a page).
const ALIGN: usize = 4096;

/// Reads until the buffer is full; the end of the file before that is EIO.
pub fn read_all(fd: impl AsFd, bytes: &mut [u8], offset: u64) -> Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pread(&fd, &mut bytes[done..], offset + done as u64) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Writes all of it; a device that takes nothing more is EIO.
pub fn write_all(fd: impl AsFd, bytes: &[u8], offset: u64) -> Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pwrite(&fd, &bytes[done..], offset + done as u64) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Where the first byte lies that is not zero; `None` where all are.
pub fn first_not_zero(bytes: &[u8]) -> Option<usize> {
    const ZEROES: [u8; 4096] = [0; 4096];
    // One comparison of memory a chunk first: the loop over bytes runs only where there is something to find.
    let chunk = bytes.chunks(ZEROES.len()).position(|chunk| *chunk != ZEROES[..chunk.len()])? * ZEROES.len();
    bytes[chunk..].iter().position(|b| *b != 0).map(|at| chunk + at)
}

/// Zero-filled bytes on an aligned address: a larger vector, used from its first aligned byte on.
#[derive(Debug)]
pub struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// `length` zero bytes.
    pub fn zeroed(length: usize) -> Aligned {
        let bytes = vec![0u8; length + ALIGN];
        let start = bytes.as_ptr().align_offset(ALIGN);
        Aligned { bytes, start, length }
    }
}

impl std::ops::Deref for Aligned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl std::ops::DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_reads_and_writes() {
        let file = tempfile::tempfile().unwrap();
        write_all(&file, b"hello", 3).unwrap();
        let mut back = [1u8; 8];
        read_all(&file, &mut back, 0).unwrap();
        assert_eq!(&back, b"\0\0\0hello");
        assert_eq!(read_all(&file, &mut back, 1), Err(Errno::IO), "a byte less than asked for");
        assert_eq!(read_all(&file, &mut [], 100), Ok(()));
    }

    #[test]
    fn the_first_byte_that_is_not_zero() {
        let mut bytes = vec![0u8; 10_000];
        assert_eq!(first_not_zero(&bytes), None);
        assert_eq!(first_not_zero(&[]), None);
        for at in [9_999, 8_192, 4_096, 4_095, 1, 0] {
            bytes[at] = 1;
            assert_eq!(first_not_zero(&bytes), Some(at));
        }
    }

    #[test]
    fn a_buffer_starts_on_a_page() {
        for length in [0, 1, 512, 1 << 20] {
            let mut a = Aligned::zeroed(length);
            assert_eq!(a.as_ptr() as usize % ALIGN, 0);
            assert_eq!(a.len(), length);
            a.fill(1);
        }
    }
}
