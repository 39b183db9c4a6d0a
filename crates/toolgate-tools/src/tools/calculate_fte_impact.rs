//! What saved hours mean in full-time equivalents (FTE).
//!
//! - productive hours of one FTE a year: `(52 * hours_per_week - absent_days * hours_per_week / 5) * productive_percent`
//! - FTE of an activity: its hours a year divided by that
//! - freed: the share of its hours that is saved
//! - usable: `usable_percent` of what is freed. Minutes here and there rarely add up to a whole free day
//! - value: usable FTE times `annual_cost_per_fte`
//! - in year `y` (0 is today's volume) the work grows to `(1 + growth)^y`; with the change, usable FTE are gone from
//!   every year on
//!
//! Rounding, at the very end: FTE 2 decimals, hours 1, money 2, percent 1. Each figure is rounded for itself, so that the
//! last digit of a sum may differ by one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{percent_of, readable, round, whole};
use crate::section::{columns, figures, lines};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(CalculateFteImpact)
}

/// Activities, and what a full-time job is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// The activities that change.
    #[schemars(length(min = 1, max = 100))]
    activities: Vec<Activity>,
    /// Hours a week in a full-time contract.
    #[serde(default = "usual_hours")]
    #[schemars(range(min = 1.0, max = 60.0))]
    hours_per_week: f64,
    /// Working days a year of leave, holidays, sickness and training.
    #[serde(default = "usual_absence")]
    #[schemars(range(min = 0.0, max = 200.0))]
    absent_days: f64,
    /// Share of the hours at work that goes into such activities, in percent; the rest is meetings, breaks, mail.
    #[serde(default = "usual_productivity")]
    #[schemars(range(min = 10.0, max = 100.0))]
    productive_percent: f64,
    /// Share of the freed time that can really be used for something else, in percent.
    #[serde(default = "usual_use")]
    #[schemars(range(min = 0.0, max = 100.0))]
    usable_percent: f64,
    /// What one FTE costs in a year, in a currency of your choice; 0 leaves the money out.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    annual_cost_per_fte: f64,
    /// How much the work grows each year, in percent; negative when it shrinks.
    #[serde(default)]
    #[schemars(range(min = -50.0, max = 100.0))]
    volume_growth_percent: f64,
    /// How many years to look ahead.
    #[serde(default = "usual_years", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 10))]
    years: u32,
}

/// One activity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Activity {
    /// What it is called.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Hours a year spent on it today, by everyone together.
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    hours_per_year: f64,
    /// Share of these hours that is saved, in percent.
    #[schemars(range(min = 0.0, max = 100.0))]
    saved_percent: f64,
}

fn usual_hours() -> f64 {
    40.0
}

fn usual_absence() -> f64 {
    45.0
}

fn usual_productivity() -> f64 {
    85.0
}

fn usual_use() -> f64 {
    70.0
}

fn usual_years() -> u32 {
    3
}

fn example() -> Value {
    json!({
        "activities": [
            { "name": "Invoices", "hours_per_year": 7_310, "saved_percent": 50 },
            { "name": "Reports", "hours_per_year": 1_462, "saved_percent": 25 }
        ],
        "annual_cost_per_fte": 60_000,
        "volume_growth_percent": 10
    })
}

/// What it means for staffing.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The result as a whole.
    summary: Summary,
    /// Each activity, the most freed first.
    activities: Vec<Row>,
    /// The years ahead, from today's volume in year 0.
    projection: Vec<Ahead>,
}

/// The result as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// Hours a year that one FTE has for such activities.
    productive_hours_per_fte: f64,
    /// FTE that the activities take today.
    fte_today: f64,
    /// FTE freed on paper.
    fte_freed: f64,
    /// FTE that can really be used for something else.
    fte_usable: f64,
    /// FTE that the activities still bind.
    fte_after: f64,
    /// What the usable FTE cost in a year; 0 without a cost.
    value_per_year: f64,
}

/// One activity.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// Its name.
    name: String,
    /// Hours a year today.
    hours_per_year: f64,
    /// Hours a year freed.
    hours_freed: f64,
    /// FTE today.
    fte_today: f64,
    /// FTE freed on paper.
    fte_freed: f64,
    /// Its share of all that is freed, in percent; null when nothing is.
    share_percent: Option<f64>,
}

/// One year ahead.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Ahead {
    /// The year; 0 is today's volume.
    year: u32,
    /// FTE needed if nothing changes.
    fte_without: f64,
    /// FTE needed with the change.
    fte_with: f64,
    /// The difference.
    fte_usable: f64,
}

struct CalculateFteImpact;

