//! Finding tools by words, for catalogs too large to list: tokens of id, title and description, their beginnings, and
//! words one letter off.

use toolgate_core::ToolContract;

const MAX_WORDS: usize = 12;

/// The words of a query.
#[derive(Debug, Clone)]
pub(crate) struct Query(Vec<String>);

impl Query {
    pub(crate) fn of(text: &str) -> Self {
        Self(words(text).take(MAX_WORDS).collect())
    }

    /// How well a tool fits: nothing when a word fits nowhere at all, more for closer and more telling places.
    pub(crate) fn score(&self, tool: &ToolContract) -> u32 {
        let places: [(Vec<String>, u32); 4] = [
            (words(tool.id.as_str()).collect(), 8),
            (words(&tool.title).collect(), 6),
            (words(&tool.category).collect(), 3),
            (words(&tool.description).take(400).collect(), 2),
        ];
        let best = |word: &str| {
            let fits = places
                .iter()
                .flat_map(|(found, weight)| found.iter().map(move |other| closeness(word, other) * weight));
            fits.max().unwrap_or(0)
        };
        let scores: Vec<u32> = self.0.iter().map(|word| best(word)).collect();
        let hits = scores.iter().filter(|score| **score > 0).count();
        // One stray word must not hide a tool, but each that fits lifts it.
        if hits * 2 < self.0.len() { 0 } else { scores.iter().sum() }
    }
}

fn closeness(word: &str, other: &str) -> u32 {
    if word == other {
        4
    } else if word.len() >= 3 && other.starts_with(word) {
        3
    } else if word.len() >= 4 && other.len() >= 4 && one_off(word, other) {
        1
    } else {
        0
    }
}

/// Whether two words differ by one letter: changed, left out, put in, or swapped with its neighbour.
fn one_off(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    match (a, b) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) if a == b => true,
        (a, [_, b @ ..]) if a == b => true,
        ([x, y, a @ ..], [v, w, b @ ..]) => x == w && y == v && a == b,
        _ => false,
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_one_letter_off_are_close() {
        for (a, b) in [("issue", "isue"), ("issue", "issues"), ("issue", "issun"), ("issue", "isseu")] {
            assert!(one_off(a, b) && one_off(b, a), "{a} {b}");
        }
        for (a, b) in [("issue", "tissues"), ("time", "mite"), ("abcd", "badc")] {
            assert!(!one_off(a, b), "{a} {b}");
        }
    }
}
