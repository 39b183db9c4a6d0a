//! JSON numbers as Cedar's: a Long is an `i64`, a decimal has four places. What lies beyond comes as the nearest
//! number there is, so that `<` and `>` still answer as they would for the number meant.

use serde_json::Number;

/// The ten-thousandths in one.
const SCALE: i128 = 10_000;

/// A number without a fraction as a Long. `5.0` is 5; `5.5` is none.
pub(super) fn long(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    if number.is_u64() {
        return Some(i64::MAX);
    }
    // Casts from floating point saturate.
    number.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as i64)
}

/// A number as the text of a decimal, rounded half away from zero.
pub(super) fn decimal(number: &Number) -> Option<String> {
    let scaled = match (number.as_i64(), number.as_u64()) {
        (Some(whole), _) => i128::from(whole) * SCALE,
        (None, Some(whole)) => i128::from(whole) * SCALE,
        (None, None) => scale(number.as_f64()?)?,
    };
    let scaled = scaled.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    let (sign, size) = (if scaled < 0 { "-" } else { "" }, scaled.unsigned_abs());
    Some(format!("{sign}{}.{:04}", size / SCALE.unsigned_abs(), size % SCALE.unsigned_abs()))
}

/// Ten thousand times a float, rounded once. Multiplying as a float would round twice, and then a larger number could
/// come out as the smaller one.
fn scale(float: f64) -> Option<i128> {
    if !float.is_finite() {
        return None;
    }
    let bits = float.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).ok()?;
    let fraction = i128::from(bits & ((1 << 52) - 1));
    // The float is `significand * 2^power`; the smallest ones have no leading one.
    let (significand, power) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent - 1075) };
    let scaled = significand * SCALE;
    let size = match power {
        // Beyond 2^52 * 2^40, so beyond every decimal.
        41.. => i128::MAX,
        0.. => scaled << power,
        // Less than 2^67 / 2^120: nothing is left.
        ..-120 => 0,
        _ => (scaled + (1 << (-power - 1))) >> -power,
    };
    Some(if float < 0.0 { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn number(value: serde_json::Value) -> Number {
        value.as_number().unwrap().clone()
    }

    #[test]
    fn longs_saturate_and_have_no_fraction() {
        let check = |value, expected| assert_eq!(long(&number(value)), expected);
        check(json!(5), Some(5));
        check(json!(5.0), Some(5));
        check(json!(-0.0), Some(0));
        check(json!(5.5), None);
        check(json!(u64::MAX), Some(i64::MAX));
        check(json!(1e300), Some(i64::MAX));
        check(json!(-1e300), Some(i64::MIN));
        check(json!(i64::MIN), Some(i64::MIN));
    }

    #[test]
    fn decimals_have_four_places() {
        let check = |value, expected: &str| assert_eq!(decimal(&number(value)).unwrap(), expected);
        check(json!(5), "5.0000");
        check(json!(-5), "-5.0000");
        check(json!(0.1), "0.1000");
        check(json!(-0.00004), "0.0000");
        check(json!(0.00006), "0.0001");
        check(json!(-0.00006), "-0.0001");
        check(json!(12.34567), "12.3457");
        check(json!(99.99999), "100.0000");
        check(json!(5e-324), "0.0000");
        check(json!(1e300), "922337203685477.5807");
        check(json!(-1e300), "-922337203685477.5808");
        check(json!(u64::MAX), "922337203685477.5807");
        check(json!(1e18), "922337203685477.5807");
        check(json!(900_719_925_474_099.0), "900719925474099.0000");
    }

    fn any_number() -> impl Strategy<Value = Number> {
        prop_oneof![
            any::<i64>().prop_map(|whole| number(json!(whole))),
            any::<u64>().prop_map(|whole| number(json!(whole))),
            any::<f64>()
                .prop_filter("JSON has no such number", |f| f.is_finite())
                .prop_map(|f| number(json!(f))),
            (-1e12f64..1e12).prop_map(|float| number(json!(float))),
            (-1_000_000_000_000i64..1_000_000_000_000).prop_map(|whole| number(json!(whole))),
        ]
    }

    fn scaled(number: &Number) -> i64 {
        decimal(number).unwrap().replace('.', "").parse().unwrap()
    }

    proptest! {
        /// A larger number never becomes the smaller decimal, nor the smaller Long.
        #[test]
        fn order_is_kept(a in any_number(), b in any_number()) {
            let exact = |n: &Number| n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
            let order = match (exact(&a), exact(&b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                // As floats both lose the same way; equal floats say nothing about order.
                _ => a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap()),
            };
            let (low, high) = if order.is_le() { (&a, &b) } else { (&b, &a) };
            if low.as_f64() < high.as_f64() {
                prop_assert!(scaled(low) <= scaled(high), "{low} {high}");
                if let (Some(low), Some(high)) = (long(low), long(high)) {
                    prop_assert!(low <= high);
                }
            }
        }
    }
}
