//! A simulated device as a disk of a machine: the files that a kernel would show, its lock, and its port, which is shared
//! with the code that examines its content. It touches nothing real except the given directory.

use crate::device::{Device, Devnum};
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::machine::block::blkid::Signature;
use crate::machine::block::dm_status::Table;
use crate::machine::block::hold::{Hold, Opened};
use crate::machine::block::openers::{Nodes, Opener};
use crate::machine::fs::root::Root;
use crate::machine::port::{
    Act, ActError, AskError, Attention, Done, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::machine::simulated::SimulatedPort;
use crate::units::{Nanos, SECTOR};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// The name of a simulated disk.
pub const NAME: &str = "vdz";
/// Its number.
pub const DEVNUM: Devnum = Devnum { major: 253, minor: 416 };

/// A simulated device that a port, a hold and a test share.
#[derive(Debug, Clone)]
pub struct Shared(pub Rc<RefCell<SimulatedPort>>);

impl Shared {
    /// Shares a device.
    pub fn new(port: SimulatedPort) -> Shared {
        Shared(Rc::new(RefCell::new(port)))
    }
}

impl Port for Shared {
    fn ask(&mut self, device: &Device, question: Question) -> std::result::Result<Vec<u8>, AskError> {
        self.0.borrow_mut().ask(device, question)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<std::result::Result<Done, ActError>> {
        self.0.borrow_mut().act(range, act)
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> std::result::Result<(), ActError> {
        self.0.borrow_mut().set(device, path, value)
    }

    fn now(&self) -> Nanos {
        self.0.borrow().now()
    }

    fn left_behind(&self) -> Option<u32> {
        self.0.borrow().left_behind()
    }

    fn attention(&mut self) -> Option<Attention> {
        self.0.borrow_mut().attention()
    }
}

/// The files that a kernel would show of one disk, below a directory.
pub fn tree(dir: &Path, opened: &Opened) -> Result<Root> {
    add(dir, NAME, opened)?;
    write(dir, "proc/self/mountinfo", "22 1 0:21 / / rw - tmpfs tmpfs rw\n")?;
    write(dir, "proc/sys/kernel/random/boot_id", "simulated\n")?;
    Root::open(dir)
}

/// Adds a disk to the files; all of them bear the same serial number.
pub fn add(dir: &Path, name: &str, opened: &Opened) -> Result<()> {
    let sys = format!("sys/block/{name}");
    let (major, minor) = opened.devnum;
    for (file, text) in [
        ("dev", format!("{major}:{minor}")),
        ("size", (opened.size / SECTOR).to_string()),
        ("ro", "0".to_owned()),
        ("serial", "simulated".to_owned()),
        ("inflight", "       0        1".to_owned()),
        ("queue/write_zeroes_max_bytes", "33554432".to_owned()),
        ("queue/logical_block_size", opened.logical_block.to_string()),
        ("queue/physical_block_size", opened.physical_block.to_string()),
        ("queue/zoned", "none".to_owned()),
        // It serves nobody but the test.
        ("stat", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0".to_owned()),
    ] {
        write(dir, &format!("{sys}/{file}"), &format!("{text}\n"))?;
    }
    if let Some(diskseq) = opened.diskseq {
        write(dir, &format!("{sys}/diskseq"), &format!("{diskseq}\n"))?;
    }
    let holders = dir.join(&sys).join("holders");
    std::fs::create_dir_all(&holders).map_err(|e| Error::file(&holders, "make the directory", e))
}

fn write(dir: &Path, path: &str, text: &str) -> Result<()> {
    let path = dir.join(path);
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&path, text)).map_err(|e| Error::file(&path, "write", e))
}

/// What a disk of so many bytes says when it is locked.
pub fn opened(size: u64) -> Opened {
    let devnum = (DEVNUM.major, DEVNUM.minor);
    Opened { size, logical_block: 512, physical_block: 512, devnum, diskseq: Some(7) }
}

/// The hold of a simulated disk. What others do to it is set by the test.
#[derive(Debug)]
pub struct SimulatedHold {
    disk: Shared,
    /// What it says when it is locked.
    pub opened: Opened,
    /// Another process holds its lock.
    pub locked_elsewhere: bool,
    /// Somebody has claimed it exclusively.
    pub claimed: bool,
    /// What lies on it.
    pub signature: Signature,
    /// Who has it open; `None`: that cannot be told.
    pub openers: Option<Vec<Opener>>,
    /// The device-mapper devices that there are, and their tables.
    pub tables: Vec<(Devnum, Table)>,
}

impl SimulatedHold {
    /// A disk that nobody else uses.
    pub fn new(disk: Shared, opened: Opened) -> SimulatedHold {
        let (locked_elsewhere, claimed, signature, openers) = (false, false, Signature::Nothing, Some(Vec::new()));
        let tables = Vec::new();
        SimulatedHold { disk, opened, locked_elsewhere, claimed, signature, openers, tables }
    }
}

impl Hold for SimulatedHold {
    fn lock(&mut self, _: &str) -> Result<Option<Opened>> {
        Ok((!self.locked_elsewhere).then_some(self.opened))
    }

    fn unlock(&mut self) {}

    fn read_at(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        self.disk.0.borrow().content.get(offset as usize..offset as usize + length).map(<[u8]>::to_vec)
    }

    fn first_not_zero(&self, offset: u64, length: u64) -> Result<Option<u64>> {
        let bytes = self.read_at(offset, length as usize);
        let bytes = bytes.ok_or_else(|| Error::file(NAME, "read", std::io::Error::other("past its end")))?;
        Ok(crate::machine::io::first_not_zero(&bytes).map(|at| offset + at as u64))
    }

    fn add_partition(&mut self, _: i32, _: u64, _: u64) -> Result<bool> {
        Ok(false)
    }

    fn delete_partition(&mut self, _: i32) -> Result<()> {
        Ok(())
    }

    fn wait_for_node(&self, _: &str, _: (u32, u32), _: Duration) -> bool {
        true
    }

    fn node_devnum(&self, node: &str) -> Option<(u32, u32)> {
        // A node of the same number may lie elsewhere: in a jail.
        std::path::Path::new(node).ends_with(NAME).then_some(self.opened.devnum)
    }

    fn claimable(&self, _: &str) -> std::result::Result<(), i32> {
        const EBUSY: i32 = 16;
        if self.claimed {
            Err(EBUSY)
        } else {
            Ok(())
        }
    }

    fn signature(&self, _: &str, _: Option<(u64, u64)>) -> Result<Signature> {
        Ok(self.signature.clone())
    }

    fn openers(&self, _: &Nodes) -> Result<Vec<Opener>> {
        self.openers.clone().ok_or_else(|| Error::file("/proc", "list", std::io::Error::other("hidden")))
    }

    fn keep_open(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn held_for(&self) -> Duration {
        Duration::ZERO
    }

    fn let_udev_in(&mut self) -> Result<Option<Opened>> {
        self.lock(NAME)
    }

    fn table(&self, devnum: Devnum) -> Fact<Table> {
        let found = self.tables.iter().find(|(number, _)| *number == devnum);
        found.map_or(Fact::ABSENT, |(_, table)| Fact::Known(table.clone()))
    }

    fn changed(&mut self, _: &Device) -> Result<()> {
        Ok(())
    }
}
