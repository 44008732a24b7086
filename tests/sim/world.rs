//! The world of a stand: media by their nodes, the locks on them, files; all under one power, which may go at any step.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use zerocap::device::{Device, Devnum};
use zerocap::error::{Error, Result};
use zerocap::fact::Fact;
use zerocap::machine::block::blkid::Signature;
use zerocap::machine::block::dm_status::Table;
use zerocap::machine::block::hold::{Hold, Opened};
use zerocap::machine::block::openers::{Nodes, Opener};
use zerocap::machine::fs::durable::{Durable, SimulatedDurable};
use zerocap::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use zerocap::machine::simulated::disk::Shared;
use zerocap::machine::simulated::{Cut, Random};
use zerocap::units::Nanos;

/// The power that device and files share: counts their steps, goes in the middle of one.
#[derive(Default)]
pub struct Mains {
    pub steps: Cell<u64>,
    pub cut_at: Cell<Option<u64>>,
    pub off: Cell<bool>,
    /// The step of the last act of a run that changed the device.
    pub changed_at: Cell<u64>,
}

pub enum Power {
    On,
    Going,
    Off,
}

impl Mains {
    fn step(&self) -> Power {
        if self.off.get() {
            return Power::Off;
        }
        self.steps.set(self.steps.get() + 1);
        if self.cut_at.get() == Some(self.steps.get()) {
            self.off.set(true);
            return Power::Going;
        }
        Power::On
    }
}

/// The disk counts what is written to it (`stat` in sysfs), where others write too: else nobody needs to know.
fn count(bytes: u64) {
    super::FILES.with(|(dir, root)| {
        let file = super::device(super::disk::NAME).attr("stat");
        let text = root.text(&file).known().cloned().unwrap();
        let mut fields: Vec<u64> = text.split_whitespace().map(|f| f.parse().unwrap()).collect();
        fields[6] += bytes.div_ceil(512);
        let fields: Vec<String> = fields.iter().map(u64::to_string).collect();
        std::fs::write(dir.path().join(file), fields.join(" ") + "\n").unwrap();
    });
}

/// Media by their nodes, under one power; what others do between two acts is `meanwhile`.
pub struct Media {
    pub disks: Vec<(String, Shared)>,
    pub mains: Rc<Mains>,
    pub seed: u64,
    /// Bytes that somebody else writes before the act of this number: place and content.
    pub meanwhile: Vec<(u64, u64, Vec<u8>)>,
    /// The process that acts ends at this act, once.
    pub lost_at: Option<u64>,
    pub acts: u64,
    /// Every act is refused until the range is opened anew.
    closed: bool,
}

impl Media {
    pub fn new(disks: Vec<(String, Shared)>, mains: Rc<Mains>, seed: u64) -> Media {
        Media { disks, mains, seed, meanwhile: Vec::new(), lost_at: None, acts: 0, closed: false }
    }

    fn of(&self, node: &str) -> Option<&Shared> {
        self.disks.iter().find(|(n, _)| n == node).map(|(_, disk)| disk)
    }
}

