//! What tells a changed file from an unchanged one without reading it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// When a file was last written to. `None` where it is no regular file.
pub fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.modified().ok()
}

/// Device, inode, size and both times of a file: another text gives another stamp, however it was written. `None` where it
/// is no regular file.
pub fn take(path: &Path) -> Option<(String, u64)> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    let stamp = format!("{}:{} {} {times:?}", meta.dev(), meta.ino(), meta.size());
    Some((stamp, meta.size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert_eq!(take(&path), None);
        assert_eq!(take(dir.path()), None);
        std::fs::write(&path, "one").unwrap();
        let one = take(&path).unwrap();
        assert_eq!((take(&path).unwrap(), one.1), (one.clone(), 3));
        std::fs::rename(&path, dir.path().join("y")).unwrap();
        std::fs::write(&path, "two").unwrap();
        assert_ne!(take(&path).unwrap().0, one.0);
    }
}
