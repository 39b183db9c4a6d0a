//! Complexity and effort of a project.
//!
//! Seven factors, each a share from 0 (easy) to 1 (hard), times its weight; the weights add up to 100.
//!
//! | factor          | share                                     | weight |
//! | --------------- | ----------------------------------------- | ------ |
//! | integrations    | `min(count / 10, 1)`                      | 20     |
//! | data sources    | `min(count / 8, 1)`                       | 15     |
//! | workflow steps  | `min(count / 30, 1)`                      | 10     |
//! | data quality    | good 0, mixed 0.5, poor 1                 | 15     |
//! | novelty         | proven 0, adapted 0.5, new 1              | 15     |
//! | regulation      | none 0, internal 0.5, strict 1            | 15     |
//! | team experience | experienced 0, some 0.5, beginners 1      | 10     |
//!
//! - level: below 25 `low`, below 50 `moderate`, below 75 `high`, else `very_high`
//! - likely days: `(start + integrations * a + data_sources * b + workflow_steps * c) * (1 + drag)`, with the days from
//!   `unit_days` and `drag = 0.30 * quality + 0.40 * novelty + 0.35 * regulation + 0.25 * inexperience`
//! - optimistic `0.8 * likely`; pessimistic `(1.2 + score / 100) * likely`, since complex projects slip further
//! - expected (PERT): `(optimistic + 4 * likely + pessimistic) / 6`
//!
//! The weights are rules of thumb: good for comparing projects, to be calibrated by `unit_days` before planning one.
//! Rounding, at the very end: points and days 1 decimal. Levels are decided on the exact score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{readable, round, whole};
use crate::section::{bars, figures, ranked};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(EstimateComplexity)
}

/// A project, as far as it is known.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// Other systems it must talk to.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 100))]
    integrations: u32,
    /// Different places its data comes from.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 100))]
    data_sources: u32,
    /// Steps of work it must support.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 500))]
    workflow_steps: u32,
    /// How clean the data is: `good` is checked and complete, `mixed` has known holes, `poor` must be repaired first.
    data_quality: DataQuality,
    /// Whether it was done before: `proven` by this team, `adapted` from elsewhere, or `new`.
    novelty: Novelty,
    /// Rules it must meet: `none`, `internal` policies, or `strict` law and audits.
    #[serde(default)]
    regulation: Regulation,
    /// What the team has done before: it is `experienced` in this, has `some` experience, or they are `beginners`.
    #[serde(default)]
    team_experience: TeamExperience,
    /// Working days per piece, from your own past projects.
    #[serde(default)]
    unit_days: UnitDays,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum DataQuality {
    Good,
    Mixed,
    Poor,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Novelty {
    Proven,
    Adapted,
    New,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Regulation {
    None,
    #[default]
    Internal,
    Strict,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum TeamExperience {
    Experienced,
    #[default]
    Some,
    Beginners,
}

/// Working days per piece.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
struct UnitDays {
    /// Days any project takes to start and to finish.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    start: f64,
    /// Days for one integration.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    integration: f64,
    /// Days for one data source.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    data_source: f64,
    /// Days for one workflow step.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    workflow_step: f64,
}

impl Default for UnitDays {
    fn default() -> Self {
        Self { start: 5.0, integration: 3.0, data_source: 2.0, workflow_step: 0.5 }
    }
}

fn example() -> Value {
    json!({
        "integrations": 3, "data_sources": 4, "workflow_steps": 12,
        "data_quality": "mixed", "novelty": "adapted", "regulation": "strict", "team_experience": "some"
    })
}

/// How complex, and how much work.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The result as a whole.
    summary: Summary,
    /// What makes it complex, the most first.
    factors: Vec<Factor>,
    /// The days if it goes well, as is likely, and badly.
    effort: Vec<Effort>,
}

/// The result as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// Complexity from 0 to 100.
    score: f64,
    /// The level.
    level: Level,
    /// Working days of one person to expect.
    expected_days: f64,
    /// Working days if it goes well.
    optimistic_days: f64,
    /// Working days if it goes badly.
    pessimistic_days: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Level {
    Low,
    Moderate,
    High,
    VeryHigh,
}

impl Level {
    fn of(score: f64) -> Self {
        match score {
            ..25.0 => Self::Low,
            ..50.0 => Self::Moderate,
            ..75.0 => Self::High,
            _ => Self::VeryHigh,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::High => "high",
            Self::VeryHigh => "very high",
        }
    }
}

/// One factor.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Factor {
    /// Its name.
    factor: String,
    /// What it adds to the score.
    points: f64,
    /// The most it could add.
    weight: f64,
    /// What would lower it.
    advice: String,
}

/// One case.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Effort {
    /// `Optimistic`, `Likely`, `Pessimistic` or `Expected`.
    case: String,
    /// Working days of one person.
    days: f64,
}

