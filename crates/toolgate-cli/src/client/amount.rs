//! Spans of time and amounts of money, as people write them.

use toolgate_api::BudgetView;

/// When something ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// So many seconds from now.
    In(u64),
    /// At this moment.
    At(jiff::Timestamp),
}

/// A span such as `90d`, or a moment such as `2026-12-31T00:00:00Z`.
pub(super) fn parse_end(text: &str) -> Result<End, String> {
    if let Ok(moment) = text.parse() {
        return Ok(End::At(moment));
    }
    parse_seconds(text)
        .ok()
        .filter(|seconds| *seconds > 0)
        .map(End::In)
        .ok_or_else(|| "must be such as 90d, 12h or 2026-12-31T00:00:00Z".to_owned())
}

/// A span such as `1h`, in seconds.
pub(super) fn parse_seconds(text: &str) -> Result<u64, String> {
    let span = text.parse::<jiff::Span>().ok().filter(|span| !span.is_negative());
    let now = jiff::Timestamp::now();
    // By the calendar from now on, so that months and years have a length.
    let then = span.and_then(|span| now.to_zoned(jiff::tz::TimeZone::UTC).checked_add(span).ok());
    then.and_then(|then| u64::try_from(then.timestamp().duration_since(now).as_secs()).ok())
        .ok_or_else(|| "must be such as 30m, 1h or 7d".to_owned())
}

const MILLION: i64 = 1_000_000;

/// An amount in a span, such as `12.50/day`.
pub(super) fn parse_budget(text: &str) -> Result<BudgetView, String> {
    let budget = text.split_once('/').and_then(|(amount, every)| {
        let every = matches!(every, "hour" | "day" | "month").then(|| every.to_owned())?;
        Some(BudgetView { micros: parse_micros(amount)?, every })
    });
    budget.ok_or_else(|| {
        "must be an amount in an hour, a day or a month, such as 12.50/day, with at most 6 decimals"
            .to_owned()
    })
}

fn parse_micros(amount: &str) -> Option<i64> {
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let part: i64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(MILLION)?.checked_add(part)
}

/// The same the other way, with two decimals at least.
pub(super) fn budget(budget: &BudgetView) -> String {
    let part = format!("{:06}", budget.micros.unsigned_abs() % MILLION.unsigned_abs());
    let kept = part.trim_end_matches('0').len().max(2);
    let sign = if budget.micros < 0 { "-" } else { "" };
    let whole = budget.micros.unsigned_abs() / MILLION.unsigned_abs();
    format!("{sign}{whole}.{}/{}", &part[..kept], budget.every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_spans_or_moments() {
        assert_eq!(parse_end("90d"), Ok(End::In(90 * 86_400)));
        assert_eq!(parse_end("12h"), Ok(End::In(12 * 3600)));
        let moment = "2026-12-31T00:00:00Z";
        assert_eq!(parse_end(moment), Ok(End::At(moment.parse().unwrap())));
        for bad in ["", "0s", "-1h", "1h ago", "90", "soon", "2026-12-31", "99999y"] {
            assert!(parse_end(bad).is_err(), "{bad}");
        }
        // A month has a length from a day on.
        assert!(matches!(parse_end("1mo"), Ok(End::In(seconds)) if seconds >= 28 * 86_400));
    }

    #[test]
    fn no_overlap_is_an_overlap() {
        assert_eq!(parse_seconds("0s"), Ok(0));
        assert_eq!(parse_seconds("1h 30m"), Ok(5400));
        assert!(parse_seconds("-1h").is_err());
    }

    #[test]
    fn money_is_exact_both_ways() {
        for (text, micros, shown) in [
            ("12.50/day", 12_500_000, "12.50/day"),
            ("3/hour", 3_000_000, "3.00/hour"),
            ("0.000001/month", 1, "0.000001/month"),
            ("0.1/day", 100_000, "0.10/day"),
            ("0/day", 0, "0.00/day"),
            ("9223372036854.775807/day", i64::MAX, "9223372036854.775807/day"),
        ] {
            let read = parse_budget(text).unwrap();
            assert_eq!((read.micros, budget(&read).as_str()), (micros, shown), "{text}");
        }
        for bad in
            ["", "12.50", "12.50/year", "/day", ".5/day", "-1/day", "1e3/day", "0.0000001/day", "1,5/day"]
        {
            assert!(parse_budget(bad).is_err(), "{bad}");
        }
        assert!(parse_budget("9223372036854.775808/day").is_err());
    }
}
