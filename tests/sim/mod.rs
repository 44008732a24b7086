//! What the tests on simulated devices share: a stand with one or two media, and a test that runs on it in the very order
//! that runs on real devices (`zerocap::protocol`).

#![allow(dead_code, clippy::unwrap_used)] // each test uses its part; all of it is test

#[path = "machine.rs"]
pub mod machine;
#[path = "world.rs"]
pub mod world;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
pub use world::Mains;
use world::{Files, Holds, Media};
use zerocap::device::{Device, Devnum};
use zerocap::error::Result;
use zerocap::facts::{self, Depth, Facts};
use zerocap::machine::block::blkid::Signature;
use zerocap::machine::block::hold::Opened;
use zerocap::machine::block::openers::Opener;
use zerocap::machine::fs::durable::{Durable, SimulatedDurable};
use zerocap::machine::fs::root::Root;
use zerocap::machine::interrupt::Interrupt;
use zerocap::machine::port::pattern::{self, RunId};
use zerocap::machine::port::ScratchRange;
use zerocap::machine::simulated::disk::{self, Shared};
use zerocap::machine::simulated::{Model, Random, SimulatedPort};
use zerocap::measure::order::SCREENED;
use zerocap::measure::outcome::Outcome;
use zerocap::measure::plan::{Layout, Plan, FILLED, SEGMENT, SUSTAINED};
use zerocap::measure::scratch::{self, Proof};
use zerocap::measure::stats::Sequential;
use zerocap::measure::trial::{Watch, SEGMENTS};
use zerocap::protocol::plan::Prepared;
use zerocap::protocol::result::Conditions;
use zerocap::protocol::{self, recovery, Machine, Subject};
use zerocap::store::intents::{Intent, Intents};
use zerocap::units::{Nanos, MIB};

/// The pairs that the default byte budget pays for: 512 MiB in segments of 16 MiB.
pub const BUDGET: u64 = 2048 * MIB / SEGMENT;
/// The name under which journal and intent are kept.
pub const NAME: &str = "simulated";
/// The file of the journal.
pub const JOURNAL: &str = "simulated.journal";
/// A second disk, of the same identity.
pub const TWIN: &str = "vdy";
/// Zeroing keeps this far away from the witness: small, so that a device of a test is.
const GUARD: u64 = 4096;

/// A test that nobody watches.
pub struct Quiet;

impl Watch for Quiet {
    fn limits(&mut self) -> Vec<String> {
        Vec::new()
    }
    fn pair(&mut self, _: usize, _: Nanos, _: Nanos, _: &Sequential) {}
    fn stop(&mut self) -> bool {
        false
    }
}

/// What lies on a device: runs of random bytes, of zeroes, of ones and of text, none longer than a few blocks.
pub fn content(bytes: u64, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0xc0de);
    let mut all = Vec::with_capacity(bytes as usize);
    while all.len() < bytes as usize {
        let run = 512 * (1 + random.below(24)) as usize;
        match random.below(4) {
            0 => all.resize(all.len() + run, 0),
            1 => all.resize(all.len() + run, 0xff),
            2 => all.extend(b"nobody knows what is here, but it is somebody's. ".iter().cycle().take(run)),
            _ => {
                let from = all.len();
                all.resize(from + run, 0);
                // The pattern of another run: the old content may be what an earlier test left.
                pattern::fill(&mut all[from..], random.next_u64(), 1, 0);
            }
        }
    }
    all.truncate(bytes as usize);
    all
}

/// A plan with the default budget, scaled to segments of so many bytes.
pub fn plan(seed: u64, unit: u64, start: u64, segment: u64) -> Plan {
    Plan {
        seed,
        unit,
        start,
        length: SEGMENTS * segment,
        fast_ratio: 2.0,
        max_bytes: BUDGET * segment,
        max_time: Nanos::from_secs(60),
        deciding: zerocap::measure::order::DECIDING,
        not_tried: Vec::new(),
        first_trial: 0,
        screened: SCREENED,
        area: FILLED * segment,
        block: 512,
        put_back: (FILLED + 1) * segment,
        sustained: SUSTAINED / SEGMENT * segment,
    }
}

thread_local! {
    /// The files of a machine with two disks of the same serial number; large, whatever a stand's medium has.
    static FILES: (tempfile::TempDir, Root) = {
        let dir = tempfile::tempdir().unwrap();
        let opened = disk::opened(1 << 40);
        let root = disk::tree(dir.path(), &opened).unwrap();
        disk::add(dir.path(), TWIN, &Opened { devnum: (253, 400), diskseq: Some(8), ..opened }).unwrap();
        (dir, root)
    };
}

/// Runs something with the files of the machine.
pub fn with_root<T>(run: impl FnOnce(&Root) -> T) -> T {
    FILES.with(|(_, root)| run(root))
}

/// The disk of a name.
pub fn device(name: &str) -> Device {
    let (major, minor) = if name == TWIN { (253, 400) } else { (disk::DEVNUM.major, disk::DEVNUM.minor) };
    Device::new(name, Some(Devnum { major, minor }))
}