struct EstimateComplexity;

impl Tool for EstimateComplexity {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__estimate_complexity", "Complexity estimator")
            .describe(
                "Estimates how complex a software, data or automation project is (0 to 100, with a level), what drives \
                 it, and a range of working days. Use it early, when only a rough outline is known, to compare \
                 projects or to see what to simplify. Count integrations, data sources and workflow steps with the \
                 person instead of guessing. The days are a rule of thumb: always pass on the range, not one number, \
                 and set `unit_days` when the team has past projects to go by. Not for ordering a list of ideas \
                 (core__build_priority_matrix) and not for money (core__calculate_roi).",
            )
            .category("analysis", "puzzle")
            .shows(&["summary", "factors", "effort"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("score", "Complexity of 100", "number"),
                    ("level", "Level", "label"),
                    ("expected_days", "Expected days", "number"),
                    ("pessimistic_days", "Days if it goes badly", "number"),
                ]),
            )
            .section_with(
                "factors",
                "What makes it complex",
                SectionKind::Ranking,
                ranked("factor", "points", "advice", Some(20.0)),
            )
            .section_with(
                "effort",
                "Working days",
                SectionKind::Chart,
                bars(("case", "Case"), &[("days", "Days", "number")]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(calculate(&input))
    }
}

fn calculate(input: &Input) -> Output {
    let quality = hardness(input.data_quality as u8);
    let novelty = hardness(input.novelty as u8);
    let regulation = hardness(input.regulation as u8);
    let inexperience = hardness(input.team_experience as u8);
    let [integrations, sources, steps] =
        [input.integrations, input.data_sources, input.workflow_steps].map(f64::from);

    let weighed = [
        ("Integrations", integrations / 10.0, 20.0, "Connect fewer systems in the first version"),
        ("Data sources", sources / 8.0, 15.0, "Begin with the sources that matter most"),
        ("Workflow steps", steps / 30.0, 10.0, "Cover the normal path first and leave rare cases to people"),
        ("Data quality", quality, 15.0, "Repair the data before building on it"),
        ("Novelty", novelty, 15.0, "Try the unknown part in a short experiment first"),
        ("Regulation", regulation, 15.0, "Bring in those who check the rules at the start"),
        ("Team experience", inexperience, 10.0, "Add someone who has done it before"),
    ];
    let points = |share: f64, weight: f64| share.min(1.0) * weight;
    let score: f64 = weighed.iter().map(|(_, share, weight, _)| points(*share, *weight)).sum();
    let mut factors: Vec<Factor> = weighed
        .iter()
        .map(|(name, share, weight, advice)| Factor {
            factor: (*name).to_owned(),
            points: round(points(*share, *weight), 1),
            weight: *weight,
            advice: if *share > 0.0 { (*advice).to_owned() } else { "Adds nothing".to_owned() },
        })
        .collect();
    factors.sort_by(|one, other| other.points.total_cmp(&one.points));

    let unit = &input.unit_days;
    let base = unit.start
        + unit.integration * integrations
        + unit.data_source * sources
        + unit.workflow_step * steps;
    let likely = base * (1.0 + 0.30 * quality + 0.40 * novelty + 0.35 * regulation + 0.25 * inexperience);
    let optimistic = 0.8 * likely;
    let pessimistic = (1.2 + score / 100.0) * likely;
    let expected = (optimistic + 4.0 * likely + pessimistic) / 6.0;

    let mut summary = Summary {
        text: String::new(),
        score: round(score, 1),
        level: Level::of(score),
        expected_days: round(expected, 1),
        optimistic_days: round(optimistic, 1),
        pessimistic_days: round(pessimistic, 1),
    };
    summary.text = describe(&summary, &factors);
    let effort = [
        ("Optimistic", optimistic),
        ("Likely", likely),
        ("Pessimistic", pessimistic),
        ("Expected", expected),
    ]
    .map(|(case, days)| Effort { case: case.to_owned(), days: round(days, 1) })
    .into();
    Output { summary, factors, effort }
}

