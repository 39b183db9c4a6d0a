//! One policy, ready to be evaluated with and without arguments.

use std::sync::Arc;

use cedar_policy::pst::{self, Clause};
use cedar_policy::{Authorizer, Entities, Policy, PolicySet, Request};

use super::answer::{Outcome, Says};
use super::optimist;
use super::parse::Parsed;
use super::reads::{Reads, depth_of, reads_of};

/// The most characters of a fault.
const LONGEST_FAULT: usize = 500;
/// The stack Cedar's evaluator takes for one level of a condition, measured and doubled. It refuses to go on when the
/// stack runs short, which would deny.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 160 << 10 } else { 12 << 10 };

/// A policy of the set.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) id: Arc<str>,
    pub(super) says: Says,
    full: Condition,
    /// As far as it can be told without arguments, when it reads them.
    bare: Option<Condition>,
}

/// What must hold beyond the scope.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) reads: Reads,
    /// A set of this one policy, so that it is evaluated alone; none when the scope says it all.
    policy: Option<PolicySet>,
    leaning: Leaning,
    stack: usize,
}

/// What an error means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaning {
    /// The policy faults.
    Fault,
    /// Nothing: the arguments would decide. See [`optimist`].
    Perhaps,
}

impl Compiled {
    /// None when Cedar does not take back what it gave.
    pub(super) fn of(parsed: &Parsed) -> Option<Self> {
        let clauses = parsed.clauses();
        let full = Condition::of(&parsed.policy, clauses, Leaning::Fault)?;
        let bare = if full.reads.has(Reads::INPUT) {
            let clauses = optimist::without_input(parsed.body.effect, clauses);
            let body = parsed.body.clone().with_id(parsed.id.as_str().into());
            let body = body.try_with_clauses(clauses.clone()).ok()?;
            let policy = Policy::from_pst(pst::Policy::Static(body.try_into().ok()?)).ok()?;
            Some(Condition::of(&policy, &clauses, Leaning::Perhaps)?)
        } else {
            None
        };
        let says = match parsed.body.effect {
            pst::Effect::Permit => Says::Permit,
            pst::Effect::Forbid => Says::Forbid,
        };
        Some(Self { id: parsed.id.as_str().into(), says, full, bare })
    }

    /// What holds for the arguments of a call.
    pub(super) fn with_input(&self) -> &Condition {
        &self.full
    }

    /// What can be told before they are known.
    pub(super) fn without_input(&self) -> &Condition {
        self.bare.as_ref().unwrap_or(&self.full)
    }

    pub(super) fn reads_input(&self) -> bool {
        self.bare.is_some()
    }
}

impl Condition {
    fn of(policy: &Policy, clauses: &[Clause], leaning: Leaning) -> Option<Self> {
        let set =
            if clauses.is_empty() { None } else { Some(PolicySet::from_policies([policy.clone()]).ok()?) };
        // The scope is part of what Cedar evaluates, and adds a few levels.
        let stack = (depth_of(clauses) + 6) * STACK_PER_LEVEL;
        Some(Self { reads: reads_of(clauses), policy: set, leaning, stack })
    }

    /// Whether it holds whenever the scope does, so that Cedar need not be asked.
    pub(super) fn always(&self) -> bool {
        self.policy.is_none()
    }

    /// How the policy comes out. Its scope is known to match.
    pub(super) fn outcome(&self, says: Says, request: &Request, entities: &Entities) -> Outcome {
        let Some(policy) = &self.policy else { return Outcome::Matches };
        // Almost always there is room, and then this is a comparison and a call.
        let response = stacker::maybe_grow(self.stack, self.stack * 2, || {
            Authorizer::new().is_authorized(request, policy, entities)
        });
        if let Some(error) = response.diagnostics().errors().next() {
            return match (self.leaning, says) {
                (Leaning::Fault, _) => Outcome::Faults(shorten(&describe(error))),
                (Leaning::Perhaps, Says::Permit) => Outcome::Matches,
                (Leaning::Perhaps, Says::Forbid) => Outcome::Rests,
            };
        }
        if response.diagnostics().reason().next().is_some() { Outcome::Matches } else { Outcome::Rests }
    }
}

fn describe(error: &cedar_policy::AuthorizationError) -> String {
    match error {
        cedar_policy::AuthorizationError::PolicyEvaluationError(error) => error.inner().to_string(),
    }
}

fn shorten(fault: &str) -> Arc<str> {
    match fault.char_indices().nth(LONGEST_FAULT) {
        Some((end, _)) => fault[..end].into(),
        None => fault.into(),
    }
}
