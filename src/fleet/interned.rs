//! The texts of the answers; each combination is held only once. This is what stays in memory of a fleet's input. It decides
//! what a group, a model and a unit are.
//!
//! A *cell* is everything that may explain a class. A *group* is a row of the summary: one model, firmware and command path.
//! A *unit* is what one hwdb entry would be about. A *model* is what is examined for disagreement.

use crate::fleet::answer::Answer;
use std::collections::HashMap;

/// A model: what it is called, whatever its firmware.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Model {
    pub kind: String,
    pub vendor: Option<String>,
    pub model: Option<String>,
}

/// A model with one firmware, and what udev looks it up by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    pub model: u32,
    pub firmware: Option<String>,
    pub hwdb: Option<(String, String)>,
    pub backend: Option<String>,
}

/// One row of the summary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    pub unit: u32,
    pub command_path: Option<String>,
}

/// All texts of an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub group: u32,
    pub transport: Option<String>,
    pub kernel: Option<String>,
    pub disturbed: bool,
}

/// Values with a number each, in the order in which they were first seen.
#[derive(Debug)]
pub struct Numbered<T> {
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { numbers: HashMap::new() }
    }
}

impl<T: Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, value: T) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(value).or_insert(next)
    }

    /// The values by their numbers.
    pub fn values(self) -> Vec<T> {
        let mut all: Vec<(u32, T)> = self.numbers.into_iter().map(|(value, number)| (number, value)).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, value)| value).collect()
    }
}

/// The texts seen so far.
#[derive(Debug, Default)]
pub struct Interned {
    pub models: Numbered<Model>,
    pub units: Numbered<Unit>,
    pub groups: Numbered<Group>,
    pub cells: Numbered<Cell>,
    /// The cell of texts written one after the other, so that one look is enough for an answer like an earlier one.
    known: HashMap<String, u32>,
    key: String,
}

impl Interned {
    /// The cell of an answer.
    pub fn cell(&mut self, answer: &Answer<'_>) -> u32 {
        let [vendor, model, firmware, command_path] = answer.model();
        let (hwdb, kernel) = (answer.hwdb(), answer.kernel());
        let texts = [
            Some(answer.kind()),
            vendor,
            model,
            firmware,
            command_path,
            hwdb.map(|h| h.0),
            hwdb.map(|h| h.1),
            answer.backend(),
            answer.transport(),
            kernel,
            answer.disturbed.then_some(""),
        ];
        self.key.clear();
        for text in texts {
            // The length in front: no text can pass for the end of another.
            match text {
                Some(text) => {
                    self.key.push_str(&text.len().to_string());
                    self.key.push(':');
                    self.key.push_str(text);
                }
                None => self.key.push('-'),
            }
        }
        if let Some(cell) = self.known.get(self.key.as_str()) {
            return *cell;
        }
        let own = |text: Option<&str>| text.map(str::to_owned);
        let model = Model { kind: answer.kind().to_owned(), vendor: own(vendor), model: own(model) };
        let unit = Unit {
            model: self.models.number(model),
            firmware: own(firmware),
            hwdb: hwdb.map(|(model, revision)| (model.to_owned(), revision.to_owned())),
            backend: own(answer.backend()),
        };
        let group = Group { unit: self.units.number(unit), command_path: own(command_path) };
        let group = self.groups.number(group);
        let cell = Cell { group, transport: own(answer.transport()), kernel: own(kernel), disturbed: answer.disturbed };
        let cell = self.cells.number(cell);
        self.known.insert(self.key.clone(), cell);
        cell
    }
}
