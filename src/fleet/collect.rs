//! Takes the lines of a fleet one by one and gives the rows. For each device on each machine the newest document counts,
//! whatever the order of the lines.

use crate::error::Result;
use crate::fleet::answer::Answer;
use crate::fleet::causes::{place, Classes, Differences, Shared};
use crate::fleet::histogram::Histogram;
use crate::fleet::interned::{Cell, Group, Interned, Model, Unit};
use crate::fleet::record::{Kept, Seen};
use crate::fleet::sort::Sorter;
use crate::terms::Class;
use std::hash::{BuildHasher, RandomState};

/// Answers that are held in memory at once, 16 MiB of them.
const ANSWERS: usize = 1 << 18;
/// The same of machines, and of devices, that have an answer in a group: 4 MiB each.
const SEEN: usize = 1 << 17;
/// An answer that was collected so many days before the last line is silent.
const SILENT_DAYS: u64 = 30;
const DAY: u64 = 86_400;

/// The lines so far.
#[derive(Debug)]
pub struct Collector {
    interned: Interned,
    answers: Sorter<Kept>,
    hasher: RandomState,
    latest: Option<u64>,
    documents: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Collector::holding(ANSWERS)
    }
}

/// What a group comes to.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) machines: u64,
    pub(super) devices: u64,
    pub(super) answers: u64,
    pub(super) classes: Classes,
    pub(super) measured_machines: u64,
    pub(super) measured_devices: u64,
    pub(super) measured: Classes,
    pub(super) zero: Histogram,
    pub(super) write: Histogram,
    pub(super) ratio: Histogram,
    pub(super) silent: u64,
    pub(super) stale: u64,
    pub(super) measured_first: Option<u64>,
    pub(super) measured_last: Option<u64>,
    pub(super) collected_last: u64,
}

/// What a unit comes to over its groups, for an entry of hwdb.
#[derive(Debug, Clone, Default)]
pub(super) struct UnitTotals {
    pub(super) measured_machines: u64,
    pub(super) measured_devices: u64,
}

/// All that the rows are made of.
#[derive(Debug)]
pub struct Collected {
    pub(super) models: Vec<Model>,
    pub(super) units: Vec<Unit>,
    pub(super) groups: Vec<Group>,
    pub(super) cells: Vec<Cell>,
    /// By the numbers of groups, of units, of models.
    pub(super) totals: Vec<Totals>,
    pub(super) unit_totals: Vec<UnitTotals>,
    pub(super) differences: Vec<Differences>,
    pub(super) answers: u64,
    pub(super) machines: u64,
    pub(super) latest: Option<u64>,
}

impl Collector {
    /// Holds so many answers in memory; the others lie on disk meanwhile.
    pub fn holding(answers: usize) -> Collector {
        Collector {
            interned: Interned::default(),
            answers: Sorter::new(answers),
            hasher: RandomState::new(),
            latest: None,
            documents: 0,
        }
    }

    /// Takes one line, without its end; why it is no document, where it is none. `Err`: there is no room on disk.
    pub fn line(&mut self, line: &[u8]) -> Result<std::result::Result<(), String>> {
        let answer = match Answer::read(line) {
            Ok(answer) => answer,
            Err(why) => return Ok(Err(why)),
        };
        let number = |hasher: &RandomState, what: (u8, &str)| hasher.hash_one(what).max(1);
        let kept = Kept {
            machine: answer.machine().map_or(0, |m| number(&self.hasher, (0, m))),
            device: match answer.identity() {
                Some(identity) => number(&self.hasher, (1, identity)),
                None => number(&self.hasher, (2, answer.name())),
            },
            collected: answer.collected,
            measured_at: answer.measured_at,
            class: answer.class,
            zero: answer.zero(),
            write: answer.write(),
            ratio: answer.ratio,
            cell: self.interned.cell(&answer),
            identified: answer.identity().is_some(),
            measured: answer.measured,
            stale: answer.stale,
        };
        self.latest = self.latest.max(Some(kept.collected));
        self.documents += 1;
        self.answers.push(kept).map(Ok)
    }

    /// The documents so far.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// What all lines come to.
    pub fn finish(self) -> Result<Collected> {
        let Interned { models, units, groups, cells, .. } = self.interned;
        let (models, units, groups, cells) = (models.values(), units.values(), groups.values(), cells.values());
        let mut counting = Counting {
            totals: groups.iter().map(|_| Totals::default()).collect(),
            cells: vec![Classes::default(); cells.len()],
            machines: Sorter::new(SEEN),
            devices: Sorter::new(SEEN),
            silent_before: self.latest.unwrap_or(0) / DAY,
            all: 0,
            all_machines: 0,
        };
        // Two answers of one second that differ in nothing but their texts: the first by these, as SQL has it.
        let text = |cell: u32| {
            let cell = &cells[cell as usize];
            let group = &groups[cell.group as usize];
            let unit = &units[group.unit as usize];
            let model = &models[unit.model as usize];
            (
                model,
                &unit.firmware,
                &unit.hwdb,
                &unit.backend,
                &group.command_path,
                &cell.transport,
                &cell.kernel,
                cell.disturbed,
            )
        };
        let numbers = |cell: u32| {
            let group = cells[cell as usize].group;
            let unit = groups[group as usize].unit;
            (group, unit, units[unit as usize].model)
        };
        let mut last: Option<Kept> = None;
        self.answers.finish(|next| {
            last = match last {
                Some(before) if !before.is_of(&next) => {
                    counting.count(&before, numbers(before.cell), next.machine != before.machine)?;
                    Some(next)
                }
                Some(before) if before.age() == next.age() && text(before.cell) < text(next.cell) => Some(before),
                _ => Some(next),
            };
            Ok(())
        })?;
        if let Some(last) = last {
            counting.count(&last, numbers(last.cell), true)?;
        }
        let mut differences: Vec<Differences> = models.iter().map(|_| Differences::default()).collect();
        let mut unit_totals = vec![UnitTotals::default(); units.len()];
        counting.machines(&groups, &mut differences, &mut unit_totals)?;
        counting.devices(&mut unit_totals)?;
        for (cell, classes) in cells.iter().zip(&counting.cells) {
            let group = &groups[cell.group as usize];
            let unit = &units[group.unit as usize];
            let shared = Shared {
                firmware: &unit.firmware,
                transport: &cell.transport,
                command_path: &group.command_path,
                kernel: &cell.kernel,
                disturbed: cell.disturbed,
            };
            differences[unit.model as usize].add(shared, classes);
        }
        Ok(Collected {
            models,
            units,
            groups,
            cells,
            totals: counting.totals,
            unit_totals,
            differences,
            answers: counting.all,
            machines: counting.all_machines,
            latest: self.latest,
        })
    }
}

