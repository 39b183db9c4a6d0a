//! Names and paths that are safe to show: short, and without anything a value could smuggle in.

/// The longest path that is shown.
const MAX_PATH: usize = 256;
const UNPRINTABLE: &str = "(unprintable name)";

/// The name if it is short and plain, else a stand-in.
///
/// Property names come from callers and may be as secret as values; a name made of these characters and this short is
/// what people type as a field's name.
pub(crate) fn name(name: &str) -> &str {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-');
    if (1..=64).contains(&name.len()) && name.bytes().all(plain) { name } else { UNPRINTABLE }
}

/// A keyword or definition name of a schema: like [`name`], but `$` is plain.
pub(crate) fn schema_key(key: &str) -> &str {
    let bare = key.strip_prefix('$').unwrap_or(key);
    if name(bare) == UNPRINTABLE { UNPRINTABLE } else { key }
}

/// A JSON pointer of segments that are already safe; what does not fit at its end is left out.
pub(crate) fn pointer<'a>(segments: impl IntoIterator<Item = &'a str>) -> String {
    let mut path = String::new();
    for segment in segments {
        if path.len() + 1 + segment.len() > MAX_PATH - "/…".len() {
            path.push_str("/…");
            break;
        }
        path.push('/');
        path.push_str(segment);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_shown() {
        for plain in ["rate", "a.b-c_9", &"x".repeat(64)] {
            assert_eq!(name(plain), plain);
        }
        for odd in ["", "two words", "naïve", "a/b", "a\nb", &"x".repeat(65)] {
            assert_eq!(name(odd), UNPRINTABLE);
        }
        assert_eq!(schema_key("$defs"), "$defs");
        assert_eq!(schema_key("$"), UNPRINTABLE);
    }

    #[test]
    fn paths_are_short() {
        let long = "x".repeat(60);
        let path = pointer(std::iter::repeat_n(long.as_str(), 100));
        assert!(path.len() <= MAX_PATH && path.ends_with("/…"), "{path}");
        assert_eq!(pointer(["a", "0"]), "/a/0");
        assert_eq!(pointer([]), "");
    }
}
