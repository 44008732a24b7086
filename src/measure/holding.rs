//! What a test has written where. With it everything can be checked before it is overwritten, and damage that a zeroing call
//! did elsewhere in the scratch range is noticed. It is pure.

use crate::machine::port::Fill;

/// What a span holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The pattern of this trial.
    Pattern(u64),
    /// Zeroes, by ordinary writes.
    WrittenZeroes,
    /// Zeroes, by a zeroing call.
    Zeroed,
}

impl Held {
    /// What a reading of it is compared with.
    pub fn fill(self, seed: u64) -> Fill {
        match self {
            Held::Pattern(trial) => Fill::Pattern { seed, trial },
            Held::WrittenZeroes | Held::Zeroed => Fill::Zeroes,
        }
    }
}

/// Spans in order, none over another, each with what it holds.
#[derive(Debug, Clone, Default)]
pub struct Holding(Vec<(u64, u64, Held)>);

impl Holding {
    /// A span holds this from now on.
    pub fn set(&mut self, offset: u64, length: u64, held: Held) {
        self.clear(offset, length);
        self.0.push((offset, offset + length, held));
        self.0.sort_by_key(|span| span.0);
    }

    /// What a span holds is not known any more.
    pub fn clear(&mut self, offset: u64, length: u64) {
        let (first, end) = (offset, offset + length);
        let cut = |(from, to, held): (u64, u64, Held)| {
            let before = (from, to.min(first), held);
            let behind = (from.max(end), to, held);
            [before, behind].into_iter().filter(|(from, to, _)| from < to)
        };
        self.0 = self.0.drain(..).flat_map(cut).collect();
    }

    /// The parts of a span of which it is known what they hold: offset, length, content.
    pub fn within(&self, offset: u64, length: u64) -> Vec<(u64, u64, Held)> {
        let part = |(from, to, held): &(u64, u64, Held)| {
            let (from, to) = ((*from).max(offset), (*to).min(offset + length));
            (from < to).then(|| (from, to - from, *held))
        };
        self.0.iter().filter_map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same as a byte array in which each byte says what it holds.
        #[test]
        fn trace_bytes_are_encoded_as_an_array(steps in proptest::collection::vec((0u64..64, 1u64..32, 0u64..4), 0..40)) {
            let (mut holding, mut array) = (Holding::default(), [None; 96]);
            for (offset, length, trial) in steps {
                let held = match trial { 0 => None, 1 => Some(Held::Zeroed), n => Some(Held::Pattern(n)) };
                match held {
                    Some(held) => holding.set(offset, length, held),
                    None => holding.clear(offset, length),
                }
                array[offset as usize..(offset + length) as usize].fill(held);
            }
            let mut rebuilt = [None; 96];
            for (offset, length, held) in holding.within(0, 96) {
                prop_assert!(rebuilt[offset as usize..(offset + length) as usize].iter().all(Option::is_none));
                rebuilt[offset as usize..(offset + length) as usize].fill(Some(held));
            }
            prop_assert_eq!(rebuilt, array);
            let part: u64 = holding.within(16, 16).iter().map(|(_, length, _)| length).sum();
            prop_assert_eq!(part as usize, array[16..32].iter().filter(|h| h.is_some()).count());
        }
    }
}