/// The second pass: the answers that count, one by one.
struct Counting {
    totals: Vec<Totals>,
    cells: Vec<Classes>,
    machines: Sorter<Seen>,
    devices: Sorter<Seen>,
    /// The day of the last line.
    silent_before: u64,
    all: u64,
    all_machines: u64,
}

impl Counting {
    fn count(&mut self, kept: &Kept, (group, unit, model): (u32, u32, u32), last_of_machine: bool) -> Result<()> {
        self.all += 1;
        self.all_machines += u64::from(last_of_machine && kept.machine != 0);
        let t = &mut self.totals[group as usize];
        t.answers += 1;
        t.classes[place(kept.class)] += 1;
        t.silent += u64::from(kept.collected / DAY + SILENT_DAYS < self.silent_before);
        t.stale += u64::from(kept.stale);
        t.collected_last = t.collected_last.max(kept.collected);
        if kept.measured {
            t.measured[place(kept.class)] += 1;
            self.cells[kept.cell as usize][place(kept.class)] += 1;
            if let Some(at) = kept.measured_at {
                t.measured_first = Some(t.measured_first.map_or(at, |first| first.min(at)));
                t.measured_last = t.measured_last.max(Some(at));
            }
            // How fast a broken device zeroes is nothing to go by.
            if kept.class != Class::Broken {
                for (histogram, number) in
                    [(&mut t.zero, kept.zero), (&mut t.write, kept.write), (&mut t.ratio, kept.ratio)]
                {
                    number.into_iter().for_each(|n| histogram.add(n));
                }
            }
        }
        let measured = kept.measured.then_some(kept.class);
        self.machines.push(Seen { outer: model, who: kept.machine, inner: group, measured })?;
        match kept.identified {
            true => self.devices.push(Seen { outer: unit, who: kept.device, inner: group, measured }),
            false => Ok(()),
        }
    }

    /// Different machines of each group and unit; and how the answers of one machine go together, for each model.
    fn machines(&mut self, groups: &[Group], differences: &mut [Differences], units: &mut [UnitTotals]) -> Result<()> {
        let mut block = Block::default();
        let totals = &mut self.totals;
        let mut close = |block: &Block| {
            let Some((model, machine)) = block.key else { return };
            let mut classes = Classes::default();
            let mut of_units = std::collections::BTreeSet::new();
            for (group, measured) in &block.groups {
                classes.iter_mut().zip(measured).for_each(|(a, b)| *a += b);
                let tested = measured.iter().any(|n| *n > 0);
                if machine != 0 {
                    totals[*group as usize].machines += 1;
                    totals[*group as usize].measured_machines += u64::from(tested);
                    of_units.extend(tested.then_some(groups[*group as usize].unit));
                }
            }
            of_units.iter().for_each(|unit| units[*unit as usize].measured_machines += 1);
            differences[model as usize].add_machine(machine != 0, &classes);
        };
        std::mem::replace(&mut self.machines, Sorter::new(0)).finish(|seen| {
            block.take(seen, &mut close);
            Ok(())
        })?;
        close(&block);
        Ok(())
    }

    /// Different devices of each group and unit.
    fn devices(&mut self, units: &mut [UnitTotals]) -> Result<()> {
        let mut block = Block::default();
        let totals = &mut self.totals;
        let mut close = |block: &Block| {
            let Some((unit, _)) = block.key else { return };
            for (group, measured) in &block.groups {
                totals[*group as usize].devices += 1;
                totals[*group as usize].measured_devices += u64::from(measured.iter().any(|n| *n > 0));
            }
            let tested = block.groups.iter().any(|(_, measured)| measured.iter().any(|n| *n > 0));
            units[unit as usize].measured_devices += u64::from(tested);
        };
        std::mem::replace(&mut self.devices, Sorter::new(0)).finish(|seen| {
            block.take(seen, &mut close);
            Ok(())
        })?;
        close(&block);
        Ok(())
    }
}

/// All that is seen of one machine, or device, together: its groups in order, with the measured classes.
#[derive(Debug, Default)]
struct Block {
    key: Option<(u32, u64)>,
    groups: Vec<(u32, Classes)>,
}

impl Block {
    fn take(&mut self, seen: Seen, close: &mut impl FnMut(&Block)) {
        let key = Some((seen.outer, seen.who));
        if self.key != key {
            close(self);
            self.key = key;
            self.groups.clear();
        }
        if self.groups.last().map(|(group, _)| *group) != Some(seen.inner) {
            self.groups.push((seen.inner, Classes::default()));
        }
        if let (Some((_, classes)), Some(class)) = (self.groups.last_mut(), seen.measured) {
            classes[place(class)] += 1;
        }
    }
}
