//! The block devices that this kernel serves to other machines: nvmet and LIO, by their directories in configfs. Neither is
//! among the `holders` of a device, and nvmet claims nothing. It only reads.

use crate::fact::{Fact, Why};
use crate::machine::fs::root::Root;

/// Where nvmet keeps its subsystems.
const NVMET: &str = "sys/kernel/config/nvmet/subsystems";
/// Where LIO keeps its backstores.
const LIO: &str = "sys/kernel/config/target/core";

/// A device that is served to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The path that the administrator gave: a node, a link to one, or a file.
    pub path: String,
    /// Who serves it, in words.
    pub by: &'static str,
}

/// All that is served, whether it is switched on at the moment or not. Not known where it cannot be read.
pub fn known(root: &Root) -> Fact<Vec<Export>> {
    let mut found = Vec::new();
    let result = nvmet(root, &mut found).and_then(|()| lio(root, &mut found));
    match result {
        Ok(()) => Fact::Known(found),
        Err(why) => Fact::Unknown(why),
    }
}

fn nvmet(root: &Root, found: &mut Vec<Export>) -> Result<(), Why> {
    for subsystem in list(root, NVMET)? {
        let namespaces = format!("{NVMET}/{subsystem}/namespaces");
        for namespace in list(root, &namespaces)? {
            let path = text(root, &format!("{namespaces}/{namespace}/device_path"))?;
            found.extend(path.filter(|p| p != "(null)").map(|path| Export { path, by: "NVMe over fabrics (nvmet)" }));
        }
    }
    Ok(())
}

fn lio(root: &Root, found: &mut Vec<Export>) -> Result<(), Why> {
    for group in list(root, LIO)? {
        for store in list(root, &format!("{LIO}/{group}"))? {
            let dir = format!("{LIO}/{group}/{store}");
            for file in ["udev_path", "info"] {
                let words = text(root, &format!("{dir}/{file}"))?.unwrap_or_default();
                // `info` has the file of a fileio backstore among its words: "File: /dev/sda".
                let paths = words.split_whitespace().filter(|word| word.starts_with('/'));
                found.extend(paths.map(|path| Export { path: path.to_owned(), by: "LIO (a SCSI target)" }));
            }
        }
    }
    Ok(())
}

/// The names in a directory; none where it is not there, or is a file.
fn list(root: &Root, dir: &str) -> Result<Vec<String>, Why> {
    match root.list(dir) {
        Fact::Known(names) => Ok(names),
        Fact::Unknown(Why::Absent) => Ok(Vec::new()),
        Fact::Unknown(why) => Err(why),
    }
}

fn text(root: &Root, file: &str) -> Result<Option<String>, Why> {
    match root.text(file) {
        Fact::Known(text) => Ok(Some(text.trim().to_owned()).filter(|t| !t.is_empty())),
        Fact::Unknown(Why::Absent) => Ok(None),
        Fact::Unknown(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_targets_serve() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert_eq!(known(&root), Fact::Known(Vec::new()), "no configfs");
        for (path, text) in [
            ("nvmet/subsystems/nqn.a/namespaces/1/device_path", "/dev/disk/by-id/x\n"),
            ("nvmet/subsystems/nqn.a/namespaces/1/enable", "1\n"),
            ("nvmet/subsystems/nqn.a/namespaces/2/device_path", "(null)\n"),
            ("nvmet/subsystems/nqn.a/attr_serial", "x\n"),
            ("target/core/iblock_0/a/udev_path", "/dev/sdb\n"),
            ("target/core/fileio_1/b/udev_path", ""),
            ("target/core/fileio_1/b/info", "Status: ACTIVATED\n  TCM FILEIO ID: 0        File: /dev/sdc  Size: 8\n"),
            ("target/core/iblock_0/hba_info", "HBA Index: 1\n"),
        ] {
            let path = dir.path().join("sys/kernel/config").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut paths: Vec<String> = known(&root).known().unwrap().iter().map(|e| e.path.clone()).collect();
        paths.sort();
        assert_eq!(paths, ["/dev/disk/by-id/x", "/dev/sdb", "/dev/sdc"]);
    }
}
