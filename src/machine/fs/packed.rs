//! A file of lines that somebody made elsewhere, plain or compressed by gzip or zstd, read as a stream. The first bytes
//! decide how it is compressed, and never its name. It does not look at the lines.

use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::FrameDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// What is read at once.
const CHUNK: usize = 64 * 1024;

/// Opens a file, or standard input where the name is `-`.
pub fn open(name: &str) -> Result<impl BufRead> {
    let source: Box<dyn Read> = match name {
        "-" => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(Path::new(name)).map_err(|e| Error::file(name, "open", e))?),
    };
    unpacked(source).map_err(|e| Error::file(name, "read", e))
}

/// The bytes as they were before they were packed.
pub fn unpacked(mut source: Box<dyn Read>) -> io::Result<impl BufRead> {
    let mut start = Vec::new();
    source.by_ref().take(4).read_to_end(&mut start)?;
    let whole: Box<dyn Read> = match start.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(again(start, source))),
        // A frame, or one that is to be skipped, with which a file may begin.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Box::new(Frames::new(again(start, source))),
        _ => Box::new(io::Cursor::new(start).chain(source)),
    };
    Ok(BufReader::with_capacity(CHUNK, whole))
}

type Again = BufReader<io::Chain<io::Cursor<Vec<u8>>, Box<dyn Read>>>;

fn again(start: Vec<u8>, source: Box<dyn Read>) -> Again {
    BufReader::with_capacity(CHUNK, io::Cursor::new(start).chain(source))
}

/// The frames of zstd, one after the other: a file may hold several, and the decoder reads one.
struct Frames {
    source: Again,
    decoder: FrameDecoder,
    inside: bool,
}

impl Frames {
    fn new(source: Again) -> Frames {
        Frames { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Begins the next frame; false at the end of the file.
    fn next(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(e) => return Err(damaged(&e)),
            }
        }
        Ok(false)
    }

    /// Whether what came out is what went in, where the frame says so.
    fn whole(&self) -> io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(said), Some(counted)) if said != counted => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "zstd: the content does not match its checksum"))
            }
            _ => Ok(()),
        }
    }
}

fn damaged(e: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {e}"))
}

impl Read for Frames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside {
                if !self.next()? {
                    return Ok(0);
                }
                self.inside = true;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            if self.decoder.is_finished() {
                self.whole()?;
                self.inside = false;
            } else {
                let some = ruzstd::decoding::BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, some).map_err(|e| damaged(&e))?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// What a program makes of bytes; `None` where it is not installed.
    fn through(program: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
        let mut child =
            Command::new(program[0]).args(&program[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut stdin = child.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        Some(output.stdout)
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        unpacked(Box::new(io::Cursor::new(bytes)))?.read_to_end(&mut all)?;
        Ok(all)
    }

    /// Longer than any window and any chunk, and no two parts alike.
    fn text() -> Vec<u8> {
        (0..200_000u32).flat_map(|n| format!("{n} {}\n", n.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    #[test]
    fn plain_bytes_are_themselves() {
        for bytes in [&b""[..], b"a", b"{}\n", b"\x1f", b"\x28\xb5\x2f"] {
            assert_eq!(read(bytes.to_vec()).unwrap(), bytes);
        }
        assert_eq!(read(text()).unwrap(), text());
    }

    #[test]
    fn packed_by_others_and_read_back_whole_or_not_at_all() {
        let text = text();
        let packers: [&[&str]; 4] =
            [&["gzip", "-c"], &["zstd", "-qc"], &["zstd", "-qc", "-12", "--check"], &["zstd", "-qc", "--no-check"]];
        for packer in packers {
            let Some(packed) = through(packer, &text) else { continue };
            assert!(packed.len() < text.len());
            assert!(read(packed.clone()).unwrap() == text, "{packer:?}");
            // Two files put together are the two texts.
            let two = [packed.clone(), packed.clone()].concat();
            assert!(read(two).unwrap() == [text.clone(), text.clone()].concat(), "{packer:?}: twice");
            for cut in [packed.len() - 1, packed.len() / 2, 20] {
                assert!(read(packed[..cut].to_vec()).is_err(), "{packer:?}: cut at {cut}");
            }
            let mut other = packed.clone();
            other[packed.len() / 2] ^= 0x10;
            let says_so = !packer.contains(&"--no-check");
            assert!(!says_so || read(other).is_err(), "{packer:?}: one bit turned over");
        }
        // A frame to be skipped, as some packers put in front.
        if let Some(packed) = through(&["zstd", "-qc"], b"x\n") {
            let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9][..], &packed].concat();
            assert_eq!(read(skipped).unwrap(), b"x\n");
        }
    }
}
