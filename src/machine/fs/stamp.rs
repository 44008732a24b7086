//! What tells a changed file from an unchanged one without reading it.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When a file was last written to. `None` where it is no regular file.
pub fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.modified().ok()
}

/// What a path was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Device, inode, owner, mode, size and both times: another text, name, owner or mode gives another, however it was made.
    pub text: String,
    /// The size; `None` where there is nothing.
    pub bytes: Option<u64>,
    /// Whether it was last changed so long ago that a change from now on bears another time: the kernel's clock of files goes
    /// in steps.
    pub settled: bool,
}

/// So long a later change may bear the same time; a hundred of the slowest steps.
const STEP: Duration = Duration::from_secs(1);

/// A file or directory as it is, or that there is none; a link is followed. `None` where it cannot be looked at.
pub fn state(path: &Path) -> Option<State> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Some(State { text: "-".to_owned(), bytes: None, settled: true });
        }
        Err(_) => return None,
    };
    let times = [(meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec())];
    let text = format!(
        "{}:{} {} {:o} {} {times:?}",
        meta.dev(),
        meta.ino(),
        meta.uid(),
        meta.mode(),
        // Of a directory it says nothing that its times do not.
        if meta.is_dir() { 0 } else { meta.size() }
    );
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_millis() as i128;
    let far = |(s, ns): (i64, i64)| {
        (i128::from(s) * 1000 + i128::from(ns) / 1_000_000 - now).unsigned_abs() > STEP.as_millis()
    };
    Some(State { text, bytes: Some(if meta.is_dir() { 0 } else { meta.size() }), settled: times.into_iter().all(far) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_name_or_mode_is_another_state() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let of = |path: &Path| state(path).unwrap();
        assert_eq!(of(&path), State { text: "-".to_owned(), bytes: None, settled: true });
        assert_eq!(of(&path.join("below")).bytes, None);
        let empty = of(dir.path());
        std::fs::write(&path, "one").unwrap();
        assert_ne!(of(dir.path()).text, empty.text, "a directory with another name in it");
        let one = of(&path);
        assert_eq!((of(&path), one.bytes, one.settled), (one.clone(), Some(3), false));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_ne!(of(&path).text, one.text);
        std::fs::rename(&path, dir.path().join("y")).unwrap();
        std::fs::write(&path, "two").unwrap();
        assert_ne!(of(&path).text, one.text);
        // Long written, but just made.
        let old = std::fs::FileTimes::new().set_modified(UNIX_EPOCH + Duration::from_secs(1));
        std::fs::File::options().write(true).open(&path).and_then(|f| f.set_times(old)).unwrap();
        assert!(!of(&path).settled);
        assert!(of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("LICENSE-MIT")).settled);
    }
}
