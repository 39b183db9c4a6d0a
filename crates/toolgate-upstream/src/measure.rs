//! Looks at JSON that has not been parsed: how deep it is, and which request it answers.

/// As deep as we let the parser go; it would stop a little later by itself.
const DEEPEST: usize = 100;

/// Whether a text of JSON is nested deeper than anything is read here.
pub(crate) fn too_deep(json: &[u8]) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The number that a message too large to be kept gives as its id, from its beginning and its end: servers write
/// the id first or last. None where it does not say, or what comes there is not a number of ours.
pub(crate) fn answered(head: &[u8], tail: &[u8]) -> Option<i64> {
    first_id(head).or_else(|| last_id(tail))
}

/// An id among the first keys, before the result.
fn first_id(head: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(head);
    let before = text.split("\"result\"").next()?;
    // Within the braces of something else, an id is that thing's.
    if before.matches(['{', '[']).count() > 1 {
        return None;
    }
    number_after(before, before.find("\"id\"")?)
}

/// An id among the last keys, after the result.
fn last_id(tail: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(tail);
    let text = text.trim_end().strip_suffix('}')?;
    let after = text.rsplit(['}', ']']).next()?;
    number_after(after, after.rfind("\"id\"")?)
}

fn number_after(text: &str, at: usize) -> Option<i64> {
    let value = text.get(at + 4..)?.trim_start().strip_prefix(':')?.trim_start();
    let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_seen_outside_strings() {
        assert!(!too_deep(br#"{"a":[1,{"b":"[[[[\"[["}]}"#));
        assert!(!too_deep("[".repeat(DEEPEST).as_bytes()));
        assert!(too_deep("[".repeat(DEEPEST + 1).as_bytes()));
        assert!(too_deep(format!("{{\"a\":\"\\\\\",\"b\":{}", "[".repeat(10_000)).as_bytes()));
        assert!(!too_deep(format!("\"{}\"", "[".repeat(10_000)).as_bytes()));
    }

    #[test]
    fn ids_are_found_at_either_end() {
        let check = |head: &str, tail: &str, expected| {
            assert_eq!(answered(head.as_bytes(), tail.as_bytes()), expected, "{head} … {tail}");
        };
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"id":9,"#, r#"xxx"}]}}"#, Some(7));
        check(r#"{"result":{"content":[{"id":9"#, r#""}]},"jsonrpc":"2.0","id":12}"#, Some(12));
        check(r#"{"result":{"content":[{"#, r#"xxxxx"id":9"}]}}"#, None);
        check(r#"{"jsonrpc":"2.0","id":"seven","result":"#, "", None);
        check(r#"{"a":{"id":3},"result":"#, "", None);
    }
}
