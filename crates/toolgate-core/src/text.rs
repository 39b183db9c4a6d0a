//! What a text may hold that nobody sees.

/// Whether a character is drawn as nothing, or changes how its neighbours are drawn.
#[must_use]
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character makes the text around it read in another order, or on another line. Fewer than are invisible:
/// what joins and colours emoji is none of them, so texts that people write may keep it.
#[must_use]
pub const fn turns_around(c: char) -> bool {
    matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name on one line, without control characters and what is not seen: two that look alike are alike. For names that
/// strangers choose and people decide by.
#[must_use]
pub fn plain_name(text: &str, most: usize) -> String {
    let seen = text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
    let seen: String = seen.filter(|c| !c.is_control() && !is_invisible(*c)).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    words.join(" ").chars().take(most).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_text_around_is_invisible_and_emoji_do_not() {
        for c in ('\u{0}'..=char::MAX).filter(|c| turns_around(*c)) {
            assert!(is_invisible(c), "{c:?}");
        }
        assert!(turns_around('\u{202e}') && turns_around('\u{2066}'));
        assert!(!turns_around('\u{200d}') && !turns_around('\u{fe0f}'));
    }

    #[test]
    fn a_plain_name_is_what_people_see() {
        let check = |text: &str, expected: &str| assert_eq!(plain_name(text, 20), expected, "{text:?}");
        check("Editor", "Editor");
        check("  Größe\u{3000}日本語 🙂 ", "Größe 日本語 🙂");
        check("Edi\u{200b}tor\u{feff}", "Editor");
        check("\u{202e}rotidE\u{202c}", "rotidE");
        check("\u{2066}a\u{2069}\u{61c}\u{200e}\u{200f}", "a");
        check("a\u{e0041}\u{e007f}\u{3164}\u{ad}", "a");
        check("one\ntwo\r\n\tthree\u{1b}[31m", "one two three[31m");
        check("\u{200b}\u{202e} \u{2060}", "");
        check(&"ä".repeat(30), &"ä".repeat(20));
        check(&format!("{} b", "a".repeat(19)), &"a".repeat(19));
    }
}
