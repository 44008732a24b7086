//! Small versions of a report's pictures for the detail view: zeroing and writing as two bars, and the pairs as a strip in
//! the order of time. They fit in 80 columns, and use plain characters, or blocks if the terminal shows them. It is pure.

use crate::output::report::scale::times;
use crate::terms::Class;
use crate::units::human_rate;
use verdict_format::samples::{Pair, Samples};
use verdict_format::Document;

/// The longest bar and the longest strip.
const WIDTH: usize = 50;
/// From this ratio between the greatest and the least on, a strip shows differences.
const DIFFERENT: f64 = 1.1;

/// With what it is drawn: a full cell, and cells from low to high.
#[derive(Debug, Clone, Copy)]
pub struct Glyphs {
    full: char,
    levels: [char; 8],
}

impl Glyphs {
    /// Characters that every terminal, file and mail shows.
    pub const PLAIN: Glyphs = Glyphs { full: '#', levels: ['.', ',', ':', '-', '=', '+', '*', '#'] };
    /// Blocks of Unicode.
    pub const BLOCKS: Glyphs = Glyphs { full: '█', levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] };
}

/// The bars and the strip, as rows of the detail view; none for what is not known, nor for a device not to be trusted.
pub fn rows(d: &Document, samples: Option<&Samples>, glyphs: Glyphs) -> Vec<(&'static str, String)> {
    if d.class == Class::Broken {
        return Vec::new();
    }
    let mut rows = Vec::new();
    if let (Some(zero), Some(write)) = (d.zero_bytes_per_second, d.write_bytes_per_second) {
        let most = zero.max(write).max(1) as f64;
        let bar = |rate: u64| {
            // What is there has a cell, however little.
            let cells = (rate as f64 / most * WIDTH as f64).round().max(f64::from(u8::from(rate > 0))) as usize;
            format!("{:<WIDTH$}  {:>11}", glyphs.full.to_string().repeat(cells), human_rate(rate))
        };
        rows.extend([("zero", bar(zero)), ("write", bar(write))]);
    }
    rows.extend(samples.and_then(|s| strip(&s.pairs, s.pairs_left_out, glyphs)).into_iter().flatten());
    rows
}

/// The pairs as cells, from the least ratio to the greatest, and what the cells mean.
fn strip(pairs: &[Pair], left_out: u64, glyphs: Glyphs) -> Option<Vec<(&'static str, String)>> {
    // Where there are more pairs than cells, a cell is the least ratio of its pairs: what is slow is to be seen.
    let each = pairs.len().div_ceil(WIDTH).max(1);
    let least = |pairs: &[Pair]| pairs.iter().map(Pair::ratio).fold(f64::INFINITY, f64::min);
    let cells: Vec<f64> = pairs.chunks(each).map(least).collect();
    let (low, high) = cells.iter().fold((f64::INFINITY, 0.0f64), |(low, high), r| (low.min(*r), high.max(*r)));
    if cells.is_empty() || !low.is_finite() || low <= 0.0 {
        return None;
    }
    let top = glyphs.levels.len() - 1;
    let level = |ratio: f64| match high / low {
        apart if apart < DIFFERENT => top / 2,
        apart => ((ratio / low).ln() / apart.ln() * top as f64).round() as usize,
    };
    let strip = cells.iter().filter_map(|ratio| glyphs.levels.get(level(*ratio))).collect();
    let mut rest = Vec::new();
    if each > 1 {
        rest.push(format!("a mark is the least of {each}"));
    }
    if left_out > 0 {
        rest.push(format!("{left_out} pairs in the middle are not kept"));
    }
    let range = match high / low < DIFFERENT {
        true => format!("all {} to {} as fast", times(low), times(high)),
        false => {
            let [first, .., last] = glyphs.levels;
            format!("{first} {}, {last} {}", times(low), times(high))
        }
    };
    let mut rows = vec![("pairs", strip), ("", format!("{} pairs in order: {range}", pairs.len()))];
    if !rest.is_empty() {
        rows.push(("", rest.join("; ")));
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ratios: &[u64]) -> Vec<Pair> {
        let pair = |ratio: &u64| Pair {
            at_nanoseconds: 0,
            zero_first: true,
            write_nanoseconds: 1000 * ratio,
            zero_nanoseconds: 1000,
            data_over_zeroed_nanoseconds: 0,
            data_over_written_nanoseconds: 0,
        };
        ratios.iter().map(pair).collect()
    }

    fn texts(ratios: &[u64], left_out: u64, glyphs: Glyphs) -> Vec<String> {
        let rows = strip(&pairs(ratios), left_out, glyphs).unwrap_or_default();
        assert!(rows.iter().all(|(_, text)| 15 + text.chars().count() <= 80), "{rows:?}");
        rows.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_stall_is_seen_in_its_place() {
        assert_eq!(texts(&[8, 8, 1, 8, 4], 0, Glyphs::PLAIN), ["##.#+", "5 pairs in order: . 1x, # 8x"]);
        let alike = ["▄▄▄", "3 pairs in order: all 100x to 105x as fast"];
        assert_eq!(texts(&[100, 105, 103], 0, Glyphs::BLOCKS), alike);
        assert_eq!(strip(&[], 0, Glyphs::PLAIN), None);
    }

    #[test]
    fn many_pairs_fit_and_the_slow_one_stays() {
        let mut ratios = vec![4_000_000; 500];
        ratios[321] = 1;
        let texts = texts(&ratios, 6501, Glyphs::PLAIN);
        assert_eq!((texts[0].len(), texts[0].find('.')), (50, Some(32)));
        assert_eq!(texts[1], "500 pairs in order: . 1x, # 4000000x");
        assert_eq!(texts[2], "a mark is the least of 10; 6501 pairs in the middle are not kept");
    }
}
