//! What of a process can be automated.
//!
//! - traits of a step: `rules`, `data` and `stability` from 1 to 5, as shares `(value - 1) / 4`; `access` to the system
//!   is none 0, screen 0.5, interface 1
//! - potential, 0 to 100: `100 * (0.35 * rules + 0.25 * data + 0.20 * stability + 0.20 * access) * (1 - exceptions)`,
//!   with exceptions as a share; 0 when the step needs a person by law or by choice
//! - approach: from 70 `automate`, from 40 `assist` (the machine prepares, a person decides), below `keep_manual`
//! - hours a year: `minutes / 60 * runs_per_month * 12`
//! - hours saved: hours times potential when automated, half of that when assisted, none when kept
//! - potential of the process: the mean over its steps, weighted by minutes; null when all take no time
//!
//! Steps are ranked by hours saved, then potential, then in the order given. Rounding, at the very end: potential,
//! percent and hours 1 decimal, money 2. Approaches are decided on the rounded potential, the one people see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{counted, percent_of, readable, round};
use crate::section::{bars, columns, figures, ranked};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(ScopeProcessAutomation)
}

/// A process, step by step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// The steps in the order they happen.
    #[schemars(length(min = 1, max = 100))]
    steps: Vec<Step>,
    /// How often the whole process runs in a month.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    runs_per_month: f64,
    /// What an hour of work costs, in a currency of your choice; 0 leaves the money out.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    hourly_cost: f64,
}

/// One step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Step {
    /// What is done.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Minutes of a person's time in one run, waiting not counted.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    minutes: f64,
    /// What decides: 1 judgement and experience, 3 rules with room, 5 fixed rules only.
    #[schemars(range(min = 1.0, max = 5.0))]
    rules: f64,
    /// What comes in: 1 paper or talk, 3 free text and files, 5 structured data.
    #[schemars(range(min = 1.0, max = 5.0))]
    data: f64,
    /// How steady the step is: 1 changes every month, 3 every year, 5 hardly ever.
    #[serde(default = "middle")]
    #[schemars(range(min = 1.0, max = 5.0))]
    stability: f64,
    /// How a machine can reach the system: `none` not at all, `screen` by clicking like a person, `interface` by an API.
    #[serde(default)]
    access: Access,
    /// Runs that leave the normal path, in percent.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    exceptions_percent: f64,
    /// Whether law, contract or good sense wants a person here.
    #[serde(default)]
    needs_person: bool,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Access {
    None,
    #[default]
    Screen,
    Interface,
}

fn middle() -> f64 {
    3.0
}

fn example() -> Value {
    json!({
        "steps": [
            { "name": "Read the invoice", "minutes": 4, "rules": 4, "data": 3, "stability": 4, "exceptions_percent": 10 },
            { "name": "Enter it", "minutes": 6, "rules": 5, "data": 5, "stability": 5, "access": "interface" },
            { "name": "Approve it", "minutes": 2, "rules": 2, "data": 5, "needs_person": true }
        ],
        "runs_per_month": 500,
        "hourly_cost": 40
    })
}

/// What to automate.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The process as a whole.
    summary: Summary,
    /// The steps, the most rewarding first.
    ranking: Vec<Ranked>,
}

/// The process as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// How much of the process's time could be automated, from 0 to 100; null when no step takes time.
    potential: Option<f64>,
    /// Hours a year today.
    hours_per_year: f64,
    /// Hours a year saved.
    hours_saved_per_year: f64,
    /// Saved hours as a share of today's, in percent; null when there are none today.
    saved_percent: Option<f64>,
    /// What the saved hours cost today; 0 without an hourly cost.
    value_per_year: f64,
    /// Steps to automate.
    automate: usize,
    /// Steps to assist.
    assist: usize,
    /// Steps to keep as they are.
    keep_manual: usize,
}

/// One step.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Ranked {
    /// Its place among the steps.
    rank: usize,
    /// Where it stands in the process, from 1.
    step: usize,
    /// Its name.
    name: String,
    /// How well it can be automated, from 0 to 100.
    potential: f64,
    /// What to do with it.
    approach: Approach,
    /// Hours a year today.
    hours_per_year: f64,
    /// Hours a year saved.
    hours_saved_per_year: f64,
    /// What decides it.
    reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Approach {
    Automate,
    Assist,
    KeepManual,
}

impl Approach {
    fn of(potential: f64) -> Self {
        match potential {
            70.0.. => Self::Automate,
            40.0.. => Self::Assist,
            _ => Self::KeepManual,
        }
    }

    /// How much of a step's potential is really won.
    fn won(self) -> f64 {
        match self {
            Self::Automate => 1.0,
            Self::Assist => 0.5,
            Self::KeepManual => 0.0,
        }
    }
}

struct ScopeProcessAutomation;

