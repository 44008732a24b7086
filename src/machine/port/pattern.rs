//! The pattern that a test writes: it is incompressible, unique for run, place and trial, and can be recognised afterwards.
//!
//! It consists of units of 512 bytes, the smallest size that a device writes as a whole: after a power cut every unit is old,
//! zero, or has this form. The first word of a unit hides the trial under a key of run and place, so recovery can tell "ours"
//! from anything else without knowing which trial was the last. It is pure.

use serde::{Deserialize, Serialize};

/// The unit in bytes.
pub const UNIT: usize = 512;

/// What tells one run from every other: 128 random bits. The seed of its pattern is the first half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunId(pub u64, pub u64);

impl RunId {
    /// The seed of the run's pattern.
    pub const fn seed(self) -> u64 {
        self.0
    }

    const fn witness_seed(self) -> u64 {
        mix(self.0 ^ mix(!self.1))
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}{:016x}", self.0, self.1)
    }
}

/// One round of splitmix64 (Steele, Lea, Flood 2014): a bijection whose outputs look random.
const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const fn key(seed: u64, unit: u64) -> u64 {
    mix(seed ^ mix(unit))
}

fn fill_unit(out: &mut [u8], seed: u64, unit: u64, trial: u64) {
    let key = key(seed, unit);
    let stream = mix(key ^ mix(trial.wrapping_add(1)));
    for (i, word) in out.chunks_exact_mut(8).enumerate() {
        let value = match i {
            0 => key ^ trial,
            // Word 1 is never zero, so that no unit of the pattern can be taken for zeroes.
            1 => stream | 1,
            i => mix(stream.wrapping_add(i as u64)),
        };
        word.copy_from_slice(&value.to_le_bytes());
    }
}

/// Fills whole units; `offset` is the place of the first byte on the whole device, a multiple of [`UNIT`].
pub fn fill(out: &mut [u8], seed: u64, trial: u64, offset: u64) {
    let first = offset / UNIT as u64;
    for (i, unit) in out.chunks_exact_mut(UNIT).enumerate() {
        fill_unit(unit, seed, first + i as u64, trial);
    }
}

/// Fills whole units with the witness of a run; places as in [`fill`].
pub fn fill_witness(out: &mut [u8], run: RunId, offset: u64) {
    fill(out, run.witness_seed(), run.1, offset);
}

/// Whether a unit at this place holds the witness of this run.
pub fn is_witness(unit: &[u8], run: RunId, offset: u64) -> bool {
    let mut expected = [0u8; UNIT];
    fill_witness(&mut expected, run, offset);
    unit == expected
}

/// Whether a unit at this place holds the pattern of this run, of whatever trial.
pub fn is_ours(unit: &[u8], seed: u64, offset: u64) -> bool {
    let Some(first) = unit.first_chunk::<8>() else { return false };
    let place = offset / UNIT as u64;
    let trial = u64::from_le_bytes(*first) ^ key(seed, place);
    let mut expected = [0u8; UNIT];
    fill_unit(&mut expected, seed, place, trial);
    unit == expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_recognised_only_at_its_place_and_in_its_run() {
        let mut a = vec![0u8; 4 * UNIT];
        fill(&mut a, 7, 3, 1 << 20);
        for (i, unit) in a.chunks(UNIT).enumerate() {
            let place = (1 << 20) + (i * UNIT) as u64;
            assert!(is_ours(unit, 7, place));
            assert!(!is_ours(unit, 8, place), "another run");
            assert!(!is_ours(unit, 7, place + UNIT as u64), "another place");
            assert!(unit.iter().any(|b| *b != 0));
        }
        let mut torn = a.clone();
        torn[UNIT - 1] ^= 1;
        assert!(!is_ours(&torn[..UNIT], 7, 1 << 20));
        let mut b = vec![0u8; 4 * UNIT];
        fill(&mut b, 7, 4, 1 << 20);
        assert_ne!(a, b, "another trial differs");
        assert!(!is_ours(&[0; UNIT], 7, 0) && !is_ours(&[0; 8], 7, 0));
    }

    #[test]
    fn a_witness_is_of_one_run_and_one_place() {
        let run = RunId(7, 9);
        let mut a = vec![0u8; UNIT];
        fill_witness(&mut a, run, 4096);
        assert!(is_witness(&a, run, 4096));
        assert!(!is_witness(&a, run, 4608), "another place");
        assert!(!is_witness(&a, RunId(7, 8), 4096), "another run of the same seed");
        assert!(!is_ours(&a, run.seed(), 4096), "no pattern of a trial");
        assert_eq!(run.to_string(), "00000000000000070000000000000009");
    }
}
