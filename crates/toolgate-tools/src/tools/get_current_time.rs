//! The time, in any zone.
//!
//! The moment comes from the call's clock, cut to the millisecond so that every field names the same moment. Zones
//! come from the bundled IANA database only: a tool does not read the machine's files, and two nodes agree.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::Timestamp;
use toolgate_native::{Capability, NativeTool, Promise, Tool, ToolContext, ToolFailure};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(GetCurrentTime { zones: TimeZoneDatabase::bundled() })
}

/// Where to tell the time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// An IANA time zone name such as `Europe/Berlin`, in any case. Not an abbreviation such as `CEST`, not an offset.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    timezone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

fn example() -> Value {
    json!({ "timezone": "Europe/Berlin" })
}

/// One moment, in several forms.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// Date and time with the offset from UTC, as in RFC 3339.
    iso: String,
    /// Milliseconds since 1970-01-01 UTC.
    unix_ms: i64,
    /// The zone, in its usual spelling.
    timezone: String,
    /// The day there, `YYYY-MM-DD`.
    date: String,
    /// The time of day there, `HH:MM:SS` on a 24-hour clock.
    time: String,
    /// The day of the week there, in English.
    weekday: String,
    /// The offset from UTC at this moment, such as `+02:00`.
    utc_offset: String,
}

struct GetCurrentTime {
    zones: TimeZoneDatabase,
}

impl Tool for GetCurrentTime {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__get_current_time", "Current time")
            .describe(
                "Tells the current date, time, weekday and UTC offset in one time zone. Use it before any answer that \
                 depends on today's date, the time of day or the weekday, and whenever you would otherwise guess the \
                 date: you have no clock of your own. Give the person's IANA zone if you know it; leave it out for \
                 UTC. Do not use it to convert a past or future moment: it knows only now. Ask again rather than \
                 reuse an answer from much earlier in the conversation.",
            )
            .category("utility", "clock")
            .needs(Capability::Clock)
            .shows(&["iso", "unix_ms", "timezone", "date", "time", "weekday", "utc_offset"])
    }

    async fn run(&self, input: Input, context: &ToolContext) -> Result<Output, ToolFailure> {
        tell(&self.zones, context.capabilities.clock()?.now(), &input)
    }
}

fn tell(zones: &TimeZoneDatabase, now: Timestamp, input: &Input) -> Result<Output, ToolFailure> {
    let zone = zones.get(&input.timezone).ok().filter(|zone| *zone != TimeZone::unknown());
    let Some(zone) = zone else {
        return Err(ToolFailure::failed("the time zone is not in the IANA database")
            .hint("give a name such as `Europe/Berlin` or `America/New_York`, or leave it out for UTC"));
    };
    let moment = jiff::Timestamp::from_millisecond(now.as_micros().div_euclid(1_000))
        .map_err(|_| ToolFailure::failed("the clock shows a time that no calendar has"))?;
    let timezone = zone.iana_name().unwrap_or("UTC").to_owned();
    let there = moment.to_zoned(zone);
    Ok(Output {
        iso: there.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
        unix_ms: moment.as_millisecond(),
        timezone,
        date: there.strftime("%Y-%m-%d").to_string(),
        time: there.strftime("%H:%M:%S").to_string(),
        weekday: there.strftime("%A").to_string(),
        utc_offset: there.strftime("%:z").to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    // 2026-01-15T12:34:56.789Z: 20,468 days after 1970 are 1,768,435,200 s, and 12:34:56 are 45,296 s more.
    const WINTER: i64 = 1_768_480_496_789_000;
    // 2026-07-15T12:34:56.789Z: 181 days, or 15,638,400 s, later.
    const SUMMER: i64 = WINTER + 15_638_400_000_000;

    fn at(micros: i64, timezone: &str) -> Result<Output, ToolFailure> {
        let input = Input { timezone: timezone.to_owned() };
        tell(&TimeZoneDatabase::bundled(), Timestamp::from_micros(micros), &input)
    }

    fn check(micros: i64, timezone: &str, iso: &str, weekday: &str) {
        let output = at(micros, timezone).unwrap();
        assert_eq!((output.iso.as_str(), output.weekday.as_str()), (iso, weekday));
        assert_eq!(output.iso, format!("{}T{}.789{}", output.date, output.time, output.utc_offset));
        assert_eq!(output.unix_ms, micros / 1_000);
    }

    #[test]
    fn zones_have_their_offset_and_daylight_saving() {
        check(WINTER, "UTC", "2026-01-15T12:34:56.789+00:00", "Thursday");
        check(WINTER, "Europe/Berlin", "2026-01-15T13:34:56.789+01:00", "Thursday");
        check(SUMMER, "Europe/Berlin", "2026-07-15T14:34:56.789+02:00", "Wednesday");
        check(SUMMER, "Asia/Kathmandu", "2026-07-15T18:19:56.789+05:45", "Wednesday");
        // 14 hours ahead, so the next day.
        check(WINTER, "Pacific/Kiritimati", "2026-01-16T02:34:56.789+14:00", "Friday");
        check(SUMMER, "America/New_York", "2026-07-15T08:34:56.789-04:00", "Wednesday");
    }

    #[test]
    fn names_are_read_in_any_case_and_given_back_as_usual() {
        assert_eq!(at(WINTER, "europe/BERLIN").unwrap().timezone, "Europe/Berlin");
        assert_eq!(at(WINTER, "utc").unwrap().timezone, "UTC");
        let input: Input = serde_json::from_value(json!({})).unwrap();
        assert_eq!(input.timezone, "UTC");
    }

    #[test]
    fn microseconds_are_cut_not_rounded() {
        assert_eq!(at(WINTER + 999, "UTC").unwrap().iso, "2026-01-15T12:34:56.789+00:00");
        assert_eq!(at(-1, "UTC").unwrap().iso, "1969-12-31T23:59:59.999+00:00");
    }

    #[test]
    fn unknown_zones_are_refused_without_repeating_them() {
        for wrong in ["Mars/Olympus", "CESTX", "+02:00", "Etc/Unknown", "../etc/passwd"] {
            let ToolFailure::Failed { message, hint } = at(WINTER, wrong).unwrap_err() else {
                panic!("cancelled")
            };
            assert!(!message.contains(wrong) && !hint.unwrap().contains(wrong));
        }
    }

    #[test]
    fn a_broken_clock_is_said() {
        assert!(at(i64::MAX, "UTC").is_err());
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        let zones = TimeZoneDatabase::bundled();
        check_promises(tool(), |input: Input| tell(&zones, Timestamp::from_micros(WINTER), &input));
    }
}
