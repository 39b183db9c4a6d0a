//! A priority matrix: impact against effort.
//!
//! Impact and effort run from 1 to 10. A value at or above its threshold counts as high.
//!
//! | quadrant       | impact | effort |
//! | -------------- | ------ | ------ |
//! | quick_win      | high   | low    |
//! | major_project  | high   | high   |
//! | fill_in        | low    | low    |
//! | reconsider     | low    | high   |
//!
//! - score, 0 to 100: `100 * (w * (impact - 1) / 9 + (1 - w) * (10 - effort) / 9)`, with `w = impact_weight_percent / 100`
//! - rank: by score, then by impact, then in the order given; equal scores share a rank
//!
//! Rounding, at the very end: 1 decimal. Ranks are decided on the rounded score, the one people see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{counted, readable, round};
use crate::section::{columns, figures, ranked};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(BuildPriorityMatrix)
}

/// What to put in order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// The ideas, projects or tasks.
    #[schemars(length(min = 1, max = 100))]
    items: Vec<Item>,
    /// Impact from which on it counts as high.
    #[serde(default = "middle")]
    #[schemars(range(min = 1.0, max = 10.0))]
    impact_threshold: f64,
    /// Effort from which on it counts as high.
    #[serde(default = "middle")]
    #[schemars(range(min = 1.0, max = 10.0))]
    effort_threshold: f64,
    /// How much impact counts in the score against effort, in percent.
    #[serde(default = "usual_weight")]
    #[schemars(range(min = 0.0, max = 100.0))]
    impact_weight_percent: f64,
}

/// One of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Item {
    /// What it is called.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// What it brings, from 1 (hardly anything) to 10 (changes everything).
    #[schemars(range(min = 1.0, max = 10.0))]
    impact: f64,
    /// What it takes, from 1 (an afternoon) to 10 (a year of a team).
    #[schemars(range(min = 1.0, max = 10.0))]
    effort: f64,
}

fn middle() -> f64 {
    5.5
}

fn usual_weight() -> f64 {
    60.0
}

fn example() -> Value {
    json!({
        "items": [
            { "name": "Answer templates", "impact": 7, "effort": 2 },
            { "name": "New billing system", "impact": 9, "effort": 9 },
            { "name": "Tidy the shared folder", "impact": 3, "effort": 2 },
            { "name": "Own chat app", "impact": 2, "effort": 8 }
        ]
    })
}

/// The items in order and by quadrant.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The result as a whole.
    summary: Summary,
    /// All items, the best first.
    ranking: Vec<Ranked>,
    /// The four quadrants, empty ones too.
    quadrants: Vec<Group>,
}

/// The result as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// Items with high impact and low effort.
    quick_wins: usize,
    /// Items with high impact and high effort.
    major_projects: usize,
    /// Items with low impact and low effort.
    fill_ins: usize,
    /// Items with low impact and high effort.
    reconsider: usize,
}

/// One item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Ranked {
    /// Its place; equal scores share it.
    rank: usize,
    /// Its name.
    name: String,
    /// Its score from 0 to 100.
    score: f64,
    /// Its impact.
    impact: f64,
    /// Its effort.
    effort: f64,
    /// Its quadrant.
    quadrant: Quadrant,
    /// Why it stands there.
    reason: String,
}

/// One quadrant.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Group {
    /// Which one.
    quadrant: Quadrant,
    /// What to do with its items.
    advice: String,
    /// The names of its items, the best first.
    items: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Quadrant {
    QuickWin,
    MajorProject,
    FillIn,
    Reconsider,
}

impl Quadrant {
    const ALL: [Self; 4] = [Self::QuickWin, Self::MajorProject, Self::FillIn, Self::Reconsider];

    fn of(high_impact: bool, high_effort: bool) -> Self {
        match (high_impact, high_effort) {
            (true, false) => Self::QuickWin,
            (true, true) => Self::MajorProject,
            (false, false) => Self::FillIn,
            (false, true) => Self::Reconsider,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::QuickWin => "High impact for little effort",
            Self::MajorProject => "High impact, but it takes a lot",
            Self::FillIn => "Little effort, but little impact",
            Self::Reconsider => "Takes a lot and brings little",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::QuickWin => "Do these first",
            Self::MajorProject => "Plan these, and cut them into smaller parts",
            Self::FillIn => "Do these when there is time left",
            Self::Reconsider => "Drop these, or find a cheaper way",
        }
    }
}

struct BuildPriorityMatrix;

