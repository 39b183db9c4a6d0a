//! What is learnt of one column while its cells go by, in bounded memory however many there are.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Distinct values are counted up to here.
pub(crate) const MOST_DISTINCT: usize = 1_000;
/// The most characters of a cell that are shown.
const SHOWN: usize = 80;

/// What the cells of a column are, all of them that are not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Empty,
    Integer,
    Number,
    Date,
    Boolean,
    Text,
}

/// A column so far.
#[derive(Debug, Default)]
pub(crate) struct Column {
    pub(crate) filled: u64,
    integers: u64,
    numbers: u64,
    dates: u64,
    booleans: u64,
    distinct: HashSet<u64>,
    mean: f64,
    least: Option<(f64, String)>,
    most: Option<(f64, String)>,
    first: Option<String>,
    last: Option<String>,
}

impl Column {
    /// Takes in the next cell.
    pub(crate) fn add(&mut self, cell: &str) {
        let cell = cell.trim();
        if cell.is_empty() {
            return;
        }
        self.filled += 1;
        if self.distinct.len() < MOST_DISTINCT {
            let mut hasher = DefaultHasher::new();
            cell.hash(&mut hasher);
            self.distinct.insert(hasher.finish());
        }
        if let Some(number) = number(cell) {
            self.numbers += 1;
            self.integers += u64::from(number.fract() == 0.0 && !cell.contains(['.', 'e', 'E']));
            // A step from the mean so far: a sum could grow past what a number holds.
            self.mean += (number - self.mean) / self.numbers as f64;
            if self.least.as_ref().is_none_or(|(least, _)| number < *least) {
                self.least = Some((number, shown(cell)));
            }
            if self.most.as_ref().is_none_or(|(most, _)| number > *most) {
                self.most = Some((number, shown(cell)));
            }
        }
        self.dates += u64::from(is_date(cell));
        self.booleans +=
            u64::from(["true", "false", "yes", "no"].iter().any(|word| cell.eq_ignore_ascii_case(word)));
        if self.first.as_deref().is_none_or(|first| cell < first) {
            self.first = Some(shown(cell));
        }
        if self.last.as_deref().is_none_or(|last| cell > last) {
            self.last = Some(shown(cell));
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        let kinds = [
            (self.integers, Kind::Integer),
            (self.numbers, Kind::Number),
            (self.dates, Kind::Date),
            (self.booleans, Kind::Boolean),
        ];
        if self.filled == 0 {
            return Kind::Empty;
        }
        kinds.into_iter().find(|(count, _)| *count == self.filled).map_or(Kind::Text, |(_, kind)| kind)
    }

    /// How many different values, up to [`MOST_DISTINCT`].
    pub(crate) fn distinct(&self) -> usize {
        self.distinct.len()
    }

    /// The mean of a column of numbers; none where it is no number.
    pub(crate) fn mean(&self) -> Option<f64> {
        let rounded = crate::number::round(self.mean, 4);
        let mean = if rounded.is_finite() { rounded } else { self.mean };
        self.is_numeric().then_some(mean).filter(|mean| mean.is_finite())
    }

    /// The smallest value, as it stands in the file: of numbers by size, of other cells by their letters.
    pub(crate) fn min(&self) -> Option<String> {
        if self.is_numeric() { self.least.as_ref().map(|(_, cell)| cell.clone()) } else { self.first.clone() }
    }

    /// The largest value.
    pub(crate) fn max(&self) -> Option<String> {
        if self.is_numeric() { self.most.as_ref().map(|(_, cell)| cell.clone()) } else { self.last.clone() }
    }

    fn is_numeric(&self) -> bool {
        matches!(self.kind(), Kind::Integer | Kind::Number)
    }
}

/// A finite number in plain notation. `inf`, `nan` and the like are words.
fn number(cell: &str) -> Option<f64> {
    if !cell.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) {
        return None;
    }
    cell.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `2026-01-31`, perhaps with a time after it.
fn is_date(cell: &str) -> bool {
    let (date, rest) = cell.split_at_checked(10).unwrap_or((cell, ""));
    let begins = rest.is_empty() || rest.starts_with(['T', ' ']);
    begins && date.parse::<jiff::civil::Date>().is_ok() && date.as_bytes().get(4) == Some(&b'-')
}

/// The start of a cell, without characters that nobody sees.
pub(crate) fn shown(cell: &str) -> String {
    let mut text: String = cell.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    if cell.chars().count() > SHOWN {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> Column {
        let mut column = Column::default();
        cells.iter().for_each(|cell| column.add(cell));
        column
    }

    fn check(cells: &[&str], kind: Kind, min: Option<&str>, max: Option<&str>, mean: Option<f64>) {
        let column = column(cells);
        let found = (column.kind(), column.min(), column.max(), column.mean());
        assert_eq!(found, (kind, min.map(str::to_owned), max.map(str::to_owned), mean), "{cells:?}");
    }

    #[test]
    fn columns_are_what_all_their_cells_are() {
        check(&["3", " -7 ", "10"], Kind::Integer, Some("-7"), Some("10"), Some(2.0));
        check(&["1.5", "2", ""], Kind::Number, Some("1.5"), Some("2"), Some(1.75));
        check(&["1e3", "1"], Kind::Number, Some("1"), Some("1e3"), Some(500.5));
        check(
            &["2026-01-31", "2025-12-01T10:00:00Z"],
            Kind::Date,
            Some("2025-12-01T10:00:00Z"),
            Some("2026-01-31"),
            None,
        );
        check(&["yes", "No"], Kind::Boolean, Some("No"), Some("yes"), None);
        check(&["b", "a", "1"], Kind::Text, Some("1"), Some("b"), None);
        check(&["", "  "], Kind::Empty, None, None, None);
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        for word in ["inf", "NaN", "1,000", "0x10", "1e999", "--1", "12abc", "١"] {
            assert_eq!(column(&[word]).kind(), Kind::Text, "{word}");
        }
        for word in ["2026-13-01", "2026/01/01", "20260131", "2026-01-31x", "äääää-01-01"] {
            assert_ne!(column(&[word]).kind(), Kind::Date, "{word}");
        }
    }

    #[test]
    fn huge_numbers_have_no_mean_that_is_none() {
        let column = column(&["1e308", "-1e308", "1e308"]);
        assert!(column.mean().is_none_or(f64::is_finite));
        assert_eq!(column.kind(), Kind::Number);
    }

    #[test]
    fn memory_is_bounded() {
        let mut many = Column::default();
        (0..20_000).for_each(|i| many.add(&format!("value {i}")));
        assert_eq!(many.distinct(), MOST_DISTINCT);
        assert_eq!(column(&["a", "a", "b"]).distinct(), 2);
        assert_eq!(shown(&"x".repeat(500)).chars().count(), SHOWN + 1);
        assert_eq!(shown("a\u{0}\u{1b}[31mb"), "a[31mb");
    }
}
