//! How the bytes of a file lie in its file system: which have no space, which have space that was never written, which other
//! files share. Asks the file system (FIEMAP) and has it write nothing; judges nothing.

use crate::fact::{Fact, Why};
use crate::machine::fs::path_info;
use crate::machine::port::file_acts::{extents_of, Extent, SHARED, UNWRITTEN};
use rustix::fs::FileType;
use std::os::fd::AsFd;
use std::path::Path;

/// After so many pieces no further ones are looked at: a file may have millions.
const MOST: usize = 16_384;
/// `FIEMAP_EXTENT_DELALLOC`: written to the cache, and given no space yet.
const DELAYED: u64 = 0x4;
/// `FIEMAP_EXTENT_ENCODED`, which every encrypted piece bears too: what lies on the device is not what is read.
const ENCODED: u64 = 0x8;

/// The bytes of a file by how they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileMap {
    /// Its size.
    pub size: u64,
    /// So many, from the first byte on, were looked at; the others are of these.
    pub looked_at: u64,
    /// Without space.
    pub holes: u64,
    /// With space that was never written.
    pub unwritten: u64,
    /// In the cache, without space yet.
    pub delayed: u64,
    /// Written.
    pub written: u64,
    /// With space that other files share.
    pub shared: u64,
    /// Compressed or encrypted, by the file system's word.
    pub encoded: u64,
}

/// The size of a regular file, and the map, where its file system gives one.
pub fn of(path: &str) -> (Fact<u64>, Fact<FileMap>) {
    let refused = |what: &str, e: rustix::io::Errno| Why::Refused(format!("{what}: {e}"));
    let fd = match path_info::open(Path::new(path)) {
        Ok(fd) => fd,
        Err(e) => {
            // Who may not read a file may still ask for its size.
            let size = rustix::fs::stat(path).map(|s| u64::try_from(s.st_size).unwrap_or(0));
            let why = refused("open", e);
            return (size.map_or_else(|e| Fact::Unknown(refused("stat", e)), Fact::Known), Fact::Unknown(why));
        }
    };
    let stat = match rustix::fs::fstat(&fd) {
        Ok(stat) => stat,
        Err(e) => return (Fact::Unknown(refused("stat", e)), Fact::Unknown(refused("stat", e))),
    };
    // It may have been replaced since it was looked up.
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return (Fact::malformed("it is no regular file"), Fact::malformed("it is no regular file"));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let map = match extents_of(fd.as_fd(), (0, size), false, MOST) {
        Ok((extents, looked_at)) => Fact::Known(sum(&extents, size, looked_at)),
        Err(e) => Fact::Unknown(refused("FIEMAP", e)),
    };
    (Fact::Known(size), map)
}

fn sum(extents: &[Extent], size: u64, looked_at: u64) -> FileMap {
    let mut map = FileMap { size, looked_at, ..FileMap::default() };
    let mut up_to = 0;
    for e in extents.iter().filter_map(|e| e.within(0, looked_at)) {
        // A file that changes meanwhile may give a piece twice.
        let Some(e) = e.within(up_to, u64::MAX) else { continue };
        map.holes += e.logical - up_to;
        up_to = e.logical + e.length;
        let has = |flag: u64| e.flags & flag != 0;
        let lies = if has(UNWRITTEN) {
            &mut map.unwritten
        } else if has(DELAYED) {
            &mut map.delayed
        } else {
            &mut map.written
        };
        *lies += e.length;
        map.shared += if has(SHARED) { e.length } else { 0 };
        map.encoded += if has(ENCODED) { e.length } else { 0 };
    }
    map.holes += looked_at - up_to.min(looked_at);
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_counted_once() {
        let e = |logical, length, flags| Extent { logical, physical: 0, length, flags };
        // Behind the end, over the end, twice the same, and a hole at each place where there can be one.
        let all = [
            e(100, 100, 0),
            e(150, 100, SHARED),
            e(300, 50, UNWRITTEN | SHARED),
            e(350, 50, DELAYED | 2),
            e(500, 1000, ENCODED),
            e(2000, 10, 0),
        ];
        let map = sum(&all, 600, 600);
        let (holes, unwritten, delayed, written) = (map.holes, map.unwritten, map.delayed, map.written);
        assert_eq!((holes, unwritten, delayed, written), (100 + 50 + 100, 50, 50, 100 + 50 + 100));
        assert_eq!((map.shared, map.encoded), (50 + 50, 100));
        assert_eq!(sum(&[], 0, 0), FileMap::default());
        assert_eq!(sum(&[], 10, 10).holes, 10);
        let part = sum(&all, 600, 120);
        assert_eq!((part.holes, part.written, part.looked_at, part.size), (100, 20, 120, 600));
    }

    #[test]
    fn a_file_that_is_not_there_or_no_file_is_not_known() {
        for path in ["/no/such/file", "/", "/dev/null"] {
            assert!(of(path).1.known().is_none(), "{path}");
        }
        // procfs has no FIEMAP.
        let (size, map) = of("/proc/self/status");
        assert_eq!(size, Fact::Known(0));
        assert!(map.known().is_none_or(|m| m.size == 0));
    }
}