impl Tool for CalculateFteImpact {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__calculate_fte_impact", "FTE impact calculator")
            .describe(
                "Translates saved hours into full-time equivalents: bound today, freed, really usable, and needed in \
                 the coming years as the volume grows. Use it for questions about capacity, hiring or staffing. Work \
                 out hours and savings first (core__calculate_time_savings or core__scope_process_automation) and \
                 give their yearly hours here. Don't present freed FTE as people to let go: report the usable figure \
                 and say what `usable_percent` was assumed. Ask for the organisation's own weekly hours, absence and \
                 cost before relying on the defaults.",
            )
            .category("analysis", "users")
            .shows(&["summary", "activities", "projection"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("fte_today", "FTE today", "number"),
                    ("fte_usable", "FTE usable", "number"),
                    ("fte_after", "FTE still bound", "number"),
                    ("value_per_year", "Value a year", "money"),
                ]),
            )
            .section_with(
                "projection",
                "FTE needed",
                SectionKind::Chart,
                lines(
                    ("year", "Year"),
                    &[("fte_without", "Without the change", "number"), ("fte_with", "With the change", "number")],
                ),
            )
            .section_with(
                "activities",
                "By activity",
                SectionKind::Table,
                columns(&[
                    ("name", "Activity", "text"),
                    ("hours_per_year", "Hours a year", "number"),
                    ("hours_freed", "Hours freed", "number"),
                    ("fte_today", "FTE today", "number"),
                    ("fte_freed", "FTE freed", "number"),
                    ("share_percent", "Share of all freed", "percent"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(calculate(input))
    }
}

fn calculate(input: Input) -> Output {
    // Invariant: above 0 for all the schema allows: 12 weeks of 1 hour at 10 % are left at the very least.
    let productive =
        (52.0 - input.absent_days / 5.0) * input.hours_per_week * input.productive_percent / 100.0;
    let freed_hours = |activity: &Activity| activity.hours_per_year * activity.saved_percent / 100.0;
    let hours: f64 = input.activities.iter().map(|activity| activity.hours_per_year).sum();
    let freed: f64 = input.activities.iter().map(freed_hours).sum();
    let (fte_today, fte_freed) = (hours / productive, freed / productive);
    let fte_usable = fte_freed * input.usable_percent / 100.0;

    let mut activities: Vec<Row> = input
        .activities
        .into_iter()
        .map(|activity| Row {
            hours_per_year: round(activity.hours_per_year, 1),
            hours_freed: round(freed_hours(&activity), 1),
            fte_today: round(activity.hours_per_year / productive, 2),
            fte_freed: round(freed_hours(&activity) / productive, 2),
            share_percent: percent_of(freed_hours(&activity), freed),
            name: activity.name,
        })
        .collect();
    activities.sort_by(|one, other| other.hours_freed.total_cmp(&one.hours_freed));

    let growth = 1.0 + input.volume_growth_percent / 100.0;
    let projection = (0..=input.years)
        .map(|year| {
            let volume = growth.powf(f64::from(year));
            Ahead {
                year,
                fte_without: round(fte_today * volume, 2),
                fte_with: round((fte_today - fte_usable) * volume, 2),
                fte_usable: round(fte_usable * volume, 2),
            }
        })
        .collect();

    let summary = Summary {
        text: format!(
            "The activities take {} FTE today; {} would be freed, of which {} can be used elsewhere. {} stay bound.",
            readable(fte_today),
            readable(fte_freed),
            readable(fte_usable),
            readable(fte_today - fte_usable),
        ),
        productive_hours_per_fte: round(productive, 1),
        fte_today: round(fte_today, 2),
        fte_freed: round(fte_freed, 2),
        fte_usable: round(fte_usable, 2),
        fte_after: round(fte_today - fte_usable, 2),
        value_per_year: round(fte_usable * input.annual_cost_per_fte, 2),
    };
    Output { summary, activities, projection }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn impact(value: Value) -> Output {
        calculate(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn two_activities_worked_by_hand() {
        // One FTE: 52 * 40 = 2,080 h less 45 * 8 = 360 h is 1,720 h; 85 % of it is 1,462 h.
        // Invoices: 7,310 h = 5 FTE, half freed = 2.5. Reports: 1,462 h = 1 FTE, a quarter freed = 0.25.
        // Together 6 FTE, 2.75 freed, 70 % usable = 1.925; 60,000 * 1.925 = 115,500.
        let output = impact(example());
        let summary = &output.summary;
        assert_eq!((summary.productive_hours_per_fte, summary.fte_today), (1_462.0, 6.0));
        assert_eq!((summary.fte_freed, summary.value_per_year), (2.75, 115_500.0));
        assert_eq!((summary.fte_usable, summary.fte_after), (1.93, 4.08));
        // 2.5 / 2.75.
        assert_eq!((output.activities[0].fte_freed, output.activities[0].share_percent), (2.5, Some(90.9)));
        // 10 % growth: 6, 6.6, 7.26, 7.986.
        let without: Vec<f64> = output.projection.iter().map(|year| year.fte_without).collect();
        assert_eq!(without, [6.0, 6.6, 7.26, 7.99]);
        // (6 - 1.925) * 1.21 = 4.93075.
        assert_eq!(output.projection[2].fte_with, 4.93);
    }

    #[test]
    fn nothing_saved_frees_nothing() {
        let output =
            impact(json!({ "activities": [{ "name": "a", "hours_per_year": 1_462, "saved_percent": 0 }] }));
        assert_eq!((output.summary.fte_freed, output.summary.fte_after), (0.0, 1.0));
        assert_eq!(output.activities[0].share_percent, None);
        assert_eq!(
            output.summary.text,
            "The activities take 1 FTE today; 0 would be freed, of which 0 can be used elsewhere. 1 stay bound."
        );
    }

    #[test]
    fn everything_saved_and_usable_leaves_nothing_bound() {
        let output = impact(json!({
            "activities": [{ "name": "a", "hours_per_year": 1_000, "saved_percent": 100 }], "usable_percent": 100
        }));
        assert_eq!(output.summary.fte_after, 0.0);
        assert!(output.projection.iter().all(|year| year.fte_with == 0.0));
    }

    #[test]
    fn the_shortest_year_still_has_hours() {
        let output = impact(json!({
            "activities": [{ "name": "a", "hours_per_year": 12, "saved_percent": 50 }],
            "hours_per_week": 1, "absent_days": 200, "productive_percent": 10
        }));
        // 12 weeks of 1 h at 10 %.
        assert_eq!((output.summary.productive_hours_per_fte, output.summary.fte_today), (1.2, 10.0));
    }

    #[test]
    fn years_may_be_written_with_a_point() {
        let mut value = example();
        value["years"] = json!(2.0);
        assert_eq!(impact(value).projection.len(), 3);
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| Ok(calculate(input)));
    }
}