impl Port for Media {
    fn ask(&mut self, device: &Device, question: Question) -> std::result::Result<Vec<u8>, AskError> {
        match self.of(&device.node()) {
            Some(disk) if !self.mains.off.get() => disk.clone().ask(device, question),
            _ => Err(AskError::NotAsked),
        }
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<std::result::Result<Done, ActError>> {
        let fail = |error| Timed { took: Nanos(0), value: Err(error) };
        let Some(disk) = self.of(&range.node).cloned() else { return fail(ActError::Os(6)) };
        self.acts += 1;
        for (_, at, bytes) in self.meanwhile.iter().filter(|(act, _, _)| *act == self.acts) {
            disk.0.borrow_mut().content[*at as usize..*at as usize + bytes.len()].copy_from_slice(bytes);
            count(bytes.len() as u64);
        }
        if !self.meanwhile.is_empty() {
            count(match act {
                Act::Write { length, .. } | Act::Zero { length, .. } => *length,
                Act::Stretch(stretch) => stretch.length,
                Act::PutBack { bytes, .. } => bytes.len() as u64,
                _ => 0,
            });
        }
        if self.lost_at == Some(self.acts) {
            self.closed = true;
            return fail(ActError::PortLost("the acting child ended".to_owned()));
        }
        self.closed &= !matches!(act, Act::Open);
        if self.closed {
            return fail(ActError::Closed);
        }
        match self.mains.step() {
            Power::On => {}
            Power::Going => {
                let at = disk.0.borrow().acts() + 1;
                disk.0.borrow_mut().cut = Some(Cut { at, seed: self.seed });
            }
            Power::Off => return fail(ActError::PortLost("no power".to_owned())),
        }
        if matches!(act, Act::Write { .. } | Act::Zero { .. } | Act::Stretch(_)) {
            self.mains.changed_at.set(self.mains.steps.get());
        }
        disk.clone().act(range, act)
    }

    fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> std::result::Result<(), ActError> {
        Err(ActError::Refused("a simulated device has no tunables".to_owned()))
    }

    fn now(&self) -> Nanos {
        self.disks[0].1.now()
    }

    fn left_behind(&self) -> Option<u32> {
        self.disks.iter().find_map(|(_, disk)| disk.left_behind())
    }
}

/// The locks of the media, and what others have come to do with them.
pub struct Holds {
    pub disks: Vec<(String, Shared, Opened)>,
    pub locked: Option<usize>,
    /// A file system that somebody made over the range since.
    pub signature: Signature,
    /// Nodes that somebody has claimed.
    pub claimed: Vec<String>,
    /// Nodes whose lock another process holds.
    pub locked_elsewhere: Vec<String>,
    /// Who has it open; `None`: that cannot be told.
    pub openers: Option<Vec<Opener>>,
    /// From this step on; before it nobody has.
    pub opened_at: u64,
    pub mains: Rc<Mains>,
}

impl Hold for Holds {
    fn lock(&mut self, node: &str) -> Result<Option<Opened>> {
        self.locked = self
            .disks
            .iter()
            .position(|(n, _, _)| n == node)
            .filter(|_| !self.locked_elsewhere.iter().any(|l| l == node));
        Ok(self.locked.map(|i| self.disks[i].2))
    }
    fn unlock(&mut self) {
        self.locked = None;
    }
    fn read_at(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let (_, disk, _) = &self.disks[self.locked?];
        let content = &disk.0.borrow().content;
        content.get(offset as usize..offset as usize + length).map(<[u8]>::to_vec)
    }
    fn first_not_zero(&self, offset: u64, length: u64) -> Result<Option<u64>> {
        let bytes = self.read_at(offset, length as usize).unwrap();
        Ok(bytes.iter().position(|b| *b != 0).map(|at| offset + at as u64))
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
        self.disks.iter().find(|(n, _, _)| n == node).map(|(_, _, opened)| opened.devnum)
    }
    fn claimable(&self, node: &str) -> std::result::Result<(), i32> {
        if self.claimed.iter().any(|c| c == node) {
            Err(16)
        } else {
            Ok(())
        }
    }
    fn signature(&self, _: &str, _: Option<(u64, u64)>) -> Result<Signature> {
        Ok(self.signature.clone())
    }
    fn openers(&self, _: &Nodes) -> Result<Vec<Opener>> {
        if self.mains.steps.get() < self.opened_at {
            return Ok(Vec::new());
        }
        self.openers.clone().ok_or_else(|| Error::file("/proc", "list", std::io::Error::other("hidden")))
    }
    fn keep_open(&mut self, _: &str) -> Result<()> {
        Ok(())
    }
    fn held_for(&self) -> Duration {
        Duration::ZERO
    }
    fn let_udev_in(&mut self) -> Result<Option<Opened>> {
        Ok(self.locked.map(|i| self.disks[i].2))
    }
    fn table(&self, _: Devnum) -> Fact<Table> {
        Fact::ABSENT
    }
    fn changed(&mut self, _: &Device) -> Result<()> {
        Ok(())
    }
}

fn dark() -> Error {
    Error::file("simulated", "use", std::io::Error::other("the power is off"))
}

/// Files that share the power of the media.
pub struct Files {
    pub files: Rc<RefCell<SimulatedDurable>>,
    pub mains: Rc<Mains>,
    pub random: Random,
}

impl Files {
    /// Does it, or, where the power goes, does it or not; whoever called learns of neither.
    fn whole(&mut self, step: impl FnOnce(&mut SimulatedDurable) -> Result<()>) -> Result<()> {
        let files = &mut *self.files.borrow_mut();
        match self.mains.step() {
            Power::On => step(files),
            Power::Going if self.random.below(2) == 0 => step(files).and_then(|()| Err(dark())),
            Power::Going | Power::Off => Err(dark()),
        }
    }
}

impl Durable for Files {
    /// No step of its own: an empty name that a cut leaves, or does not, is what the first append of nothing leaves.
    fn create(&mut self, name: &str) -> Result<()> {
        self.files.borrow_mut().create(name)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.files.borrow().read(name)
    }
    fn part(&self, name: &str, offset: u64, length: u64) -> Result<Option<Vec<u8>>> {
        self.files.borrow().part(name, offset, length)
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let part = self.random.below(bytes.len() as u64 + 1) as usize;
        match self.mains.step() {
            Power::On => self.files.borrow_mut().append(name, bytes),
            Power::Going => {
                self.files.borrow_mut().append(name, &bytes[..part])?;
                Err(dark())
            }
            Power::Off => Err(dark()),
        }
    }
    fn sync(&mut self, name: &str) -> Result<()> {
        self.whole(|files| files.sync(name))
    }
    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.whole(|files| files.replace(name, bytes))
    }
    fn remove(&mut self, name: &str) -> Result<()> {
        self.whole(|files| files.remove(name))
    }
    fn list(&self) -> Result<Vec<String>> {
        self.files.borrow().list()
    }
    fn shown(&self, name: &str) -> PathBuf {
        self.files.borrow().shown(name)
    }
    fn hold(&mut self, name: &str) -> Result<bool> {
        self.files.borrow_mut().hold(name)
    }
    fn release(&mut self, name: &str) {
        self.files.borrow_mut().release(name);
    }
}