impl Tool for BuildPriorityMatrix {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__build_priority_matrix", "Priority matrix")
            .describe(
                "Sorts ideas, projects or tasks by impact and effort into quick wins, major projects, fill-ins and \
                 ones to reconsider, and ranks them. Use it when someone has several things to do and asks what comes \
                 first. Collect an impact and an effort from 1 to 10 for each, judged by one scale for all; propose \
                 values only as a draft and say so. With more than two criteria use core__quick_score; for a single \
                 item use core__calculate_roi or core__estimate_complexity, which can also supply the effort.",
            )
            .category("analysis", "layout-grid")
            .shows(&["summary", "ranking", "quadrants"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("quick_wins", "Quick wins", "integer"),
                    ("major_projects", "Major projects", "integer"),
                    ("fill_ins", "Fill-ins", "integer"),
                    ("reconsider", "Reconsider", "integer"),
                ]),
            )
            .section_with(
                "ranking",
                "Ranking",
                SectionKind::Ranking,
                ranked("name", "score", "reason", Some(100.0)),
            )
            .section_with(
                "quadrants",
                "Quadrants",
                SectionKind::Table,
                columns(&[
                    ("quadrant", "Quadrant", "label"),
                    ("advice", "What to do", "text"),
                    ("items", "Items", "list"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(calculate(input))
    }
}

fn calculate(input: Input) -> Output {
    let weight = input.impact_weight_percent / 100.0;
    let mut ranking: Vec<Ranked> = input
        .items
        .into_iter()
        .map(|item| {
            let share = weight * (item.impact - 1.0) / 9.0 + (1.0 - weight) * (10.0 - item.effort) / 9.0;
            let quadrant =
                Quadrant::of(item.impact >= input.impact_threshold, item.effort >= input.effort_threshold);
            Ranked {
                rank: 0,
                name: item.name,
                score: round(share * 100.0, 1),
                impact: round(item.impact, 1),
                effort: round(item.effort, 1),
                quadrant,
                reason: quadrant.reason().to_owned(),
            }
        })
        .collect();
    ranking.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| other.impact.total_cmp(&one.impact))
    });
    for index in 0..ranking.len() {
        let shared = index > 0 && ranking[index].score == ranking[index - 1].score;
        ranking[index].rank = if shared { ranking[index - 1].rank } else { index + 1 };
    }

    let quadrants: Vec<Group> = Quadrant::ALL
        .into_iter()
        .map(|quadrant| Group {
            quadrant,
            advice: quadrant.advice().to_owned(),
            items: ranking
                .iter()
                .filter(|item| item.quadrant == quadrant)
                .map(|item| item.name.clone())
                .collect(),
        })
        .collect();
    let count = |quadrant: Quadrant| ranking.iter().filter(|item| item.quadrant == quadrant).count();
    let summary = Summary {
        text: describe(&ranking, count(Quadrant::QuickWin)),
        quick_wins: count(Quadrant::QuickWin),
        major_projects: count(Quadrant::MajorProject),
        fill_ins: count(Quadrant::FillIn),
        reconsider: count(Quadrant::Reconsider),
    };
    Output { summary, ranking, quadrants }
}

fn describe(ranking: &[Ranked], quick_wins: usize) -> String {
    let found = match quick_wins {
        0 => "no quick win".to_owned(),
        some => counted(some, "quick win", "quick wins"),
    };
    let first = match ranking.first() {
        Some(item) => format!(" {} comes first with {} of 100.", item.name, readable(item.score)),
        None => String::new(),
    };
    format!("{}, {found}.{first}", counted(ranking.len(), "item", "items"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn matrix(items: &[(&str, f64, f64)]) -> Output {
        let items =
            items.iter().map(|&(name, impact, effort)| Item { name: name.into(), impact, effort }).collect();
        calculate(Input { items, impact_threshold: 5.5, effort_threshold: 5.5, impact_weight_percent: 60.0 })
    }

    #[test]
    fn four_items_worked_by_hand() {
        // 60 * (impact - 1) / 9 + 40 * (10 - effort) / 9:
        //   templates 7/2: 60 * 6 / 9 + 40 * 8 / 9 = 40      + 35.556 = 75.6
        //   billing   9/9: 60 * 8 / 9 + 40 * 1 / 9 = 53.333  +  4.444 = 57.8
        //   folder    3/2: 60 * 2 / 9 + 40 * 8 / 9 = 13.333  + 35.556 = 48.9
        //   chat      2/8: 60 * 1 / 9 + 40 * 2 / 9 =  6.667  +  8.889 = 15.6
        let output = matrix(&[
            ("chat", 2.0, 8.0),
            ("folder", 3.0, 2.0),
            ("billing", 9.0, 9.0),
            ("templates", 7.0, 2.0),
        ]);
        let ranking: Vec<(usize, &str, f64, Quadrant)> = output
            .ranking
            .iter()
            .map(|item| (item.rank, item.name.as_str(), item.score, item.quadrant))
            .collect();
        assert_eq!(
            ranking,
            [
                (1, "templates", 75.6, Quadrant::QuickWin),
                (2, "billing", 57.8, Quadrant::MajorProject),
                (3, "folder", 48.9, Quadrant::FillIn),
                (4, "chat", 15.6, Quadrant::Reconsider),
            ]
        );
        assert_eq!(output.quadrants[2].items, ["folder"]);
        assert_eq!(output.summary.text, "4 items, 1 quick win. templates comes first with 75.6 of 100.");
    }

    #[test]
    fn the_threshold_itself_is_high() {
        let quadrant = |impact, effort| matrix(&[("a", impact, effort)]).ranking[0].quadrant;
        assert_eq!(quadrant(5.5, 5.4), Quadrant::QuickWin);
        assert_eq!(quadrant(5.5, 5.5), Quadrant::MajorProject);
        assert_eq!(quadrant(5.4, 5.4), Quadrant::FillIn);
        assert_eq!(quadrant(5.4, 5.5), Quadrant::Reconsider);
    }

    #[test]
    fn equal_scores_share_a_rank_and_keep_their_order() {
        let output = matrix(&[("b", 5.0, 5.0), ("a", 5.0, 5.0), ("low", 1.0, 10.0), ("best", 10.0, 1.0)]);
        let ranks: Vec<(usize, &str)> =
            output.ranking.iter().map(|item| (item.rank, item.name.as_str())).collect();
        assert_eq!(ranks, [(1, "best"), (2, "b"), (2, "a"), (4, "low")]);
        assert_eq!((output.ranking[0].score, output.ranking[3].score), (100.0, 0.0));
    }

    #[test]
    fn empty_quadrants_are_listed() {
        let output = matrix(&[("a", 2.0, 2.0)]);
        assert_eq!(output.quadrants.len(), 4);
        assert_eq!(output.summary.text, "1 item, no quick win. a comes first with 42.2 of 100.");
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| Ok(calculate(input)));
    }
}
