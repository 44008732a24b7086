//! Writes a recorded machine: everything that a recording root and port were asked becomes files that give the same answers
//! again.
//!
//! A path is walked as the kernel walks it, and each link on the way is kept as a link, so that a replay takes the same way.
//! It only reads until [`Tree::write`] fills an empty directory.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::fact::{Fact, Why};
use crate::machine::fs::root::{Note, Root, IS_DIRECTORY, MAX_FILE, NOT_REGULAR, TOO_LONG};
use crate::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use crate::units::Nanos;
use rustix::fs::FileType;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// How many links one path may lead over; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// What stands at a path of the recorded machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A directory.
    Dir,
    /// A regular file.
    File(Vec<u8>),
    /// A link, with its target as written.
    Link(Vec<u8>),
    /// A file that is too long to be read: replayed as one that is, without its bytes.
    TooLong,
    /// What is neither a file nor a directory, as a FIFO.
    Fifo,
}

/// The files of a recorded machine, by their paths below its root, links resolved.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The nodes.
    pub nodes: BTreeMap<String, Node>,
}

impl Tree {
    /// Adds what was asked of a noting root; `source` is the same root, without the noting. Gives what could not be read,
    /// a line each.
    pub fn add(&mut self, source: &Root, trail: &[Note]) -> Vec<String> {
        let mut lost = Vec::new();
        for note in trail {
            match note {
                Note::Read(path, Fact::Known(bytes)) => {
                    if let Some(real) = self.walk(source, path, true) {
                        self.nodes.entry(real).or_insert_with(|| Node::File(bytes.clone()));
                    }
                }
                Note::Read(path, Fact::Unknown(why)) => lost.extend(self.unread(source, path, why)),
                Note::List(path, Fact::Known(names)) => {
                    let Some(real) = self.walk(source, path, true) else { continue };
                    self.nodes.entry(real.clone()).or_insert(Node::Dir);
                    // A name is an answer in itself only where it is a link (slaves, controllers); what matters of a file
                    // or a directory was read, and is noted for itself.
                    for name in names {
                        self.link_at(source, &format!("{real}/{name}"));
                    }
                }
                Note::List(path, Fact::Unknown(why)) => lost.extend(self.unread(source, path, why)),
                Note::Link(path) => {
                    self.walk(source, path, false);
                }
                Note::Exists(path) => {
                    let Some(real) = self.walk(source, path, true) else { continue };
                    let dir = source.exists(&format!("{real}/."));
                    self.nodes.entry(real).or_insert(if dir { Node::Dir } else { Node::File(Vec::new()) });
                }
            }
        }
        lost
    }

    /// Keeps what can be kept of a file that gave no bytes, and says what was lost.
    fn unread(&mut self, source: &Root, path: &str, why: &Why) -> Option<String> {
        let real = self.walk(source, path, true);
        match why {
            Why::Absent | Why::NotAsked => return None,
            Why::Malformed(what) if what.starts_with(TOO_LONG) => {
                self.nodes.entry(real?).or_insert(Node::TooLong);
            }
            Why::Malformed(what) if what.starts_with(IS_DIRECTORY) => {
                self.nodes.entry(real?).or_insert(Node::Dir);
            }
            Why::Malformed(what) if what.starts_with(NOT_REGULAR) => {
                self.nodes.entry(real?).or_insert(Node::Fifo);
            }
            Why::Malformed(_) | Why::Refused(_) | Why::TimedOut => {}
        }
        Some(format!("{}: {why}", crate::device::display::escape_str(path)))
    }

    /// The link at a path whose parents are no links, kept where there is one.
    fn link_at(&mut self, source: &Root, real: &str) -> Option<String> {
        match self.nodes.get(real) {
            Some(Node::Link(target)) => return String::from_utf8(target.clone()).ok(),
            Some(_) => return None,
            None => {}
        }
        let target = source.link(real).known().cloned()?;
        self.nodes.insert(real.to_owned(), Node::Link(target.clone().into_bytes()));
        Some(target)
    }

