//! Where a value is on an axis, which marks the axis has, and how times are printed. It is pure.

use crate::units::human_bytes;

/// An axis from one place to another, linear or logarithmic.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// From 0 to the greatest of the values and a little more, between these places.
    pub fn linear(values: impl IntoIterator<Item = f64>, (from, to): (f64, f64)) -> Scale {
        let high = values.into_iter().fold(0.0, f64::max);
        Scale { logarithmic: false, low: 0.0, high: if high > 0.0 { high } else { 1.0 }, from, to }
    }

    /// Over all of the values, which are above 0, and a little more on both sides.
    pub fn logarithmic(values: impl IntoIterator<Item = f64>, (from, to): (f64, f64)) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values.into_iter().filter(|v| *v > 0.0 && v.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if high == 0.0 {
            (low, high) = (1.0, 10.0);
        }
        let room = (high / low).powf(0.06).max(1.15);
        Scale { logarithmic: true, low: low / room, high: high * room, from, to }
    }

    /// The place of a value; the nearer end for one outside.
    pub fn at(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round values on the axis: the powers of ten, and 2 and 5 of each where there is room for them.
    pub fn marks(&self) -> Vec<f64> {
        // Across, the words of a mark stand side by side; up and down, one above the other.
        let each = if self.from < self.to { 42.0 } else { 16.0 };
        let most = (((self.from - self.to).abs() / each) as usize).clamp(2, 7);
        let steps = |each: &[f64]| -> Vec<f64> {
            let first = self.low.max(self.high / 1e15).log10().floor() as i32;
            let powers = (first..=first + 16).flat_map(|power| each.iter().map(move |step| step * 10f64.powi(power)));
            powers.filter(|mark| (self.low..=self.high).contains(mark)).collect()
        };
        if self.logarithmic {
            let choices: [&[f64]; 4] =
                [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
            let fits = choices.iter().map(|each| steps(each)).find(|marks| marks.len() <= most);
            return fits.unwrap_or_else(|| thinned(steps(&[1.0]), most));
        }
        let rough = self.high / 4.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|s| s * power).find(|s| *s >= rough).unwrap_or(rough);
        (0..=8).map(|i| f64::from(i) * step).filter(|mark| *mark <= self.high * 1.0001).collect()
    }

    /// Sizes that are powers of two and lie on the axis, at most six of them.
    pub fn sizes(&self) -> Vec<f64> {
        let all: Vec<f64> =
            (0..63).map(|i| (1u64 << i) as f64).filter(|s| (self.low..=self.high).contains(s)).collect();
        thinned(all, 6)
    }
}

/// At most so many of the marks, at equal distances, the last one with them.
fn thinned(marks: Vec<f64>, most: usize) -> Vec<f64> {
    let every = marks.len().div_ceil(most).max(1);
    marks.into_iter().rev().step_by(every).collect()
}

/// A time of so many nanoseconds in three digits: `1.23 ms`.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        t if t < 1e3 => (t, "ns"),
        t if t < 1e6 => (t / 1e3, "µs"),
        t if t < 1e9 => (t / 1e6, "ms"),
        t => (t / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A number in three digits, without zeroes at the end of a fraction.
pub fn digits(value: f64) -> String {
    let places = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A ratio: `36x`, `0.98x`.
pub fn times(ratio: f64) -> String {
    format!("{}x", digits(ratio))
}

/// A size on an axis.
pub fn size(bytes: f64) -> String {
    human_bytes(bytes as u64)
}

/// The value below which so many hundredths of the sorted values lie; 0 for none.
pub fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last * percent + 50) / 100).copied().unwrap_or(0.0)
}

/// The values in order.
pub fn sorted(values: impl IntoIterator<Item = u64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().map(|v| v as f64).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_placed_correctly_on_an_axis() {
        let s = Scale::linear([0.0, 50.0, 100.0], (0.0, 10.0));
        assert_eq!((s.at(0.0), s.at(50.0), s.at(100.0), s.at(1e9), s.at(-1.0)), (0.0, 5.0, 10.0, 10.0, 0.0));
        assert_eq!(s.marks(), [0.0, 50.0, 100.0]);
        let s = Scale::logarithmic([1.0, 10_000.0, 0.0, f64::NAN], (200.0, 0.0));
        assert!((s.at(100.0) - 100.0).abs() < 1e-9, "{}", s.at(100.0));
        assert_eq!(s.marks().iter().map(|m| m.round()).collect::<Vec<_>>(), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
    }

    #[test]
    fn an_axis_of_nothing_or_of_one_value_has_places() {
        let places = (300.0, 0.0);
        for s in [Scale::linear([], places), Scale::logarithmic([], places), Scale::logarithmic([7.0], places)] {
            assert!(s.at(7.0).is_finite() && !s.marks().is_empty(), "{s:?}");
        }
        for exponent in 0..19 {
            let low = 10f64.powi(exponent);
            for high in [1.0, 1.5, 3.0, 30.0, 1e4, 1e9] {
                let s = Scale::logarithmic([low, low * high], places);
                assert!((1..=7).contains(&s.marks().len()), "{s:?}: {:?}", s.marks());
            }
        }
    }

    #[test]
    fn times_and_ratios_have_three_digits() {
        assert_eq!(
            [0.0, 999.0, 1234.0, 1e6, 12_345_678.0, 6e10].map(time),
            ["0 ns", "999 ns", "1.23 µs", "1 ms", "12.3 ms", "60 s"]
        );
        assert_eq!([0.984, 2.0, 36.14, 4000.0].map(times), ["0.98x", "2x", "36.1x", "4000x"]);
        assert_eq!((quantile(&[1.0, 2.0, 3.0], 50), quantile(&[], 50), quantile(&[1.0, 9.0], 100)), (2.0, 0.0, 9.0));
    }
}
