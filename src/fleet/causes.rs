//! Explains why devices of one model have different classes: it finds the property that separates the classes. It decides by
//! counts only, so SQL can do the same. It is pure.

use crate::terms::Class;
use std::collections::BTreeMap;
use verdict_format::fleet::Cause;

/// So many measured answers are of each class, in the order of [`Class::ALL`].
pub type Classes = [u64; 5];

/// Where a class stands in [`Classes`].
pub fn place(class: Class) -> usize {
    Class::ALL.iter().position(|c| *c == class).unwrap_or(0)
}

/// How many are not of the most frequent class. One alone says nothing of what it shares with others: it counts as one that
/// does not fit, or whatever differs everywhere (a machine each) would explain everything.
fn misfits(classes: &Classes) -> u64 {
    let all: u64 = classes.iter().sum();
    match all {
        1 => 1,
        _ => all - classes.iter().max().copied().unwrap_or(0),
    }
}

/// What differs between the answers of a model: the classes at each value of each thing.
#[derive(Debug, Default)]
pub struct Differences {
    /// All measured answers of the model.
    pub all: Classes,
    firmware: BTreeMap<Option<String>, Classes>,
    transport: BTreeMap<Option<String>, Classes>,
    command_path: BTreeMap<Option<String>, Classes>,
    kernel: BTreeMap<Option<String>, Classes>,
    disturbed: BTreeMap<bool, Classes>,
    /// Those that do not fit the other answers of their machine.
    machine_misfits: u64,
}

/// What an answer has of each thing.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    pub firmware: &'a Option<String>,
    pub transport: &'a Option<String>,
    pub command_path: &'a Option<String>,
    pub kernel: &'a Option<String>,
    pub disturbed: bool,
}

impl Differences {
    /// Counts the measured answers of one cell.
    pub fn add(&mut self, shared: Shared<'_>, classes: &Classes) {
        let plus = |into: &mut Classes| into.iter_mut().zip(classes).for_each(|(a, b)| *a += b);
        plus(&mut self.all);
        for (values, value) in [
            (&mut self.firmware, shared.firmware),
            (&mut self.transport, shared.transport),
            (&mut self.command_path, shared.command_path),
            (&mut self.kernel, shared.kernel),
        ] {
            plus(values.entry(value.clone()).or_default());
        }
        plus(self.disturbed.entry(shared.disturbed).or_default());
    }

    /// Counts the measured answers of one machine; `None`: of machines that have no number.
    pub fn add_machine(&mut self, known: bool, classes: &Classes) {
        self.machine_misfits += if known { misfits(classes) } else { classes.iter().sum() };
    }

    /// Whether the answers are of more than one class.
    pub fn is_one(&self) -> bool {
        self.all.iter().filter(|n| **n > 0).count() > 1
    }

    /// The likely cause: the first thing that leaves at most a tenth of those unexplained that the majority leaves. Surroundings
    /// are what a test saw beside it, or the machine itself.
    pub fn cause(&self) -> Cause {
        let unexplained = misfits(&self.all);
        let explains = |left: u64| left * 10 <= unexplained;
        let of = |values: &BTreeMap<Option<String>, Classes>| values.values().map(misfits).sum();
        let surroundings = self.machine_misfits.min(self.disturbed.values().map(misfits).sum());
        let things = [
            (Cause::Firmware, of(&self.firmware)),
            (Cause::Transport, of(&self.transport)),
            (Cause::Kernel, of(&self.kernel)),
            (Cause::CommandPath, of(&self.command_path)),
            (Cause::Surroundings, surroundings),
        ];
        things.into_iter().find(|(_, left)| explains(*left)).map_or(Cause::Unexplained, |(cause, _)| cause)
    }

    /// The classes at each value of the cause, where it has values to name.
    pub fn values(&self, cause: Cause) -> Vec<(Option<String>, Classes)> {
        let values = match cause {
            Cause::Firmware => &self.firmware,
            Cause::Transport => &self.transport,
            Cause::Kernel => &self.kernel,
            Cause::CommandPath => &self.command_path,
            Cause::Surroundings | Cause::Unexplained => return Vec::new(),
        };
        values.iter().map(|(value, classes)| (value.clone(), *classes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fast and slow answers at values of firmware, transport, path, kernel; and whether they were disturbed.
    fn differences(cells: &[([&str; 4], bool, u64, u64)], machines: &[(u64, u64)]) -> Differences {
        let mut d = Differences::default();
        for (texts, disturbed, fast, slow) in cells {
            let [firmware, transport, command_path, kernel] = &texts.map(|t| Some(t.to_owned()));
            let shared = Shared { firmware, transport, command_path, kernel, disturbed: *disturbed };
            d.add(shared, &[*fast, *slow, 0, 0, 0]);
        }
        machines.iter().for_each(|(fast, slow)| d.add_machine(true, &[*fast, *slow, 0, 0, 0]));
        d
    }

    #[test]
    fn what_tells_the_classes_apart_is_the_cause() {
        let of = |cells: &[([&str; 4], bool, u64, u64)], machines: &[(u64, u64)]| differences(cells, machines).cause();
        let each = vec![(1, 0); 20];
        assert_eq!(
            of(&[(["1", "s", "a", "6.1"], false, 10, 0), (["2", "s", "a", "6.1"], false, 0, 10)], &each),
            Cause::Firmware
        );
        assert_eq!(
            of(&[(["1", "s", "a", "6.1"], false, 10, 0), (["1", "t", "a", "6.1"], false, 0, 10)], &each),
            Cause::Transport
        );
        // Another kernel sends another command: the kernel is what an administrator can change.
        assert_eq!(
            of(&[(["1", "s", "a", "6.1"], false, 10, 0), (["1", "s", "b", "6.2"], false, 0, 10)], &each),
            Cause::Kernel
        );
        assert_eq!(
            of(&[(["1", "s", "a", "6.1"], false, 10, 0), (["1", "s", "b", "6.1"], false, 0, 10)], &each),
            Cause::CommandPath
        );
        assert_eq!(
            of(&[(["1", "s", "a", "6.1"], false, 10, 0), (["1", "s", "a", "6.1"], true, 0, 10)], &each),
            Cause::Surroundings
        );
        let mixed = [(["1", "s", "a", "6.1"], false, 10, 10)];
        assert_eq!(of(&mixed, &[(5, 0), (5, 0), (0, 4), (0, 6)]), Cause::Surroundings);
        assert_eq!(of(&mixed, &[(5, 5), (5, 5)]), Cause::Unexplained);
        assert_eq!(of(&mixed, &each), Cause::Unexplained, "a machine each explains nothing");
        // A few that do not fit do not hide the cause; many do.
        assert_eq!(
            of(&[(["1", "s", "a", "k"], false, 99, 1), (["2", "s", "a", "k"], false, 0, 50)], &each),
            Cause::Firmware
        );
        assert_eq!(
            of(&[(["1", "s", "a", "k"], false, 90, 10), (["2", "s", "a", "k"], false, 0, 50)], &each),
            Cause::Unexplained
        );
    }

    #[test]
    fn one_class_is_no_disagreement() {
        assert!(!differences(&[(["1", "s", "a", "k"], false, 5, 0)], &[]).is_one());
        assert!(differences(&[(["1", "s", "a", "k"], false, 5, 1)], &[]).is_one());
    }
}
