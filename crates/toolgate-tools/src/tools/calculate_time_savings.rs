//! Time saved when tasks get quicker.
//!
//! - runs a year of one task: `times * periods * people`; a year has `working_weeks_per_year` weeks, five working days
//!   in each, 12 months, 4 quarters
//! - hours before: `minutes_before / 60 * runs`
//! - hours after: only `adoption_percent` of the runs change, so
//!   `(minutes_after * adoption + minutes_before * (1 - adoption)) / 60 * runs`
//! - saved: before less after, negative when a task gets slower; value: saved hours times `hourly_cost`
//!
//! Rounding, at the very end: hours 1 decimal, money 2, percent 1. A share of zero hours is null.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{counted, percent_of, readable, round};
use crate::section::{bars, columns, figures};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(CalculateTimeSavings)
}

/// Tasks as they are and as they would be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// The tasks that change.
    #[schemars(length(min = 1, max = 100))]
    tasks: Vec<Task>,
    /// How many of the runs will really be done the new way, in percent.
    #[serde(default = "everything")]
    #[schemars(range(min = 0.0, max = 100.0))]
    adoption_percent: f64,
    /// What an hour of work costs, in a currency of your choice; 0 leaves the money out.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    hourly_cost: f64,
    /// Weeks a year in which people work, without holidays and leave.
    #[serde(default = "usual_weeks")]
    #[schemars(range(min = 1.0, max = 52.0))]
    working_weeks_per_year: f64,
}

/// One task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Task {
    /// What the task is called.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Minutes for one run today.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    minutes_before: f64,
    /// Minutes of a person's time for one run afterwards, checking included.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    minutes_after: f64,
    /// How often one person does it in each period.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    times: f64,
    /// The period that `times` counts in.
    per: Period,
    /// How many people do it.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    people: f64,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Period {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Period {
    fn per_year(self, weeks: f64) -> f64 {
        match self {
            Self::Day => weeks * 5.0,
            Self::Week => weeks,
            Self::Month => 12.0,
            Self::Quarter => 4.0,
            Self::Year => 1.0,
        }
    }
}

fn everything() -> f64 {
    100.0
}

fn usual_weeks() -> f64 {
    46.0
}

fn one() -> f64 {
    1.0
}

fn example() -> Value {
    json!({
        "tasks": [
            { "name": "Sort incoming mail", "minutes_before": 6, "minutes_after": 1, "times": 20, "per": "day", "people": 3 },
            { "name": "Monthly report", "minutes_before": 240, "minutes_after": 90, "times": 1, "per": "month" }
        ],
        "adoption_percent": 80,
        "hourly_cost": 45
    })
}

/// What would be saved in a year.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// All tasks together.
    summary: Summary,
    /// Each task, the largest saving first.
    tasks: Vec<Row>,
}

/// All tasks together.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// Hours a year today.
    hours_before_per_year: f64,
    /// Hours a year afterwards.
    hours_after_per_year: f64,
    /// Hours a year saved; negative when it takes longer.
    hours_saved_per_year: f64,
    /// Hours saved in one working week.
    hours_saved_per_week: f64,
    /// Saved hours as a share of today's, in percent; null when there are none today.
    saved_percent: Option<f64>,
    /// What the saved hours cost today; 0 without an hourly cost.
    value_per_year: f64,
}

/// One task in a year.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// The task.
    name: String,
    /// How often it is done, by everyone together.
    runs_per_year: f64,
    /// Hours today.
    hours_before: f64,
    /// Hours afterwards.
    hours_after: f64,
    /// Hours saved.
    hours_saved: f64,
    /// Saved hours as a share of this task's hours today, in percent.
    saved_percent: Option<f64>,
    /// What the saved hours cost today.
    value: f64,
}

struct CalculateTimeSavings;

