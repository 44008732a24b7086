//! The files that a process has mapped shared (`/proc/<pid>/maps`, `map_files`). A mapping keeps its file open when the
//! descriptor is closed, and a process that maps a block device writes to it by storing into memory. It only reads.

use super::held::{block_node, gone};
use super::ring;
use std::fs;
use std::path::Path;

/// What a process maps of what matters here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// Block devices that it maps shared. Whether it may write is not shown: a mapping for reading can be made one for
    /// writing at any time, if the file was opened so.
    pub nodes: Vec<(u32, u32)>,
    /// It maps an io_uring.
    pub ring: bool,
}

/// What this process maps; nothing where it has ended. Private mappings are left out: what is stored there reaches no device.
pub fn shared(process: &Path) -> std::io::Result<Mapped> {
    let table = match fs::read_to_string(process.join("maps")) {
        Ok(table) => table,
        Err(e) if gone(&e) => return Ok(Mapped::default()),
        Err(e) => return Err(e),
    };
    let mut mapped = Mapped::default();
    for (addresses, file) in table.lines().filter_map(shared_file) {
        if file == ring::LINK {
            mapped.ring = true;
        } else if file.starts_with('/') {
            // The link leads to the mapped file itself, whatever lies at its path now.
            mapped.nodes.extend(block_node(&process.join("map_files").join(addresses)));
        }
    }
    Ok(mapped)
}

/// Addresses and file of a shared mapping: `7f00-7f10 rw-s 00000000 00:06 123   /dev/sda` (proc_pid_maps(5)).
fn shared_file(line: &str) -> Option<(&str, &str)> {
    let (addresses, rest) = line.split_once(' ')?;
    let (permissions, rest) = rest.split_once(' ')?;
    let file = rest.splitn(4, ' ').nth(3)?.trim_start();
    (permissions.ends_with('s') && !file.is_empty()).then_some((addresses, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_mappings_of_files_count() {
        let line = "7f2a1c000000-7f2a1c400000 rw-s 00000000 00:06 312                        /dev/my disk (deleted)";
        assert_eq!(shared_file(line), Some(("7f2a1c000000-7f2a1c400000", "/dev/my disk (deleted)")));
        for none in [
            "7f2a1c000000-7f2a1c400000 rw-p 00000000 00:06 312                        /dev/sda",
            "7f2a1c000000-7f2a1c400000 rw-s 00000000 00:01 2065 ",
            "7f2a1c000000-7f2a1c400000 rw-s",
            "",
        ] {
            assert_eq!(shared_file(none), None, "{none}");
        }
    }

    #[test]
    fn a_mapped_ring_is_seen_and_a_process_that_has_ended_maps_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let line = "7f0000000000-7f0000001000 rw-s 00000000 00:0f 1057   anon_inode:[io_uring]\n";
        fs::write(dir.path().join("maps"), line).unwrap();
        assert_eq!(shared(dir.path()).unwrap(), Mapped { nodes: Vec::new(), ring: true });
        assert_eq!(shared(&dir.path().join("ended")).unwrap(), Mapped::default());
    }

    #[test]
    fn the_mappings_of_this_very_process_can_be_read() {
        assert_eq!(shared(Path::new("/proc/self")).unwrap(), Mapped::default());
    }
}
