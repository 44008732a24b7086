//! Reads all files below a root: `/` or a recorded machine.
//!
//! A recorded machine is resolved inside its root (openat2 RESOLVE_IN_ROOT: an absolute or dotted link cannot leave it). All
//! reads are non-blocking, of regular files only, and bounded. A reading that fails is a [`Fact`] that says why, and never an
//! error. It writes nothing.

use crate::error::{Error, Result};
use crate::fact::{Fact, Why};
use crate::machine::fs::attribute;
use crate::machine::fs::guards::Guards;
use crate::machine::fs::to_end::{self, End, Stop};
use crate::machine::port::errno_name;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The most that is read of one file. sysfs attributes are at most a page, binary ones and kept files far below this.
pub const MAX_FILE: usize = 256 * 1024;
/// How the reasons begin why a path gave no bytes: a recorder keeps a node of the same kind.
pub const TOO_LONG: &str = "it is longer than";
/// See [`TOO_LONG`].
pub const IS_DIRECTORY: &str = "it is a directory";
/// See [`TOO_LONG`].
pub const NOT_REGULAR: &str = "it is not a regular file";

/// The first descriptor that a fleeting process closes itself: a stack may have many members.
const MOST_LEFT: i32 = 200;

/// How many files that stand for links are followed in one path.
const MAX_TEXT_LINKS: usize = 16;

/// A directory that stands for `/`.
#[derive(Debug)]
pub struct Root {
    dir: OwnedFd,
    path: PathBuf,
    guard: Option<RefCell<Box<dyn Guards>>>,
    trail: Option<RefCell<Vec<Note>>>,
    /// For a process that ends right after: descriptors are left for its end to close, a third of the calls of a read.
    fleeting: bool,
    /// Of such a process: the device it looks at, by the kernel's name, and its directory.
    nearest: RefCell<Option<(String, OwnedFd)>>,
}

/// What a noting root was asked for; the path as it was given, links not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A file was read, with this result.
    Read(String, Fact<Vec<u8>>),
    /// A directory was listed, with this result.
    List(String, Fact<Vec<String>>),
    /// A link itself was looked at.
    Link(String),
    /// It was asked whether it is there.
    Exists(String),
}

