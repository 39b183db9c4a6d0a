//! Limits on a text of policies, held before Cedar's parser sees it.

use toolgate_core::text::is_invisible;

use super::problem::PolicyProblem;

/// The longest text.
pub(super) const MOST_BYTES: usize = 512 << 10;
/// The most policies in one text.
pub(super) const MOST_POLICIES: usize = 5_000;
/// The deepest nesting of brackets. Cedar's parser recurses over them.
const DEEPEST: usize = 64;
/// The most words and signs of one policy. Chains such as `a && b && …` nest too, once parsed.
const MOST_TOKENS: usize = 10_000;
/// The longest name or string. Cedar compares an unknown name letter by letter with those it knows, to suggest one.
const LONGEST_TOKEN: usize = 4 << 10;

/// Checks the text and finds the byte at which each policy starts.
pub(super) fn scan(text: &str) -> Result<Vec<usize>, PolicyProblem> {
    if text.len() > MOST_BYTES {
        return Err(PolicyProblem::at("", 0, format!("the text has more than {} KiB", MOST_BYTES >> 10)));
    }
    // What the text says must be what a reader sees, so marks that hide or reorder are written as escapes.
    if let Some((offset, c)) = text.char_indices().find(|(_, c)| is_hidden(*c)) {
        let message = format!("the text holds the invisible character U+{:04X}", u32::from(c));
        return Err(PolicyProblem::at(text, offset, message)
            .hint(format!("in a string, write it as \\u{{{:x}}}", u32::from(c))));
    }
    let mut starts = Vec::new();
    let (mut depth, mut tokens) = (0usize, 0usize);
    for (offset, length, token) in tokens_of(text) {
        if tokens == 0 {
            starts.push(offset);
        }
        tokens += 1;
        match token {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => tokens = 0,
            _ => {}
        }
        if length > LONGEST_TOKEN {
            let message = format!("a name or string is longer than {LONGEST_TOKEN} bytes");
            return Err(PolicyProblem::at(text, offset, message));
        }
        if depth > DEEPEST {
            return Err(PolicyProblem::at(text, offset, format!("brackets nest deeper than {DEEPEST}")));
        }
        if tokens > MOST_TOKENS {
            return Err(PolicyProblem::at(text, offset, "this policy is too long")
                .hint("compare with a set, as in `[\"a\", \"b\"].contains(…)`, or write several policies"));
        }
        if starts.len() > MOST_POLICIES {
            return Err(PolicyProblem::at(
                text,
                offset,
                format!("there are more than {MOST_POLICIES} policies"),
            ));
        }
    }
    Ok(starts)
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || is_invisible(c)
}

/// The words, strings and signs of the text, each with its place, length and first byte. Coarser than Cedar's own: enough to count.
fn tokens_of(text: &str) -> impl Iterator<Item = (usize, usize, u8)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at;
            let first = *bytes.get(at)?;
            at += 1;
            match first {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'/' if bytes.get(at) == Some(&b'/') => {
                    at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at);
                }
                b'"' => {
                    while let Some(byte) = bytes.get(at) {
                        at += if *byte == b'\\' { 2 } else { 1 };
                        if *byte == b'"' {
                            break;
                        }
                    }
                    return Some((start, at - start, first));
                }
                _ if is_word(first) => {
                    at += bytes[at..].iter().position(|b| !is_word(*b)).unwrap_or(bytes.len() - at);
                    return Some((start, at - start, first));
                }
                _ => return Some((start, 1, first)),
            }
        }
    })
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(text: &str, message: &str) {
        let problem = scan(text).unwrap_err();
        assert!(problem.message.contains(message), "{problem}");
    }

    #[test]
    fn policies_start_after_comments_and_semicolons() {
        let text = "// a; b\n permit (principal, action, resource) when { \"x;\\\";\" like \"(\" };\n\n@id(\"b\") forbid;";
        let starts = scan(text).unwrap();
        assert_eq!(starts.iter().map(|at| &text[*at..*at + 3]).collect::<Vec<_>>(), ["per", "@id"]);
        assert_eq!(scan(" // nothing").unwrap(), Vec::<usize>::new());
        assert_eq!(scan("permit \"never closed \\").unwrap(), vec![0]);
    }

    #[test]
    fn limits_hold() {
        check_refused(&"x".repeat(MOST_BYTES + 1), "512 KiB");
        check_refused(&"x".repeat(LONGEST_TOKEN + 1), "longer than 4096 bytes");
        check_refused(&format!("\"{}\"", "x".repeat(LONGEST_TOKEN)), "longer than 4096 bytes");
        check_refused(&"(".repeat(10_000), "brackets");
        check_refused(&"!".repeat(MOST_TOKENS + 1), "too long");
        check_refused(&"a;".repeat(MOST_POLICIES + 1), "policies");
        assert_eq!(scan(&"a;".repeat(MOST_POLICIES)).unwrap().len(), MOST_POLICIES);
    }

    #[test]
    fn hidden_characters_are_refused_where_they_stand() {
        for hidden in ['\0', '\u{202e}', '\u{200b}', '\u{feff}', '\u{2066}', '\u{e0041}', '\u{7f}'] {
            let problem = scan(&format!("// a\n{hidden}")).unwrap_err();
            assert_eq!((problem.line, problem.column), (2, 1), "{hidden:?}");
        }
        assert!(scan("permit \"ä 日本語 🙂\" \t\r\n;").is_ok());
    }
}
