//! `zerocap measure DEV` without a place: where a test is possible on this disk as it is, each with its command, and why
//! elsewhere it is not. Asks the very proof and plan of a test, as a dry run does; writes nothing and chooses nothing.

use crate::assess::policies;
use crate::device::display::escape_str;
use crate::error::{Error, Result};
use crate::facts::{self, Depth, Facts};
use crate::jobs::measure::{self, Request};
use crate::jobs::target;
use crate::machine::block::devices;
use crate::machine::block::hold::{Hold, LiveHold, Opened};
use crate::machine::Roots;
use crate::measure::scratch::{self, Asked, ScratchSpec};
use crate::policy::Policy;
use crate::protocol;
use crate::protocol::plan::{Intended, Prepared};
use crate::store::intents::{self, Intents};
use crate::units::{human_bytes, MIB};

/// Of a disk without a partition table this is offered: behind what boot loaders and RAID metadata use.
const ON_BLANK: (u64, u64) = (16 * MIB, 64 * MIB);

/// A place, as it is typed for `--scratch`.
#[derive(Debug)]
pub struct Place {
    /// What is typed.
    pub scratch: String,
    /// What a test there would use and do, or why there can be none.
    pub answer: std::result::Result<String, String>,
}

/// All places of a disk.
#[derive(Debug)]
pub struct Places {
    /// The disk's node.
    pub node: String,
    /// In the order in which they should be preferred.
    pub places: Vec<Place>,
}

impl Places {
    /// In lines: those that are possible with the whole command, then the others with the reason.
    pub fn lines(&self) -> Vec<String> {
        let command = |place: &Place| format!("zerocap measure {} --scratch {}", self.node, place.scratch);
        let (possible, not): (Vec<&Place>, Vec<&Place>) = self.places.iter().partition(|p| p.answer.is_ok());
        let mut lines = match possible.is_empty() {
            true => vec![
                format!("{}: no test is possible as the disk is: there is no place where it may write", self.node),
                "A test needs 64 MiB that nobody uses: an empty partition with the GPT name zerocap-scratch, or space between \
                 the partitions that reads zero. Another disk of the same model and firmware will do: see `zerocap policy model`."
                    .to_owned(),
            ],
            false => vec![format!("{}: nothing was tested. Name where the test may write:", self.node)],
        };
        for place in possible {
            lines.push(format!("  {}", command(place)));
            lines.extend(place.answer.iter().map(|what| format!("      {what}")));
        }
        if !not.is_empty() {
            lines.push("Not possible:".to_owned());
        }
        for place in not {
            lines.extend(place.answer.as_ref().err().map(|why| format!("  {}: {why}", place.scratch)));
        }
        lines
    }
}

/// Looks for them. The disk is locked meanwhile, as in a test.
pub fn run(roots: &Roots, request: &Request) -> Result<Places> {
    measure::live(roots)?;
    let device = target::whole(roots, &request.device)?;
    let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
    let (policy, _) = policies::resolve(roots, &facts);
    let name = intents::name(facts.names.identity.as_ref(), device.devnum);
    let (mut hold, mut intents) = (LiveHold::default(), Intents::live(roots));
    let opened = protocol::begin(&mut hold, &mut intents, &device.node(), &name)?;
    let found = places(roots, request, (&facts, &policy), &mut hold, opened);
    hold.unlock();
    intents.release(&name);
    Ok(Places { node: device.node(), places: found? })
}

fn places(
    roots: &Roots,
    request: &Request,
    (facts, policy): (&Facts, &Policy),
    hold: &mut LiveHold,
    opened: Opened,
) -> Result<Vec<Place>> {
    let known = measure::known(roots, facts, request)?;
    let mut specs = vec![("label".to_owned(), ScratchSpec::Label), ("gap".to_owned(), ScratchSpec::Gap)];
    let partitions = devices::partitions(&roots.system, &facts.device).known().cloned().unwrap_or_default();
    specs.extend(partitions.iter().map(|p| (p.node(), ScratchSpec::Node(p.node()))));
    if partitions.is_empty() {
        let (offset, length) = ON_BLANK;
        let typed = format!("{}MiB+{}MiB", offset / MIB, length / MIB);
        specs.push((typed, ScratchSpec::Range { offset, length }));
    }
    let mut found = Vec::new();
    for (scratch, place) in specs {
        let mut asked = Asked { root: &roots.system, hold: &mut *hold, opened };
        let answer = scratch::prove(&mut asked, &facts.device, &place, &known, None).and_then(|mut proof| {
            let intended = measure::intended(roots, request, (facts, policy), hold, &mut proof)?;
            let bytes = human_bytes(proof.limit);
            Ok(match intended {
                Intended::Test(prepared) => told(&prepared, &bytes, &proof.checks),
                Intended::TooCoarse(why) => format!("no test, but an answer: {why}"),
            })
        });
        found.push(Place { scratch, answer: answer.map_err(in_words) });
    }
    Ok(found)
}

fn told(prepared: &Prepared, room: &str, checks: &[String]) -> String {
    // What lies there is the last check of a plan.
    let content = checks.last().map_or("", String::as_str);
    format!(
        "{} of {room} are used; at most {} are written in {} s; {content}",
        human_bytes(prepared.layout.span.1),
        human_bytes(prepared.plan.max_bytes),
        prepared.plan.max_time.0 / 1_000_000_000
    )
}

fn in_words(e: Error) -> String {
    match e {
        // The disk stands in the first line.
        Error::NotSafe { why, .. } => why,
        other => escape_str(&other.to_string()),
    }
}
