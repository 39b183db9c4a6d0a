//! Options scored by weighted criteria.
//!
//! - every option has one score from 0 to 10 per criterion, in the order of the criteria; where `lower_is_better` the
//!   score counts as `10 - score`
//! - total, 0 to 100: `10 * sum(weight * score) / sum(weight)`; weights are relative, not all may be 0
//! - rank: by total, then in the order given; equal totals share a rank
//! - margin: the best total less the second; null with a single option
//! - decisive: a criterion without which another option would lead (a tie for the lead does not count)
//!
//! Rounding, at the very end: points 1 decimal. Ranks, margin and decisive criteria go by the rounded totals, the ones
//! people see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{readable, round};
use crate::section::{columns, figures, ranked};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(QuickScore)
}

/// Options, and what they are judged by.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// What the options are judged by.
    #[schemars(length(min = 1, max = 20))]
    criteria: Vec<Criterion>,
    /// What there is to choose from.
    #[schemars(length(min = 1, max = 50))]
    options: Vec<Choice>,
}

/// One criterion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Criterion {
    /// What it is called.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// How much it counts, relative to the others; they need not add up to 100.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 100.0))]
    weight: f64,
    /// Whether a low score is the good one, as with cost or risk.
    #[serde(default)]
    lower_is_better: bool,
}

/// One option.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Choice {
    /// What it is called.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// One score from 0 to 10 for each criterion, in their order.
    #[schemars(length(min = 1, max = 20), inner(range(min = 0.0, max = 10.0)))]
    scores: Vec<f64>,
}

fn one() -> f64 {
    1.0
}

fn example() -> Value {
    json!({
        "criteria": [
            { "name": "Fit", "weight": 50 },
            { "name": "Cost", "weight": 30, "lower_is_better": true },
            { "name": "Support", "weight": 20 }
        ],
        "options": [
            { "name": "Build it", "scores": [9, 8, 5] },
            { "name": "Buy it", "scores": [7, 4, 8] }
        ]
    })
}

/// Which option leads, and why.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The result as a whole.
    summary: Summary,
    /// The options, the best first.
    ranking: Vec<Ranked>,
    /// What each criterion adds to each option, in the order of the ranking.
    contributions: Vec<Contribution>,
}

/// The result as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// The option with the best score; the first of them on a tie.
    winner: String,
    /// Its score from 0 to 100.
    winner_score: f64,
    /// How far it is ahead; null with a single option, 0 on a tie.
    margin: Option<f64>,
    /// Criteria without which another option would lead.
    decisive_criteria: Vec<String>,
}

/// One option.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Ranked {
    /// Its place; equal scores share it.
    rank: usize,
    /// Its name.
    name: String,
    /// Its score from 0 to 100.
    score: f64,
    /// Where it is strong and weak.
    reason: String,
}

/// One criterion of one option.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Contribution {
    /// The option.
    option: String,
    /// The criterion.
    criterion: String,
    /// How much the criterion counts, in percent of all weights.
    weight_percent: f64,
    /// The score as given.
    score: f64,
    /// What it adds to the option's score.
    points: f64,
}

struct QuickScore;

