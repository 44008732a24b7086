//! Files that must survive: old or new after any cut, never torn. Live, and simulated with the semantics of a power cut.
//!
//! A name is a plain file name inside one directory. `replace` is temporary file + fsync + rename + fsync of the directory;
//! what was appended is safe only after `sync`.

use crate::error::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The most that is read of a kept file, in bytes; a journal is larger and read through [`Durable::part`].
const MAX_KEPT: u64 = 16 << 20;

/// A directory of files that must survive.
pub trait Durable {
    /// The bytes of a file; `None` where there is none.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>>;
    /// So many bytes of a file from an offset on, fewer at its end; `None` where there is no file.
    fn part(&self, name: &str, offset: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let part = |bytes: Vec<u8>| {
            let end = bytes.len().min(offset.saturating_add(length) as usize);
            bytes.get(offset as usize..end).unwrap_or(&[]).to_vec()
        };
        Ok(self.read(name)?.map(part))
    }
    /// Adds bytes to the end of a file, making it where there is none. Not safe before [`Durable::sync`].
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()>;
    /// Makes what was appended, and the file's name, survive a cut.
    fn sync(&mut self, name: &str) -> Result<()>;
    /// The file's content becomes these bytes: after a cut the old or the new.
    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()>;
    /// Removes a file; no error where there is none.
    fn remove(&mut self, name: &str) -> Result<()>;
    /// The names of the files, sorted, temporary ones left out.
    fn list(&self) -> Result<Vec<String>>;
    /// How a file is named in a message.
    fn shown(&self, name: &str) -> PathBuf;
    /// Holds a name against other processes, until [`Durable::release`] or the end of this process; false: another one
    /// holds it. The file itself need not be there.
    fn hold(&mut self, name: &str) -> Result<bool>;
    /// Gives a name up.
    fn release(&mut self, name: &str);
}

/// A real directory.
#[derive(Debug)]
pub struct LiveDurable {
    dir: PathBuf,
    mode: u32,
    /// Whether it lies where a cut leaves anything: below `/run` nothing is synced, a rename is enough.
    lasting: bool,
    /// Names that are held, and what holds them.
    held: Vec<(String, OwnedFd)>,
}

impl LiveDurable {
    /// Files of this directory, made when first written to; `mode` are the permission bits of new files.
    pub fn new(dir: impl Into<PathBuf>, mode: u32) -> Self {
        LiveDurable { dir: dir.into(), mode, lasting: true, held: Vec::new() }
    }

    /// The same for a directory below `/run`, which no cut survives: old or new for every reader, and nothing is synced.
    pub fn volatile(dir: impl Into<PathBuf>, mode: u32) -> Self {
        LiveDurable { dir: dir.into(), mode, lasting: false, held: Vec::new() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.starts_with('.') || name.contains('/') {
            return Err(Error::Malformed { path: name.to_owned(), what: "not a file name".to_owned() });
        }
        Ok(self.dir.join(name))
    }

    /// Makes the directory, and its name durable.
    fn make_dir(&self) -> Result<()> {
        fs::create_dir_all(&self.dir).map_err(|e| Error::file(&self.dir, "make the directory", e))?;
        if !self.lasting {
            return Ok(());
        }
        self.dir.ancestors().skip(1).take(3).filter(|p| !p.as_os_str().is_empty()).try_for_each(sync_dir)
    }

    fn sync_own_dir(&self) -> Result<()> {
        if self.lasting {
            sync_dir(&self.dir)
        } else {
            Ok(())
        }
    }

    fn open_for(&self, path: &Path, truncate: bool) -> Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = OpenOptions::new();
        options.create(true).mode(self.mode);
        if truncate {
            options.write(true).truncate(true)
        } else {
            options.append(true)
        };
        let open = match options.open(path) {
            // The directory is made by the first file in it.
            Err(e) if e.kind() == ErrorKind::NotFound => {
                self.make_dir()?;
                options.open(path)
            }
            open => open,
        };
        open.map_err(|e| Error::file(path, "open for writing", e))
    }

    /// A file and its length; `None` where there is none.
    fn opened(&self, name: &str) -> Result<Option<(File, u64)>> {
        let path = self.path(name)?;
        match open_regular(&path) {
            Ok(open) => Ok(Some(open)),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(Error::file(path, "open", e)),
        }
    }
}

