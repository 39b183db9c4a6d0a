//! Readiness for AI, from six scores.
//!
//! - a score runs from 1 (nothing there) to 5 (fully there); its share is `(score - 1) / 4`
//! - overall: the weighted mean of the shares times 100, so 0 to 100; weights are relative, not all may be 0
//! - level: below 25 `starting`, below 50 `exploring`, below 70 `building`, below 85 `scaling`, else `leading`
//! - blocker: a dimension that counts (weight above 0) with a score below 2. One blocker keeps the level at `exploring`
//!   at most: strength elsewhere doesn't make up for missing data or missing rules
//! - gap: `target - score` where positive; points to gain: what closing it would add to the overall score
//!
//! Rounding, at the very end: points, percent and gaps 1 decimal. Levels are decided on the exact score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{readable, round};
use crate::section::{around, columns, figures, ranked};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(AssessAiReadiness)
}

/// Six scores from 1 to 5; halves are fine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// 1: no aim for AI. 3: use cases named. 5: funded plan with an owner and measured goals.
    #[schemars(range(min = 1.0, max = 5.0))]
    strategy: f64,
    /// 1: scattered or on paper. 3: digital, quality unknown. 5: catalogued, checked, reachable by an interface.
    #[schemars(range(min = 1.0, max = 5.0))]
    data: f64,
    /// 1: closed old systems. 3: some interfaces and cloud. 5: systems, deployment and monitoring ready for AI.
    #[schemars(range(min = 1.0, max = 5.0))]
    technology: f64,
    /// 1: nobody has tried. 3: some do on their own. 5: trained teams and specialists at hand.
    #[schemars(range(min = 1.0, max = 5.0))]
    skills: f64,
    /// 1: work differs by person. 3: written down. 5: measured and improved regularly.
    #[schemars(range(min = 1.0, max = 5.0))]
    processes: f64,
    /// 1: no rules. 3: rules in writing. 5: risks, privacy and responsibility checked in daily work.
    #[schemars(range(min = 1.0, max = 5.0))]
    governance: f64,
    /// How much each dimension counts, relative to the others.
    #[serde(default)]
    weights: Weights,
    /// The score to reach in every dimension.
    #[serde(default = "usual_target")]
    #[schemars(range(min = 1.0, max = 5.0))]
    target: f64,
}

/// Relative weights.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
struct Weights {
    /// Weight of strategy.
    #[schemars(range(min = 0.0, max = 100.0))]
    strategy: f64,
    /// Weight of data.
    #[schemars(range(min = 0.0, max = 100.0))]
    data: f64,
    /// Weight of technology.
    #[schemars(range(min = 0.0, max = 100.0))]
    technology: f64,
    /// Weight of skills.
    #[schemars(range(min = 0.0, max = 100.0))]
    skills: f64,
    /// Weight of processes.
    #[schemars(range(min = 0.0, max = 100.0))]
    processes: f64,
    /// Weight of governance.
    #[schemars(range(min = 0.0, max = 100.0))]
    governance: f64,
}

impl Default for Weights {
    fn default() -> Self {
        // Data decides most often whether a first use case works at all.
        Self { strategy: 20.0, data: 25.0, technology: 15.0, skills: 15.0, processes: 10.0, governance: 15.0 }
    }
}

fn usual_target() -> f64 {
    4.0
}

fn example() -> Value {
    json!({ "strategy": 3, "data": 2, "technology": 3.5, "skills": 2.5, "processes": 4, "governance": 1.5 })
}

/// How ready, and what to do first.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The result as a whole.
    summary: Summary,
    /// The six dimensions.
    dimensions: Vec<Dimension>,
    /// What is missing to the target, the most rewarding first.
    gaps: Vec<Gap>,
}

/// The result as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// The weighted score from 0 to 100.
    score: f64,
    /// The level.
    level: Level,
    /// The score if every dimension reached the target.
    score_at_target: f64,
    /// The dimension with the lowest score among those that count.
    weakest: String,
    /// Dimensions so low that they hold back the level.
    blockers: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Level {
    Starting,
    Exploring,
    Building,
    Scaling,
    Leading,
}

impl Level {
    fn of(score: f64, blocked: bool) -> Self {
        let level = match score {
            ..25.0 => Self::Starting,
            ..50.0 => Self::Exploring,
            ..70.0 => Self::Building,
            ..85.0 => Self::Scaling,
            _ => Self::Leading,
        };
        if blocked { level.min(Self::Exploring) } else { level }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Exploring => "exploring",
            Self::Building => "building",
            Self::Scaling => "scaling",
            Self::Leading => "leading",
        }
    }
}

/// One dimension.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Dimension {
    /// Its name.
    dimension: String,
    /// Its score from 1 to 5.
    score: f64,
    /// The score to reach.
    target: f64,
    /// How much it counts, in percent of all weights.
    weight_percent: f64,
}

