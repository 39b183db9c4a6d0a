//! Finding things by what people type: words, the beginnings of words, and words with a letter wrong.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The most words of a query that count.
pub const MAX_WORDS: usize = 12;

/// The words of a text, in small letters and without accents.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
        .filter(|word| !word.is_empty())
        .map(folded)
}

/// Whether two words differ by one letter: changed, left out, put in, or swapped with its neighbour.
#[must_use]
pub fn one_off(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    letters_one_off(&a, &b)
}

/// What someone has typed so far, to be held against names.
#[derive(Debug, Clone)]
pub struct Typed(Vec<String>);

impl Typed {
    /// The words of what was typed.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(words(text).take(MAX_WORDS).collect())
    }

    /// Whether there is not a word in it: everything fits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How well something with this title and id fits. Every word must be found, as a word of the title, as a part of
    /// the id, or, from four letters on, with one letter wrong; nothing when one is not.
    #[must_use]
    pub fn fit(&self, title: &str, id: &str) -> u32 {
        let (titles, small_id): (Vec<String>, String) = (words(title).collect(), folded(id));
        let parts: Vec<String> = words(id).collect();
        let mut sum = 0;
        for word in &self.0 {
            let points = match () {
                () if titles.contains(word) => 12,
                () if titles.iter().any(|other| other.starts_with(word)) => 9,
                () if small_id.contains(word) => 7,
                () if titles.iter().any(|other| nearly_begins(other, word)) => 4,
                () if parts.iter().any(|other| nearly_begins(other, word)) => 2,
                () => return 0,
            };
            sum += points;
        }
        sum
    }
}

/// Whether a word begins with what was typed so far, but for one letter.
fn nearly_begins(word: &str, typed: &str) -> bool {
    let (word, typed): (Vec<char>, Vec<char>) = (word.chars().collect(), typed.chars().collect());
    let length = typed.len();
    length >= 4
        && (length - 1..=length + 1).any(|head| letters_one_off(&word[..head.min(word.len())], &typed))
}

fn letters_one_off(a: &[char], b: &[char]) -> bool {
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    match (&a[same..], &b[same..]) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) if a == b => true,
        (a, [_, b @ ..]) if a == b => true,
        ([x, y, a @ ..], [v, w, b @ ..]) => x == w && y == v && a == b,
        _ => false,
    }
}

fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
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

    #[test]
    fn closer_names_come_first() {
        let fit = |typed: &str, title: &str, id: &str| Typed::of(typed).fit(title, id);
        let falling = [
            fit("ada", "Ada Lovelace", "x1"),
            fit("ad", "Ada Lovelace", "x1"),
            fit("ada", "Countess", "ada.lovelace"),
            fit("lovlace", "Ada Lovelace", "x1"),
            fit("lovlace", "Countess", "ada.lovelace"),
        ];
        assert!(falling.is_sorted_by(|a, b| a > b), "{falling:?}");
        for (typed, title, id) in [
            ("zoe", "Zoë Müller", "u7"),
            ("muller", "Zoë Mu\u{308}ller", "u7"),
            ("ZOË", "zoe", "u7"),
            ("lovel", "Ada Lovelace", "x"),
            ("lvoel", "Ada Lovelace", "x"),
            ("love ada", "Ada Lovelace", "x"),
            ("east-1", "Worker", "eu-east-1"),
        ] {
            assert!(fit(typed, title, id) > 0, "{typed} in {title}, {id}");
        }
        for (typed, title, id) in [
            ("ada grace", "Ada Lovelace", "x"),
            ("lac", "Ada Lovelace", "x"),
            ("adb", "Ada", "x"),
            ("vole", "Ada Lovelace", "x"),
        ] {
            assert_eq!(fit(typed, title, id), 0, "{typed} in {title}, {id}");
        }
    }

    #[test]
    fn signs_alone_are_no_words() {
        for text in ["", "   ", "%", "_%\\", "\u{202e}", "' OR 1=1 --"] {
            let typed = Typed::of(text);
            assert!(typed.is_empty() || typed.fit("Ada", "ada") == 0, "{text:?}");
        }
        assert_eq!(words(&"x ".repeat(5_000)).count(), 5_000);
        assert_eq!(Typed::of(&"x ".repeat(5_000)).0.len(), MAX_WORDS);
    }
}