impl Tool for CalculateTimeSavings {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__calculate_time_savings", "Time savings calculator")
            .describe(
                "Adds up the hours, and their cost, that tasks would save in a year if each run took less time. Use \
                 it when minutes per run before and after and the frequency are known or can be estimated. Give the \
                 person's own figures, ask for missing ones, and include checking and rework in `minutes_after`. Not \
                 for a whole process whose steps must first be judged for automation \
                 (core__scope_process_automation), and not for staffing (core__calculate_fte_impact takes the hours \
                 from here). For a business case put `value_per_year` into core__calculate_roi as the benefit.",
            )
            .category("analysis", "timer")
            .shows(&["summary", "tasks"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("hours_saved_per_year", "Hours saved a year", "number"),
                    ("hours_saved_per_week", "Hours saved a week", "number"),
                    ("saved_percent", "Share saved", "percent"),
                    ("value_per_year", "Value a year", "money"),
                ]),
            )
            .section_with(
                "tasks",
                "Hours a year",
                SectionKind::Chart,
                bars(("name", "Task"), &[("hours_before", "Today", "number"), ("hours_after", "Afterwards", "number")]),
            )
            .section_with(
                "tasks",
                "By task",
                SectionKind::Table,
                columns(&[
                    ("name", "Task", "text"),
                    ("runs_per_year", "Runs a year", "number"),
                    ("hours_before", "Hours today", "number"),
                    ("hours_after", "Hours afterwards", "number"),
                    ("hours_saved", "Hours saved", "number"),
                    ("saved_percent", "Share saved", "percent"),
                    ("value", "Value a year", "money"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(calculate(input))
    }
}

fn calculate(input: Input) -> Output {
    let weeks = input.working_weeks_per_year;
    let adoption = input.adoption_percent / 100.0;
    let (mut before, mut after) = (0.0, 0.0);
    let mut tasks = Vec::with_capacity(input.tasks.len());
    for task in input.tasks {
        let runs = task.times * task.per.per_year(weeks) * task.people;
        let task_before = task.minutes_before / 60.0 * runs;
        let minutes_after = task.minutes_after * adoption + task.minutes_before * (1.0 - adoption);
        let task_after = minutes_after / 60.0 * runs;
        let saved = task_before - task_after;
        (before, after) = (before + task_before, after + task_after);
        tasks.push(Row {
            name: task.name,
            runs_per_year: round(runs, 1),
            hours_before: round(task_before, 1),
            hours_after: round(task_after, 1),
            hours_saved: round(saved, 1),
            saved_percent: percent_of(saved, task_before),
            value: round(saved * input.hourly_cost, 2),
        });
    }
    // A stable sort: equal savings stay in the caller's order.
    tasks.sort_by(|one, other| other.hours_saved.total_cmp(&one.hours_saved));

    let saved = before - after;
    let mut summary = Summary {
        text: String::new(),
        hours_before_per_year: round(before, 1),
        hours_after_per_year: round(after, 1),
        hours_saved_per_year: round(saved, 1),
        hours_saved_per_week: round(saved / weeks, 1),
        saved_percent: percent_of(saved, before),
        value_per_year: round(saved * input.hourly_cost, 2),
    };
    summary.text = describe(&summary, &tasks);
    Output { summary, tasks }
}

fn describe(summary: &Summary, tasks: &[Row]) -> String {
    let count = counted(tasks.len(), "task", "tasks");
    let saved = summary.hours_saved_per_year;
    if saved == 0.0 {
        return format!("No time is saved: {count} would take as long as today.");
    }
    if saved < 0.0 {
        return format!("No time is saved: {count} would take {} hours a year more.", readable(-saved));
    }
    let share = summary.saved_percent.map(|share| format!(" ({} %)", readable(share))).unwrap_or_default();
    let most = tasks.first().map(|task| format!(" Most of it comes from {}.", task.name)).unwrap_or_default();
    format!(
        "{count} would take {} hours a year instead of {}: {} saved{share}.{}",
        readable(summary.hours_after_per_year),
        readable(summary.hours_before_per_year),
        readable(saved),
        if tasks.len() > 1 { most } else { String::new() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn task(name: &str, before: f64, after: f64, times: f64, per: Period) -> Task {
        Task { name: name.into(), minutes_before: before, minutes_after: after, times, per, people: 1.0 }
    }

    fn savings(tasks: Vec<Task>, adoption_percent: f64, hourly_cost: f64) -> Output {
        calculate(Input { tasks, adoption_percent, hourly_cost, working_weeks_per_year: 46.0 })
    }

    #[test]
    fn two_tasks_worked_by_hand() {
        // Mail: 20 a day * 230 days * 3 people = 13,800 runs; 6 min = 1,380 h before.
        //       80 % at 1 min and 20 % at 6 min = 2 min = 460 h after; 920 h saved.
        // Report: 12 runs of 240 min = 48 h before; 0.8 * 90 + 0.2 * 240 = 120 min = 24 h after; 24 h saved.
        let mail = Task { people: 3.0, ..task("Mail", 6.0, 1.0, 20.0, Period::Day) };
        let output = savings(vec![task("Report", 240.0, 90.0, 1.0, Period::Month), mail], 80.0, 45.0);
        let summary = &output.summary;
        assert_eq!((summary.hours_before_per_year, summary.hours_after_per_year), (1_428.0, 484.0));
        // 944 h / 1,428 h; 944 h / 46 weeks; 944 h * 45.
        assert_eq!((summary.hours_saved_per_year, summary.saved_percent), (944.0, Some(66.1)));
        assert_eq!((summary.hours_saved_per_week, summary.value_per_year), (20.5, 42_480.0));
        assert_eq!((output.tasks[0].name.as_str(), output.tasks[0].runs_per_year), ("Mail", 13_800.0));
        assert_eq!((output.tasks[1].hours_saved, output.tasks[1].value), (24.0, 1_080.0));
        assert_eq!(
            summary.text,
            "2 tasks would take 484 hours a year instead of 1,428: 944 saved (66.1 %). Most of it comes from Mail."
        );
    }

    #[test]
    fn every_period_has_its_number_of_runs() {
        for (per, expected) in [
            (Period::Day, 230.0),
            (Period::Week, 46.0),
            (Period::Month, 12.0),
            (Period::Quarter, 4.0),
            (Period::Year, 1.0),
        ] {
            assert_eq!(per.per_year(46.0), expected);
        }
    }

    #[test]
    fn getting_slower_is_a_negative_saving() {
        // 46 runs, 30 min each more.
        let output = savings(vec![task("Check", 30.0, 60.0, 1.0, Period::Week)], 100.0, 10.0);
        assert_eq!((output.summary.hours_saved_per_year, output.summary.value_per_year), (-23.0, -230.0));
        assert_eq!(output.summary.text, "No time is saved: 1 task would take 23 hours a year more.");
    }

    #[test]
    fn a_share_of_no_hours_is_null() {
        let output = savings(vec![task("Never", 30.0, 10.0, 0.0, Period::Week)], 100.0, 10.0);
        assert_eq!((output.summary.saved_percent, output.tasks[0].saved_percent), (None, None));
    }

    #[test]
    fn no_adoption_saves_nothing() {
        let output = savings(vec![task("Mail", 7.3, 1.1, 17.0, Period::Day)], 0.0, 10.0);
        assert_eq!(output.summary.hours_saved_per_year, 0.0);
        assert_eq!(output.summary.text, "No time is saved: 1 task would take as long as today.");
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| Ok(calculate(input)));
    }
}