impl Tool for ScopeProcessAutomation {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__scope_process_automation", "Process automation scoper")
            .describe(
                "Judges each step of a process: automate it, let a machine assist, or keep it manual; with the hours \
                 and the cost saved in a year and the steps ranked by gain. Use it when someone describes a recurring \
                 process and asks what could be automated. Break the process into steps first and confirm minutes, \
                 exceptions and who must decide; don't leave out steps that look hard. If before and after minutes \
                 are already known, core__calculate_time_savings is simpler. Next steps: core__estimate_complexity \
                 for the work to build it, core__calculate_roi with `value_per_year` as the benefit.",
            )
            .category("analysis", "workflow")
            .shows(&["summary", "ranking"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("potential", "Potential of 100", "number"),
                    ("hours_saved_per_year", "Hours saved a year", "number"),
                    ("saved_percent", "Share saved", "percent"),
                    ("value_per_year", "Value a year", "money"),
                ]),
            )
            .section_with(
                "ranking",
                "Best candidates",
                SectionKind::Ranking,
                ranked("name", "hours_saved_per_year", "reason", None),
            )
            .section_with(
                "ranking",
                "Hours a year",
                SectionKind::Chart,
                bars(
                    ("name", "Step"),
                    &[("hours_per_year", "Today", "number"), ("hours_saved_per_year", "Saved", "number")],
                ),
            )
            .section_with(
                "ranking",
                "Steps",
                SectionKind::Table,
                columns(&[
                    ("step", "Step", "integer"),
                    ("name", "Name", "text"),
                    ("potential", "Potential", "number"),
                    ("approach", "Approach", "label"),
                    ("hours_per_year", "Hours a year", "number"),
                    ("hours_saved_per_year", "Hours saved", "number"),
                    ("reason", "Why", "text"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(calculate(&input))
    }
}

fn calculate(input: &Input) -> Output {
    let runs = input.runs_per_month * 12.0;
    let (mut hours, mut saved, mut minutes, mut weighted) = (0.0, 0.0, 0.0, 0.0);
    let mut ranking = Vec::with_capacity(input.steps.len());
    for (index, step) in input.steps.iter().enumerate() {
        let potential = potential(step);
        let approach = Approach::of(potential);
        let step_hours = step.minutes / 60.0 * runs;
        let step_saved = step_hours * potential / 100.0 * approach.won();
        (hours, saved) = (hours + step_hours, saved + step_saved);
        (minutes, weighted) = (minutes + step.minutes, weighted + step.minutes * potential);
        ranking.push(Ranked {
            rank: 0,
            step: index + 1,
            name: step.name.clone(),
            potential,
            approach,
            hours_per_year: round(step_hours, 1),
            hours_saved_per_year: round(step_saved, 1),
            reason: reason(step).to_owned(),
        });
    }
    ranking.sort_by(|one, other| {
        let by_hours = other.hours_saved_per_year.total_cmp(&one.hours_saved_per_year);
        by_hours.then_with(|| other.potential.total_cmp(&one.potential))
    });
    for (index, step) in ranking.iter_mut().enumerate() {
        step.rank = index + 1;
    }

    let count = |approach: Approach| ranking.iter().filter(|step| step.approach == approach).count();
    let mut summary = Summary {
        text: String::new(),
        potential: (minutes > 0.0).then(|| round(weighted / minutes, 1)),
        hours_per_year: round(hours, 1),
        hours_saved_per_year: round(saved, 1),
        saved_percent: percent_of(saved, hours),
        value_per_year: round(saved * input.hourly_cost, 2),
        automate: count(Approach::Automate),
        assist: count(Approach::Assist),
        keep_manual: count(Approach::KeepManual),
    };
    summary.text = describe(&summary);
    Output { summary, ranking }
}

fn share(value: f64) -> f64 {
    (value - 1.0) / 4.0
}

fn reach(access: Access) -> f64 {
    match access {
        Access::None => 0.0,
        Access::Screen => 0.5,
        Access::Interface => 1.0,
    }
}

fn potential(step: &Step) -> f64 {
    if step.needs_person {
        return 0.0;
    }
    let traits = 0.35 * share(step.rules)
        + 0.25 * share(step.data)
        + 0.20 * share(step.stability)
        + 0.20 * reach(step.access);
    round(100.0 * traits * (1.0 - step.exceptions_percent / 100.0), 1)
}

/// What holds the step back most; what costs the most points is named.
fn reason(step: &Step) -> &'static str {
    if step.needs_person {
        return "Needs a person";
    }
    let lost = [
        (0.35 * (1.0 - share(step.rules)), "Judgement is needed more than rules"),
        (0.25 * (1.0 - share(step.data)), "What comes in is not structured"),
        (0.20 * (1.0 - share(step.stability)), "The step changes too often"),
        (0.20 * (1.0 - reach(step.access)), "The system is hard to reach for a machine"),
        (step.exceptions_percent / 100.0, "Many runs leave the normal path"),
    ];
    let most = lost.iter().fold((0.0, ""), |most, next| if next.0 > most.0 { *next } else { most });
    // Below a tenth nothing really holds it back.
    if most.0 < 0.1 { "Fixed rules, clean data, steady and easy to reach" } else { most.1 }
}

fn describe(summary: &Summary) -> String {
    let steps = format!(
        "{} to automate, {} to assist, {} to keep manual.",
        counted(summary.automate, "step", "steps"),
        summary.assist,
        summary.keep_manual
    );
    if summary.hours_saved_per_year <= 0.0 {
        return format!("{steps} No hours would be saved.");
    }
    let share = summary.saved_percent.map(|share| format!(" ({} %)", readable(share))).unwrap_or_default();
    format!(
        "{steps} That saves {} of {} hours a year{share}.",
        readable(summary.hours_saved_per_year),
        readable(summary.hours_per_year)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn scope(value: Value) -> Output {
        calculate(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_process_worked_by_hand() {
        // 500 runs a month are 6,000 a year.
        // Read: 0.35 * 0.75 + 0.25 * 0.5 + 0.2 * 0.75 + 0.2 * 0.5 = 0.6375; 10 % exceptions: 57.375 -> 57.4, assist.
        //       4 min = 400 h; 400 * 0.574 / 2 = 114.8 h saved.
        // Enter: all at the top: 100, automate; 6 min = 600 h, all saved.
        // Approve: a person; 2 min = 200 h, none saved.
        let output = scope(example());
        let ranking: Vec<(&str, f64, Approach, f64)> = output
            .ranking
            .iter()
            .map(|step| (step.name.as_str(), step.potential, step.approach, step.hours_saved_per_year))
            .collect();
        assert_eq!(
            ranking,
            [
                ("Enter it", 100.0, Approach::Automate, 600.0),
                ("Read the invoice", 57.4, Approach::Assist, 114.8),
                ("Approve it", 0.0, Approach::KeepManual, 0.0),
            ]
        );
        let summary = &output.summary;
        // (4 * 57.4 + 6 * 100 + 2 * 0) / 12 = 69.13.
        assert_eq!((summary.potential, summary.hours_per_year), (Some(69.1), 1_200.0));
        // 714.8 / 1,200; 714.8 * 40.
        assert_eq!((summary.saved_percent, summary.value_per_year), (Some(59.6), 28_592.0));
        assert_eq!(
            summary.text,
            "1 step to automate, 1 to assist, 1 to keep manual. That saves 714.8 of 1,200 hours a year (59.6 %)."
        );
        assert_eq!(output.ranking[2].reason, "Needs a person");
    }

    #[test]
    fn approaches_begin_at_their_bounds() {
        for (potential, expected) in [
            (100.0, Approach::Automate),
            (70.0, Approach::Automate),
            (69.9, Approach::Assist),
            (40.0, Approach::Assist),
            (39.9, Approach::KeepManual),
            (0.0, Approach::KeepManual),
        ] {
            assert_eq!(Approach::of(potential), expected, "{potential}");
        }
    }

    #[test]
    fn the_reason_names_what_costs_most() {
        let step = |change: Value| {
            let mut value = json!({ "name": "a", "minutes": 1, "rules": 5, "data": 5, "stability": 5, "access": "interface" });
            for (name, changed) in change.as_object().unwrap() {
                value[name] = changed.clone();
            }
            reason(&serde_json::from_value(value).unwrap())
        };
        assert_eq!(step(json!({})), "Fixed rules, clean data, steady and easy to reach");
        assert_eq!(step(json!({ "rules": 1, "data": 1 })), "Judgement is needed more than rules");
        assert_eq!(step(json!({ "data": 1, "access": "none" })), "What comes in is not structured");
        assert_eq!(step(json!({ "access": "none" })), "The system is hard to reach for a machine");
        assert_eq!(
            step(json!({ "stability": 1, "exceptions_percent": 60 })),
            "Many runs leave the normal path"
        );
    }

    #[test]
    fn only_exceptions_leave_nothing() {
        let output = scope(json!({
            "steps": [{ "name": "a", "minutes": 5, "rules": 5, "data": 5, "exceptions_percent": 100 }],
            "runs_per_month": 10
        }));
        assert_eq!(output.summary.potential, Some(0.0));
        assert!(output.summary.text.ends_with("No hours would be saved."));
    }

    #[test]
    fn no_time_has_no_potential_and_no_share() {
        let output = scope(
            json!({ "steps": [{ "name": "a", "minutes": 0, "rules": 5, "data": 5 }], "runs_per_month": 10 }),
        );
        assert_eq!((output.summary.potential, output.summary.saved_percent), (None, None));
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| Ok(calculate(&input)));
    }
}