impl Tool for QuickScore {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__quick_score", "Quick score")
            .describe(
                "Ranks options by weighted criteria and says how clear the result is. Use it when someone has to \
                 choose between several options and can name what matters: vendors, tools, places, candidates for a \
                 project. Agree on criteria and weights before scoring, give every option one score from 0 to 10 for \
                 each criterion in the same order, and mark cost-like criteria with `lower_is_better`. Report \
                 `decisive_criteria` and a small margin as a reason to look again. With just impact and effort use \
                 core__build_priority_matrix; when money over years decides use core__calculate_roi.",
            )
            .category("analysis", "scale")
            .shows(&["summary", "ranking", "contributions"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("winner", "Leads", "text"),
                    ("winner_score", "Score of 100", "number"),
                    ("margin", "Ahead by", "number"),
                    ("decisive_criteria", "Hangs on", "list"),
                ]),
            )
            .section_with(
                "ranking",
                "Ranking",
                SectionKind::Ranking,
                ranked("name", "score", "reason", Some(100.0)),
            )
            .section_with(
                "contributions",
                "Where the points come from",
                SectionKind::Table,
                columns(&[
                    ("option", "Option", "text"),
                    ("criterion", "Criterion", "text"),
                    ("weight_percent", "Weight", "percent"),
                    ("score", "Score", "number"),
                    ("points", "Points", "number"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        calculate(&input)
    }
}

fn calculate(input: &Input) -> Result<Output, ToolFailure> {
    let criteria = &input.criteria;
    if let Some(place) = input.options.iter().position(|option| option.scores.len() != criteria.len()) {
        return Err(ToolFailure::failed(format!(
            "option {} does not have one score per criterion",
            place + 1
        ))
        .hint(format!("give every option {} scores, in the order of the criteria", criteria.len())));
    }
    if criteria.iter().all(|criterion| criterion.weight == 0.0) {
        return Err(ToolFailure::failed("all weights are zero, so no criterion counts")
            .hint("give at least one criterion a weight above 0"));
    }

    let totals = totals(input, None);
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.sort_by(|one, other| totals[*other].total_cmp(&totals[*one]));
    let mut ranking: Vec<Ranked> = Vec::with_capacity(order.len());
    for &index in &order {
        let rank = match ranking.last() {
            Some(previous) if previous.score == totals[index] => previous.rank,
            _ => ranking.len() + 1,
        };
        let option = &input.options[index];
        let reason = reason(criteria, option);
        ranking.push(Ranked { rank, name: option.name.clone(), score: totals[index], reason });
    }

    let all: f64 = criteria.iter().map(|criterion| criterion.weight).sum();
    let mut contributions = Vec::with_capacity(order.len() * criteria.len());
    for option in order.iter().map(|&index| &input.options[index]) {
        for (criterion, &score) in criteria.iter().zip(&option.scores) {
            contributions.push(Contribution {
                option: option.name.clone(),
                criterion: criterion.name.clone(),
                weight_percent: round(criterion.weight / all * 100.0, 1),
                score: round(score, 1),
                points: round(criterion.weight / all * counted_score(criterion, score) * 10.0, 1),
            });
        }
    }

    let best = order[0];
    let mut summary = Summary {
        text: String::new(),
        winner: ranking[0].name.clone(),
        winner_score: ranking[0].score,
        margin: ranking.get(1).map(|second| round(ranking[0].score - second.score, 1)),
        decisive_criteria: decisive(input, best),
    };
    summary.text = describe(&summary);
    Ok(Output { summary, ranking, contributions })
}

/// The score that counts: high is good.
fn counted_score(criterion: &Criterion, score: f64) -> f64 {
    if criterion.lower_is_better { 10.0 - score } else { score }
}

/// The total of every option, as if the criterion at `without` were not there.
fn totals(input: &Input, without: Option<usize>) -> Vec<f64> {
    let counting = || input.criteria.iter().enumerate().filter(|(index, _)| Some(*index) != without);
    let all: f64 = counting().map(|(_, criterion)| criterion.weight).sum();
    let total = |option: &Choice| {
        let sum: f64 = counting()
            .map(|(index, criterion)| criterion.weight * counted_score(criterion, option.scores[index]))
            .sum();
        round(sum / all * 10.0, 1)
    };
    // Without any weight left nothing leads.
    input.options.iter().map(|option| if all > 0.0 { total(option) } else { 0.0 }).collect()
}

fn decisive(input: &Input, best: usize) -> Vec<String> {
    let overtaken = |without: usize| {
        let totals = totals(input, Some(without));
        totals.iter().any(|total| *total > totals[best])
    };
    input
        .criteria
        .iter()
        .enumerate()
        .filter(|(index, _)| overtaken(*index))
        .map(|(_, criterion)| criterion.name.clone())
        .collect()
}

fn reason(criteria: &[Criterion], option: &Choice) -> String {
    let mut scored: Vec<(&str, f64)> = criteria
        .iter()
        .zip(&option.scores)
        .filter(|(criterion, _)| criterion.weight > 0.0)
        .map(|(criterion, &score)| (criterion.name.as_str(), counted_score(criterion, score)))
        .collect();
    scored.sort_by(|one, other| other.1.total_cmp(&one.1));
    match (scored.first(), scored.last()) {
        (Some(strong), Some(weak)) if strong.1 > weak.1 => {
            format!("Strong in {}, weak in {}", strong.0, weak.0)
        }
        _ => "The same in every criterion".to_owned(),
    }
}

fn describe(summary: &Summary) -> String {
    let lead = match summary.margin {
        None => format!("{} is the only option", summary.winner),
        Some(0.0) => format!("{} and at least one other option lead together", summary.winner),
        Some(margin) => format!("{} leads by {} points", summary.winner, readable(margin)),
    };
    let hangs = match &summary.decisive_criteria[..] {
        [] => String::new(),
        names => format!(" Without {} another option would lead.", names.join(" or ")),
    };
    format!("{lead}, with {} of 100.{hangs}", readable(summary.winner_score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn score(value: Value) -> Result<Output, ToolFailure> {
        calculate(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn two_options_worked_by_hand() {
        // Build: 0.5 * 9 + 0.3 * (10 - 8) + 0.2 * 5 = 4.5 + 0.6 + 1.0 = 6.1 -> 61.
        // Buy:   0.5 * 7 + 0.3 * (10 - 4) + 0.2 * 8 = 3.5 + 1.8 + 1.6 = 6.9 -> 69.
        // Without cost: build (45 + 10) / 70 = 78.6, buy (35 + 16) / 70 = 72.9, so cost decides.
        // Without support: build (45 + 6) / 80 = 63.8, buy (35 + 18) / 80 = 66.3. Without fit: buy leads too.
        let output = score(example()).unwrap();
        let ranking: Vec<(usize, &str, f64)> =
            output.ranking.iter().map(|option| (option.rank, option.name.as_str(), option.score)).collect();
        assert_eq!(ranking, [(1, "Buy it", 69.0), (2, "Build it", 61.0)]);
        assert_eq!(
            (output.summary.margin, &output.summary.decisive_criteria[..]),
            (Some(8.0), &["Cost".to_owned()][..])
        );
        let points: Vec<f64> = output.contributions.iter().map(|part| part.points).collect();
        assert_eq!(points, [35.0, 18.0, 16.0, 45.0, 6.0, 10.0]);
        assert_eq!(output.ranking[1].reason, "Strong in Fit, weak in Cost");
        assert_eq!(
            output.summary.text,
            "Buy it leads by 8 points, with 69 of 100. Without Cost another option would lead."
        );
    }

    #[test]
    fn ties_share_a_rank() {
        let output = score(json!({
            "criteria": [{ "name": "a" }, { "name": "b" }],
            "options": [
                { "name": "x", "scores": [4, 6] }, { "name": "y", "scores": [6, 4] }, { "name": "z", "scores": [1, 1] }
            ]
        }))
        .unwrap();
        let ranks: Vec<usize> = output.ranking.iter().map(|option| option.rank).collect();
        assert_eq!((ranks, output.summary.margin), (vec![1, 1, 3], Some(0.0)));
        assert!(output.summary.text.starts_with("x and at least one other option lead together"));
        assert_eq!(output.ranking[2].reason, "The same in every criterion");
    }

    #[test]
    fn a_single_option_and_criterion_is_enough() {
        let output =
            score(json!({ "criteria": [{ "name": "a" }], "options": [{ "name": "x", "scores": [10] }] }))
                .unwrap();
        assert_eq!((output.summary.winner_score, output.summary.margin), (100.0, None));
        assert_eq!(output.summary.decisive_criteria.len(), 0);
    }

    #[test]
    fn a_missing_score_is_refused_by_its_place() {
        let failure = score(json!({
            "criteria": [{ "name": "a" }, { "name": "b" }],
            "options": [{ "name": "x", "scores": [1, 2] }, { "name": "private", "scores": [1] }]
        }))
        .unwrap_err();
        let expected = ToolFailure::failed("option 2 does not have one score per criterion")
            .hint("give every option 2 scores, in the order of the criteria");
        assert_eq!(failure, expected);
    }

    #[test]
    fn no_weight_at_all_is_refused() {
        let value = json!({ "criteria": [{ "name": "a", "weight": 0 }], "options": [{ "name": "x", "scores": [1] }] });
        assert!(score(value).is_err());
    }

    #[test]
    fn scaling_all_weights_changes_nothing() {
        let mut value = example();
        for criterion in value["criteria"].as_array_mut().unwrap() {
            criterion["weight"] = json!(criterion["weight"].as_f64().unwrap() / 10.0);
        }
        let scores = |output: Output| output.ranking.iter().map(|option| option.score).collect::<Vec<_>>();
        assert_eq!(scores(score(value).unwrap()), scores(score(example()).unwrap()));
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| calculate(&input));
    }
}
