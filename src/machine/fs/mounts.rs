//! The mount table: the lines of `/proc/self/mountinfo` (proc_pid_mountinfo(5)), and which mount a path lies on.

use crate::fact::Fact;
use crate::machine::fs::path_info::Located;
use crate::machine::fs::root::Root;
use std::path::Path;

/// Where the mount table stands.
pub const MOUNTINFO: &str = "proc/self/mountinfo";

/// A line of the mount table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Its number.
    pub id: u64,
    /// The number of the mount that it stands on.
    pub parent: u64,
    /// The number of the file system; its major is 0 for one without a block device of its own, or with several.
    pub devnum: String,
    /// Where it is mounted.
    pub point: String,
    /// The type of the file system.
    pub kind: String,
    /// What is mounted, in the words of who mounted it.
    pub source: String,
    /// Options of the mount and of the file system.
    pub options: Vec<String>,
}

/// The mount table.
pub fn all(root: &Root) -> Fact<Vec<Mount>> {
    root.read(MOUNTINFO).map(|bytes| parse(&bytes))
}

/// The whole mount table, for a proof: not known where what was read cannot be all of it.
pub fn complete(root: &Root) -> Fact<Vec<Mount>> {
    root.read(MOUNTINFO).and_then(|bytes| {
        if bytes.last() != Some(&b'\n') {
            return Fact::malformed("it is empty or cut short");
        }
        let mounts: Option<Vec<Mount>> = String::from_utf8_lossy(&bytes).lines().map(line).collect();
        mounts.map_or_else(|| Fact::malformed("it has a line that cannot be read"), Fact::Known)
    })
}

/// The lines that make sense.
pub fn parse(bytes: &[u8]) -> Vec<Mount> {
    String::from_utf8_lossy(bytes).lines().filter_map(line).collect()
}

/// The mount that a path lies on: by its number, else the longest mount point above it with the device's number.
pub fn of_path(root: &Root, located: &Located) -> Option<Mount> {
    let mut mounts = all(root).known().cloned()?.into_iter();
    match located.mount {
        Some(id) => mounts.find(|m| m.id == id),
        None => mounts
            .filter(|m| m.devnum == located.filesystem.to_string() && Path::new(&located.path).starts_with(&m.point))
            .max_by_key(|m| m.point.len()),
    }
}

/// The mount that a path without links lies on, as the kernel walks it: from the root downwards, and what is mounted over
/// another hides it. A recording has a part of the table, whose mounts may stand on none: then the nearest of these.
pub fn above<'a>(mounts: &'a [Mount], path: &str) -> Option<&'a Mount> {
    let over = |m: &&Mount| Path::new(path).starts_with(&m.point);
    let stands_on = |m: &&Mount, parent: u64| m.parent == parent && m.id != parent;
    let orphan = |m: &&Mount| !mounts.iter().any(|p| stands_on(m, p.id));
    let mut found = mounts.iter().filter(over).filter(orphan).max_by_key(|m| m.point.len())?;
    // Each step goes to another line; a table that makes a ring ends here.
    for _ in mounts {
        match mounts.iter().filter(over).filter(|m| stands_on(m, found.id)).min_by_key(|m| m.point.len()) {
            Some(next) => found = next,
            None => break,
        }
    }
    Some(found)
}

impl Mount {
    /// The directory that an overlay writes to; `None` where it has none.
    pub fn upper_directory(&self) -> Option<String> {
        self.options.iter().find_map(|o| o.strip_prefix("upperdir=")).map(unescape)
    }

    /// The line of a recording: without what nobody reads of it, as the directory of a bind mount.
    pub fn line(&self) -> String {
        let (point, source, options) = (escape(&self.point), escape(&self.source), self.options.join(","));
        format!("{} {} {} / {point} {options} - {} {source}\n", self.id, self.parent, self.devnum, self.kind)
    }
}

