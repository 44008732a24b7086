//! Reads an open file to its end. Only a read that returns nothing is the end.
//!
//! A seq_file of procfs returns a part at each read, however much is asked for (fieldguide 13), and so may a network file
//! system: a short read that was taken for the end once made a mounted disk "not mounted". The one exception is an attribute
//! of sysfs or a sysctl (or its recording), which the kernel returns as a whole, and of which an event reads dozens.

use rustix::io::Errno;
use std::os::fd::AsFd;

/// Asked for at each read, in bytes: a page, which holds any attribute of sysfs.
pub const CHUNK: usize = 4096;

/// What the end is known by, and how much is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A short read, of an attribute of sysfs or a sysctl; of at most so many bytes.
    ShortRead(usize),
    /// A read of nothing; of at most so many bytes.
    Nothing(usize),
    /// A read of nothing, however far away: what the kernel tells of itself, of which no part may be missing.
    Boundless,
}

/// Why there are no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// There are more than were to be taken.
    TooLong(usize),
    /// The system's answer.
    Os(Errno),
}

/// All bytes that `read` gives: it puts some behind those that are there, for which there is room, and says how many.
pub fn read(end: End, mut read: impl FnMut(&mut Vec<u8>) -> rustix::io::Result<usize>) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    loop {
        bytes.reserve(CHUNK);
        let n = match read(&mut bytes) {
            Ok(n) => n,
            Err(Errno::INTR) => continue,
            Err(e) => return Err(Stop::Os(e)),
        };
        match end {
            End::ShortRead(most) | End::Nothing(most) if bytes.len() > most => return Err(Stop::TooLong(most)),
            _ if n == 0 || (n < CHUNK && matches!(end, End::ShortRead(_))) => return Ok(bytes),
            _ => {}
        }
    }
}

/// What a descriptor gives at one read.
pub fn from(fd: impl AsFd) -> impl FnMut(&mut Vec<u8>) -> rustix::io::Result<usize> {
    // The room is not filled with zeroes first: an event reads dozens of files.
    move |into| rustix::io::read(&fd, rustix::buffer::spare_capacity(into))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most so many bytes at once, as procfs does.
    fn pieces(text: &[u8], most: usize) -> impl FnMut(&mut Vec<u8>) -> rustix::io::Result<usize> + '_ {
        let (mut at, mut interrupted) = (0, false);
        move |into| {
            interrupted = !interrupted;
            if interrupted {
                return Err(Errno::INTR);
            }
            let n = most.min(CHUNK).min(text.len() - at);
            into.extend_from_slice(&text[at..at + n]);
            at += n;
            Ok(n)
        }
    }

    #[test]
    fn a_short_read_is_not_the_end() {
        let text: Vec<u8> = (0..9000u32).map(|i| i as u8).collect();
        for most in [1, 77, 4077, 4095, 4096, 5000] {
            assert_eq!(read(End::Boundless, pieces(&text, most)).unwrap(), text, "{most} at once");
            assert_eq!(read(End::Nothing(9000), pieces(&text, most)).unwrap(), text, "{most} at once");
            assert_eq!(read(End::Nothing(8999), pieces(&text, most)), Err(Stop::TooLong(8999)));
        }
        assert_eq!(read(End::ShortRead(9000), pieces(&text, 77)).unwrap(), text[..77]);
        assert_eq!(read(End::Boundless, |_| Err(Errno::IO)), Err(Stop::Os(Errno::IO)));
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        use std::io::Write;
        let (from, mut into) = std::os::unix::net::UnixStream::pair().unwrap();
        let writer = std::thread::spawn(move || {
            for line in 0..60 {
                writeln!(into, "{line} 1 8:{line} / /mnt/{line} rw - ext4 /dev/sda{line} rw").unwrap();
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        });
        let bytes = read(End::Boundless, super::from(&from)).unwrap();
        writer.join().unwrap();
        assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 60);
    }

    #[test]
    fn a_large_file_of_procfs_is_read_whole() {
        let root = crate::machine::fs::root::Root::open(std::path::Path::new("/")).unwrap();
        for path in ["proc/kallsyms", "proc/self/smaps", "proc/self/mountinfo"] {
            // The symbols of a kernel are some MiB; a mapping more or less may come between two reads of the others.
            let Ok(whole) = std::fs::read(format!("/{path}")) else { continue };
            let bytes = root.read(path).known().cloned().unwrap();
            assert!(bytes.len().abs_diff(whole.len()) < 4000, "{path}: {} of {} bytes", bytes.len(), whole.len());
            assert!(bytes.ends_with(b"\n"), "{path} ends in the middle of a line");
        }
    }
}