/// The facts of the disk.
pub fn facts() -> Facts {
    thread_local! {
        static GATHERED: Facts = with_root(|root| {
            let mut port = SimulatedPort::new(Model::steady(1, 1), Vec::new(), 0);
            facts::gather(root, &mut port, &device(disk::NAME), Depth::Event)
        });
    }
    GATHERED.with(Clone::clone)
}

/// A disk with a test on it, and everything that the test leaves.
pub struct Stand {
    pub disk: Shared,
    pub before: Vec<u8>,
    /// Other media that are present: name of the disk, medium.
    pub others: Vec<(String, Shared)>,
    /// The disk that bears the medium of the test now; `None`: it is not present.
    pub as_disk: Option<String>,
    pub proof: Proof,
    pub prepared: Prepared,
    pub journal: Rc<RefCell<SimulatedDurable>>,
    pub intents: Rc<RefCell<SimulatedDurable>>,
    pub boot: Rc<RefCell<SimulatedDurable>>,
    pub random: Random,
    pub interrupt: Interrupt,
    pub signature: Signature,
    pub claimed: Vec<String>,
    pub meanwhile: Vec<(u64, u64, Vec<u8>)>,
    pub lost_at: Option<u64>,
    pub opened: Opened,
    /// Who else has the disk open,
    pub openers: Option<Vec<Opener>>,
    /// from this step on.
    pub opened_at: u64,
}

/// What a test gave: what was kept of it.
pub type Kept = Option<(Outcome, Conditions)>;

impl Stand {
    /// A device of this model with segments of so many bytes, on blocks of this size.
    pub fn new(model: Model, seed: u64, segment: u64, block: u64, thin: bool) -> Stand {
        let lead = block * Random::new(seed ^ 0x1ead).below(5);
        Stand::at(model, seed, segment, (block, block.max(512)), thin, lead)
    }

    /// As [`Stand::new`], on a device that deallocates `unit` bytes at once, in a range that begins at this byte.
    pub fn at(model: Model, seed: u64, segment: u64, (block, unit): (u64, u64), thin: bool, lead: u64) -> Stand {
        let mut random = Random::new(seed ^ 0x57a4d);
        let size = lead + FILLED * segment + 2 * (GUARD + unit + 4096) + 8 * block + 8192;
        let opened = Opened { logical_block: block, physical_block: block, ..disk::opened(size) };
        let range = ScratchRange {
            node: device(disk::NAME).node(),
            start: lead,
            length: size - lead,
            logical_block: block,
            physical_block: block,
            devnum: opened.devnum,
            diskseq: opened.diskseq,
            ..scratch::simulated(size)
        };
        let layout = Layout::of(&range, (unit, GUARD), u64::MAX, u64::MAX, FILLED * segment).unwrap();
        // The range may have room for a little more than was asked for.
        let layout = Layout { segments: SEGMENTS * segment, ..layout };
        let run = RunId(random.next_u64(), random.next_u64());
        let prepared = Prepared {
            plan: Plan { block, area: layout.area, ..plan(run.seed(), unit, layout.start, segment) },
            journal: Some(PathBuf::from("/simulated")),
            place: "in memory".to_owned(),
            deadline: Nanos::from_secs(60),
            modes: Vec::new(),
            wished_mode: None,
            deep: None,
            interference: false,
            layout,
            run,
        };
        let before = content(size, seed);
        let disk = Shared::new(SimulatedPort::new(model, before.clone(), seed));
        let proof = Proof { thin, ..Proof::of(range, "range", Vec::new(), opened) };
        let [journal, intents, boot] = [(); 3].map(|()| Rc::default());
        let (others, as_disk) = (Vec::new(), Some(disk::NAME.to_owned()));
        let (claimed, meanwhile, lost_at) = (Vec::new(), Vec::new(), None);
        let (interrupt, signature) = (Interrupt::default(), Signature::Nothing);
        Stand {
            disk,
            before,
            others,
            as_disk,
            proof,
            prepared,
            journal,
            intents,
            boot,
            random,
            interrupt,
            signature,
            claimed,
            meanwhile,
            lost_at,
            opened,
            openers: Some(Vec::new()),
            opened_at: 0,
        }
    }

    fn files(&mut self, files: &Rc<RefCell<SimulatedDurable>>, mains: &Rc<Mains>) -> Files {
        Files { files: Rc::clone(files), mains: Rc::clone(mains), random: Random::new(self.random.next_u64()) }
    }

    fn disks(&self) -> Vec<(String, Shared)> {
        let own = self.as_disk.iter().map(|name| (name.clone(), self.disk.clone()));
        own.chain(self.others.iter().cloned()).map(|(name, disk)| (device(&name).node(), disk)).collect()
    }