    /// Follows a path component by component, keeping every link and directory on the way; gives the path without links
    /// where something is there. With `last` the last component is followed too.
    fn walk(&mut self, source: &Root, path: &str, last: bool) -> Option<String> {
        let mut ahead: VecDeque<String> = path.split('/').map(str::to_owned).collect();
        let mut real: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(name) = ahead.pop_front() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    real.pop();
                    continue;
                }
                _ => real.push(name),
            }
            let here = real.join("/");
            if let Some(target) = self.link_at(source, &here) {
                if ahead.is_empty() && !last {
                    return Some(here);
                }
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                real.pop();
                if target.starts_with('/') {
                    real.clear();
                }
                target.split('/').rev().for_each(|part| ahead.push_front(part.to_owned()));
            } else if let Entry::Vacant(place) = self.nodes.entry(here) {
                let here = place.key();
                if !source.exists(here) {
                    return None;
                }
                if !ahead.is_empty() && source.exists(&format!("{here}/.")) {
                    place.insert(Node::Dir);
                }
            }
        }
        Some(real.join("/")).filter(|path| !path.is_empty())
    }

    /// Adds a file at a path of plain names.
    pub fn file(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.nodes.insert(path.into(), Node::File(bytes.into()));
    }

    /// Writes the tree into a directory, which must not be there or be empty. Gives the number of files and links.
    pub fn write(&self, dir: &Path) -> Result<usize> {
        must_be_empty(dir)?;
        let failed = |path: &Path, operation| {
            let path = path.to_owned();
            move |e| Error::file(path, operation, e)
        };
        // For the caller to read and for nobody else to change: less than this where the umask says so.
        let make_directory = |dir: &Path| fs::DirBuilder::new().recursive(true).mode(0o755).create(dir);
        let make_file = |path: &Path| fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
        make_directory(dir).map_err(failed(dir, "make the directory"))?;
        let mut count = 0;
        // Links come last: until then no path of the new tree can lead out of it.
        for links in [false, true] {
            for (path, node) in &self.nodes {
                let at = dir.join(path);
                if links != matches!(node, Node::Link(_)) {
                    continue;
                }
                let parent = if *node == Node::Dir { Some(at.as_path()) } else { at.parent() };
                if let Some(parent) = parent {
                    make_directory(parent).map_err(failed(parent, "make the directory"))?;
                }
                match node {
                    Node::Dir => continue,
                    Node::File(bytes) => {
                        make_file(&at).and_then(|mut f| f.write_all(bytes)).map_err(failed(&at, "write"))?
                    }
                    Node::TooLong => {
                        make_file(&at).and_then(|f| f.set_len(MAX_FILE as u64 + 1)).map_err(failed(&at, "write"))?
                    }
                    Node::Fifo => rustix::fs::mknodat(rustix::fs::CWD, &at, FileType::Fifo, 0o644.into(), 0)
                        .map_err(|e| Error::file(&at, "make a FIFO", e))?,
                    Node::Link(target) => {
                        let target: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(target);
                        std::os::unix::fs::symlink(target, &at).map_err(failed(&at, "make the link"))?;
                    }
                }
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Refuses a directory that holds something, and one in a directory that is not there.
pub fn must_be_empty(dir: &Path) -> Result<()> {
    match fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            match dir.parent().filter(|p| !p.as_os_str().is_empty()) {
                Some(parent) if !parent.is_dir() => Err(Error::Usage(format!(
                    "{}: no such directory; create it first, or name another one",
                    parent.display()
                ))),
                _ => Ok(()),
            }
        }
        Err(e) => Err(Error::file(dir, "look into", e)),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Error::Usage(format!("{}: the directory is not empty; name a new one", dir.display()))),
        },
    }
}

/// What a question gave.
pub type Reply = std::result::Result<Vec<u8>, AskError>;

/// A port that keeps every question and its answer, and asks none twice. It acts and sets nothing.
pub struct NotingPort<'a> {
    inner: Box<dyn Port + 'a>,
    /// What was asked of which device, and the answer.
    pub asked: BTreeMap<(String, Question), Reply>,
}

impl<'a> NotingPort<'a> {
    /// Notes what is asked of this port.
    pub fn new(inner: Box<dyn Port + 'a>) -> Self {
        NotingPort { inner, asked: BTreeMap::new() }
    }
}

impl Port for NotingPort<'_> {
    fn ask(&mut self, device: &Device, question: Question) -> Reply {
        let key = (device.name.clone(), question);
        if let Some(reply) = self.asked.get(&key) {
            return reply.clone();
        }
        let reply = self.inner.ask(device, question);
        self.asked.insert(key, reply.clone());
        reply
    }

    fn act(&mut self, _: &ScratchRange, _: &Act) -> Timed<std::result::Result<Done, ActError>> {
        Timed { took: Nanos(0), value: Err(ActError::Refused("a recorder never writes".to_owned())) }
    }

    fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> std::result::Result<(), ActError> {
        Err(ActError::Refused("a recorder never writes".to_owned()))
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_replay_goes_the_same_ways() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("devices/a/queue")).unwrap();
        fs::create_dir_all(from.join("block")).unwrap();
        fs::write(from.join("devices/a/queue/limit"), "8\n").unwrap();
        fs::write(from.join("devices/a/secret"), "not asked for\n").unwrap();
        fs::create_dir(from.join("devices/a/size")).unwrap();
        fs::File::create(from.join("devices/a/huge")).unwrap().set_len(1 << 30).unwrap();
        symlink("../devices/a", from.join("block/a")).unwrap();
        symlink("/devices/a", from.join("absolute")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, from.join("devices/a/fifo"), FileType::Fifo, 0o600.into(), 0).unwrap();
        symlink("round", from.join("round")).unwrap();
        symlink("../../../../etc/passwd", from.join("out")).unwrap();
        let noting = Root::open(&from).unwrap().noting();
        let ask = |root: &Root| {
            let paths = "block/a/queue/limit absolute/queue/limit round out block/a/size block/a/huge block/a/fifo no";
            let files: Vec<_> = paths.split(' ').map(|p| root.number(p)).collect();
            (files, root.link("block/a"), root.exists("block/a/queue"), root.list("block"))
        };
        let first = ask(&noting);
        let mut tree = Tree::default();
        let lost = tree.add(&Root::open(&from).unwrap(), &noting.trail());
        assert_eq!(lost.len(), 4, "{lost:?}");
        tree.write(&to).unwrap();
        assert_eq!(ask(&Root::open(&to).unwrap()), first);
        assert_eq!(fs::read_link(to.join("block/a")).unwrap(), Path::new("../devices/a"));
        assert!(!to.join("devices/a/secret").exists());
        assert!(tree.write(&to).is_err(), "what is there is not written over");
    }
}
