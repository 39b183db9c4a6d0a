//! From a text to its policies, each with its id and its tree.

use std::collections::HashMap;

use cedar_policy::pst::{self, Clause};
use cedar_policy::{Policy, PolicyId, PolicySet};

use super::problem::{MOST_PROBLEMS, PolicyProblem, PolicyProblems};
use super::reads::{depth_of, expression, is_known};
use super::text::scan;

/// The deepest conditions nest; a chain `a && b && …` nests by one for each link. Evaluation recurses over them.
const DEEPEST: usize = 100;
/// The most characters of an id.
const LONGEST_ID: usize = 80;
/// Enough for Cedar to recurse over anything `scan` lets through, also in a debug build.
const STACK: usize = 256 << 20;

/// One policy.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    /// From its `@id("…")`.
    pub(super) id: String,
    /// The byte of the text at which it starts.
    pub(super) start: usize,
    pub(super) policy: Policy,
    pub(super) body: pst::Template,
}

/// The policies in the order of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Parsed>, PolicyProblems> {
    let starts = scan(text)?;
    on_wide_stack(|| parse_scanned(text, &starts))?
}

/// Runs on a thread with a large stack. Cedar recurses while it parses, checks and drops what it parsed.
pub(super) fn on_wide_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, PolicyProblem> {
    let done = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()?;
        thread.join().ok()
    });
    done.ok_or_else(|| PolicyProblem::at("", 0, "the policies could not be read"))
}

fn parse_scanned(text: &str, starts: &[usize]) -> Result<Vec<Parsed>, PolicyProblems> {
    let set: PolicySet = text.parse().map_err(|errors: cedar_policy::ParseErrors| {
        let first = errors.iter().take(MOST_PROBLEMS);
        PolicyProblems::bounded(first.map(|error| PolicyProblem::of(text, 0, error)).collect())
    })?;
    let mut problems: Vec<PolicyProblem> = set
        .templates()
        .take(MOST_PROBLEMS)
        .map(|template| {
            let start = start_of(template.id(), starts);
            PolicyProblem::at(text, start, "a policy may not have slots such as `?principal`")
                .hint("write the entity itself")
        })
        .collect();
    let mut in_order: Vec<(usize, &Policy)> =
        set.policies().map(|policy| (start_of(policy.id(), starts), policy)).collect();
    in_order.sort_by_key(|(start, _)| *start);
    let mut policies = Vec::with_capacity(in_order.len());
    for (start, policy) in in_order {
        match parsed(text, start, policy) {
            Ok(policy) => policies.push(policy),
            Err(problem) => problems.push(problem),
        }
        // Finding the line of each takes a walk over the text, so thousands of problems would take long.
        if problems.len() > MOST_PROBLEMS {
            break;
        }
    }
    problems.extend(named_twice(text, &policies));
    if problems.is_empty() { Ok(policies) } else { Err(PolicyProblems::bounded(problems)) }
}

/// Cedar numbers policies in the order of the text: `policy0`, `policy1`, …
fn start_of(id: &PolicyId, starts: &[usize]) -> usize {
    let id: &str = id.as_ref();
    let number = id.strip_prefix("policy").and_then(|number| number.parse::<usize>().ok());
    number.and_then(|number| starts.get(number)).copied().unwrap_or(0)
}

fn parsed(text: &str, start: usize, policy: &Policy) -> Result<Parsed, PolicyProblem> {
    let at_start = |message: &str| PolicyProblem::at(text, start, message);
    let id = policy.annotation("id").ok_or_else(|| {
        at_start("this policy has no id").hint("put `@id(\"a name for people\")` before it")
    })?;
    if !is_id(id) {
        return Err(at_start("this policy's id cannot be used")
            .hint(format!("use 1 to {LONGEST_ID} letters, digits, spaces and `-_.:`")));
    }
    let tree = policy.to_pst().map_err(|_| at_start("this policy cannot be used").policy(id))?;
    let body = tree.body().clone();
    if depth_of(body.clauses()) > DEEPEST {
        return Err(at_start("the conditions nest too deep")
            .policy(id)
            .hint("compare with a set, as in `[\"a\", \"b\"].contains(…)`, or write several policies"));
    }
    if !body.clauses().iter().map(expression).all(is_known) {
        return Err(at_start("this policy uses what the gate does not know").policy(id));
    }
    Ok(Parsed { id: id.to_owned(), start, policy: policy.new_id(PolicyId::new(id)), body })
}

fn is_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b" -_.:".contains(&b))
        && !id.starts_with(' ')
        && !id.ends_with(' ')
}

fn named_twice(text: &str, policies: &[Parsed]) -> Vec<PolicyProblem> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut problems = Vec::new();
    for policy in policies {
        if let Some(before) = first.insert(&policy.id, policy.start) {
            let line = PolicyProblem::at(text, before, "").line;
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
            problems.push(
                PolicyProblem::at(text, policy.start, format!("line {line} has a policy with the same id"))
                    .policy(&policy.id),
            );
        }
    }
    problems
}

impl Parsed {
    /// The one tool the scope names.
    pub(super) fn tool(&self) -> Option<&str> {
        match &self.body.resource {
            pst::ResourceConstraint::Eq(pst::EntityOrSlot::Entity(uid))
                if uid.ty.to_string() == "Toolgate::Tool" =>
            {
                Some(&uid.eid)
            }
            _ => None,
        }
    }

    /// The conditions.
    pub(super) fn clauses(&self) -> &[Clause] {
        self.body.clauses()
    }
}
