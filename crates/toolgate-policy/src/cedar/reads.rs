//! What a policy looks at: which parts of the context, which tools by name, and how deep its conditions nest.

use cedar_policy::pst::{
    self, BinaryOp, Clause, EntityOrSlot, Expr, Literal, PrincipalConstraint, ResourceConstraint, UnaryOp,
    Var,
};

/// A set of the context's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reads(u16);

impl Reads {
    pub(super) const NOW: Self = Self(1);
    pub(super) const HOUR: Self = Self(1 << 1);
    pub(super) const WEEKDAY: Self = Self(1 << 2);
    pub(super) const LABELS: Self = Self(1 << 3);
    pub(super) const SOURCE: Self = Self(1 << 4);
    pub(super) const SUBJECT: Self = Self(1 << 5);
    pub(super) const OWN: Self = Self(1 << 6);
    pub(super) const FOR_ME: Self = Self(1 << 7);
    pub(super) const INPUT: Self = Self(1 << 8);
    pub(super) const NOTHING: Self = Self(0);
    /// What a use of the whole context counts as.
    const EVERYTHING: Self = Self((1 << 9) - 1);

    pub(super) const fn has(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn attribute(name: &str) -> Self {
        match name {
            "now" => Self::NOW,
            "hour" => Self::HOUR,
            "weekday" => Self::WEEKDAY,
            "labels" => Self::LABELS,
            "source" => Self::SOURCE,
            "subject" => Self::SUBJECT,
            "own" => Self::OWN,
            "for_me" => Self::FOR_ME,
            "input" => Self::INPUT,
            // No such part: reading it errs or answers "has not" whatever the circumstances.
            _ => Self::NOTHING,
        }
    }
}

/// What the clauses of a policy read.
pub(super) fn reads_of(clauses: &[Clause]) -> Reads {
    clauses.iter().fold(Reads::NOTHING, |all, clause| all.and(reads(expression(clause))))
}

/// What an expression reads.
pub(super) fn reads(expr: &Expr) -> Reads {
    match expr {
        Expr::Var(Var::Context) => Reads::EVERYTHING,
        Expr::GetAttr { expr, attr } if is_context(expr) => Reads::attribute(attr),
        Expr::HasAttr { expr, attrs } if is_context(expr) => Reads::attribute(attrs.first()),
        _ => children(expr).into_iter().fold(Reads::NOTHING, |all, child| all.and(reads(child))),
    }
}

/// Whether the whole context is used, as in `context == …`.
pub(super) fn uses_whole_context(expr: &Expr) -> bool {
    match expr {
        Expr::Var(Var::Context) => true,
        Expr::GetAttr { expr, .. } | Expr::HasAttr { expr, .. } if is_context(expr) => false,
        _ => children(expr).into_iter().any(uses_whole_context),
    }
}

/// Whether more is asked of the subject than who it is. Its roles and rules are not known, and a question about them
/// would be answered "no" rather than refused.
pub(super) fn asks_too_much_of_subject(expr: &Expr) -> bool {
    match expr {
        Expr::GetAttr { expr, attr } if is_subject(expr) => attr != "name",
        Expr::Is { expr, in_expr: None, .. } | Expr::HasAttr { expr, .. } if is_subject(expr) => false,
        Expr::BinaryOp { op: BinaryOp::Eq | BinaryOp::NotEq, left, right } => {
            [left, right].into_iter().any(|side| !is_subject(side) && asks_too_much_of_subject(side))
        }
        _ if is_subject(expr) => true,
        _ => children(expr).into_iter().any(asks_too_much_of_subject),
    }
}

/// Calls `found` with every entity the expression names.
fn named_entities<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a pst::EntityUID)) {
    if let Expr::Literal(Literal::EntityUID(uid)) = expr {
        found(uid);
    }
    for child in children(expr) {
        named_entities(child, found);
    }
}

/// Calls `found` with every entity the policy names, in its scope or its conditions.
pub(super) fn entities_of<'a>(body: &'a pst::Template, found: &mut dyn FnMut(&'a pst::EntityUID)) {
    match &body.principal {
        PrincipalConstraint::Eq(EntityOrSlot::Entity(uid))
        | PrincipalConstraint::In(EntityOrSlot::Entity(uid))
        | PrincipalConstraint::IsIn(_, EntityOrSlot::Entity(uid)) => found(uid),
        _ => {}
    }
    match &body.resource {
        ResourceConstraint::Eq(EntityOrSlot::Entity(uid))
        | ResourceConstraint::In(EntityOrSlot::Entity(uid))
        | ResourceConstraint::IsIn(_, EntityOrSlot::Entity(uid)) => found(uid),
        _ => {}
    }
    for clause in body.clauses() {
        named_entities(expression(clause), found);
    }
}

/// Whether somebody's `name` is read: whoever can be told by name is as good as named.
pub(super) fn reads_names(expr: &Expr) -> bool {
    match expr {
        // An argument may have this name too, and says nothing about people.
        Expr::GetAttr { expr, attr } if attr == "name" && !is_input(expr) => true,
        _ => children(expr).into_iter().any(reads_names),
    }
}

/// How deep the clauses nest. Cedar makes one expression of them, so each also counts as a level.
pub(super) fn depth_of(clauses: &[Clause]) -> usize {
    clauses.len() + clauses.iter().map(|clause| depth(expression(clause))).max().unwrap_or(0)
}

fn depth(expr: &Expr) -> usize {
    let own = match expr {
        Expr::HasAttr { attrs, .. } => attrs.len(),
        _ => 1,
    };
    own + children(expr).into_iter().map(depth).max().unwrap_or(0)
}

