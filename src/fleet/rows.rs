//! Makes the rows of a summary in a fixed order, and what each model may have as a hwdb entry. It decides no figure:
//! `collect` counts them.

use crate::fleet::causes;
use crate::fleet::collect::{Collected, Totals};
use crate::fleet::histogram::{Histogram, ERROR};
use crate::terms::Class;
use crate::units::utc;
use std::collections::{BTreeMap, BTreeSet};
use verdict_format::fleet::{BadLine, Classes, Counts, Disagreement, HwdbName, ModelRow, Quantiles, Summary, Value};
use verdict_format::{Kind, FORMAT};

/// So many values of a cause are named.
const VALUES: usize = 20;

/// What was measured of one model and firmware on many machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// What udev looks it up by; `None` where no line says it.
    pub name: Option<HwdbName>,
    /// As the devices call themselves, for people.
    pub shown: String,
    /// What stands behind it.
    pub backend: Option<String>,
    /// The classes that were measured.
    pub classes: BTreeSet<Class>,
    /// Devices that are known to be different ones.
    pub devices: u64,
    /// Different machines.
    pub machines: u64,
    /// The kernels it was measured under.
    pub kernels: BTreeSet<String>,
    /// The median of the ratios.
    pub ratio: Option<f64>,
    /// The least and the greatest of them.
    pub ends: Option<(f64, f64)>,
}

fn named(classes: &causes::Classes) -> Classes {
    let of = |class| classes[causes::place(class)];
    Classes {
        fast: of(Class::Fast),
        slow: of(Class::Slow),
        none: of(Class::None),
        unknown: of(Class::Unknown),
        broken: of(Class::Broken),
    }
}

fn quantiles<T>(histogram: &Histogram, of: impl Fn(u64) -> T) -> Option<Quantiles<T>> {
    let at = |tenths| histogram.tenths(tenths).map(&of);
    Some(Quantiles { p10: at(1)?, p50: at(5)?, p90: at(9)? })
}

fn thousandths(n: u64) -> f64 {
    n as f64 / 1000.0
}

/// The one class that all have.
fn agreed(classes: &causes::Classes) -> Option<Class> {
    let mut there = Class::ALL.iter().filter(|class| classes[causes::place(**class)] > 0);
    there.next().filter(|_| there.next().is_none()).copied()
}

impl Collected {
    fn row(&self, group: usize, t: &Totals) -> ModelRow {
        let unit = &self.units[self.groups[group].unit as usize];
        let model = &self.models[unit.model as usize];
        ModelRow {
            kind: model.kind.clone(),
            vendor: model.vendor.clone(),
            model: model.model.clone(),
            firmware: unit.firmware.clone(),
            command_path: self.groups[group].command_path.clone(),
            hwdb: unit.hwdb.clone().map(|(model, revision)| HwdbName { model, revision }),
            backend: unit.backend.clone(),
            machines: t.machines,
            devices: t.devices,
            answers: t.answers,
            classes: named(&t.classes),
            measured: Counts {
                machines: t.measured_machines,
                devices: t.measured_devices,
                answers: t.measured.iter().sum(),
            },
            agreed: agreed(&t.measured),
            zero_bytes_per_second: quantiles(&t.zero, |n| n),
            write_bytes_per_second: quantiles(&t.write, |n| n),
            ratio: quantiles(&t.ratio, thousandths),
            silent: t.silent,
            stale: t.stale,
            measured_first: t.measured_first.map(utc),
            measured_last: t.measured_last.map(utc),
            collected_last: utc(t.collected_last),
        }
    }

