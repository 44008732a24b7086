//! What is left of an act when the power is cut in the middle of it. It is pure.
//!
//! Units of 512 bytes are written as a whole or not at all; nothing else is promised. Each act ends with a flush, so a
//! volatile cache can lose or reorder only the act of the cut. Which of its units reached the medium is drawn for each cut,
//! in one of four ways.

use crate::machine::simulated::Random;

/// A power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// In the middle of this act, counted from 1.
    pub at: u64,
    /// Which of its units are lost.
    pub seed: u64,
}

/// Whether each of so many units is lost: none reached the media, all did, those in front did, or any of them.
pub fn lost(cut: Cut, units: usize) -> Vec<bool> {
    let mut random = Random::new(cut.seed);
    let way = random.below(8);
    match way {
        0 => vec![true; units],
        1 => vec![false; units],
        2..=4 => {
            let written = random.below(units as u64 + 1) as usize;
            (0..units).map(|i| i >= written).collect()
        }
        _ => {
            let share = random.unit();
            (0..units).map(|_| random.unit() < share).collect()
        }
    }
}
