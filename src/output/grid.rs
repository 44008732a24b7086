//! Cells in columns, padded to the widest cell of each column, and made to fit a terminal. It does not know what the cells
//! mean.

/// Between two columns.
const GAP: &str = "  ";
/// What shows that a cell was cut.
const CUT: &str = "...";
/// No cell is cut below this.
const LEAST: usize = 12;

/// A row of cells.
pub(super) type Row = Vec<String>;

/// The width of each column.
fn widths(rows: &[Row]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    (0..columns).map(width).collect()
}

/// How wide the widest line is.
fn width(rows: &[Row]) -> usize {
    let widths = widths(rows);
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// The first of the forms of a table that fits into so many columns; where none does, the last one, with the cells of this
/// column cut as far as that helps. Without a limit the first.
pub(super) fn fitting<T>(
    limit: Option<usize>,
    forms: impl IntoIterator<Item = T>,
    rows: impl Fn(&mut T) -> &mut Vec<Row>,
    cut: usize,
) -> Option<T> {
    let mut last = None;
    for mut form in forms {
        if limit.is_none_or(|limit| width(rows(&mut form)) <= limit) {
            return Some(form);
        }
        last = Some(form);
    }
    if let (Some(form), Some(limit)) = (&mut last, limit) {
        let rows = rows(form);
        let over = width(rows).saturating_sub(limit);
        let most = widths(rows).get(cut).map_or(0, |w| w.saturating_sub(over)).max(LEAST);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(cut)).filter(|cell| cell.chars().count() > most) {
            *cell = cell.chars().take(most - CUT.len()).chain(CUT.chars()).collect();
        }
    }
    last
}

/// The lines. `right`: the columns of numbers. `paint`: a cell as it is written, by its row and column.
pub(super) fn lines<'a>(
    rows: &'a [Row],
    right: &'a [bool],
    paint: impl Fn(usize, usize, &str) -> String + 'a,
) -> impl Iterator<Item = String> + 'a {
    let widths = widths(rows);
    rows.iter().enumerate().map(move |(r, row)| {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[i].saturating_sub(cell.chars().count()));
            let (before, after) = if right.get(i) == Some(&true) { (pad.as_str(), "") } else { ("", pad.as_str()) };
            line.extend([before, &paint(r, i, cell), after, GAP]);
        }
        line.trim_end().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Row> {
        rows.iter().map(|row| row.iter().map(|c| (*c).to_owned()).collect()).collect()
    }

    #[test]
    fn the_first_table_form_that_fits_is_used_and_the_last_one_is_cut() {
        let forms = || {
            [
                rows(&[&["a very long name indeed", "one", "two"]]),
                rows(&[&["a very long name indeed", "one"]]),
                rows(&[&["a very long name indeed"]]),
            ]
        };
        let fit = |limit| fitting(limit, forms(), |rows| rows, 0).unwrap();
        assert_eq!(fit(None).first().map(Vec::len), Some(3));
        assert_eq!(fit(Some(33)).first().map(Vec::len), Some(3));
        assert_eq!(fit(Some(32)).first().map(Vec::len), Some(2));
        assert_eq!(fit(Some(23)).first().map(Vec::len), Some(1));
        assert_eq!(fit(Some(20)), rows(&[&["a very long name ..."]]));
        assert_eq!(fit(Some(1)), rows(&[&["a very lo..."]]));
    }

    #[test]
    fn numbers_are_right_aligned_and_no_line_ends_in_spaces() {
        let table = rows(&[&["NAME", "N", "X"], &["a", "100", ""]]);
        let lines: Vec<String> = lines(&table, &[false, true, false], |_, _, cell| cell.to_owned()).collect();
        assert_eq!(lines, ["NAME    N  X", "a     100"]);
    }
}
