//! The names in a policy: a name of nothing matches nothing, so a slip of the pen would go unnoticed.

use std::collections::{HashMap, HashSet};

use cedar_policy::pst::{BinaryOp, Expr, Literal, Var};
use toolgate_core::document::Area;
use toolgate_core::id::{PrincipalId, PrincipalKind};

use super::check::{Findings, Known};
use super::parse::Parsed;
use super::problem::{MOST_PROBLEMS, PolicyProblem};
use super::reads::{children, entities_of, expression};

/// Attributes that have one of a few words: of what, which, and the words.
const WORDS: [(Var, &str, &[&str]); 4] = [
    (Var::Resource, "effect", &["read", "mutate", "destructive"]),
    (Var::Resource, "egress", &["none", "read_only", "write"]),
    (Var::Context, "source", &["web", "agent", "api", "mcp", "system"]),
    (
        Var::Context,
        "weekday",
        &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    ),
];

/// The names of a text, as far as they were looked up.
pub(super) struct Names<'a> {
    known: &'a Known<'a>,
    /// Thousands of policies may name one tool, and to look it up takes its schema out.
    tools: HashMap<String, bool>,
}

impl<'a> Names<'a> {
    pub(super) fn new(known: &'a Known<'a>) -> Self {
        Self { known, tools: HashMap::new() }
    }

    fn is_tool(&mut self, id: &str) -> bool {
        if let Some(there) = self.tools.get(id) {
            return *there;
        }
        let there = (self.known.input_schema_of)(id).is_some();
        self.tools.insert(id.to_owned(), there);
        there
    }
}

/// Checks every name a policy gives. What there may be later is a warning; what can never be is a problem.
pub(super) fn check(text: &str, policy: &Parsed, names: &mut Names<'_>, findings: &mut Findings) {
    let found = |message: String, hint: String| {
        PolicyProblem::at(text, policy.start, message).policy(&policy.id).hint(hint)
    };
    let mut seen = HashSet::new();
    entities_of(&policy.body, &mut |uid| {
        let (kind, id) = (uid.ty.0.id.as_str(), &*uid.eid);
        // Finding the line of each takes a walk over the text.
        if findings.problems.len() >= MOST_PROBLEMS || !seen.insert((kind, id)) {
            return;
        }
        match of_entity(kind, id, names) {
            Named::Well => {}
            Named::Unknown(_) if findings.warnings.len() >= MOST_PROBLEMS => {}
            Named::Unknown(hint) => {
                let what = kind.to_lowercase();
                findings.warnings.push(found(format!("no {what} is named `{id}`"), hint));
            }
            Named::Never(message, hint) => findings.problems.push(found(message, hint)),
        }
    });
    for clause in policy.clauses() {
        other_words(expression(clause), &mut |word, attribute, words| {
            if findings.warnings.len() < MOST_PROBLEMS {
                findings.warnings.push(found(
                    format!("`{attribute}` is never `{word}`"),
                    format!("it is one of `{}`", words.join("`, `")),
                ));
            }
        });
    }
}

/// What is to say of a name.
enum Named {
    Well,
    /// There is none now, and there may be later; what would help.
    Unknown(String),
    /// There can't ever be one; why, and what would help.
    Never(String, String),
}

fn of_entity(kind: &str, id: &str, names: &mut Names<'_>) -> Named {
    let unless = |there: bool, hint: &str| if there { Named::Well } else { Named::Unknown(hint.to_owned()) };
    match kind {
        "Tool" => unless(names.is_tool(id), "see `toolgate tool list`; a tool that is off counts as none"),
        "Role" => {
            unless((names.known.role)(id), "see `toolgate role list`; until there is one, nobody has it")
        }
        "Toolset" => unless(
            (names.known.toolset)(id),
            "see `toolgate toolset list`; until there is one, no tool is in it",
        ),
        "Area" if Area::from_text(id).is_none() => Named::Never(
            format!("there is no area `{id}` to manage"),
            format!("the areas are `{}`", Area::ALL.map(Area::as_str).join("`, `")),
        ),
        "User" => principal(kind, id, PrincipalKind::User),
        "Agent" => principal(kind, id, PrincipalKind::Agent),
        "Service" => principal(kind, id, PrincipalKind::Service),
        // Connections come and go; actions and other types are the schema's to check.
        _ => Named::Well,
    }
}

fn principal(kind: &str, id: &str, wanted: PrincipalKind) -> Named {
    if id.parse::<PrincipalId>().is_ok_and(|id| id.kind() == wanted) {
        return Named::Well;
    }
    let prefix = kind.to_lowercase();
    let name = id.split_once(':').map_or(id, |(_, name)| name);
    Named::Never(
        format!("`{id}` is no id of {}", kind_words(wanted)),
        format!("ids begin with their kind: `Toolgate::{kind}::\"{prefix}:{name}\"`"),
    )
}

const fn kind_words(kind: PrincipalKind) -> &'static str {
    match kind {
        PrincipalKind::User => "a user",
        PrincipalKind::Agent => "an agent",
        PrincipalKind::Service => "a service",
    }
}

/// Calls `found` with every text that is compared with one of [`WORDS`] and is none of them.
fn other_words(expr: &Expr, found: &mut dyn FnMut(&str, &str, &[&str])) {
    if let Expr::BinaryOp { op: BinaryOp::Eq | BinaryOp::NotEq | BinaryOp::Contains, left, right } = expr {
        for (one, other) in [(left, right), (right, left)] {
            let Some((attribute, words)) = words_of(one) else { continue };
            for word in texts(other).filter(|word| !words.contains(word)) {
                found(word, attribute, words);
            }
        }
    }
    for child in children(expr) {
        other_words(child, found);
    }
}

fn words_of(expr: &Expr) -> Option<(&'static str, &'static [&'static str])> {
    let Expr::GetAttr { expr, attr } = expr else { return None };
    let Expr::Var(var) = &**expr else { return None };
    let (_, name, words) = WORDS.iter().find(|(of, name, _)| of == var && attr == name)?;
    Some((name, words))
}

/// A text, or the texts of a set.
fn texts(expr: &Expr) -> impl Iterator<Item = &str> {
    let items = match expr {
        Expr::Set(items) => items.iter().map(|item| &**item).collect(),
        _ => vec![expr],
    };
    items.into_iter().filter_map(|item| match item {
        Expr::Literal(Literal::String(text)) => Some(&**text),
        _ => None,
    })
}