/// Opens a regular file for reading, and gives its length; a FIFO somebody put there must not hang the program. A link to
/// `/dev/null` is how administrators empty a file of a package.
fn open_regular(path: &Path) -> std::io::Result<(File, u64)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let meta = file.metadata()?;
    let null = meta.file_type().is_char_device() && meta.rdev() == rustix::fs::makedev(1, 3);
    if meta.is_file() || null {
        Ok((file, meta.len()))
    } else {
        Err(std::io::Error::other("not a regular file"))
    }
}

/// Writes a file that must not be there yet, readable by its owner alone, and syncs it.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    let written = options.open(path).and_then(|mut f| f.write_all(bytes).and_then(|()| f.sync_all()));
    written.map_err(|e| Error::file(path, "make and write", e))
}

fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(|e| Error::file(dir, "sync the directory", e))
}

impl Durable for LiveDurable {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some((file, length)) = self.opened(name)? else { return Ok(None) };
        let failed = |e| Error::file(self.shown(name), "read", e);
        // All of it by one read: an event counts its calls.
        let mut bytes = Vec::with_capacity(length.min(MAX_KEPT) as usize + 1);
        file.take(MAX_KEPT + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_KEPT {
            return Err(failed(std::io::Error::other(format!("longer than {} MiB", MAX_KEPT >> 20))));
        }
        Ok(Some(bytes))
    }

    fn part(&self, name: &str, offset: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let Some((mut file, _)) = self.opened(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.take(length).read_to_end(&mut bytes))
            .map_err(|e| Error::file(self.shown(name), "read", e))?;
        Ok(Some(bytes))
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        self.open_for(&path, false)?.write_all(bytes).map_err(|e| Error::file(path, "append to", e))
    }

    fn sync(&mut self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        File::open(&path).and_then(|f| f.sync_all()).map_err(|e| Error::file(path, "sync", e))?;
        sync_dir(&self.dir)
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        // The process's number keeps two writers from sharing one temporary file; the later rename wins.
        let temporary = self.dir.join(format!(".{name}.{}.tmp", std::process::id()));
        let written = self.open_for(&temporary, true).and_then(|mut f| {
            f.write_all(bytes)
                .and_then(|()| if self.lasting { f.sync_all() } else { Ok(()) })
                .map_err(|e| Error::file(&temporary, "write", e))
        });
        if let Err(e) =
            written.and_then(|()| fs::rename(&temporary, &path).map_err(|e| Error::file(&path, "replace", e)))
        {
            // The old file is untouched; a left temporary would only confuse.
            let _ = fs::remove_file(&temporary);
            return Err(e);
        }
        self.sync_own_dir()
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        match fs::remove_file(&path) {
            Ok(()) => self.sync_own_dir(),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
            Err(e) => Err(Error::file(path, "remove", e)),
        }
    }

    fn list(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::file(&self.dir, "list", e)),
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|n| !n.starts_with('.'))
            .collect();
        names.sort();
        Ok(names)
    }

    fn shown(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn hold(&mut self, name: &str) -> Result<bool> {
        if self.held.iter().any(|(held, _)| held == name) {
            return Ok(true);
        }
        self.path(name)?;
        let path = self.dir.join(format!(".{name}.lock"));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let open = || rustix::fs::open(&path, flags, Mode::from_raw_mode(0o600));
        let failed = |e: Errno| Error::file(&path, "lock", e);
        loop {
            let fd = match open() {
                Err(Errno::NOENT) => {
                    self.make_dir()?;
                    open().map_err(failed)?
                }
                opened => opened.map_err(failed)?,
            };
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(Errno::INTR) => continue,
                Err(e) => return Err(failed(e)),
            }
            // Whoever held it before may have removed it between our opening and our lock: then this is nobody's lock.
            let (ours, there) = (rustix::fs::fstat(&fd).map_err(failed)?, rustix::fs::stat(&path));
            if there.is_ok_and(|there| (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)) {
                self.held.push((name.to_owned(), fd));
                return Ok(true);
            }
        }
    }

    fn release(&mut self, name: &str) {
        if let Some(at) = self.held.iter().position(|(held, _)| held == name) {
            // Removed while it is held, so that no two processes hold files of one name; one that stays does no harm.
            let _ = fs::remove_file(self.dir.join(format!(".{name}.lock")));
            self.held.swap_remove(at);
        }
    }
}

