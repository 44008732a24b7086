//! `zerocap measure DEV` without a place: lists where a test is possible on this disk, each place with its command, and why
//! it is not possible elsewhere. It uses the same proof and plan as a test, as a dry run does; it writes nothing and chooses
//! nothing.

use crate::assess::policies;
use crate::device::display::escape_str;
use crate::error::Result;
use crate::facts::{self, Depth, Facts};
use crate::jobs::directories::{self, in_words, mounted};
use crate::jobs::measure::{self, Request};
use crate::jobs::measure_directory::{self, On};
use crate::jobs::{measured, volume};
use crate::machine::block::devices;
use crate::machine::block::hold::{Hold, LiveHold, Opened};
use crate::machine::lvm;
use crate::machine::Roots;
use crate::measure::scratch::group::groups_on;
use crate::measure::scratch::{self, Asked, Known, ScratchSpec};
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
    /// The options that were given and allow what else is refused, each with a space before it.
    pub allowed: String,
    /// In the order in which they should be preferred.
    pub places: Vec<Place>,
    /// Directories where its file systems are mounted: what a test there says is of files, and gives the disk no class.
    pub directories: Vec<Place>,
}

impl Places {
    /// In lines: those that are possible with the whole command, then the others with the reason.
    pub fn lines(&self) -> Vec<String> {
        let command =
            |place: &Place| format!("zerocap measure {} --scratch {}{}", self.node, place.scratch, self.allowed);
        let (possible, not): (Vec<&Place>, Vec<&Place>) = self.places.iter().partition(|p| p.answer.is_ok());
        let mut lines = match possible.is_empty() {
            true => vec![
                format!(
                    "{}: no test is possible, because there is no place on this disk where a test may write",
                    self.node
                ),
                "64 MiB that nobody uses are enough: an empty partition with the GPT name zerocap-scratch, space \
                 between partitions that reads as zero, or a swap partition that is not active. If three disks of \
                 the same model and firmware were measured, their results can stand for this one: see `zerocap \
                 policy model`."
                    .to_owned(),
            ],
            false => vec![format!(
                "{}: nothing was tested. Choose one of these commands, which name where the test \
                                   may write:",
                self.node
            )],
        };
        let told = |place: &Place| {
            let what = place.answer.iter().map(|what| format!("      {what}"));
            std::iter::once(format!("  {}", command(place))).chain(what).collect::<Vec<_>>()
        };
        lines.extend(possible.into_iter().flat_map(told));
        let files: Vec<&Place> = self.directories.iter().filter(|p| p.answer.is_ok()).collect();
        if !files.is_empty() {
            lines.push(
                "Tests in files on it, which show what zeroing files gains, but give the disk no class:".to_owned(),
            );
        }
        lines.extend(files.into_iter().flat_map(told));
        if !not.is_empty() || self.directories.iter().any(|p| p.answer.is_err()) {
            lines.push("Not possible:".to_owned());
        }
        for place in not.into_iter().chain(self.directories.iter().filter(|p| p.answer.is_err())) {
            lines.extend(place.answer.as_ref().err().map(|why| format!("  {}: {why}", place.scratch)));
        }
        lines
    }
}

/// Looks for them. The disk is locked meanwhile, as in a test.
pub fn run(roots: &Roots, request: &Request, remark: &mut dyn FnMut(&str)) -> Result<Places> {
    measure::live(roots)?;
    let device = measure_directory::device(roots, request, remark)?;
    let facts = facts::gather(&roots.system, roots.port().as_mut(), &device, Depth::Claims);
    let (policy, _) = policies::resolve(roots, &facts);
    let name = intents::name(facts.names.identity.as_ref(), device.devnum);
    let (mut hold, mut intents) = (LiveHold::default(), Intents::live(roots));
    let opened = protocol::begin(&mut hold, &mut intents, &device.node(), &name)?;
    let found = places(roots, request, (&facts, &policy), &mut hold, opened);
    let on = On { roots, request, facts: &facts, policy: &policy, name: &name };
    let directories = directories(&on, &mut Asked { root: &roots.system, hold: &mut hold, opened });
    hold.unlock();
    intents.release(&name);
    let (mut places, (with_class, directories)) = (found?, directories);
    places.extend(with_class);
    Ok(Places { node: device.node(), allowed: allowed(request), places, directories })
}

/// Without these the command of a place would be refused that is possible with them.
fn allowed(request: &Request) -> String {
    let options =
        [(request.thin_ok, " --thin-ok"), (request.data_ok, " --data-ok"), (request.shared_ok, " --shared-ok")];
    let given = options.into_iter().filter(|(given, _)| *given).map(|(_, option)| option);
    let journal = request.journal.iter().map(|dir| format!(" --journal {}", quoted(&dir.display().to_string())));
    given.map(str::to_owned).chain(journal).collect()
}

