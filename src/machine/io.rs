//! A buffer that O_DIRECT accepts: its start lies on a 4096-byte boundary. Safe code: a larger vector, used from its
//! first aligned byte on.

/// Largest alignment any Linux block device asks of a buffer (`dma_alignment` is below a page).
const ALIGN: usize = 4096;

/// Zero-filled bytes on an aligned address.
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

/// The place of the first byte that is not zero.
pub fn first_not_zero(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|b| *b != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_page() {
        for length in [0, 1, 512, 1 << 20] {
            let mut a = Aligned::zeroed(length);
            assert_eq!(a.as_ptr() as usize % ALIGN, 0);
            assert_eq!(a.len(), length);
            a.fill(1);
        }
    }
}