/// The expression of a clause.
pub(super) fn expression(clause: &Clause) -> &Expr {
    match clause {
        Clause::When(expr) | Clause::Unless(expr) => expr,
    }
}

/// Whether the expression is `!…`.
pub(super) fn negated(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::UnaryOp { op: UnaryOp::Not, expr } => Some(expr),
        _ => None,
    }
}

/// The direct parts of an expression.
pub(super) fn children(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::UnaryOp { expr, .. }
        | Expr::GetAttr { expr, .. }
        | Expr::HasAttr { expr, .. }
        | Expr::Like { expr, .. }
        | Expr::Is { expr, in_expr: None, .. } => vec![expr],
        Expr::Is { expr, in_expr: Some(within), .. } => vec![expr, within],
        Expr::BinaryOp { left, right, .. } => vec![left, right],
        Expr::IfThenElse { cond, then_expr, else_expr } => vec![cond, then_expr, else_expr],
        Expr::Set(items) => items.iter().map(|item| &**item).collect(),
        Expr::Record(fields) => fields.values().map(|field| &**field).collect(),
        // Literals, variables, slots and unknowns have none. A kind of expression that a later Cedar adds would too:
        // `parse` refuses what it does not know, so that nothing is overlooked here.
        _ => Vec::new(),
    }
}

/// Whether this module knows every kind of expression in here.
pub(super) fn is_known(expr: &Expr) -> bool {
    let known = matches!(
        expr,
        Expr::Literal(_)
            | Expr::Var(_)
            | Expr::UnaryOp { .. }
            | Expr::BinaryOp { .. }
            | Expr::GetAttr { .. }
            | Expr::HasAttr { .. }
            | Expr::Like { .. }
            | Expr::Is { .. }
            | Expr::IfThenElse { .. }
            | Expr::Set(_)
            | Expr::Record(_)
    );
    known && children(expr).into_iter().all(is_known)
}

fn is_context(expr: &Expr) -> bool {
    matches!(expr, Expr::Var(Var::Context))
}

/// Whether this is `context.input` or a part of it.
fn is_input(expr: &Expr) -> bool {
    match expr {
        Expr::GetAttr { expr, attr } => (is_context(expr) && attr == "input") || is_input(expr),
        _ => false,
    }
}

fn is_subject(expr: &Expr) -> bool {
    matches!(expr, Expr::GetAttr { expr, attr } if is_context(expr) && attr == "subject")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(condition: &str) -> Vec<Clause> {
        let text = format!("permit (principal, action, resource) when {{ {condition} }};");
        let policy = cedar_policy::Policy::parse(None, text).unwrap().to_pst().unwrap();
        policy.body().clauses().clone()
    }

    #[test]
    fn reads_are_found_wherever_they_stand() {
        let check = |condition, expected| assert_eq!(reads_of(&clauses(condition)), expected, "{condition}");
        check("true", Reads::NOTHING);
        check("resource.effect == \"read\" && principal.rules.contains(\"now\")", Reads::NOTHING);
        check("context.hour > 3 || context[\"labels\"].contains(\"x\")", Reads::HOUR.and(Reads::LABELS));
        check("context has subject && context.subject == principal", Reads::SUBJECT);
        check("context has input.order.amount", Reads::INPUT);
        check("if context.own then [context.source] == [\"a\"] else {a: context.for_me}.a", {
            Reads::OWN.and(Reads::SOURCE).and(Reads::FOR_ME)
        });
        check("context.input.note like \"*x\"", Reads::INPUT);
        check("context.now < datetime(\"2030-01-01\")", Reads::NOW);
        check("principal is Toolgate::User in context.subject", Reads::SUBJECT);
        check("context.weekday == \"monday\" && !context.other", Reads::WEEKDAY);
        check("{a: context}.a.hour > 3", Reads::EVERYTHING);
        check("(if true then context else context).hour > 3", Reads::EVERYTHING);
    }

    #[test]
    fn the_subject_is_only_compared() {
        let check = |condition, expected| {
            assert_eq!(asks_too_much_of_subject(expression(&clauses(condition)[0])), expected, "{condition}");
        };
        check("context has subject && context.subject == principal", false);
        check("context.subject != Toolgate::User::\"user:ada\" || context.subject.name == \"ada\"", false);
        check("context.subject in Toolgate::Role::\"r\"", true);
        check("context.subject.rules.contains(\"*\")", true);
        check("context.subject is Toolgate::User in Toolgate::Role::\"r\"", true);
        check("(if true then context.subject else principal) in Toolgate::Role::\"r\"", true);
        check("[context.subject].contains(principal)", true);
    }

    #[test]
    fn names_are_read_of_people_and_not_of_arguments() {
        let check = |condition, expected| {
            assert_eq!(reads_names(expression(&clauses(condition)[0])), expected, "{condition}");
        };
        check("principal.name == \"ada\"", true);
        check("principal[\"name\"] like \"a*\"", true);
        check("context has subject && context.subject.name == \"ada\"", true);
        check("(if true then principal else principal).name == \"ada\"", true);
        check("[principal.name].contains(context.input.name)", true);
        check("context.input.name == \"ada\" && context.input.order.name == \"x\"", false);
        check("principal.rules.contains(\"name\") && principal has name", false);
    }

    #[test]
    fn depth_counts_chains() {
        let chain = vec!["context.own"; 40].join(" && ");
        assert_eq!(depth_of(&clauses(&chain)), 42);
        assert_eq!(depth_of(&clauses("principal has a.b.c")), 5);
        assert_eq!(depth_of(&[clauses("true"), clauses("true"), clauses("!true")].concat()), 5);
        assert!(is_known(expression(&clauses(&chain)[0])));
    }
}