/// One gap.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Gap {
    /// The dimension.
    dimension: String,
    /// What is missing to the target.
    gap: f64,
    /// What closing it would add to the overall score.
    points_to_gain: f64,
    /// What to do next.
    next_step: String,
}

struct AssessAiReadiness;

impl Tool for AssessAiReadiness {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__assess_ai_readiness", "AI readiness assessment")
            .describe(
                "Turns six scores (strategy, data, technology, skills, processes, governance; 1 to 5) into one \
                 weighted readiness score, a level, and the gaps most worth closing. Use it when someone wants to \
                 know how ready a team or organisation is for AI and you have evidence for each dimension. Ask about \
                 each one, in the words of its description, before you score it; don't invent scores, and tell the \
                 person which ones you assumed. Not for judging a single project (core__estimate_complexity) or a \
                 single process (core__scope_process_automation). Leave the weights alone unless the person names \
                 other priorities.",
            )
            .category("analysis", "radar")
            .shows(&["summary", "dimensions", "gaps"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("score", "Readiness of 100", "number"),
                    ("level", "Level", "label"),
                    ("weakest", "Weakest", "label"),
                    ("score_at_target", "Score at target", "number"),
                ]),
            )
            .section_with(
                "gaps",
                "What to close first",
                SectionKind::Ranking,
                ranked("dimension", "points_to_gain", "next_step", None),
            )
            .section_with(
                "dimensions",
                "Profile",
                SectionKind::Radar,
                around("dimension", &[("score", "Score", "number"), ("target", "Target", "number")], 5.0),
            )
            .section_with(
                "dimensions",
                "Dimensions",
                SectionKind::Table,
                columns(&[
                    ("dimension", "Dimension", "label"),
                    ("score", "Score", "number"),
                    ("target", "Target", "number"),
                    ("weight_percent", "Weight", "percent"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        calculate(&input)
    }
}

fn calculate(input: &Input) -> Result<Output, ToolFailure> {
    let weights = &input.weights;
    let scored = [
        ("strategy", input.strategy, weights.strategy),
        ("data", input.data, weights.data),
        ("technology", input.technology, weights.technology),
        ("skills", input.skills, weights.skills),
        ("processes", input.processes, weights.processes),
        ("governance", input.governance, weights.governance),
    ];
    let total: f64 = scored.iter().map(|(_, _, weight)| weight).sum();
    if total == 0.0 {
        return Err(ToolFailure::failed("all weights are zero, so no dimension counts")
            .hint("give at least one dimension a weight above 0, or leave `weights` out"));
    }

    let score: f64 = scored.iter().map(|(_, score, weight)| weight / total * points(*score)).sum();
    let counting = || scored.iter().filter(|(_, _, weight)| *weight > 0.0);
    let blockers: Vec<String> =
        counting().filter(|(_, score, _)| *score < 2.0).map(|(name, _, _)| (*name).to_owned()).collect();
    let weakest = counting().min_by(|one, other| one.1.total_cmp(&other.1)).map_or("", |(name, _, _)| name);

    let mut gaps: Vec<Gap> = scored
        .iter()
        .filter(|(_, score, _)| *score < input.target)
        .map(|(name, score, weight)| Gap {
            dimension: (*name).to_owned(),
            gap: round(input.target - score, 1),
            points_to_gain: round(weight / total * (points(input.target) - points(*score)), 1),
            next_step: next_step(name, *score).to_owned(),
        })
        .collect();
    gaps.sort_by(|one, other| other.points_to_gain.total_cmp(&one.points_to_gain));

    let level = Level::of(score, !blockers.is_empty());
    let summary = Summary {
        text: describe(score, level, &blockers, &gaps),
        score: round(score, 1),
        level,
        score_at_target: round(
            scored.iter().map(|(_, own, w)| w / total * points(own.max(input.target))).sum(),
            1,
        ),
        weakest: weakest.to_owned(),
        blockers,
    };
    let dimensions = scored
        .iter()
        .map(|(name, score, weight)| Dimension {
            dimension: (*name).to_owned(),
            score: round(*score, 1),
            target: round(input.target, 1),
            weight_percent: round(weight / total * 100.0, 1),
        })
        .collect();
    Ok(Output { summary, dimensions, gaps })
}

/// A score from 1 to 5 as 0 to 100 points.
fn points(score: f64) -> f64 {
    (score - 1.0) / 4.0 * 100.0
}

/// The step that usually comes next: laying ground below 2.5, making it a habit above.
fn next_step(dimension: &str, score: f64) -> &'static str {
    let early = score < 2.5;
    match dimension {
        "strategy" if early => "Name one problem worth solving and the person who owns it",
        "strategy" => "Give the plan a budget and a number it will be measured by",
        "data" if early => "List the data the first use case needs, where it lies and who may see it",
        "data" => "Check quality by rule and offer the data through an interface",
        "technology" if early => "Open one system by an interface instead of replacing all of them",
        "technology" => "Set up a way to deploy, watch and switch off what is built",
        "skills" if early => "Train a small group on real work and let it report back",
        "skills" => "Make training part of every role that will use it",
        "processes" if early => "Write down the one process that comes first, exceptions included",
        "processes" => "Measure time and errors, so that a change can be seen",
        "governance" if early => "Agree on what may never be sent to a model and who decides",
        _ => "Check risks and records regularly and keep proof of it",
    }
}

fn describe(score: f64, level: Level, blockers: &[String], gaps: &[Gap]) -> String {
    let held = match blockers {
        [] => String::new(),
        names => format!(" Held back by {}.", names.join(", ")),
    };
    let first = match gaps.first() {
        Some(gap) => {
            format!(
                " Closing the gap in {} adds most: {} points.",
                gap.dimension,
                readable(gap.points_to_gain)
            )
        }
        None => " Every dimension has reached the target.".to_owned(),
    };
    format!("Readiness {} of 100, level {}.{held}{first}", readable(round(score, 1)), level.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn input(value: Value) -> Input {
        serde_json::from_value(value).unwrap()
    }

    fn all(score: f64) -> Value {
        json!({ "strategy": score, "data": score, "technology": score,
                "skills": score, "processes": score, "governance": score })
    }

    #[test]
    fn an_assessment_worked_by_hand() {
        // share of points * weight (the weights add up to 100):
        //   strategy   3   -> 0.5   * 20 = 10        gap 1   -> 0.25  * 20 = 5
        //   data       2   -> 0.25  * 25 =  6.25     gap 2   -> 0.5   * 25 = 12.5
        //   technology 3.5 -> 0.625 * 15 =  9.375    gap 0.5 -> 0.125 * 15 = 1.875
        //   skills     2.5 -> 0.375 * 15 =  5.625    gap 1.5 -> 0.375 * 15 = 5.625
        //   processes  4   -> 0.75  * 10 =  7.5      gap 0
        //   governance 1.5 -> 0.125 * 15 =  1.875    gap 2.5 -> 0.625 * 15 = 9.375
        // sum 40.625; all at target 4: 75.
        let output = calculate(&input(example())).unwrap();
        assert_eq!((output.summary.score, output.summary.score_at_target), (40.6, 75.0));
        assert_eq!(output.summary.level, Level::Exploring);
        assert_eq!(
            (output.summary.weakest.as_str(), &output.summary.blockers[..]),
            ("governance", &["governance".to_owned()][..])
        );
        let gaps: Vec<(&str, f64)> =
            output.gaps.iter().map(|gap| (gap.dimension.as_str(), gap.points_to_gain)).collect();
        assert_eq!(
            gaps,
            [("data", 12.5), ("governance", 9.4), ("skills", 5.6), ("strategy", 5.0), ("technology", 1.9)]
        );
        assert_eq!(
            output.summary.text,
            "Readiness 40.6 of 100, level exploring. Held back by governance. Closing the gap in data adds most: 12.5 \
             points."
        );
    }

    #[test]
    fn levels_begin_at_their_bounds() {
        for (score, expected) in [
            (0.0, Level::Starting),
            (24.99, Level::Starting),
            (25.0, Level::Exploring),
            (50.0, Level::Building),
            (70.0, Level::Scaling),
            (85.0, Level::Leading),
            (100.0, Level::Leading),
        ] {
            assert_eq!(Level::of(score, false), expected, "{score}");
        }
    }

    #[test]
    fn one_blocker_holds_back_the_level_but_not_the_score() {
        let mut value = all(5.0);
        value["data"] = json!(1);
        let output = calculate(&input(value)).unwrap();
        // Everything but data: 75 of 100.
        assert_eq!((output.summary.score, output.summary.level), (75.0, Level::Exploring));
    }

    #[test]
    fn a_dimension_without_weight_neither_counts_nor_blocks() {
        let mut value = all(4.0);
        value["governance"] = json!(1);
        value["weights"] = json!({ "governance": 0 });
        let summary = calculate(&input(value)).unwrap().summary;
        assert_eq!((summary.score, summary.level, summary.blockers.len()), (75.0, Level::Scaling, 0));
        assert_eq!(summary.weakest, "strategy");
    }

    #[test]
    fn the_ends_of_the_scale() {
        let low = calculate(&input(all(1.0))).unwrap();
        assert_eq!((low.summary.score, low.summary.level, low.gaps.len()), (0.0, Level::Starting, 6));
        let high = calculate(&input(all(5.0))).unwrap();
        assert_eq!((high.summary.score, high.summary.level, high.gaps.len()), (100.0, Level::Leading, 0));
    }

    #[test]
    fn no_weight_at_all_is_refused() {
        let mut value = all(3.0);
        value["weights"] = json!({ "strategy": 0, "data": 0, "technology": 0,
                                   "skills": 0, "processes": 0, "governance": 0 });
        assert!(calculate(&input(value)).is_err());
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| calculate(&input));
    }
}