    /// The summary; of the lines that are no document it knows what the caller counted.
    pub fn summary(&self, lines: u64, bad: u64, bad_lines: Vec<BadLine>) -> Summary {
        // A group whose every answer was replaced by a newer one in another group says nothing any more.
        let there = self.totals.iter().enumerate().filter(|(_, t)| t.answers > 0);
        let mut models: Vec<ModelRow> = there.map(|(group, t)| self.row(group, t)).collect();
        models.sort_by(|a, b| order(a).cmp(&order(b)));
        let differ = self.models.iter().zip(&self.differences).filter(|(_, d)| d.is_one());
        let mut disagreements: Vec<Disagreement> = differ
            .map(|(model, d)| {
                let cause = d.cause();
                let values = d.values(cause).into_iter().take(VALUES);
                Disagreement {
                    kind: model.kind.clone(),
                    vendor: model.vendor.clone(),
                    model: model.model.clone(),
                    classes: named(&d.all),
                    cause,
                    values: values.map(|(value, classes)| Value { value, classes: named(&classes) }).collect(),
                }
            })
            .collect();
        let by = |d: &Disagreement| (d.kind.clone(), d.vendor.clone(), d.model.clone());
        disagreements.sort_by_key(by);
        Summary {
            format: FORMAT,
            kind: Kind::Fleet,
            lines,
            bad,
            bad_lines,
            answers: self.answers,
            machines: self.machines,
            latest: self.latest.map(utc),
            quantile_error: ERROR,
            models,
            disagreements,
        }
    }

    /// What was measured, for entries of hwdb: one for each name under which udev looks a model up. Of two units of one name
    /// the classes are put together; of devices and machines the larger number counts, since they may be the same ones.
    pub fn tested(&self) -> Vec<Tested> {
        let mut all: BTreeMap<(Option<HwdbName>, String), (Tested, Histogram)> = BTreeMap::new();
        let mut groups_of: Vec<Vec<&Totals>> = self.units.iter().map(|_| Vec::new()).collect();
        self.groups.iter().zip(&self.totals).for_each(|(g, t)| groups_of[g.unit as usize].push(t));
        let mut kernels_of: Vec<BTreeSet<&String>> = self.units.iter().map(|_| BTreeSet::new()).collect();
        for cell in &self.cells {
            kernels_of[self.groups[cell.group as usize].unit as usize].extend(&cell.kernel);
        }
        for (number, (unit, groups)) in self.units.iter().zip(groups_of).enumerate() {
            let classes: BTreeSet<Class> = Class::ALL
                .iter()
                .filter(|class| groups.iter().any(|t| t.measured[causes::place(**class)] > 0))
                .copied()
                .collect();
            if classes.is_empty() {
                continue;
            }
            let model = &self.models[unit.model as usize];
            let shown = [&model.vendor, &model.model].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
            let firmware = unit.firmware.as_deref().unwrap_or("not known");
            let shown = if shown.is_empty() { format!("{} without a model", model.kind) } else { shown };
            let name = unit.hwdb.clone().map(|(model, revision)| HwdbName { model, revision }).or_else(|| {
                // udev takes both from where the document has them from.
                let of_itself = (model.kind == "nvme").then_some((model.model.as_ref()?, unit.firmware.as_ref()?));
                of_itself.map(|(model, revision)| HwdbName { model: model.clone(), revision: revision.clone() })
            });
            let shown = format!("{shown} firmware {firmware}");
            let key = (name.clone(), if name.is_some() { String::new() } else { shown.clone() });
            let (tested, ratios) = all.entry(key).or_insert_with(|| {
                let tested = Tested {
                    name,
                    shown,
                    backend: None,
                    classes: BTreeSet::new(),
                    devices: 0,
                    machines: 0,
                    kernels: BTreeSet::new(),
                    ratio: None,
                    ends: None,
                };
                (tested, Histogram::default())
            });
            tested.backend = tested.backend.take().or_else(|| unit.backend.clone());
            tested.classes.extend(classes);
            tested.devices = tested.devices.max(self.unit_totals[number].measured_devices);
            tested.machines = tested.machines.max(self.unit_totals[number].measured_machines);
            tested.kernels.extend(kernels_of[number].iter().map(|k| (*k).clone()));
            groups.iter().for_each(|t| ratios.merge(&t.ratio));
        }
        let with_ratio = |(tested, ratios): (Tested, Histogram)| Tested {
            ratio: ratios.tenths(5).map(thousandths),
            ends: ratios.ends().map(|(low, high)| (thousandths(low), thousandths(high))),
            ..tested
        };
        all.into_values().map(with_ratio).collect()
    }
}

/// What the rows are sorted by; what is not known comes first.
fn order(row: &ModelRow) -> impl Ord + '_ {
    (&row.kind, &row.vendor, &row.model, &row.firmware, &row.command_path, &row.hwdb, &row.backend)
}