/// Each choice goes in three steps from easy to hard, in the order of its enum.
fn hardness(step: u8) -> f64 {
    f64::from(step) / 2.0
}

fn describe(summary: &Summary, factors: &[Factor]) -> String {
    let drivers: Vec<String> = factors
        .iter()
        .filter(|factor| factor.points > 0.0)
        .take(2)
        .map(|factor| factor.factor.to_lowercase())
        .collect();
    let driven = match &drivers[..] {
        [] => String::new(),
        names => format!(", driven by {}", names.join(" and ")),
    };
    format!(
        "Complexity {} of 100 ({}){driven}. Expect {} working days, from {} to {}.",
        readable(summary.score),
        summary.level.words(),
        readable(summary.expected_days),
        readable(summary.optimistic_days),
        readable(summary.pessimistic_days),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn estimate(value: Value) -> Output {
        calculate(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_project_worked_by_hand() {
        // points: integrations 0.3 * 20 = 6; data sources 0.5 * 15 = 7.5; steps 0.4 * 10 = 4; quality 0.5 * 15 = 7.5;
        //         novelty 0.5 * 15 = 7.5; regulation 1 * 15 = 15; experience 0.5 * 10 = 5. Sum 52.5.
        // base: 5 + 3 * 3 + 4 * 2 + 12 * 0.5 = 28 days; drag 0.15 + 0.20 + 0.35 + 0.125 = 0.825.
        // likely 28 * 1.825 = 51.1; optimistic 40.88; pessimistic 51.1 * 1.725 = 88.1475.
        // expected (40.88 + 204.4 + 88.1475) / 6 = 55.57.
        let output = estimate(example());
        let summary = &output.summary;
        assert_eq!((summary.score, summary.level), (52.5, Level::High));
        assert_eq!(
            (summary.optimistic_days, summary.expected_days, summary.pessimistic_days),
            (40.9, 55.6, 88.1)
        );
        assert_eq!(output.effort[1].days, 51.1);
        assert_eq!((output.factors[0].factor.as_str(), output.factors[0].points), ("Regulation", 15.0));
        assert_eq!(
            summary.text,
            "Complexity 52.5 of 100 (high), driven by regulation and data sources. Expect 55.6 working days, from 40.9 \
             to 88.1."
        );
    }

    #[test]
    fn nothing_hard_is_zero_and_takes_the_starting_days() {
        let output = estimate(json!({
            "integrations": 0, "data_sources": 0, "workflow_steps": 0, "data_quality": "good", "novelty": "proven",
            "regulation": "none", "team_experience": "experienced"
        }));
        // 5 days without drag; (4 + 20 + 6) / 6 = 5.
        assert_eq!(
            (output.summary.score, output.summary.level, output.summary.expected_days),
            (0.0, Level::Low, 5.0)
        );
        assert!(output.factors.iter().all(|factor| factor.advice == "Adds nothing"));
    }

    #[test]
    fn counts_add_points_only_up_to_their_weight() {
        let output = estimate(json!({
            "integrations": 100, "data_sources": 100, "workflow_steps": 500, "data_quality": "poor", "novelty": "new",
            "regulation": "strict", "team_experience": "beginners"
        }));
        assert_eq!((output.summary.score, output.summary.level), (100.0, Level::VeryHigh));
    }

    #[test]
    fn levels_begin_at_their_bounds() {
        for (score, expected) in
            [(24.9, Level::Low), (25.0, Level::Moderate), (50.0, Level::High), (75.0, Level::VeryHigh)]
        {
            assert_eq!(Level::of(score), expected);
        }
    }

    #[test]
    fn own_unit_days_replace_only_what_they_name() {
        let mut value = example();
        value["unit_days"] = json!({ "integration": 13 });
        // 30 days more before drag: 58 * 1.825 = 105.85.
        assert_eq!(estimate(value).effort[1].days, 105.9);
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| Ok(calculate(&input)));
    }
}
