//! Who else could write to the bytes of a test: loop devices on them, exports to other machines, processes that have the disk
//! open. None of these claims the device, so neither `holders` nor O_EXCL shows them. It refuses the test or allows it; it
//! makes no range and writes nothing.

use super::checks::Checks;
use super::linear::overlap;
use crate::device::display::escape_str;
use crate::device::{Device, Devnum};
use crate::error::Result;
use crate::machine::block::devices::Partition;
use crate::machine::block::hold::Hold;
use crate::machine::block::openers::{How, Nodes, Opener};
use crate::machine::block::{exports, loops};
use crate::machine::fs::root::Root;

/// The bytes of the whole disk that are asked about, and the partitions that reach them.
struct Bytes<'a> {
    device: &'a Device,
    partitions: Vec<&'a Partition>,
    start: u64,
    length: u64,
}

impl<'a> Bytes<'a> {
    fn new(device: &'a Device, partitions: &'a [Partition], (start, length): (u64, u64)) -> Bytes<'a> {
        Bytes { device, partitions: reaching(partitions, (start, length)), start, length }
    }

    /// The nodes through which the bytes can be written: the disk's, and those of the partitions that reach them.
    fn nodes(&self, root: &Root) -> Nodes {
        let numbers = self.device.devnum.into_iter().chain(self.partitions.iter().filter_map(|p| p.devnum));
        Nodes { blocks: numbers.map(|d| (d.major, d.minor)).collect(), commands: commands(root, self.device) }
    }
}

/// The partitions that reach these bytes of their disk.
pub(super) fn reaching(partitions: &[Partition], (start, length): (u64, u64)) -> Vec<&Partition> {
    partitions.iter().filter(|p| overlap(p, start, length)).collect()
}

/// The nodes that take commands for the same device: `/dev/sg3` of a SCSI disk, `/dev/ng0n1` of an NVMe namespace.
fn commands(root: &Root, device: &Device) -> Vec<String> {
    let generic = root.list(&device.attr("device/scsi_generic"));
    let generic = generic.known().into_iter().flatten().map(|name| format!("/dev/{name}"));
    let namespace = device.name.strip_prefix("nvme").map(|rest| format!("/dev/ng{rest}"));
    generic.chain(namespace).collect()
}

/// That nobody else can write to these bytes of the disk. `private`: the disk was made for this test by this process, so
/// that nobody else knows of it; where processes cannot be seen that has to do.
pub(super) fn nobody(
    checks: &mut Checks,
    on: (&Root, &dyn Hold),
    device: &Device,
    partitions: &[Partition],
    (start, length): (u64, u64),
    private: bool,
) -> Result<()> {
    let (root, hold) = on;
    let bytes = Bytes::new(device, partitions, (start, length));
    no_loop(checks, root, hold, &bytes)?;
    no_export(checks, root, hold, &bytes)?;
    if private {
        return Ok(());
    }
    let openers = hold.openers(&bytes.nodes(root))?;
    let named = |o: &Opener| format!("{} (pid {})", escape_str(&o.command), o.pid);
    let writers: Vec<String> = openers.iter().filter(|o| o.how == How::Writes).map(named).collect();
    checks.require(writers.is_empty(), "no other process has it open for writing", || {
        let node = device.node();
        format!(
            "{} has {node}, or a partition that overlaps the range, open for writing, and may write there at any \
             time; end it first",
            writers.join(", ")
        )
    })?;
    let hidden: Vec<String> = openers.iter().filter(|o| o.how == How::HidesFiles).map(named).collect();
    checks.require(hidden.is_empty(), "every other process shows what it has open", || {
        format!(
            "{} has an io_uring that does not show which files it keeps open, and {} may be one of them; end that \
             process first, or try again when it is idle",
            hidden.join(", "),
            device.node()
        )
    })?;
    for other in &openers {
        let how = if other.how == How::SendsCommands { "can send commands to it" } else { "has it open for reading" };
        checks.lines.push(format!("{} {how}", named(other)));
    }
    Ok(())
}

fn no_loop(checks: &mut Checks, root: &Root, hold: &dyn Hold, bytes: &Bytes<'_>) -> Result<()> {
    let all = checks.known(loops::known(root), "which loop devices are set up (/sys/block/loop*)")?;
    // A node may lie anywhere and have any name; one that cannot be looked up is known by the kernel's own name.
    let is = |file: &str, node: &str, number: Option<Devnum>| match hold.node_devnum(file) {
        Some(found) => number.is_some_and(|d| found == (d.major, d.minor)),
        None => file == node,
    };
    let shows = |l: &&loops::Loop| {
        let of_disk = is(&l.file, &bytes.device.node(), bytes.device.devnum) && l.shows(bytes.start, bytes.length);
        let of_part = |p: &&&Partition| {
            // From where the bytes begin inside the partition.
            let from = bytes.start.saturating_sub(p.start);
            is(&l.file, &p.node(), p.devnum)
                && l.shows(from, (bytes.start + bytes.length).saturating_sub(p.start + from))
        };
        of_disk || bytes.partitions.iter().find(of_part).is_some()
    };
    let hit = all.iter().find(shows);
    checks.require(hit.is_none(), "no loop device uses any of it", || {
        let (name, file) = hit.map_or(("", ""), |l| (&l.name, &l.file));
        format!(
            "the loop device /dev/{name} (on {file}) overlaps the range; if it is not needed, remove it with: \
                 losetup -d /dev/{name}"
        )
    })
}