/// A directory in memory that can lose power: what was not synced is lost, or kept in part.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDurable {
    now: BTreeMap<String, Vec<u8>>,
    kept: BTreeMap<String, Vec<u8>>,
    /// Names that another process holds.
    pub held_elsewhere: BTreeSet<String>,
}

impl SimulatedDurable {
    /// The power goes: each file is its synced content, plus a part of what was appended since (`coin` picks 0 to 255;
    /// the part is torn at any byte, and a quarter of its pages are holes, whose length was recorded before their data).
    pub fn power_cut(&mut self, mut coin: impl FnMut() -> u8) {
        for (name, now) in &self.now {
            let kept = self.kept.get(name).map_or(0, Vec::len);
            let extra = now.len().saturating_sub(kept);
            let part = extra * usize::from(coin()) / 255;
            if part > 0 && now.starts_with(self.kept.get(name).map_or(&[], Vec::as_slice)) {
                let mut bytes = now[..kept + part].to_vec();
                bytes[kept..].chunks_mut(4096).filter(|_| coin() < 64).for_each(|page| page.fill(0));
                self.kept.insert(name.clone(), bytes);
            }
        }
        self.now = self.kept.clone();
    }
}

impl Durable for SimulatedDurable {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.now.get(name).cloned())
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.now.entry(name.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self, name: &str) -> Result<()> {
        if let Some(bytes) = self.now.get(name) {
            self.kept.insert(name.to_owned(), bytes.clone());
        }
        Ok(())
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.now.insert(name.to_owned(), bytes.to_vec());
        self.sync(name)
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.now.remove(name);
        self.kept.remove(name);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.now.keys().cloned().collect())
    }

    fn shown(&self, name: &str) -> PathBuf {
        Path::new("simulated").join(name)
    }

    fn hold(&mut self, name: &str) -> Result<bool> {
        Ok(!self.held_elsewhere.contains(name))
    }

    fn release(&mut self, _: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_whole_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut d = LiveDurable::new(dir.path().join("a/b"), 0o644);
        assert_eq!(d.read("x").unwrap(), None);
        assert_eq!(d.list().unwrap(), Vec::<String>::new());
        d.replace("x", b"one").unwrap();
        d.replace("x", b"two").unwrap();
        d.append("j.journal", b"abc").unwrap();
        d.append("j.journal", b"def").unwrap();
        d.sync("j.journal").unwrap();
        assert_eq!(d.read("x").unwrap().as_deref(), Some(&b"two"[..]));
        assert_eq!(d.read("j.journal").unwrap().as_deref(), Some(&b"abcdef"[..]));
        for (offset, length, part) in [(0, 2, "ab"), (4, 9, "ef"), (6, 1, ""), (9, 1, "")] {
            assert_eq!(d.part("j.journal", offset, length).unwrap().as_deref(), Some(part.as_bytes()));
        }
        assert_eq!(d.part("none", 0, 1).unwrap(), None);
        assert_eq!(d.list().unwrap(), ["j.journal", "x"], "no temporary file is left");
        d.remove("x").unwrap();
        d.remove("x").unwrap();
        for bad in ["../x", "", ".x", "a/b"] {
            assert!(d.replace(bad, b"").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_is_held_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let [mut one, mut other] = [(); 2].map(|()| LiveDurable::new(dir.path().join("intent"), 0o600));
        assert!(one.hold("x").unwrap() && one.hold("x").unwrap());
        assert!(!other.hold("x").unwrap() && other.hold("y").unwrap());
        one.release("x");
        assert!(other.hold("x").unwrap());
        drop(other);
        assert!(one.hold("x").unwrap(), "the end of a holder gives its names up");
        assert_eq!(one.list().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_cut_keeps_what_was_synced() {
        let mut d = SimulatedDurable::default();
        d.append("j", b"safe").unwrap();
        d.sync("j").unwrap();
        d.append("j", b"lost").unwrap();
        d.append("k", b"lost").unwrap();
        d.power_cut(|| 0);
        assert_eq!(d.read("j").unwrap().as_deref(), Some(&b"safe"[..]));
        assert_eq!(d.read("k").unwrap(), None);
        d.append("j", b"torn").unwrap();
        d.power_cut(|| 128);
        assert_eq!(d.read("j").unwrap().as_deref(), Some(&b"safeto"[..]));
    }
}
