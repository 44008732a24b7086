//! Quantiles of many numbers in little memory: each number is cut to its first three decimal digits, and the cut numbers are
//! counted.
//!
//! So a quantile is the exact quantile of the cut numbers: at most [`ERROR`] below the true one and never above it, for any
//! distribution. Cutting uses integer arithmetic and keeps the order, so any engine that cuts the exact quantile gets the
//! same number. A sketch that uses logarithms would sort numbers at the edges of its classes differently in each engine.

use std::collections::BTreeMap;

/// How far below the true quantile the answer may be, as a part of it.
pub const ERROR: f64 = 0.01;
/// As many numbers are told apart between two powers of ten.
const DIGITS: u64 = 1000;

/// Counted numbers. At most 900 counts a power of ten, however many numbers.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

/// The number with zeroes for all but its first three digits.
pub fn cut(number: u64) -> u64 {
    let mut scale = 1;
    while number / scale >= DIGITS {
        scale *= 10;
    }
    number - number % scale
}

impl Histogram {
    /// Counts one number.
    pub fn add(&mut self, number: u64) {
        *self.counts.entry(cut(number)).or_default() += 1;
        self.total += 1;
    }

    /// Counts all numbers of another one.
    pub fn merge(&mut self, other: &Histogram) {
        other.counts.iter().for_each(|(number, count)| *self.counts.entry(*number).or_default() += count);
        self.total += other.total;
    }

    /// The least and the greatest number, cut.
    pub fn ends(&self) -> Option<(u64, u64)> {
        Some((*self.counts.keys().next()?, *self.counts.keys().next_back()?))
    }

    /// The least number that at least so many tenths of the numbers do not exceed; `None` where there are none.
    pub fn tenths(&self, tenths: u64) -> Option<u64> {
        let mut seen = 0;
        self.counts.iter().find_map(|(number, count)| {
            seen += count;
            (seen * 10 >= self.total * tenths).then_some(*number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_and_never_rounded_up() {
        for (number, is) in
            [(0, 0), (7, 7), (999, 999), (1000, 1000), (1009, 1000), (6_263_000_000, 6_260_000_000), (99_999, 99_900)]
        {
            assert_eq!(cut(number), is);
        }
        assert_eq!(cut(u64::MAX), 18_400_000_000_000_000_000);
    }

    proptest::proptest! {
        #[test]
        fn a_quantile_is_the_exact_one_within_the_error(mut numbers in proptest::collection::vec(0u64.., 1..200)) {
            let mut histogram = Histogram::default();
            numbers.iter().for_each(|n| histogram.add(*n));
            numbers.sort_unstable();
            for tenths in [1u64, 5, 9] {
                let rank = (numbers.len() as u64 * tenths).div_ceil(10).max(1);
                let exact = numbers[rank as usize - 1];
                let found = histogram.tenths(tenths).unwrap();
                proptest::prop_assert_eq!(found, cut(exact));
                proptest::prop_assert!(found <= exact && (exact - found) as f64 <= exact as f64 * ERROR);
            }
        }
    }

    #[test]
    fn no_numbers_have_no_quantile() {
        assert_eq!(Histogram::default().tenths(5), None);
    }
}