impl Root {
    /// Opens the directory that stands for `/`.
    pub fn open(path: &Path) -> Result<Root> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| Error::file(path, "open as a root", e))?;
        Ok(Root { dir, path: path.to_owned(), guard: None, trail: None, fleeting: false, nearest: RefCell::default() })
    }

    /// Has files that may not come read by this guard. No effect on a recorded machine, whose files always come.
    pub fn guarded(mut self, guard: Box<dyn Guards>) -> Root {
        if self.is_system() {
            self.guard = Some(RefCell::new(guard));
        }
        self
    }

    /// Whether reading a queue file may wait, so that a child would read it.
    pub fn may_wait(&self, relative: &str) -> bool {
        self.guard.as_ref().is_some_and(|g| g.borrow_mut().needs_child(relative, &|path| self.read_here(path)))
    }

    /// Whether a queue file of any device did not come by the deadline.
    pub fn timed_out(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.borrow().timed_out())
    }

    /// Has every reading noted, for the recorder; see [`Root::trail`].
    pub fn noting(mut self) -> Root {
        self.trail = Some(RefCell::default());
        self
    }

    /// What was asked of a noting root since the last call, in order.
    pub fn trail(&self) -> Vec<Note> {
        self.trail.as_ref().map(RefCell::take).unwrap_or_default()
    }

    fn note(&self, note: impl FnOnce() -> Note) {
        if let Some(trail) = &self.trail {
            trail.borrow_mut().push(note());
        }
    }

    /// For one event, or one answer: see the field.
    pub fn fleeting(mut self) -> Root {
        self.fleeting = true;
        self
    }

    /// The directory as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is the running system itself.
    pub fn is_system(&self) -> bool {
        self.path == Path::new("/")
    }

    /// How a file of the root is named in a message.
    pub fn shown(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// Opens below the root. A recorded machine may have been carried by something that knows no links (an archive, a
    /// checkout with `core.symlinks` off) and wrote each as a file that holds its target: such a file is followed too.
    fn open_inside(&self, relative: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mut path = relative.to_owned();
        for _ in 0..MAX_TEXT_LINKS {
            match self.open_plain(&path, flags) {
                Err(Errno::NOTDIR) if !self.is_system() => match self.through_text_link(&path) {
                    Some(next) => path = next,
                    None => return Err(Errno::NOTDIR),
                },
                other => return other,
            }
        }
        Err(Errno::LOOP)
    }

    /// The path with its first component that is a file holding a relative target replaced by that target.
    fn through_text_link(&self, path: &str) -> Option<String> {
        let (at, _) = path.match_indices('/').find(|(at, _)| {
            let open = self.open_plain(&path[..*at], OFlags::PATH);
            open.and_then(rustix::fs::fstat).is_ok_and(|s| FileType::from_raw_mode(s.st_mode).is_file())
        })?;
        let (link, rest) = path.split_at(at);
        let parent = link.rsplit_once('/').map_or("", |(dir, _)| dir);
        Some(format!("{parent}/{}{rest}", self.text_link(link)?))
    }

    /// The target in a file that stands for a link: one line, a relative path that leads upwards first.
    fn text_link(&self, path: &str) -> Option<String> {
        let fd = self.open_plain(path, OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return None;
        }
        let target = to_end::read(End::Nothing(1023), to_end::from(&fd)).ok()?;
        let target = String::from_utf8(target).ok()?;
        (target.starts_with("../") && !target.contains('\n')).then_some(target)
    }

    fn open_plain(&self, relative: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        // Nothing leads out of `/`, and openat2 gives ENOSYS wherever a unit says RestrictSUIDSGID=yes, which
        // systemd-udevd.service does: seccomp cannot see the mode in its struct.
        if self.is_system() {
            return self.near(relative, |dir, rest| rustix::fs::openat(dir, rest, flags, Mode::empty()));
        }
        loop {
            match rustix::fs::openat2(
                &self.dir,
                relative,
                flags,
                Mode::empty(),
                ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
            ) {
                // EAGAIN: a rename raced with the resolution (openat2(2)); asked again.
                Err(Errno::AGAIN) => continue,
                other => return other,
            }
        }
    }

    /// Reaches a path of the running system from the nearest directory that is open. A fleeting process keeps that of the
    /// device it looks at: the way through sysfs to a disk is a dozen names long, and each file of it is then one or two away.
    fn near<T>(&self, relative: &str, reach: impl FnOnce(BorrowedFd<'_>, &str) -> T) -> T {
        let of_device = relative.strip_prefix("sys/block/").and_then(|below| below.split_once('/'));
        let Some((name, rest)) = of_device.filter(|(_, rest)| self.fleeting && !rest.is_empty()) else {
            return reach(self.dir.as_fd(), relative);
        };
        let mut nearest = self.nearest.borrow_mut();
        if nearest.as_ref().is_none_or(|(open, _)| open != name) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let dir = rustix::fs::openat(&self.dir, format!("sys/block/{name}"), flags, Mode::empty());
            *nearest = dir.ok().map(|dir| (name.to_owned(), dir));
        }
        match &*nearest {
            Some((_, dir)) => reach(dir.as_fd(), rest),
            None => reach(self.dir.as_fd(), relative),
        }
    }

    /// The bytes of a regular file of at most [`MAX_FILE`].
    pub fn read(&self, relative: &str) -> Fact<Vec<u8>> {
        self.read_each(&[relative]).pop().unwrap_or(Fact::ABSENT)
    }

    /// The same of several files of one device, in this order: a child that reads them is asked once.
    pub fn read_each(&self, paths: &[&str]) -> Vec<Fact<Vec<u8>>> {
        let guarded = self.guard.as_ref().and_then(|g| g.borrow_mut().read(paths, &|path| self.read_here(path)));
        let all = guarded.unwrap_or_else(|| paths.iter().map(|path| self.read_here(path)).collect());
        paths.iter().zip(&all).for_each(|(path, bytes)| self.note(|| Note::Read((*path).to_owned(), bytes.clone())));
        all
    }

    fn read_here(&self, relative: &str) -> Fact<Vec<u8>> {
        // NONBLOCK: a FIFO in a recorded machine must not hang the open.
        let fd = match self.open_inside(relative, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY) {
            Ok(fd) => fd,
            Err(e) => return Fact::Unknown(why(e)),
        };
        let bytes = read_whole(&fd, self.end_of(relative));
        self.done_with(fd);
        bytes
    }

    /// Closes a descriptor, or leaves it to the end of a fleeting process; not more of them than it may have open.
    fn done_with(&self, fd: OwnedFd) {
        if self.fleeting && fd.as_raw_fd() < MOST_LEFT {
            let _ = fd.into_raw_fd();
        }
    }

    /// What tells the end of a file: see [`to_end`].
    fn end_of(&self, relative: &str) -> End {
        match relative {
            p if p.starts_with("sys/") || p.starts_with("proc/sys/") => End::ShortRead(MAX_FILE),
            p if p.starts_with("proc/") && self.is_system() => End::Boundless,
            _ => End::Nothing(MAX_FILE),
        }
    }

    /// The text of an attribute: see [`attribute`].
    pub fn text(&self, relative: &str) -> Fact<String> {
        attribute::text(self.read(relative))
    }

    /// An unsigned decimal attribute.
    pub fn number(&self, relative: &str) -> Fact<u64> {
        attribute::number(self.read(relative))
    }

    /// A 0/1 attribute.
    pub fn flag(&self, relative: &str) -> Fact<bool> {
        attribute::flag(self.read(relative))
    }

    /// The names in a directory, sorted; a name that is not UTF-8 is left out.
    pub fn list(&self, relative: &str) -> Fact<Vec<String>> {
        let names = self.list_here(relative);
        self.note(|| Note::List(relative.to_owned(), names.clone()));
        names
    }

    fn list_here(&self, relative: &str) -> Fact<Vec<String>> {
        self.entries(relative).map(|entries| entries.into_iter().map(|(name, _)| name).collect())
    }

    /// The same with the number of each entry itself, which in sysfs is never given to another.
    pub fn entries(&self, relative: &str) -> Fact<Vec<(String, u64)>> {
        let fd = match self.open_inside(relative, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(fd) => fd,
            Err(e) => return Fact::Unknown(why(e)),
        };
        let mut names = Vec::new();
        match rustix::fs::Dir::new(fd) {
            Ok(dir) => {
                for entry in dir {
                    match entry {
                        Ok(e) => names.extend(
                            e.file_name()
                                .to_str()
                                .ok()
                                .filter(|n| *n != "." && *n != "..")
                                .map(|n| (n.to_owned(), e.ino())),
                        ),
                        Err(e) => return Fact::Unknown(why(e)),
                    }
                }
            }
            Err(e) => return Fact::Unknown(why(e)),
        }
        names.sort();
        Fact::Known(names)
    }

    /// The number of an entry of a directory of the running system, as [`Root::entries`] has it.
    pub fn entry_number(&self, relative: &str) -> Option<u64> {
        rustix::fs::statat(&self.dir, relative, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_ino)
    }

    /// The last component of where a link points: `driver`, `subsystem`, `device`.
    pub fn link_name(&self, relative: &str) -> Fact<String> {
        self.link(relative).and_then(|target| match target.rsplit('/').next() {
            Some(name) if !name.is_empty() => Fact::Known(name.to_owned()),
            _ => Fact::malformed("it is a link that leads nowhere"),
        })
    }

    /// Where a link points, as written in it.
    pub fn link(&self, relative: &str) -> Fact<String> {
        self.note(|| Note::Link(relative.to_owned()));
        // Nothing leads out of `/`: then it is asked by its name.
        if self.is_system() {
            return match self.near(relative, |dir, rest| rustix::fs::readlinkat(dir, rest, Vec::new())) {
                Ok(target) => in_utf8(target),
                Err(Errno::INVAL) => Fact::malformed("it is not a link"),
                Err(e) => Fact::Unknown(why(e)),
            };
        }
        let fd = match self.open_inside(relative, OFlags::PATH | OFlags::NOFOLLOW) {
            Ok(fd) => fd,
            Err(e) => return Fact::Unknown(why(e)),
        };
        let target = rustix::fs::readlinkat(&fd, "", Vec::new());
        self.done_with(fd);
        match target {
            Ok(target) => in_utf8(target),
            Err(Errno::INVAL | Errno::NOENT) => match self.text_link(relative).filter(|_| !self.is_system()) {
                Some(target) => Fact::Known(target),
                None => Fact::malformed("it is not a link"),
            },
            Err(e) => Fact::Unknown(why(e)),
        }
    }

    /// Whether something of that name is there (a link is followed; a dangling one is not there).
    pub fn exists(&self, relative: &str) -> bool {
        self.note(|| Note::Exists(relative.to_owned()));
        match self.open_inside(relative, OFlags::PATH) {
            Ok(fd) => {
                self.done_with(fd);
                true
            }
            Err(_) => false,
        }
    }
}

