//! Policies as far as they can be told before the arguments are known.
//!
//! A condition that reads `context.input` is replaced by its bound: for a permit by what it can be at best ("may it
//! hold for some arguments?"), for a forbid by what it is at least ("does it hold for all?"). So what is allowed for
//! some arguments is allowed without them, and everything that does not depend on them is decided exactly.
//!
//! An error of a rewritten policy says nothing about the policy, since `false && error` does not err and the rewritten
//! `true && error` does; who evaluates one takes an error as "perhaps" too.

use std::sync::Arc;

use cedar_policy::pst::{BinaryOp, Clause, Effect, Expr, Literal, UnaryOp};

use super::reads::{Reads, children, negated, reads};

/// Which way not knowing leans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// False only where no arguments make it true.
    AtBest,
    /// True only where all arguments make it true.
    AtLeast,
}

impl Bound {
    const fn other(self) -> Self {
        match self {
            Self::AtBest => Self::AtLeast,
            Self::AtLeast => Self::AtBest,
        }
    }
}

/// The clauses of a policy with this effect, without arguments.
pub(super) fn without_input(effect: Effect, clauses: &[Clause]) -> Vec<Clause> {
    let holds = match effect {
        Effect::Permit => Bound::AtBest,
        Effect::Forbid => Bound::AtLeast,
    };
    clauses
        .iter()
        .map(|clause| match clause {
            Clause::When(expr) => Clause::When(bound(expr, holds)),
            // The policy holds where this does not.
            Clause::Unless(expr) => Clause::Unless(bound(expr, holds.other())),
        })
        .collect()
}

fn bound(expr: &Arc<Expr>, to: Bound) -> Arc<Expr> {
    if !reads(expr).has(Reads::INPUT) {
        return Arc::clone(expr);
    }
    if let Some(inner) = negated(expr) {
        return not(bound(&Arc::new(inner.clone()), to.other()));
    }
    match &**expr {
        Expr::BinaryOp { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
            binary(*op, bound(left, to), bound(right, to))
        }
        Expr::IfThenElse { cond, then_expr, else_expr } => {
            branch(cond, bound(then_expr, to), bound(else_expr, to), to)
        }
        _ => truth(to),
    }
}

/// `if cond then yes else no`, whose branches are bounds already.
fn branch(cond: &Arc<Expr>, yes: Arc<Expr>, no: Arc<Expr>, to: Bound) -> Arc<Expr> {
    if !reads(cond).has(Reads::INPUT) {
        return Arc::new(Expr::IfThenElse { cond: Arc::clone(cond), then_expr: yes, else_expr: no });
    }
    // The condition is written twice below. One that branches itself would double at every level, so it counts as
    // wholly unknown instead.
    let (at_best, at_least) = if branches(cond) {
        (truth(Bound::AtBest), truth(Bound::AtLeast))
    } else {
        (bound(cond, Bound::AtBest), bound(cond, Bound::AtLeast))
    };
    match to {
        // Either branch may be taken, if its condition may come out that way.
        Bound::AtBest => or(and(at_best, yes), and(not(at_least), no)),
        // Every branch that may be taken must hold.
        Bound::AtLeast => and(or(not(at_best), yes), or(at_least, no)),
    }
}

fn branches(expr: &Expr) -> bool {
    matches!(expr, Expr::IfThenElse { .. }) || children(expr).into_iter().any(branches)
}

fn truth(to: Bound) -> Arc<Expr> {
    Arc::new(Expr::Literal(Literal::Bool(to == Bound::AtBest)))
}

fn not(expr: Arc<Expr>) -> Arc<Expr> {
    Arc::new(Expr::UnaryOp { op: UnaryOp::Not, expr })
}

fn and(left: Arc<Expr>, right: Arc<Expr>) -> Arc<Expr> {
    binary(BinaryOp::And, left, right)
}

fn or(left: Arc<Expr>, right: Arc<Expr>) -> Arc<Expr> {
    binary(BinaryOp::Or, left, right)
}

fn binary(op: BinaryOp, left: Arc<Expr>, right: Arc<Expr>) -> Arc<Expr> {
    Arc::new(Expr::BinaryOp { op, left, right })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(clause: &str, permit: &str, forbid: &str) {
        let text = format!("permit (principal, action, resource) {clause};");
        let policy = cedar_policy::Policy::parse(None, text).unwrap().to_pst().unwrap();
        let shown = |effect| {
            let clauses = without_input(effect, policy.body().clauses());
            clauses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(Effect::Permit), permit, "{clause}");
        assert_eq!(shown(Effect::Forbid), forbid, "{clause}");
    }

    #[test]
    fn what_reads_no_arguments_stays() {
        check("when { context.hour > 3 }", "when { context.hour > 3 }", "when { context.hour > 3 }");
    }

    #[test]
    fn arguments_lean_towards_permits_and_away_from_forbids() {
        check("when { context.input.a > 3 }", "when { true }", "when { false }");
        check("unless { context.input.a > 3 }", "unless { false }", "unless { true }");
        check("when { !(context.input.a > 3) }", "when { !false }", "when { !true }");
        check(
            "when { context.own && context.input.a }",
            "when { context.own && true }",
            "when { context.own && false }",
        );
        check(
            "when { !(context.own || context.input.a) }",
            "when { !(context.own || false) }",
            "when { !(context.own || true) }",
        );
        check("when { context.input.a == (context.own && true) }", "when { true }", "when { false }");
    }

    #[test]
    fn branches_are_bounded_from_both_sides() {
        check(
            "when { if context.own then context.input.a else false }",
            "when { if context.own then true else false }",
            "when { if context.own then false else false }",
        );
        check(
            "when { if context.input.a then context.own else context.for_me }",
            "when { (true && context.own) || ((!false) && context.for_me) }",
            "when { ((!true) || context.own) && (false || context.for_me) }",
        );
    }

    #[test]
    fn branching_conditions_do_not_double() {
        let mut condition = "context.input.a".to_owned();
        for _ in 0..40 {
            condition = format!("(if {condition} then context.own else context.for_me)");
        }
        let text = format!("@id(\"p\") permit (principal, action, resource) when {{ {condition} }};");
        let policy = &crate::cedar::parse::parse(&text).unwrap()[0];
        let clauses = without_input(Effect::Permit, policy.clauses());
        assert!(clauses[0].to_string().len() < 200);
    }
}
