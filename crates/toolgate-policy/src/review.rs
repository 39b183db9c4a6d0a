//! Who has to decide on waiting calls, and what people let run beforehand.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolgate_core::grant::Grant;
use toolgate_core::port::gate::{Ask, ReviewTerms, StandingGrant};
use toolgate_core::port::validator::Validator;

use crate::gate::TenantGate;

/// A standing grant and its compiled bounds on arguments.
#[derive(Clone)]
pub struct BoundGrant {
    /// What it is called.
    pub name: String,
    /// The grant.
    pub grant: Grant,
    /// Its `arguments` schema, compiled.
    pub arguments: Option<Arc<dyn Validator>>,
}

impl std::fmt::Debug for BoundGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundGrant").field("grant", &self.grant).finish_non_exhaustive()
    }
}

impl TenantGate {
    /// Who has to decide on such a call: of all rules that concern it, the most people, the named roles and the
    /// shortest time.
    #[must_use]
    pub fn review_terms(&self, ask: &Ask<'_>) -> ReviewTerms {
        let contract = &ask.tool.contract;
        let mut terms = ReviewTerms::default();
        for rule in &self.approval_rules {
            if !rule.concerns(contract.id.as_str(), contract.effect, ask.actor.principal.as_str()) {
                continue;
            }
            let seconds = |seconds: Option<u64>| seconds.map(Duration::from_secs);
            let sooner = |one: Option<Duration>, other: Option<Duration>| match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            terms.needed = terms.needed.max(rule.needed);
            if terms.approvers.is_empty() {
                terms.approvers.clone_from(&rule.approvers);
            }
            if terms.escalate_to.is_empty() {
                terms.escalate_to.clone_from(&rule.escalate_to);
            }
            terms.escalate_after = sooner(terms.escalate_after, seconds(rule.escalate_after_seconds));
            terms.expires_after = sooner(terms.expires_after, seconds(rule.expires_after_seconds));
        }
        terms
    }

    /// A person's standing word that covers this call. One person's word is none where several must decide.
    #[must_use]
    pub fn standing_grant(&self, ask: &Ask<'_>, input: &Value) -> Option<StandingGrant> {
        let key = (ask.actor.principal.clone(), ask.tool.contract.id.clone());
        let grants = self.grants.get(&key)?;
        if self.review_terms(ask).needed > 1 {
            return None;
        }
        let covers = |bound: &&BoundGrant| {
            let grant = &bound.grant;
            ask.now < grant.expires_at
                && grant.subject.as_ref() == ask.actor.subject_id()
                && grant.session.is_none_or(|session| ask.session == Some(session))
                && bound.arguments.as_ref().is_none_or(|bounds| bounds.validate(input).is_ok())
        };
        let bound = grants.iter().find(covers)?;
        Some(StandingGrant { rule: Grant::rule(&bound.name).into(), by: bound.grant.by.clone() })
    }
}
