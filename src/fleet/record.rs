//! What is kept of an answer during the sort: numbers instead of texts, 64 bytes for each answer. It decides which of two
//! answers of one device and machine is newer.

use crate::fleet::causes::place;
use crate::fleet::sort::Record;
use crate::terms::Class;

/// No number.
const NONE: u64 = u64::MAX;

/// One answer. The order brings those of one device on one machine together, the oldest first; of two of one second the one
/// that counts comes last: with the later measurement, then the class that comes first in the alphabet (broken before fast),
/// then the lower rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// A number of the machine; 0 where it has none.
    pub machine: u64,
    /// A number of the device.
    pub device: u64,
    /// When it was collected, and measured.
    pub collected: u64,
    pub measured_at: Option<u64>,
    pub class: Class,
    pub zero: Option<u64>,
    pub write: Option<u64>,
    pub ratio: Option<u64>,
    /// Which texts it has: see `interned`.
    pub cell: u32,
    /// Whether the device is known to be another one than all others.
    pub identified: bool,
    pub measured: bool,
    pub stale: bool,
}

impl Kept {
    /// Whether it is of the same device on the same machine.
    pub fn is_of(&self, other: &Kept) -> bool {
        (self.machine, self.device) == (other.machine, other.device)
    }

    /// What the order of two answers of one device goes by, but for their texts.
    #[allow(clippy::type_complexity)] // A key and nothing else.
    pub fn age(
        &self,
    ) -> (u64, Option<u64>, std::cmp::Reverse<(&'static str, Option<u64>, Option<u64>, Option<u64>, bool, bool)>) {
        let rest = (self.class.as_str(), self.zero, self.write, self.ratio, self.measured, self.stale);
        (self.collected, self.measured_at, std::cmp::Reverse(rest))
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |k: &Kept| (k.machine, k.device);
        key(self).cmp(&key(other)).then_with(|| self.age().cmp(&other.age())).then(self.cell.cmp(&other.cell))
    }
}

/// Takes numbers off the front of bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> u64 {
        let (first, rest) = self.0.split_at(8);
        self.0 = rest;
        first.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
    }

    fn some(&mut self) -> Option<u64> {
        Some(self.number()).filter(|n| *n != NONE)
    }
}

impl Record for Kept {
    const SIZE: usize = 64;

    fn write(&self, into: &mut Vec<u8>) {
        let flags = u64::from(self.identified) | u64::from(self.measured) << 1 | u64::from(self.stale) << 2;
        let words = u64::from(self.cell) | (place(self.class) as u64) << 32 | flags << 40;
        let some = |n: Option<u64>| n.unwrap_or(NONE);
        for number in [
            self.machine,
            self.device,
            self.collected,
            some(self.measured_at),
            some(self.zero),
            some(self.write),
            some(self.ratio),
            words,
        ] {
            into.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let mut r = Reader(bytes);
        let (machine, device, collected, measured_at) = (r.number(), r.number(), r.number(), r.some());
        let (zero, write, ratio, words) = (r.some(), r.some(), r.some(), r.number());
        let class = Class::ALL.get((words >> 32 & 0xff) as usize).copied().unwrap_or(Class::Unknown);
        let flag = |n: u32| words >> (40 + n) & 1 == 1;
        let (identified, measured, stale) = (flag(0), flag(1), flag(2));
        let cell = words as u32;
        Kept { machine, device, collected, measured_at, class, zero, write, ratio, cell, identified, measured, stale }
    }
}

/// That something (a machine, a device) has an answer in a group, for counting how many different ones there are: sorted by
/// `outer`, then by what is counted, then by `inner`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// What holds the groups together within which one thing is seen more than once.
    pub outer: u32,
    /// The machine or the device.
    pub who: u64,
    /// The group.
    pub inner: u32,
    /// Its class where it was measured.
    pub measured: Option<Class>,
}

impl Record for Seen {
    const SIZE: usize = 24;

    fn write(&self, into: &mut Vec<u8>) {
        let class = self.measured.map_or(NONE, |class| place(class) as u64);
        for number in [u64::from(self.outer) << 32 | u64::from(self.inner), self.who, class] {
            into.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let mut r = Reader(bytes);
        let (groups, who, class) = (r.number(), r.number(), r.some());
        let measured = class.and_then(|c| Class::ALL.get(c as usize).copied());
        Seen { outer: (groups >> 32) as u32, who, inner: groups as u32, measured }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read_back(numbers: [u64; 3], some: [Option<u32>; 4], class in 0usize..5, cell: u32, flags: [bool; 3]) {
            let [machine, device, collected] = numbers;
            let [measured_at, zero, write, ratio] = some.map(|n| n.map(u64::from));
            let [identified, measured, stale] = flags;
            let class = Class::ALL[class];
            let kept = Kept { machine, device, collected, measured_at, class, zero, write, ratio, cell, identified, measured, stale };
            let mut bytes = Vec::new();
            kept.write(&mut bytes);
            prop_assert_eq!(bytes.len(), Kept::SIZE);
            prop_assert_eq!(Kept::read(&bytes), kept);
            let seen = Seen { outer: cell, who: machine, inner: !cell, measured: measured.then_some(class) };
            bytes.clear();
            seen.write(&mut bytes);
            prop_assert_eq!(bytes.len(), Seen::SIZE);
            prop_assert_eq!(Seen::read(&bytes), seen);
        }
    }

    #[test]
    fn the_newer_of_two_comes_last() {
        let first = Kept {
            machine: 1,
            device: 1,
            collected: 5,
            measured_at: None,
            class: Class::Slow,
            zero: Some(9),
            write: None,
            ratio: None,
            cell: 0,
            identified: true,
            measured: true,
            stale: false,
        };
        for later in [
            Kept { collected: 6, class: Class::Slow, ..first },
            Kept { measured_at: Some(1), class: Class::Unknown, ..first },
            Kept { class: Class::Fast, ..first },
            Kept { class: Class::Broken, zero: Some(99), ..first },
            Kept { zero: Some(8), ..first },
            Kept { device: 2, collected: 0, ..first },
        ] {
            assert!(first < later, "{later:?}");
        }
        assert!(first > Kept { class: Class::Unknown, ..first });
    }
}
