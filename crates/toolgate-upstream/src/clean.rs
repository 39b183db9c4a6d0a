//! What a server's words may hold by the time anyone here sees them.

/// What a server says of itself: terminal sequences and control characters are out, and what would not be seen is
/// written as `\u{…}`, so that a reviewer reads what a model would read.
#[must_use]
pub fn described(text: &str) -> String {
    rewritten(text)
}

/// A server's words in a sentence of ours: one line, at most so many bytes.
pub(crate) fn quoted(text: &str, most: usize) -> String {
    let line = described(text).split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(line, most)
}

/// What a process wrote, with control characters shown instead of obeyed.
pub(crate) fn logged(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || c == '\t' || !(c.is_control() || hides(c)) {
            shown.push(c);
        } else if c != '\r' {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// Cuts to at most so many bytes, between characters.
pub(crate) fn shortened(mut text: String, most: usize) -> String {
    if text.len() > most {
        let mut end = most.saturating_sub('…'.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Whether a character is not seen, or changes how others are seen.
#[must_use]
pub fn hides(c: char) -> bool {
    toolgate_core::text::is_invisible(c)
}

fn rewritten(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_parameters(&mut chars),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            // Emoji are built with these two; after a letter, they are there for another reason.
            '\u{200d}' | '\u{fe0f}' if !last.is_ascii() && !last.is_alphabetic() && !hides(last) => {
                out.push(c)
            }
            // Names of people and places in East Asia are written with these.
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' if is_ideograph(last) => out.push(c),
            FLAG => {
                out.push(c);
                let region = region(chars.clone());
                chars.by_ref().take(region).for_each(|tag| out.push(tag));
            }
            c if hides(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        last = c;
    }
    out
}

/// A black flag, which becomes a region's with the letters that follow it unseen.
const FLAG: char = '\u{1f3f4}';

/// How many characters after a flag say whose it is: up to six letters or digits, and a last one.
fn region(chars: Chars<'_>) -> usize {
    let is_tag = |c: &char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let mut rest = chars;
    let mut letters = 0;
    while letters <= 6 && rest.next_if(is_tag).is_some() {
        letters += 1;
    }
    if (3..=6).contains(&letters) && rest.next() == Some('\u{e007f}') { letters + 1 } else { 0 }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips what follows an escape: a command with parameters, a text that ends in a bell, or one character.
fn skip_sequence(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_parameters(chars);
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\u{9c}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some(c) if c.is_ascii() && !c.is_control() => {
            chars.next();
        }
        Some(_) | None => {}
    }
}

fn skip_parameters(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_in_a_description_is_seen() {
        let check = |text: &str, expected: &str| assert_eq!(described(text), expected, "{text:?}");
        check("plain, 日本語, é\nnext\tline", "plain, 日本語, é\nnext\tline");
        check("a\u{200b}b", "a\\u{200b}b");
        check("\u{202e}txt.exe", "\\u{202e}txt.exe");
        check("x\u{e0041}\u{e0042}", "x\\u{e0041}\\u{e0042}");
        check("a\u{200d}b", "a\\u{200d}b");
        check("👨\u{200d}👩", "👨\u{200d}👩");
        check("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}");
        check("葛\u{e0100}城市", "葛\u{e0100}城市");
        check("葛\u{e0100}\u{e0101}a\u{e0100}", "葛\u{e0100}\\u{e0101}a\\u{e0100}");
        let england = "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
        check(england, england);
        check("🏴\u{e0068}\u{e0069}", "🏴\\u{e0068}\\u{e0069}");
    }

    #[test]
    fn terminals_are_not_spoken_to() {
        let check = |text: &str, expected: &str| assert_eq!(described(text), expected, "{text:?}");
        check("\u{1b}[31mred\u{1b}[0m", "red");
        check("\u{1b}[8mhidden\u{1b}[0m seen", "hidden seen");
        check("\u{1b}]0;title\u{7}text", "text");
        check("\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
        check("\u{9b}2Jx", "x");
        check("a\0b\u{8}c\u{7f}d\re", "abcde");
        check("\u{1b}", "");
    }

    #[test]
    fn quotes_are_one_short_line() {
        assert_eq!(quoted("a\n\n  b", 10), "a b");
        let long = quoted(&"é".repeat(100), 11);
        assert!(long.len() <= 11 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn logs_show_what_was_written() {
        assert_eq!(logged(b"a\x1b[31mb\0\r\nc\xff"), "a\\u{1b}[31mb\\u{0}\nc\u{fffd}");
    }

    proptest::proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "\\PC*|[\\x00-\\x{9f}\\x{200b}-\\x{206f}\\x{e0000}-\\x{e007f}a]*") {
            let clean = described(&text);
            proptest::prop_assert!(!clean.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            let smuggled = clean.chars().any(|c| matches!(c, '\u{e0000}'..='\u{e007f}'));
            proptest::prop_assert!(!smuggled);
        }
    }
}
