//! Whole numbers that can't be kept exactly. JSON sets no bound to them; what is read here has 64 bits, and a reader
//! that finds more rounds without a word. So the text is looked at, and such a number is refused instead.

/// The fewest digits of a whole number that 64 bits can't hold.
const FEWEST: usize = 19;

/// What is wrong with a text that has such a number.
pub const TOO_WIDE: &str = "holds a whole number that 64 bits can't hold, so it can't be passed on exactly";

/// Whether JSON text holds a whole number that 64 bits can't hold. Text without a long row of digits, which is nearly
/// all of it, is looked at in one place out of nineteen.
#[must_use]
pub fn has_wide_integer(json: &[u8]) -> bool {
    has_long_row(json) && has_wide(json)
}

fn has_long_row(json: &[u8]) -> bool {
    // A row of so many digits covers a place that their number divides.
    let places = (FEWEST - 1..json.len()).step_by(FEWEST);
    places.filter(|&at| json[at].is_ascii_digit()).any(|at| {
        let before = json[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let after = json[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        before + after >= FEWEST
    })
}

fn has_wide(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some((&first, after)) = rest.split_first() {
        rest = match first {
            b'"' => after_text(after),
            b'-' | b'0'..=b'9' => {
                let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let end = rest.iter().position(|byte| !part(byte)).unwrap_or(rest.len());
                let (number, after) = rest.split_at(end);
                if is_wide(number) {
                    return true;
                }
                after
            }
            _ => after,
        };
    }
    false
}

fn after_text(mut rest: &[u8]) -> &[u8] {
    loop {
        match rest {
            [b'"', after @ ..] => return after,
            [b'\\', _, after @ ..] | [_, after @ ..] => rest = after,
            [] => return rest,
        }
    }
}

fn is_wide(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let Ok(text) = std::str::from_utf8(number) else { return false };
    digits.len() >= FEWEST
        && digits.iter().all(u8::is_ascii_digit)
        && text.parse::<i64>().is_err()
        && text.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_that_would_be_rounded_are_found() {
        let check = |json: &str, expected| assert_eq!(has_wide_integer(json.as_bytes()), expected, "{json}");
        for kept in [
            "{}",
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a":1234567890123456789,"b":[1e300,6.02214076e23,0.12345678901234567890123]}"#,
            r#"{"a":"12345678901234567890123","b\\\"12345678901234567890123":"\\"}"#,
            r#""12345678901234567890123"#,
        ] {
            check(kept, false);
        }
        for wide in
            ["18446744073709551616", "-9223372036854775809", r#"{"a":["\\",[12345678901234567890123]]}"#]
        {
            check(wide, true);
        }
    }

    proptest::proptest! {
        #[test]
        fn it_agrees_with_the_parser(digits in "-?[1-9][0-9]{0,40}", before in "[ 0-9a]{0,40}") {
            let json = format!("{{\"{before}\":{digits}}}");
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            proptest::prop_assert_eq!(has_wide_integer(json.as_bytes()), value[&before].is_f64());
        }
    }
}
