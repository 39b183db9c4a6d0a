//! What a question is answered with.

use std::sync::Arc;

/// The rule named when nothing permits.
pub const DENY_BY_DEFAULT: &str = "deny by default";

/// The answer to one question, and what decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it may be.
    pub allowed: bool,
    /// The id of the policy that decided: the one that could not be evaluated, else the first `forbid`, else the
    /// first `permit`, else [`DENY_BY_DEFAULT`].
    pub rule: Arc<str>,
    /// What kind of policy decided.
    pub by: Deciding,
    /// Why a policy could not be evaluated; whoever keeps the policies should hear of it.
    pub fault: Option<Arc<str>>,
    /// Every policy that matched, permits and forbids, in the order of the text.
    pub reasons: Arc<[Arc<str>]>,
}

/// What kind of policy decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deciding {
    /// A permit matched and no forbid.
    Permit,
    /// A forbid matched.
    Forbid,
    /// Nothing matched.
    NoPermit,
    /// A policy could not be evaluated, which denies.
    Fault,
}

/// The answers about one tool for one principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// Whether the tool is found in lists.
    pub see: Answer,
    /// Whether it may be called.
    pub call: Answer,
    /// Whether it may be called without a person's approval.
    pub unattended: Answer,
    /// Whether a policy about `call` or `call_unattended` reads the arguments, so that
    /// [`tool_with_input`](super::Judge::tool_with_input) can be stricter than [`tool`](super::Judge::tool).
    pub reads_input: bool,
}

/// How one policy came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Its scope and conditions hold.
    Matches,
    /// They do not.
    Rests,
    /// It could not be evaluated.
    Faults(Arc<str>),
}

/// What a matching policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Permit,
    Forbid,
}

impl Answer {
    /// Nothing permits.
    #[must_use]
    pub fn denied_by_default() -> Self {
        Self::settle(std::iter::empty())
    }

    /// A question that could not be put to the policies at all.
    pub(super) fn unanswerable(rule: Arc<str>, fault: &str) -> Self {
        Self { allowed: false, rule, by: Deciding::Fault, fault: Some(fault.into()), reasons: Arc::default() }
    }

    /// Puts outcomes, in the order of the text, together.
    pub(super) fn settle<'a>(outcomes: impl Iterator<Item = (&'a Arc<str>, Says, Outcome)>) -> Self {
        let (mut permit, mut forbid, mut fault) = (None, None, None);
        let mut reasons = Vec::new();
        for (id, says, outcome) in outcomes {
            match outcome {
                Outcome::Rests => continue,
                Outcome::Faults(why) => {
                    fault.get_or_insert((id, why));
                    continue;
                }
                Outcome::Matches => reasons.push(Arc::clone(id)),
            }
            match says {
                Says::Permit => permit.get_or_insert(id),
                Says::Forbid => forbid.get_or_insert(id),
            };
        }
        // Cedar leaves out a policy that errs; a forbid left out would allow, so here an error denies.
        let (by, rule, fault) = match (fault, forbid, permit) {
            (Some((id, why)), _, _) => (Deciding::Fault, Arc::clone(id), Some(why)),
            (None, Some(id), _) => (Deciding::Forbid, Arc::clone(id), None),
            (None, None, Some(id)) => (Deciding::Permit, Arc::clone(id), None),
            (None, None, None) => (Deciding::NoPermit, DENY_BY_DEFAULT.into(), None),
        };
        Self { allowed: by == Deciding::Permit, rule, by, fault, reasons: reasons.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outcomes: &[(&str, Says, Outcome)], by: Deciding, rule: &str, reasons: &[&str]) {
        let ids: Vec<Arc<str>> = outcomes.iter().map(|(id, ..)| Arc::from(*id)).collect();
        let answer = Answer::settle(
            ids.iter().zip(outcomes).map(|(id, (_, says, outcome))| (id, *says, outcome.clone())),
        );
        assert_eq!((answer.by, &*answer.rule), (by, rule));
        assert_eq!(answer.allowed, by == Deciding::Permit);
        assert_eq!(answer.fault.is_some(), by == Deciding::Fault);
        assert_eq!(answer.reasons.iter().map(|id| &**id).collect::<Vec<_>>(), reasons);
    }

    #[test]
    fn faults_come_before_forbids_and_forbids_before_permits() {
        let (permit, forbid) = (Says::Permit, Says::Forbid);
        let fault = Outcome::Faults("overflow".into());
        check(&[], Deciding::NoPermit, DENY_BY_DEFAULT, &[]);
        check(&[("a", permit, Outcome::Rests)], Deciding::NoPermit, DENY_BY_DEFAULT, &[]);
        check(
            &[("a", permit, Outcome::Matches), ("b", permit, Outcome::Matches)],
            Deciding::Permit,
            "a",
            &["a", "b"],
        );
        check(
            &[("a", permit, Outcome::Matches), ("b", forbid, Outcome::Matches)],
            Deciding::Forbid,
            "b",
            &["a", "b"],
        );
        for says in [permit, forbid] {
            check(
                &[
                    ("a", permit, Outcome::Matches),
                    ("b", forbid, Outcome::Matches),
                    ("c", says, fault.clone()),
                ],
                Deciding::Fault,
                "c",
                &["a", "b"],
            );
        }
    }
}