fn line(text: &str) -> Option<Mount> {
    let (left, right) = text.split_once(" - ")?;
    let (mut left, mut right) = (left.split(' '), right.split(' '));
    let mut next = || left.next();
    let (id, parent, devnum, _, point, own) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let (kind, source) = (right.next()?, right.next()?);
    let options =
        own.split(',').chain(right.next().into_iter().flat_map(|o| o.split(','))).map(str::to_owned).collect();
    Some(Mount {
        id: id.parse().ok()?,
        parent: parent.parse().ok()?,
        devnum: devnum.to_owned(),
        point: unescape(point),
        kind: kind.to_owned(),
        source: unescape(source),
        options,
    })
}

/// The text with the octal escapes of the kernel's tables (`\040` for a space) undone.
pub fn unescape(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| first == b'\\').and_then(|d| std::str::from_utf8(d).ok());
        match octal.and_then(|d| u8::from_str_radix(d, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &tail[3..];
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The text with what would end a field, or looks like an escape, written as the kernel does.
fn escape(text: &str) -> String {
    let one =
        |c: char| if matches!(c, ' ' | '\t' | '\n' | '\\') { format!("\\{:03o}", c as u32) } else { c.to_string() };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_lines_are_parsed_and_unescaped() {
        assert_eq!(unescape("a\\040b\\134c\\"), "a b\\c\\");
        let two =
            parse(b"33 22 252:0 / /with\\040space ro shared:1 - xfs /dev/dm-0 rw,x\nbad\n1 x 8:1 / / rw - a b c\n");
        let [mount] = two.as_slice() else { panic!("{two:?}") };
        assert_eq!((mount.id, mount.parent, mount.point.as_str()), (33, 22, "/with space"));
        assert_eq!(mount.options, ["ro", "rw", "x"]);
        assert_eq!(mount.line(), "33 22 252:0 / /with\\040space ro,rw,x - xfs /dev/dm-0\n");
        let again = parse(mount.line().as_bytes());
        assert_eq!((&again[0].point, &again[0].source), (&mount.point, &mount.source));
    }

    #[test]
    fn an_incomplete_mount_table_proves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert_eq!(complete(&root), Fact::ABSENT);
        std::fs::create_dir_all(dir.path().join("proc/self")).unwrap();
        let read = |text: &str| {
            std::fs::write(dir.path().join(MOUNTINFO), text).unwrap();
            complete(&root)
        };
        let line = "1 0 8:1 / /with\\040space rw - ext4 /dev/sda1 rw\n";
        assert_eq!(read(line).map(|m| m[0].point.clone()), Fact::Known("/with space".to_owned()));
        for not_whole in ["", "1 0 8:1 / / rw - ext4 /dev/sda1 rw", &format!("{line}2 1 8:2\n")] {
            assert!(read(not_whole).known().is_none(), "{not_whole:?}");
        }
    }

    #[test]
    fn what_is_mounted_over_another_hides_it() {
        let table = "\
1 0 8:1 / / rw - ext4 /dev/sda1 rw
2 1 8:2 / /a/b rw - ext4 /dev/sda2 rw
3 1 8:3 / /a rw - ext4 /dev/sda3 rw
4 3 8:4 / /a rw - ext4 /dev/sda4 rw
5 4 8:5 / /a/c rw - ext4 /dev/sda5 rw
";
        let mounts = parse(table.as_bytes());
        let on = |path: &str| above(&mounts, path).map(|m| m.id);
        assert_eq!((on("/x"), on("/ab"), on("/a/b/x"), on("/a/c/x")), (Some(1), Some(1), Some(4), Some(5)));
        let part = parse(b"7 5 8:5 / /a/c rw - ext4 x rw\n1 0 8:1 / / rw - ext4 y rw\n");
        let on = |path: &str| above(&part, path).map(|m| m.id);
        assert_eq!((on("/a/c/x"), on("/a/x"), on("relative")), (Some(7), Some(1), None));
        let ring = parse(b"1 2 8:1 / / rw - a b c\n2 1 8:2 / / rw - a b c\n");
        assert_eq!(above(&ring, "/x"), None);
    }
}