    fn holds(&self, mains: &Rc<Mains>) -> Holds {
        let opened = |node: &str, disk: &Shared| {
            let device = device(node.trim_start_matches("/dev/"));
            let devnum = device.devnum.map_or((0, 0), |d| (d.major, d.minor));
            let diskseq = Some(if node.ends_with(TWIN) { 8 } else { 7 });
            Opened { devnum, diskseq, size: disk.0.borrow().content.len() as u64, ..self.opened }
        };
        Holds {
            disks: self.disks().into_iter().map(|(n, d)| (n.clone(), d.clone(), opened(&n, &d))).collect(),
            locked: None,
            signature: self.signature.clone(),
            claimed: self.claimed.clone(),
            locked_elsewhere: Vec::new(),
            openers: self.openers.clone(),
            opened_at: self.opened_at,
            mains: Rc::clone(mains),
        }
    }

    /// Runs the test under this power.
    pub fn test(&mut self, mains: &Rc<Mains>) -> (Result<()>, Kept) {
        let (journal, intents, boot) = (self.journal.clone(), self.intents.clone(), self.boot.clone());
        let mut files = self.files(&journal, mains);
        let mut intents = Intents::new(self.files(&intents, mains), self.files(&boot, mains));
        let mut port = Media::new(self.disks(), Rc::clone(mains), self.random.next_u64());
        (port.meanwhile, port.lost_at) = (self.meanwhile.clone(), self.lost_at);
        let mut hold = self.holds(mains);
        let facts = facts();
        let mut kept = None;
        let mut keep = |outcome: &Outcome, conditions: &Conditions| {
            kept = Some((outcome.clone(), conditions.clone()));
            Ok(())
        };
        let result = with_root(|root| {
            let node = self.proof.range.node.clone();
            protocol::begin(&mut hold, &mut intents, &node, NAME)?;
            let mut machine = Machine {
                root,
                port: &mut port,
                hold: &mut hold,
                journal: &mut files,
                intents: &mut intents,
                interrupt: &self.interrupt,
            };
            let subject = Subject { facts: &facts, name: NAME, proof: &self.proof, restore_limits: false };
            protocol::test(&mut machine, subject, &self.prepared, &mut |_: &str| {}, &mut keep)
        });
        (result, kept)
    }

    /// Runs the recovery under this power; the second value is what it concluded.
    pub fn recover(&mut self, mains: &Rc<Mains>) -> (Result<String>, Vec<Intent>) {
        let (journal, intents, boot) = (self.journal.clone(), self.intents.clone(), self.boot.clone());
        let mut files = self.files(&journal, mains);
        let mut intents = Intents::new(self.files(&intents, mains), self.files(&boot, mains));
        let mut port = Media::new(self.disks(), Rc::clone(mains), self.random.next_u64());
        let mut hold = self.holds(mains);
        let devices: Vec<Device> = self
            .as_disk
            .iter()
            .cloned()
            .chain(self.others.iter().map(|(n, _)| n.clone()))
            .map(|n| device(&n))
            .collect();
        let mut concluded = Vec::new();
        let mut conclude = |_: Option<&Device>, word: &Intent| {
            concluded.push(word.clone());
            Ok(())
        };
        let said = with_root(|root| {
            let mut machine = Machine {
                root,
                port: &mut port,
                hold: &mut hold,
                journal: &mut files,
                intents: &mut intents,
                interrupt: &self.interrupt,
            };
            recovery::recover(&mut machine, NAME, &devices, &mut SimulatedDurable::default(), &mut conclude)
        });
        (said, concluded)
    }

    /// The intent, if there is one.
    pub fn intent(&self) -> Option<Intent> {
        let bytes = self.intents.borrow().read(NAME).unwrap()?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// The machine comes up again.
    pub fn reboot(&mut self) {
        for files in [&self.journal, &self.intents, &self.boot] {
            let random = &mut self.random;
            files.borrow_mut().power_cut(|| random.next_u64() as u8);
        }
        self.disk.0.borrow_mut().power_on();
    }

    /// Whether the device holds what it held before, byte for byte.
    pub fn is_as_before(&self) -> bool {
        self.disk.0.borrow().content == self.before
    }
}

/// One whole test of a device with segments of so many bytes.
pub fn measured(model: Model, seed: u64, segment: u64) -> (Stand, Result<()>, Kept) {
    let mut stand = Stand::at(model, seed, segment, (512, 4096), false, 0);
    let (result, kept) = stand.test(&Rc::default());
    (stand, result, kept)
}

/// The conditions of a test.
pub fn conditions() -> Conditions {
    Conditions {
        at: "2026-01-01T00:00:00Z".to_owned(),
        scratch: "range".to_owned(),
        proof: Vec::new(),
        unit: 4096,
        fast_ratio: 2.0,
        ..Conditions::default()
    }
}

/// How many of so many runs may go wrong at this rate: the mean and 3.3 standard deviations (20000 at 1e-3: 35).
pub fn allowed(runs: usize, rate: f64) -> usize {
    let mean = runs as f64 * rate;
    (mean + 3.3 * mean.sqrt()).ceil() as usize
}

/// How often: `ZEROCAP_ACCURACY_RUNS`, 200 without it.
pub fn runs() -> usize {
    match std::env::var("ZEROCAP_ACCURACY_RUNS") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("ZEROCAP_ACCURACY_RUNS is no number: {text}")),
        Err(_) => 200,
    }
}
