//! What the tests on simulated devices share: a device, a plan, and the steps of a measurement in the order of the job.

#![allow(dead_code, clippy::unwrap_used)] // each test uses its part; all of it is test

use zerocap::device::Device;
use zerocap::error::{Error, Result};
use zerocap::facts::{self, Depth, Facts};
use zerocap::machine::fs::durable::Durable;
use zerocap::machine::fs::root::Root;
use zerocap::machine::port::pattern;
use zerocap::machine::port::{Act, ActError, Done, Port, ScratchRange};
use zerocap::machine::simulated::{Model, Random, SimulatedPort};
use zerocap::measure::journal::{self, Header, Journal};
use zerocap::measure::order::SCREENED;
use zerocap::measure::plan::Plan;
use zerocap::measure::recover::{put_back, Failed, Outcome as Back, Trust};
use zerocap::measure::scratch;
use zerocap::measure::stats::Sequential;
use zerocap::measure::trial::{self, Outcome, Watch, SEGMENTS};
use zerocap::protocol::result::Conditions;
use zerocap::units::Nanos;

/// The pairs that the default byte budget pays for: 512 MiB in segments of 16 MiB.
pub const BUDGET: u64 = 32;

/// The name of the journal.
pub const JOURNAL: &str = "simulated.journal";

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
        not_tried: Vec::new(),
        first_trial: 0,
        screened: SCREENED,
    }
}

/// The header of a journal over what the plan uses, in pieces of at most `span` bytes.
pub fn header(plan: &Plan, range: &ScratchRange, span: u64, thin: bool) -> Header {
    let spans =
        (0..plan.length.div_ceil(span)).map(|i| (plan.start + i * span, span.min(plan.length - i * span))).collect();
    Header {
        logical_block: range.logical_block,
        node_offset: range.node_offset,
        thin,
        ..journal::simulated_header(plan.seed, range.length, spans)
    }
}

fn refused(what: &str, error: impl std::fmt::Display) -> Error {
    Error::Act { device: "simulated".to_owned(), operation: what.to_owned(), what: error.to_string() }
}

/// Opens the range.
pub fn open(port: &mut dyn Port, range: &ScratchRange) -> Result<()> {
    port.act(range, &Act::Open).value.map(|_| ()).map_err(|e| refused("open", e))
}

/// Writes the journal.
pub fn keep(files: &mut dyn Durable, port: &mut dyn Port, range: &ScratchRange, header: &Header) -> Result<()> {
    journal::write(files, JOURNAL, header, |offset, length| {
        match port.act(range, &Act::Read { offset, length }).value {
            Ok(Done::Bytes(bytes)) => Ok(bytes),
            Ok(_) => Err(refused("read", "no bytes")),
            Err(e) => Err(refused("read", e)),
        }
    })
}

/// The journal, which must be whole.
pub fn kept(files: &dyn Durable) -> Result<Journal<'_>> {
    match journal::read(files, JOURNAL)? {
        journal::Read::Whole(journal) => Ok(*journal),
        other => Err(refused("read the journal", format!("{other:?}"))),
    }
}

/// Puts the journalled content back.
pub fn restore(port: &mut dyn Port, range: &ScratchRange, journal: &Journal<'_>, trust: Trust) -> Result<Back> {
    put_back(port, range, journal, trust).map_err(|Failed { operation, error }| refused(&operation, error))
}

/// One whole measurement of a device with segments of so many bytes, content put back; `Err` of the put-back for a device
/// that does not answer.
pub fn measured(
    model: Model,
    seed: u64,
    segment: u64,
) -> (Outcome, SimulatedPort, std::result::Result<Back, Failed>, Vec<u8>) {
    let range = scratch::simulated(SEGMENTS * segment + 8192);
    let before = content(range.length, seed);
    let mut port = SimulatedPort::new(model, before.clone(), seed);
    let plan = plan(seed ^ 0x5eed, 4096, 4096, segment);
    let mut files = zerocap::machine::fs::durable::SimulatedDurable::default();
    open(&mut port, &range).unwrap();
    keep(&mut files, &mut port, &range, &header(&plan, &range, segment, false)).unwrap();
    let outcome = trial::run(&mut port, &range, &plan, &mut Quiet);
    let back = match &outcome.end {
        // As the job does: nothing is put back while a call is in flight.
        trial::End::Wrong(w) if w.hazard == zerocap::terms::Hazard::NoAnswer => {
            Err(Failed { operation: "put back".to_owned(), error: ActError::NoAnswer(0) })
        }
        _ => put_back(&mut port, &range, &kept(&files).unwrap(), Trust::Held),
    };
    (outcome, port, back, before)
}

/// The facts of a disk with an offload, from a tree of two files.
pub fn facts() -> Facts {
    let dir = tempfile::tempdir().unwrap();
    let queue = dir.path().join("sys/block/sda/queue");
    std::fs::create_dir_all(&queue).unwrap();
    std::fs::write(queue.join("write_zeroes_max_bytes"), "33554432\n").unwrap();
    std::fs::write(queue.join("logical_block_size"), "512\n").unwrap();
    let mut port = SimulatedPort::new(Model::steady(1, 1), Vec::new(), 0);
    facts::gather(&Root::open(dir.path()).unwrap(), &mut port, &Device::new("sda", None), Depth::Event)
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