fn no_export(checks: &mut Checks, root: &Root, hold: &dyn Hold, bytes: &Bytes<'_>) -> Result<()> {
    let all = checks.known(exports::known(root), "what is served to other machines (/sys/kernel/config)")?;
    let nodes = bytes.nodes(root).blocks;
    let hit = all.iter().find(|e| hold.node_devnum(&e.path).is_some_and(|number| nodes.contains(&number)));
    checks.require(hit.is_none(), "it is not served to other machines", || {
        let (path, by) = hit.map_or((String::new(), ""), |e| (escape_str(&e.path), e.by));
        format!("{by} serves {path} to other machines, which may write to the range at any time")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::simulated::disk::{self, Shared, SimulatedHold};
    use crate::machine::simulated::{Model, SimulatedPort};
    use crate::units::MIB;

    struct Stand {
        dir: tempfile::TempDir,
        hold: SimulatedHold,
    }

    impl Stand {
        fn new() -> Stand {
            let dir = tempfile::tempdir().unwrap();
            let opened = disk::opened(64 * MIB);
            disk::tree(dir.path(), &opened).unwrap();
            let port = SimulatedPort::new(Model::steady(8_000_000, 1_000_000), vec![0; 512], 1);
            Stand { dir, hold: SimulatedHold::new(Shared::new(port), opened) }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        /// Asked about 4 MiB from the eighth MiB on.
        fn ask(&self) -> std::result::Result<Vec<String>, String> {
            let root = Root::open(self.dir.path()).unwrap();
            let device = crate::machine::block::devices::device(&root, disk::NAME);
            let mut checks = Checks { device: device.node(), lines: Vec::new() };
            let bytes = (8 * MIB, 4 * MIB);
            nobody(&mut checks, (&root, &self.hold), &device, &[], bytes, false)
                .map(|()| checks.lines)
                .map_err(|e| e.to_string())
        }
    }

    #[test]
    fn a_loop_over_the_range_refuses_and_one_beside_it_does_not() {
        let stand = Stand::new();
        stand.write("sys/block/loop0/loop/backing_file", "/dev/vdz\n");
        for (offset, limit, free) in
            [("0", "0", false), ("0", "8388608", true), ("8388608", "512", false), ("12582912", "0", true)]
        {
            stand.write("sys/block/loop0/loop/offset", offset);
            stand.write("sys/block/loop0/loop/sizelimit", limit);
            let said = stand.ask();
            assert_eq!(said.is_ok(), free, "{offset} {limit}: {said:?}");
            assert!(free || said.is_err_and(|why| why.contains("losetup -d /dev/loop0")));
        }
    }

    #[test]
    fn a_loop_on_another_node_of_the_same_disk_refuses_and_one_on_a_file_does_not() {
        let stand = Stand::new();
        for (file, free) in [("/srv/jail/dev/vdz", false), ("/srv/image", true)] {
            stand.write("sys/block/loop0/loop/backing_file", file);
            assert_eq!(stand.ask().is_ok(), free, "{file}");
        }
    }

    #[test]
    fn a_writer_refuses_and_is_named_and_a_reader_is_reported() {
        let mut stand = Stand::new();
        let opener = |pid, how| Opener { pid, command: "qemu".to_owned(), how };
        stand.hold.openers = Some(vec![opener(7, How::Reads), opener(8, How::SendsCommands)]);
        let lines = stand.ask().unwrap();
        assert!(lines.contains(&"qemu (pid 7) has it open for reading".to_owned()), "{lines:?}");
        assert!(lines.contains(&"qemu (pid 8) can send commands to it".to_owned()), "{lines:?}");
        stand.hold.openers = Some(vec![opener(9, How::Writes)]);
        assert!(stand.ask().is_err_and(|why| why.contains("qemu (pid 9) has /dev/vdz")));
        stand.hold.openers = Some(vec![opener(6, How::HidesFiles)]);
        assert!(stand.ask().is_err_and(|why| why.contains("qemu (pid 6) has an io_uring that does not show")));
        stand.hold.openers = None;
        assert!(stand.ask().is_err());
    }

    #[test]
    fn a_device_that_is_served_to_others_refuses() {
        let stand = Stand::new();
        // A simulated hold knows every node as the disk.
        stand.write("sys/kernel/config/nvmet/subsystems/a/namespaces/1/device_path", "/dev/disk/by-id/vdz\n");
        assert!(stand.ask().is_err_and(|why| why.contains("nvmet) serves /dev/disk/by-id/vdz to other machines")));
    }
}
