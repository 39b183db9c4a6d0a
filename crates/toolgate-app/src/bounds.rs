//! How long the texts and lists may be that managers write, and what may stand in them.

use toolgate_core::text::turns_around;

use crate::AppError;

/// The most entries of a list of roles, rules or scopes.
pub(crate) const MAX_LIST: usize = 100;
/// The most patterns over ids in one list.
pub(crate) const MAX_PATTERNS: usize = 500;

const MAX_TITLE: usize = 120;
const MAX_DESCRIPTION: usize = 2_000;
const MAX_REASON: usize = 500;

/// What people call something: one line, which may be empty.
pub(crate) fn title(text: &str) -> Result<String, AppError> {
    one_line(text, "title", MAX_TITLE)
}

/// What people call a key: one line that says something.
pub(crate) fn label(text: &str) -> Result<String, AppError> {
    filled(one_line(text, "label", MAX_TITLE)?, "label")
}

/// Why something is stopped: one line that says something.
pub(crate) fn reason(text: &str) -> Result<String, AppError> {
    filled(one_line(text, "reason", MAX_REASON)?, "reason")
}

/// What something is for: some lines.
pub(crate) fn description(text: &str) -> Result<String, AppError> {
    let lines = |c: char| matches!(c, '\n' | '\t') || !hides(c);
    bounded(text, "description", MAX_DESCRIPTION, lines)
}

/// At most so many entries.
pub(crate) fn at_most<T>(list: &[T], most: usize, field: &str) -> Result<(), AppError> {
    if list.len() <= most {
        return Ok(());
    }
    Err(AppError::invalid(format!("`{field}` may have at most {most} entries")))
}

fn one_line(text: &str, field: &str, most: usize) -> Result<String, AppError> {
    bounded(text, field, most, |c| !hides(c))
}

fn bounded(text: &str, field: &str, most: usize, fits: impl Fn(char) -> bool) -> Result<String, AppError> {
    let text = text.trim();
    if text.chars().count() > most {
        return Err(AppError::invalid(format!("`{field}` may have at most {most} characters")));
    }
    if text.chars().any(|c| !fits(c)) {
        return Err(AppError::invalid(format!("`{field}` holds a control character"))
            .with_hint("use letters, digits, punctuation and spaces"));
    }
    Ok(text.to_owned())
}

fn filled(text: String, field: &str) -> Result<String, AppError> {
    if text.is_empty() {
        return Err(AppError::invalid(format!("`{field}` must say something")));
    }
    Ok(text)
}

/// Control characters, and those that make the text around them read in another order.
fn hides(c: char) -> bool {
    c.is_control() || turns_around(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_bounds() {
        assert_eq!(title("  Größe 🙂 ").unwrap(), "Größe 🙂");
        assert!(title(&"ä".repeat(120)).is_ok());
        assert!(title(&"ä".repeat(121)).is_err());
        for bad in ["a\nb", "a\0", "a\u{1b}[31m", "a\u{202e}b"] {
            assert!(title(bad).is_err() && label(bad).is_err() && reason(bad).is_err(), "{bad:?}");
        }
        assert!(label("  ").is_err() && reason("").is_err());
        assert!(description("a\n\tb").is_ok());
        assert!(description("a\0").is_err());
    }
}
