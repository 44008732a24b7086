//! Files that must survive: after any power cut a file is old or new, and never torn. There is a live implementation, and a
//! simulated one with the semantics of a power cut.
//!
//! A name is a plain file name inside one directory. `replace` is temporary file + fsync + rename + fsync of the directory;
//! what was appended is safe only after `sync`. The caller names the modes, and the umask does not change them. What root
//! does not own is refused (see [`owner`]).

use crate::error::{Error, Result};
use crate::machine::fs::{owner, unfinished};
use rustix::fs::{Access, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::cell::OnceCell;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most that is read of a kept file or a file of rules, in bytes: a hundred times what any has. A journal is larger and
/// read through [`Durable::part`].
const MAX_KEPT: u64 = 2 << 20;

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
    /// Makes a new, empty file; an error where something of that name is there, a link too.
    fn create(&mut self, name: &str) -> Result<()>;
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
    /// Takes away what processes that were killed left of names that they held. Nothing where a held name leaves nothing.
    fn remove_free_locks(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A real directory.
#[derive(Debug)]
pub struct LiveDurable {
    dir: PathBuf,
    mode: u32,
    /// Whether it lies where a cut leaves anything: below `/run` nothing is synced, a rename is enough.
    lasting: bool,
    /// Whether it is a part of a recorded machine, which is input and nobody's word.
    recorded: bool,
    /// The directory is looked at once.
    checked: OnceCell<()>,
    /// Names that are held, and what holds them.
    held: Vec<(String, OwnedFd)>,
}

impl LiveDurable {
    /// Files of this directory, made when first written to; `mode` are the permission bits of new files.
    pub fn new(dir: impl Into<PathBuf>, mode: u32) -> Self {
        let (recorded, checked) = (false, OnceCell::new());
        LiveDurable { dir: dir.into(), mode, lasting: true, recorded, checked, held: Vec::new() }
    }

    /// The same for a directory below `/run`, which no cut survives: old or new for every reader, and nothing is synced.
    pub fn volatile(dir: impl Into<PathBuf>, mode: u32) -> Self {
        LiveDurable { lasting: false, ..LiveDurable::new(dir, mode) }
    }

    /// The same as a part of a recorded machine, where `recorded`: then nobody's owner or mode is looked at.
    pub fn recorded(self, recorded: bool) -> Self {
        LiveDurable { recorded, ..self }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.starts_with('.') || name.contains('/') {
            return Err(Error::Malformed { path: name.to_owned(), what: "this is not a file name".to_owned() });
        }
        Ok(self.dir.join(name))
    }

    /// Makes the directory, and its name durable.
    fn make_dir(&self) -> Result<()> {
        // Who may read the files may go where they are. What is above our own directories, and what lies beside private
        // files of /run, is for all.
        let private = self.mode & 0o077 == 0;
        let above = if self.lasting { owner::outermost(&self.dir) } else { &self.dir }.parent();
        if let Some(above) = above.filter(|d| private && !d.as_os_str().is_empty()) {
            owner::make_directories(above, 0o755)?;
        }
        let made = owner::make_directories(&self.dir, if private { 0o700 } else { 0o755 })?;
        if !self.lasting {
            return Ok(());
        }
        made.iter().filter_map(|d| d.parent()).filter(|p| !p.as_os_str().is_empty()).try_for_each(sync_dir)
    }

    /// Refuses a directory that is not root's own; whether it is there.
    fn check(&self) -> Result<bool> {
        if self.recorded || self.checked.get().is_some() {
            return Ok(true);
        }
        let there = owner::check_directory(&self.dir)?;
        if there {
            let _ = self.checked.set(());
        }
        Ok(there)
    }

    /// Whether files could be written here, as far as that can be told without writing one: the directory, or the nearest above
    /// it that is there, is on a file system that can be written.
    pub fn may_be_written(&self) -> Result<()> {
        self.check()?;
        for dir in self.dir.ancestors() {
            match rustix::fs::access(dir, Access::WRITE_OK) {
                Err(Errno::NOENT) => {}
                may => return may.map_err(|e| Error::file(dir, "write to", e)),
            }
        }
        Ok(())
    }

    fn sync_own_dir(&self) -> Result<()> {
        if self.lasting {
            sync_dir(&self.dir)
        } else {
            Ok(())
        }
    }

    /// A new file of our own: never one that somebody put there, and never through a link.
    fn make(&self, path: &Path) -> Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        // The directory is made by the first file in it.
        if !self.check()? {
            self.make_dir()?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(self.mode).custom_flags(flag(OFlags::NOFOLLOW));
        let failed = |e| Error::file(path, "make", e);
        let open = match options.open(path) {
            // Of a recorded machine nothing was looked at.
            Err(e) if e.kind() == ErrorKind::NotFound => self.make_dir().map(|()| options.open(path))?,
            open => open,
        };
        let file = open.map_err(failed)?;
        owner::set_mode(&file, self.mode).map_err(failed)?;
        Ok(file)
    }

    /// A file to append to, which may be there.
    fn grow(&self, path: &Path) -> Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        self.check()?;
        match OpenOptions::new().append(true).custom_flags(flag(OFlags::NOFOLLOW)).open(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => self.make(path),
            open => open.map_err(|e| Error::file(path, "open for writing", e)),
        }
    }

    /// A file and its length; `None` where there is none.
    fn opened(&self, name: &str) -> Result<Option<(File, u64)>> {
        let path = self.path(name)?;
        match open_regular(&path) {
            Ok((file, meta)) => {
                self.check()?;
                if meta.is_file() && !self.recorded {
                    owner::check(&path, meta.uid(), meta.mode())?;
                }
                Ok(Some((file, meta.len())))
            }
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(Error::file(path, "open", e)),
        }
    }
}

fn flag(flags: OFlags) -> i32 {
    flags.bits() as i32
}

/// Opens a regular file for reading, and looks at it; a FIFO somebody put there must not hang the program. A link to
/// `/dev/null` is how administrators empty a file of a package.
fn open_regular(path: &Path) -> std::io::Result<(File, Metadata)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
    let file = OpenOptions::new().read(true).custom_flags(flag(OFlags::NONBLOCK)).open(path)?;
    let meta = file.metadata()?;
    let null = meta.file_type().is_char_device() && meta.rdev() == rustix::fs::makedev(1, 3);
    if meta.is_file() || null {
        Ok((file, meta))
    } else {
        Err(std::io::Error::other("it is not a regular file"))
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
        let failed = |e: std::io::Error| Error::file(self.shown(name), "read", e);
        let too_long = || failed(std::io::Error::other(format!("it is longer than {} MiB", MAX_KEPT >> 20)));
        if length > MAX_KEPT {
            return Err(too_long());
        }
        // All of it by one read, since an event counts its calls: what is replaced as a whole has the length that it had when
        // it was opened, and what is grown was whole up to there.
        let mut bytes = Vec::with_capacity(length as usize);
        file.take(length).read_to_end(&mut bytes).map_err(failed)?;
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

    fn create(&mut self, name: &str) -> Result<()> {
        self.make(&self.path(name)?).map(drop)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        self.grow(&path)?.write_all(bytes).map_err(|e| Error::file(path, "append to", e))
    }

    fn sync(&mut self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        File::open(&path).and_then(|f| f.sync_all()).map_err(|e| Error::file(path, "sync", e))?;
        sync_dir(&self.dir)
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        // The process's number keeps two writers from sharing one temporary file; the later rename wins.
        let temporary = unfinished::path(&self.dir, name);
        let made = self.make(&temporary).or_else(|e| match &e {
            // One of a killed process that had the same number.
            Error::File { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
                fs::remove_file(&temporary).map_err(|e| Error::file(&temporary, "remove", e))?;
                self.make(&temporary)
            }
            _ => Err(e),
        });
        let written = made.and_then(|mut f| {
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
        let failed = |e| Error::file(&self.dir, "list", e);
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        };
        self.check()?;
        let entries: Vec<fs::DirEntry> = entries.collect::<std::io::Result<_>>().map_err(failed)?;
        let names = entries.iter().filter_map(|e| e.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|n| !n.starts_with('.')).collect();
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
        self.check()?;
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
            rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o600)).map_err(failed)?;
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

    fn remove_free_locks(&mut self) -> Result<()> {
        let entries = match fs::read_dir(&self.dir) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|e| Error::file(&self.dir, "list", e))?,
        };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let name = file.to_str().and_then(|f| f.strip_prefix('.')?.strip_suffix(".lock"));
            // Held by nobody: then it can be had, and given up as whoever ends properly does.
            if let Some(name) = name.filter(|n| !self.held.iter().any(|(held, _)| held == n)) {
                if self.hold(name)? {
                    self.release(name);
                }
            }
        }
        Ok(())
    }
}

#[path = "durable_simulated.rs"]
mod simulated;
pub use simulated::SimulatedDurable;

#[cfg(test)]
#[path = "durable_tests.rs"]
mod tests;
