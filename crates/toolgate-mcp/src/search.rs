//! Finding tools by words, for catalogs too large to list: tokens of id, title and description, their beginnings, and
//! words one letter off.

use toolgate_core::ToolContract;
use toolgate_core::search::{MAX_WORDS, one_off, words};

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
