//! The strict check of policies that are about to be saved.

use std::collections::BTreeMap;

use cedar_policy::{PolicySet, Schema, ValidationMode, Validator};
use miette::Diagnostic;
use serde_json::Value;

use super::input::InputType;
use super::names::{self, Names};
use super::parse::{Parsed, on_wide_stack};
use super::problem::{MOST_PROBLEMS, PolicyProblem, PolicyProblems};
use super::reads::{Reads, asks_too_much_of_subject, expression, reads_of, uses_whole_context};
use super::schema;

/// How many steps a policy takes from entity to entity: the caller, the tool and their attributes are known, what an
/// entity named in the text is like is not.
const LEVEL: u32 = 1;
/// Policies checked before looking whether enough is wrong. Cedar thinks long about the words of each problem.
const AT_ONCE: usize = 50;
const NAME_ONE_TOOL: &str = "to read arguments, name one tool with `resource == Toolgate::Tool::\"…\"` and no action but `call`, `call_unattended` or `approve`";

/// Policies checked against one schema.
#[derive(Default)]
struct Batch<'a> {
    /// The tool whose arguments its policies read.
    tool: Option<&'a str>,
    input: InputType,
    policies: Vec<&'a Parsed>,
}

/// What a text may speak of.
#[allow(missing_debug_implementations, reason = "it holds functions")]
pub struct Known<'a> {
    /// A tool's JSON Schema by the tool's id; none when there is no such tool.
    pub input_schema_of: &'a dyn Fn(&str) -> Option<Value>,
    /// Whether there is a role of this name.
    pub role: &'a dyn Fn(&str) -> bool,
    /// Whether there is a toolset of this name.
    pub toolset: &'a dyn Fn(&str) -> bool,
}

/// Checks every policy, and returns what to look at again.
pub(super) fn check(
    text: &str,
    policies: &[Parsed],
    known: &Known<'_>,
) -> Result<Vec<PolicyProblem>, PolicyProblems> {
    let mut findings = Findings::default();
    let mut plain = Batch::default();
    let mut by_tool: BTreeMap<&str, Batch<'_>> = BTreeMap::new();
    let mut names = Names::new(known);
    for policy in policies {
        if findings.problems.len() < MOST_PROBLEMS {
            findings.problems.extend(own_checks(text, policy));
        }
        names::check(text, policy, &mut names, &mut findings);
        let Some(tool) = policy.tool() else {
            plain.policies.push(policy);
            continue;
        };
        let batch = by_tool.entry(tool).or_insert_with(|| Batch {
            tool: Some(tool),
            input: (known.input_schema_of)(tool).as_ref().map(InputType::of).unwrap_or_default(),
            policies: Vec::new(),
        });
        // Only those that read arguments need a schema of their own, and making one is the costly part.
        if reads_of(policy.clauses()).has(Reads::INPUT) {
            batch.policies.push(policy);
        } else {
            plain.policies.push(policy);
        }
    }
    let batches: Vec<Batch<'_>> = std::iter::once(plain)
        .chain(by_tool.into_values())
        .filter(|batch| !batch.policies.is_empty())
        .collect();
    let found = on_wide_stack(|| validate_all(text, &batches))?;
    findings.problems.extend(found.problems);
    findings.warnings.extend(found.warnings);
    if findings.problems.is_empty() {
        Ok(PolicyProblems::bounded(findings.warnings).0)
    } else {
        Err(PolicyProblems::bounded(findings.problems))
    }
}

/// What a check found.
#[derive(Default)]
pub(super) struct Findings {
    /// What keeps the text from being saved.
    pub(super) problems: Vec<PolicyProblem>,
    /// What to look at again.
    pub(super) warnings: Vec<PolicyProblem>,
}

/// What Cedar would let pass and we do not.
fn own_checks(text: &str, policy: &Parsed) -> Vec<PolicyProblem> {
    let mut problems = Vec::new();
    let mut add = |message: &str, hint: &str| {
        problems.push(PolicyProblem::at(text, policy.start, message).policy(&policy.id).hint(hint));
    };
    let expressions = || policy.clauses().iter().map(expression);
    if expressions().any(uses_whole_context) {
        add("`context` is used as a whole", "read its parts, as in `context.hour`");
    }
    if expressions().any(asks_too_much_of_subject) {
        add(
            "the roles and rules of `context.subject` are not known",
            "compare it with `==` or `!=`, or read its `name`",
        );
    }
    // Cedar types `context has input` as plainly false where there is none, which hides the mistake.
    if policy.tool().is_none() && reads_of(policy.clauses()).has(Reads::INPUT) {
        add("`context.input` is there only for policies about one tool", NAME_ONE_TOOL);
    }
    problems
}

fn validate_all(text: &str, batches: &[Batch<'_>]) -> Findings {
    let mut findings = Findings::default();
    for batch in batches {
        let schema = match batch.tool {
            None => schema::plain(),
            Some(_) => schema::with_input(&batch.input),
        };
        match schema {
            Some(schema) => validate(text, batch, schema, &mut findings),
            None => findings.problems.push(PolicyProblem::at("", 0, "the schema could not be made")),
        }
    }
    findings
}

fn validate(text: &str, batch: &Batch<'_>, schema: Schema, findings: &mut Findings) {
    let validator = Validator::new(schema);
    for policies in batch.policies.chunks(AT_ONCE) {
        if findings.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let Ok(set) = PolicySet::from_policies(policies.iter().map(|policy| policy.policy.clone())) else {
            findings.problems.push(PolicyProblem::at("", 0, "the policies could not be put together"));
            return;
        };
        let result = validator.validate_with_level(&set, ValidationMode::Strict, LEVEL);
        let start_of =
            |id: &str| policies.iter().find(|policy| policy.id == id).map_or(0, |policy| policy.start);
        for error in result.validation_errors().take(MOST_PROBLEMS) {
            let id: &str = error.policy_id().as_ref();
            let problem = of(text, start_of(id), id, error);
            findings.problems.push(match batch.tool {
                Some(tool) if problem.message.contains("`input") => {
                    problem.hint(arguments_hint(tool, &batch.input))
                }
                _ => problem,
            });
        }
        for warning in result.validation_warnings().take(MOST_PROBLEMS) {
            let id: &str = warning.policy_id().as_ref();
            findings.warnings.push(of(text, start_of(id), id, warning));
        }
    }
}

fn of(text: &str, start: usize, id: &str, found: &dyn Diagnostic) -> PolicyProblem {
    let mut problem = PolicyProblem::of(text, start, found).policy(id);
    // Cedar puts the id before its words; ours stands in a field of its own.
    if let Some(rest) = problem.message.strip_prefix(&format!("for policy `{id}`, ")) {
        problem.message = rest.to_owned();
    }
    problem
}

fn arguments_hint(tool: &str, input: &InputType) -> String {
    let names = input.names().collect::<Vec<_>>().join("`, `");
    match names.as_str() {
        "" => format!("`{tool}` has no arguments that policies can read"),
        _ => format!(
            "policies can read these arguments of `{tool}`, in `call`, `call_unattended` and `approve`: `{names}`; ask `context.input has …` first where one may be missing"
        ),
    }
}
