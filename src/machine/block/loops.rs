//! The loop devices that are set up, and which bytes of which file each one uses. A loop device does not claim the block
//! device that it lies on, so neither `holders` nor O_EXCL shows it. It reads sysfs only.

use crate::fact::{Fact, Why};
use crate::machine::fs::root::Root;

/// A loop device that has a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The kernel's name: `loop0`.
    pub name: String,
    /// `loop/backing_file`: the node of a block device by the kernel's own name, or the path of a file.
    pub file: String,
    /// `loop/offset`, in bytes.
    pub offset: Fact<u64>,
    /// `loop/sizelimit`, in bytes; 0 stands for all that follows.
    pub limit: Fact<u64>,
}

impl Loop {
    /// Whether it shows any of these bytes of its file. What is not known counts as if it did.
    pub fn shows(&self, start: u64, length: u64) -> bool {
        let from = self.offset.get().unwrap_or(0);
        let end = match (self.offset.get(), self.limit.get()) {
            (Some(offset), Some(limit)) if limit > 0 => offset.saturating_add(limit),
            _ => u64::MAX,
        };
        from < start.saturating_add(length) && start < end
    }
}

/// Those that are set up, as far as they can be listed; for a question that must not miss one there is [`known`].
pub fn all(root: &Root) -> Vec<Loop> {
    known(root).known().cloned().unwrap_or_default()
}

/// All that are set up: not known where one of them cannot be read.
pub fn known(root: &Root) -> Fact<Vec<Loop>> {
    let names = match root.list("sys/block") {
        Fact::Known(names) => names,
        Fact::Unknown(why) => return Fact::Unknown(why),
    };
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| name.starts_with("loop")) {
        let number = |file: &str| root.number(&format!("sys/block/{name}/loop/{file}"));
        match root.text(&format!("sys/block/{name}/loop/backing_file")) {
            Fact::Known(file) => {
                found.push(Loop { file, offset: number("offset"), limit: number("sizelimit"), name });
            }
            // It has no file.
            Fact::Unknown(Why::Absent) => {}
            Fact::Unknown(why) => return Fact::Unknown(why),
        }
    }
    Fact::Known(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_that_a_loop_shows() {
        let on = |offset, limit| Loop { name: String::new(), file: String::new(), offset, limit };
        let span = on(Fact::Known(4096), Fact::Known(8192));
        assert!(span.shows(0, 4097) && span.shows(12287, 1) && span.shows(0, u64::MAX));
        assert!(!span.shows(0, 4096) && !span.shows(12288, 4096));
        let rest = on(Fact::Known(4096), Fact::Known(0));
        assert!(rest.shows(1 << 40, 1) && !rest.shows(0, 4096));
        assert!(on(Fact::ABSENT, Fact::Known(512)).shows(1 << 40, 1), "not known");
        assert!(on(Fact::Known(4096), Fact::ABSENT).shows(1 << 40, 1), "not known");
    }

    #[test]
    fn only_loop_devices_with_a_file_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert!(known(&root).known().is_none());
        for (path, text) in [
            ("loop0/loop/backing_file", "/dev/sda\n"),
            ("loop0/loop/offset", "512\n"),
            ("loop1/size", "0\n"),
            ("sda/size", "8\n"),
        ] {
            let path = dir.path().join("sys/block").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = all(&root);
        assert_eq!((found.len(), found[0].name.as_str(), found[0].file.as_str()), (1, "loop0", "/dev/sda"));
        assert_eq!((found[0].offset.get(), found[0].limit.get()), (Some(512), None));
    }
}
