//! What `blkid -p` (util-linux, low-level probing without a cache) finds on a node: the names of the signatures. It only
//! reads.

use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::machine::process;
use rustix::fs::{Advice, Mode, OFlags};
use std::num::NonZeroU64;
use std::time::Duration;

/// A probe reads some hundred blocks: a disk that has to spin up takes seconds, a suspended one for ever.
const DEADLINE: Duration = Duration::from_secs(20);

/// What is found where signatures contradict each other.
const SEVERAL: &str = "several signatures that contradict each other";

/// What was found on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signature {
    /// Nothing that blkid knows.
    Nothing,
    /// A partition table and nothing else: its type (`gpt`, `dos`).
    Table(String),
    /// Something in use: `ext4`, `LVM2_member`, `swap`, or "several" where blkid finds contradicting ones.
    Content(String),
}

/// Probes a node, or these bytes of it alone (offset and length).
pub fn probe(node: &str, bytes: Option<(u64, u64)>) -> Result<Signature> {
    if let Some(bytes) = bytes {
        // What was written through another node (a volume, a partition) is not in this one's page cache.
        forget(node, bytes).map_err(|e| Error::file(node, "drop the page cache of", e))?;
    }
    let said = run(node, bytes).map_err(|e| Error::file(node, "run blkid -p (util-linux) on", e))?;
    match said.code {
        Some(0) => Ok(parse(&String::from_utf8_lossy(&said.out))),
        Some(2) => Ok(Signature::Nothing),
        // blkid(8): ambivalent low-level probing result.
        Some(8) => Ok(Signature::Content(SEVERAL.to_owned())),
        _ => Err(Error::Act {
            device: node.to_owned(),
            operation: "blkid -p".to_owned(),
            what: escape_str(String::from_utf8_lossy(&said.err).trim()),
        }),
    }
}

/// That a node can be opened and read within the deadline: a process of its own does it, so a device that does not answer
/// keeps that one waiting and not this. Whatever else it says is no matter here.
pub fn answers(node: &str) -> Result<()> {
    match run(node, None) {
        Err(e) if e.kind() == std::io::ErrorKind::TimedOut => Err(Error::file(node, "open and read (blkid -p)", e)),
        _ => Ok(()),
    }
}

fn forget(node: &str, (offset, length): (u64, u64)) -> rustix::io::Result<()> {
    let fd = rustix::fs::open(node, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    rustix::fs::fadvise(&fd, offset, NonZeroU64::new(length), Advice::DontNeed)
}

fn run(node: &str, bytes: Option<(u64, u64)>) -> std::io::Result<process::Said> {
    let bounds = bytes.map(|(offset, length)| [format!("--offset={offset}"), format!("--size={length}")]);
    let mut arguments = vec!["-p", "-o", "export"];
    arguments.extend(bounds.iter().flatten().map(String::as_str));
    arguments.extend(["--", node]);
    process::run("blkid", &arguments, DEADLINE)
}

/// Reads `KEY=value` lines. PART_ENTRY_* describe the partition itself, not its content.
fn parse(export: &str) -> Signature {
    let of =
        |name: &str| export.lines().filter_map(|l| l.split_once('=')).find(|(key, _)| *key == name).map(|(_, v)| v);
    match (of("TYPE").or_else(|| of("USAGE")), of("PTTYPE")) {
        // Of swap space is said that it is nothing else.
        (Some("swap"), Some(_)) => Signature::Content(SEVERAL.to_owned()),
        (Some(kind), _) => Signature::Content(escape_str(kind)),
        (None, table) => table.map_or(Signature::Nothing, |kind| Signature::Table(escape_str(kind))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_told_from_a_table() {
        assert_eq!(parse("DEVNAME=/dev/sda\nPTUUID=1\nPTTYPE=gpt\n"), Signature::Table("gpt".to_owned()));
        assert_eq!(parse("DEVNAME=/dev/sda1\nPART_ENTRY_TYPE=x\nPART_ENTRY_SCHEME=gpt\n"), Signature::Nothing);
        assert_eq!(parse("PTTYPE=dos\nTYPE=ext4\nUSAGE=filesystem\n"), Signature::Content("ext4".to_owned()));
        assert_eq!(parse("UUID=1\nTYPE=swap\nUSAGE=other\n"), Signature::Content("swap".to_owned()));
        assert_eq!(parse("TYPE=swap\nPTTYPE=dos\n"), Signature::Content(SEVERAL.to_owned()));
        assert_eq!(parse(""), Signature::Nothing);
    }
}
