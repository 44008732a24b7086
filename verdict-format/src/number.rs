//! Device numbers, which name the published documents.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Devnum {
    /// The major number.
    pub major: u32,
    /// The minor number.
    pub minor: u32,
}

impl Devnum {
    /// The number in `st_rdev` of a node, as Linux packs it.
    pub const fn from_rdev(rdev: u64) -> Devnum {
        Devnum {
            major: ((rdev >> 32) as u32 & 0xffff_f000) | ((rdev >> 8) as u32 & 0xfff),
            minor: ((rdev >> 12) as u32 & 0xffff_ff00) | (rdev as u32 & 0xff),
        }
    }

    /// The number of a block device's node, links followed.
    ///
    /// # Errors
    /// What the system says, and `InvalidInput` for what is no block device.
    pub fn of_node(node: impl AsRef<Path>) -> std::io::Result<Devnum> {
        let meta = std::fs::metadata(node)?;
        if !meta.file_type().is_block_device() {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a block device"));
        }
        Ok(Devnum::from_rdev(meta.rdev()))
    }
}

impl std::fmt::Display for Devnum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl std::str::FromStr for Devnum {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        let (major, minor) = s.trim_end().split_once(':').ok_or(())?;
        Ok(Devnum { major: major.parse().map_err(|_| ())?, minor: minor.parse().map_err(|_| ())? })
    }
}

#[cfg(test)]
mod tests {
    use super::Devnum;

    #[test]
    fn numbers_are_unpacked_as_linux_packs_them() {
        // makedev(8, 1), makedev(259, 0x12345) and makedev(0xfffff, 1), as glibc gives them.
        for (rdev, major, minor) in [(0x801, 8, 1), (0x1231_0345, 259, 0x12345), (0x000f_f000_000f_ff01, 0xfffff, 1)] {
            assert_eq!(Devnum::from_rdev(rdev), Devnum { major, minor }, "{rdev:#x}");
        }
        assert!(Devnum::of_node("/dev/null").is_err(), "a character device has no verdict");
        assert_eq!("259:12\n".parse(), Ok(Devnum { major: 259, minor: 12 }));
        assert_eq!("259".parse::<Devnum>(), Err(()));
    }
}
