//! Sorts more records than memory holds: sorted runs go to disk and are merged. It decides how much memory that takes, and
//! does not know what the records mean.

use crate::error::Result;
use crate::machine::fs::spill::Spill;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A record of a fixed size on disk.
pub trait Record: Copy + Ord {
    /// Bytes on disk.
    const SIZE: usize;
    /// Adds its bytes.
    fn write(&self, into: &mut Vec<u8>);
    /// Reads them again; `bytes` are `SIZE` long.
    fn read(bytes: &[u8]) -> Self;
}

/// All runs together read ahead so much.
const READ_AHEAD: usize = 8 << 20;
/// A run reads ahead at least so much: below that the disk has more to do than the processor.
const LEAST_AHEAD: usize = 4 << 10;

/// Takes records in any order, gives them sorted.
#[derive(Debug)]
pub struct Sorter<R> {
    held: Vec<R>,
    most: usize,
    runs: Vec<(u64, usize)>,
    spill: Option<Spill>,
}

impl<R: Record> Sorter<R> {
    /// Holds at most so many records in memory.
    pub fn new(most: usize) -> Self {
        Sorter { held: Vec::new(), most, runs: Vec::new(), spill: None }
    }

    /// Takes one record.
    pub fn push(&mut self, record: R) -> Result<()> {
        if self.held.len() == self.most {
            self.spill_over()?;
        }
        // By steps, so that a short input takes little.
        self.held.push(record);
        Ok(())
    }

    fn spill_over(&mut self) -> Result<()> {
        self.held.sort_unstable();
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new()?),
        };
        let mut start = None;
        let mut bytes = Vec::new();
        for records in self.held.chunks((LEAST_AHEAD * 64 / R::SIZE).max(1)) {
            bytes.clear();
            records.iter().for_each(|r| r.write(&mut bytes));
            let at = spill.append(&bytes)?;
            start.get_or_insert(at);
        }
        self.runs.push((start.unwrap_or(0), self.held.len()));
        self.held.clear();
        Ok(())
    }

    /// Gives every record, least first.
    pub fn finish(mut self, mut each: impl FnMut(R) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.held.sort_unstable();
            return self.held.into_iter().try_for_each(each);
        }
        self.spill_over()?;
        self.held = Vec::new();
        let Some(spill) = &self.spill else { return Ok(()) };
        let ahead = (READ_AHEAD / self.runs.len()).max(LEAST_AHEAD) / R::SIZE;
        let mut runs: Vec<Run> = self.runs.iter().map(|(at, left)| Run::new(*at, *left, ahead.max(1))).collect();
        let mut heads = BinaryHeap::new();
        for (n, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next::<R>(spill)?.map(|r| Reverse((r, n))));
        }
        while let Some(Reverse((record, n))) = heads.pop() {
            heads.extend(runs[n].next::<R>(spill)?.map(|r| Reverse((r, n))));
            each(record)?;
        }
        Ok(())
    }
}

/// A sorted run on disk, read from its start.
struct Run {
    at: u64,
    left: usize,
    ahead: usize,
    bytes: Vec<u8>,
    used: usize,
}

impl Run {
    fn new(at: u64, left: usize, ahead: usize) -> Run {
        Run { at, left, ahead, bytes: Vec::new(), used: 0 }
    }

    fn next<R: Record>(&mut self, spill: &Spill) -> Result<Option<R>> {
        if self.used == self.bytes.len() {
            let records = self.ahead.min(self.left);
            if records == 0 {
                return Ok(None);
            }
            self.bytes.resize(records * R::SIZE, 0);
            spill.read(&mut self.bytes, self.at)?;
            self.at += self.bytes.len() as u64;
            self.left -= records;
            self.used = 0;
        }
        let record = R::read(&self.bytes[self.used..self.used + R::SIZE]);
        self.used += R::SIZE;
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Number(u64, u32);

    impl Record for Number {
        const SIZE: usize = 12;
        fn write(&self, into: &mut Vec<u8>) {
            into.extend_from_slice(&self.0.to_le_bytes());
            into.extend_from_slice(&self.1.to_le_bytes());
        }
        fn read(bytes: &[u8]) -> Self {
            let (a, b) = bytes.split_at(8);
            Number(u64::from_le_bytes(a.try_into().unwrap()), u32::from_le_bytes(b.try_into().unwrap()))
        }
    }

    #[test]
    fn records_come_sorted_whether_they_fit_or_not() {
        for count in [0u64, 1, 9, 10, 11, 100, 3333] {
            let mut wanted: Vec<Number> =
                (0..count).map(|n| Number(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1000, n as u32)).collect();
            let (mut some, mut all) = (Sorter::new(10), Sorter::new(10_000));
            for n in &wanted {
                some.push(*n).unwrap();
                all.push(*n).unwrap();
            }
            assert_eq!(some.runs.len() as u64, count.saturating_sub(1) / 10);
            wanted.sort();
            for sorter in [some, all] {
                let mut sorted = Vec::new();
                let mut keep = |n| {
                    sorted.push(n);
                    Ok(())
                };
                sorter.finish(&mut keep).unwrap();
                assert_eq!(sorted, wanted);
            }
        }
    }
}