fn in_utf8(target: CString) -> Fact<String> {
    target.into_string().map_or_else(|_| Fact::malformed("it is not UTF-8"), Fact::Known)
}

/// The bytes of an open regular file.
fn read_whole(fd: &OwnedFd, end: End) -> Fact<Vec<u8>> {
    // Nothing, or much, at the first read: only then it may be no regular file (a FIFO, a device node), and is asked.
    let (mut first, mut odd) = (true, false);
    let mut some = to_end::from(fd);
    let bytes = to_end::read(end, |bytes| {
        let n = some(bytes)?;
        odd |= std::mem::take(&mut first) && (n == 0 || n >= to_end::CHUNK) && !regular(fd);
        Ok(if odd { 0 } else { n })
    });
    match bytes {
        _ if odd => Fact::malformed(NOT_REGULAR),
        Ok(bytes) => Fact::Known(bytes),
        Err(Stop::TooLong(most)) => Fact::malformed(format!("{TOO_LONG} {most} bytes")),
        Err(Stop::Os(e)) => Fact::Unknown(why(e)),
    }
}

fn regular(fd: &OwnedFd) -> bool {
    rustix::fs::fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
}

/// Which kind of "no reading" an errno is.
fn why(e: Errno) -> Why {
    match e {
        Errno::NOENT | Errno::NOTDIR | Errno::NODEV | Errno::NXIO => Why::Absent,
        Errno::ISDIR => Why::Malformed(IS_DIRECTORY.to_owned()),
        Errno::LOOP | Errno::XDEV => Why::Malformed("it is a link that leads nowhere".to_owned()),
        Errno::TIMEDOUT => Why::TimedOut,
        e => Why::Refused(format!("errno {}", errno_name(e.raw_os_error()))),
    }
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
