//! Numbers as the tools take and give them: whole where they must be, rounded, finite, readable.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// `value` with so many decimals, halves away from zero as on paper; never `-0`.
pub(crate) fn round(value: f64, decimals: i32) -> f64 {
    let scaled = value * 10_f64.powi(decimals);
    // 58 * 1.825 is a hair below 105.85 in binary, and whoever checks by hand would find it rounded the wrong way.
    let hair = (scaled.abs() * 1e-14).min(1e-6);
    // Adding zero turns `-0` into `0`, which people would otherwise see as a loss of nothing.
    (scaled + hair.copysign(scaled)).round() / 10_f64.powi(decimals) + 0.0
}

/// `part` of `whole` in percent with one decimal; none when there is no whole.
pub(crate) fn percent_of(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| round(part / whole * 100.0, 1))
}

/// `value` for a sentence: at most two decimals, thousands in groups.
pub(crate) fn readable(value: f64) -> String {
    let text = format!("{:.2}", round(value, 2).abs());
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let decimals = decimals.trim_end_matches('0');
    let sign = if round(value, 2) < 0.0 { "-" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{decimals}")
}

/// `1 year`, `2 years`: a count with its word.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Reads a whole number. JSON Schema counts `3.0` as an integer while serde does not, and models do write it.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(D::Error::custom("must be a whole number"));
    }
    Ok(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn halves_go_away_from_zero() {
        for (value, decimals, expected) in
            [(2.5, 0, 3.0), (-2.5, 0, -3.0), (1.25, 1, 1.3), (1234.5, -2, 1200.0)]
        {
            assert_eq!(round(value, decimals), expected);
        }
        assert!(round(-0.001, 2).is_sign_positive());
    }

    #[test]
    fn a_share_of_nothing_is_unknown() {
        assert_eq!(percent_of(1.0, 3.0), Some(33.3));
        assert_eq!(percent_of(1.0, 0.0), None);
    }

    #[test]
    fn figures_are_readable() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.001, "0"),
            (7.5, "7.5"),
            (999.0, "999"),
            (1000.0, "1,000"),
            (-1_234_567.891, "-1,234,567.89"),
        ] {
            assert_eq!(readable(value), expected);
        }
        assert_eq!(counted(1, "year", "years"), "1 year");
        assert_eq!(counted(0, "year", "years"), "0 years");
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point() {
        assert_eq!(whole(json!(3)).unwrap(), 3);
        assert_eq!(whole(json!(3.0)).unwrap(), 3);
        for wrong in [json!(3.5), json!(-1), json!(1e12), json!("3")] {
            assert!(whole(wrong).is_err());
        }
    }
}