/// Where file systems that lie on the disk are mounted, each once: those that the disk's class can come of, and the others.
fn directories(on: &On<'_>, asked: &mut Asked<'_>) -> (Vec<Place>, Vec<Place>) {
    let (mut with_class, mut others) = (Vec::new(), Vec::new());
    for mount in mounted(on.roots, on.facts) {
        let planned = directories::planned(on, asked, &mount.point).map_err(in_words);
        let list = if matches!(planned, Ok((true, _))) { &mut with_class } else { &mut others };
        list.push(Place { scratch: quoted(&mount.point), answer: planned.map(|(_, text)| text) });
    }
    (with_class, others)
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", escape_str(path).replace('\'', "'\\''")),
    }
}

fn places(
    roots: &Roots,
    request: &Request,
    (facts, policy): (&Facts, &Policy),
    hold: &mut LiveHold,
    opened: Opened,
) -> Result<Vec<Place>> {
    let known = measured::known(roots, facts, request)?;
    let mut specs = vec![("label".to_owned(), ScratchSpec::Label), ("gap".to_owned(), ScratchSpec::Gap)];
    let mut asked = Asked { root: &roots.system, hold: &mut *hold, opened };
    let (groups, volumes) = of_lvm(request, facts, &known, &mut asked);
    let partitions = devices::partitions(&roots.system, &facts.device).known().cloned().unwrap_or_default();
    specs.extend(partitions.iter().map(|p| (p.node(), ScratchSpec::Node(p.node()))));
    specs.extend(volumes.into_iter().map(|path| (path.clone(), ScratchSpec::Node(path))));
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
                Intended::TooCoarse(why) => format!("no test is needed for an answer: {why}"),
            })
        });
        found.push(Place { scratch, answer: answer.map_err(in_words) });
    }
    // Behind label, gap and the partitions, of which one may be swap space; before what somebody made.
    let behind = found.len().min(2 + partitions.len());
    found.splice(behind..behind, groups);
    Ok(found)
}

/// The volume groups on a disk as places, and the paths of the volumes in them.
fn of_lvm(request: &Request, facts: &Facts, known: &Known, on: &mut Asked<'_>) -> (Vec<Place>, Vec<String>) {
    let none = |why: String| (vec![Place { scratch: "vg:VG".to_owned(), answer: Err(why) }], Vec::new());
    let reports = match volume::reports() {
        Ok(reports) => reports,
        Err(e) => return none(in_words(e)),
    };
    let groups = groups_on(on, &facts.device, &reports);
    if groups.is_empty() {
        return none("no LVM volume group has extents on it".to_owned());
    }
    let place = |group: &String| Place {
        scratch: format!("vg:{group}"),
        answer: volume::planned(on, request, facts, known, (group, &reports))
            .map(|(planned, _)| volume::told(&planned))
            .map_err(in_words),
    };
    let places = groups.iter().map(place).collect();
    let whole =
        |v: &&lvm::Volume| v.devnum.is_some() && groups.contains(&v.group) && v.kinds.iter().any(|k| k == "public");
    let path = |v: &lvm::Volume| format!("/dev/{}/{}", v.group, v.name);
    (places, reports.volumes.iter().filter(whole).map(path).collect())
}

fn told(prepared: &Prepared, room: &str, checks: &[String]) -> String {
    // What lies there is the last check of a plan.
    let content = checks.last().map_or("", String::as_str);
    format!(
        "uses {} of {room}; writes at most {} in {} s; {content}",
        human_bytes(prepared.layout.span.1),
        human_bytes(prepared.plan.max_bytes),
        prepared.plan.max_time.0 / 1_000_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_the_list_can_be_typed() {
        let request = Request { data_ok: true, journal: Some("/my journal".into()), ..Request::default() };
        assert_eq!(allowed(&request), " --data-ok --journal '/my journal'");
        assert_eq!(allowed(&Request::default()), "");
        assert_eq!(quoted("/var/lib/a-b.c+1"), "/var/lib/a-b.c+1");
        assert_eq!(quoted("/mnt/my disk"), "'/mnt/my disk'");
        assert_eq!(quoted("/mnt/it's;x"), "'/mnt/it'\\''s;x'");
    }

    #[test]
    fn what_is_possible_comes_first_and_a_disk_without_a_place_is_told_what_would_make_one() {
        let place = |scratch: &str, answer: std::result::Result<&str, &str>| Place {
            scratch: scratch.to_owned(),
            answer: answer.map(str::to_owned).map_err(str::to_owned),
        };
        let mut found = Places {
            node: "/dev/sda".to_owned(),
            allowed: " --data-ok".to_owned(),
            places: vec![place("label", Err("no such partition")), place("gap", Ok("52 MiB"))],
            directories: vec![place("/home", Ok("files")), place("/boot", Err("full"))],
        };
        assert_eq!(
            found.lines(),
            [
                "/dev/sda: nothing was tested. Choose one of these commands, which name where the test may write:",
                "  zerocap measure /dev/sda --scratch gap --data-ok",
                "      52 MiB",
                "Tests in files on it, which show what zeroing files gains, but give the disk no class:",
                "  zerocap measure /dev/sda --scratch /home --data-ok",
                "      files",
                "Not possible:",
                "  label: no such partition",
                "  /boot: full",
            ]
        );
        found.places.pop();
        assert!(found.lines()[0].contains("no test is possible, because"));
        assert!(found.lines()[1].contains("zerocap-scratch"));
    }
}
