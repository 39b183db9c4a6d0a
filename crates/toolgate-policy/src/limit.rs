//! Rate, cost and concurrency: which limits concern a call, and whether there is room.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::contract::ToolContract;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{PrincipalId, TenantId, ToolName};
use toolgate_core::limit::{Budget, Limit, Overrun, Per};
use toolgate_core::port::gate::{Admission, Permit};
use toolgate_core::profile::Profile;
use toolgate_core::{Actor, Timestamp};

use crate::meter::{Meters, Place, Spending};

/// One limit as it concerns one call.
#[derive(Debug, Clone)]
pub struct Concern {
    /// The limit, as the record names it: `limit: …`, `profile: …`, `tool: …`.
    pub rule: Arc<str>,
    /// What has a measure of its own here.
    pub key: String,
    /// Calls a minute.
    pub rate: Option<NonZeroU32>,
    /// Calls at the same time.
    pub concurrency: Option<NonZeroU32>,
    /// The budget, and what counts towards it.
    pub budget: Option<(Budget, Spending)>,
    /// What happens when it is used up.
    pub on_overrun: Overrun,
}

/// All limits that concern a call of this tool by this caller: the tool's own, the tenant's, and those of the profiles
/// it was assigned with. Each can only refuse, so together they are as strict as the strictest.
#[must_use]
pub fn concerns<'a>(
    actor: &Actor,
    tool: &ToolContract,
    limits: impl IntoIterator<Item = (&'a str, &'a Limit)>,
    profiles: impl IntoIterator<Item = (&'a str, &'a Profile)>,
) -> Vec<Concern> {
    let (principal, id) = (actor.principal.as_str(), tool.id.as_str());
    let mut found = Vec::new();
    if let Some(rate) = tool.limits.rate_per_minute {
        found.push(Concern {
            rule: format!("tool: {id}").into(),
            key: format!("rate {principal}"),
            rate: Some(at_least_one(rate)),
            concurrency: None,
            budget: None,
            on_overrun: Overrun::Stop,
        });
    }
    if let Some(places) = tool.limits.concurrency {
        found.push(Concern {
            rule: format!("tool: {id}").into(),
            key: "places".to_owned(),
            rate: None,
            concurrency: Some(at_least_one(places)),
            budget: None,
            on_overrun: Overrun::Stop,
        });
    }
    for (name, limit) in limits {
        // What an agent does for a person counts for both, once where both have one measure.
        let parties = std::iter::once(&actor.principal).chain(actor.subject_id());
        for party in parties.filter(|party| limit.counts(party.as_str(), id)) {
            let (who, what) = match limit.per {
                Per::Tenant => (None, None),
                Per::Principal => (Some(party), None),
                Per::Tool => (None, Some(&tool.id)),
                Per::PrincipalAndTool => (Some(party), Some(&tool.id)),
            };
            let (rule, key) = (format!("limit: {name}"), key(who, what));
            if found.iter().any(|concern: &Concern| *concern.rule == *rule && concern.key == key) {
                continue;
            }
            // The record sums what a principal's own calls cost; what is done for a person is their agent's expense.
            let own = *party == actor.principal;
            found.push(Concern {
                rule: rule.into(),
                key,
                rate: limit.rate_per_minute.map(at_least_one),
                concurrency: limit.concurrency.map(at_least_one),
                budget: limit.cost.filter(|_| own).map(|cost| (cost, spending(actor, who, what))),
                on_overrun: limit.on_overrun,
            });
        }
    }
    for (name, profile) in profiles {
        let cost = profile.cost.map(|cost| (cost, spending(actor, Some(&actor.principal), None)));
        if profile.rate_per_minute.is_none() && profile.concurrency.is_none() && cost.is_none() {
            continue;
        }
        found.push(Concern {
            rule: format!("profile: {name}").into(),
            key: key(Some(&actor.principal), Some(&tool.id)),
            rate: profile.rate_per_minute.map(at_least_one),
            concurrency: profile.concurrency.map(at_least_one),
            budget: cost,
            on_overrun: profile.on_overrun,
        });
    }
    found
}

/// The first budget that is used up. A budget that stops comes before one that asks: a person can't waive it by waiving
/// another.
///
/// # Errors
/// What to answer then: an error, or that a person is asked.
pub fn within_budgets(
    meters: &Meters,
    concerns: &[Concern],
    now: Timestamp,
) -> Result<(), Result<Admission, CallError>> {
    let used = |concern: &&Concern| {
        concern
            .budget
            .as_ref()
            .is_some_and(|(budget, spending)| meters.spent(spending, budget.every, now) >= budget.micros)
    };
    let Some(concern) = strictest(concerns.iter().filter(used)) else { return Ok(()) };
    let Some((budget, _)) = &concern.budget else { return Ok(()) };
    let every = budget.every.as_str();
    Err(overrun(concern, || {
        CallError::new(
            ErrorCode::BudgetExceeded,
            format!("the budget of this {every} is used up (`{}`)", concern.rule),
        )
        .hint(format!("wait for the next {every}, or have the limit raised"))
        .details(serde_json::json!({ "rule": concern.rule, "limit_micros": budget.micros }))
    }))
}

/// Of limits that are used up, the one that decides: one that stops before one that asks.
#[must_use]
pub fn strictest<'a>(used: impl Iterator<Item = &'a Concern>) -> Option<&'a Concern> {
    let mut asking = None;
    for concern in used {
        match concern.on_overrun {
            Overrun::Stop => return Some(concern),
            Overrun::Ask => asking = asking.or(Some(concern)),
        }
    }
    asking
}

/// Takes a place under every limit on calls at the same time.
///
/// # Errors
/// `budget_exceeded`, naming the limit and with `concurrency` in its details.
pub fn take_places(meters: &Meters, tenant: &TenantId, concerns: &[Concern]) -> Result<Permit, CallError> {
    let mut places: Vec<Place> = Vec::new();
    for concern in concerns {
        let Some(most) = concern.concurrency else { continue };
        match meters.place(tenant, &concern.rule, &concern.key, most) {
            Some(place) => places.push(place),
            None => {
                return Err(CallError::new(
                    ErrorCode::BudgetExceeded,
                    format!("{most} such calls run already (`{}`)", concern.rule),
                )
                .hint("try again when one has ended")
                .details(serde_json::json!({ "rule": concern.rule, "concurrency": most })));
            }
        }
    }
    Ok(if places.is_empty() { Permit::free() } else { Permit::holding(places) })
}

/// What to answer when a rate is used up and there is room again after `wait`.
///
/// # Errors
/// `rate_limited`, unless a person is asked.
pub fn rate_used(concern: &Concern, wait: Duration) -> Result<Admission, CallError> {
    let seconds = wait.as_secs_f64().ceil().max(1.0);
    overrun(concern, || {
        CallError::new(ErrorCode::RateLimited, format!("too many calls (`{}`)", concern.rule))
            .hint(format!("try again in {seconds} s"))
            .details(serde_json::json!({ "rule": concern.rule, "retry_after_seconds": seconds }))
    })
}

fn overrun(concern: &Concern, error: impl FnOnce() -> CallError) -> Result<Admission, CallError> {
    match concern.on_overrun {
        Overrun::Stop => Err(error()),
        Overrun::Ask => Ok(Admission::Ask {
            rule: Arc::clone(&concern.rule),
            reason: format!("{}; a person may let it through", error().message),
        }),
    }
}

fn key(who: Option<&PrincipalId>, what: Option<&ToolName>) -> String {
    format!("{} {}", who.map_or("", |who| who.as_str()), what.map_or("", |what| what.as_str()))
}

fn spending(actor: &Actor, who: Option<&PrincipalId>, what: Option<&ToolName>) -> Spending {
    Spending { tenant: actor.tenant.clone(), principal: who.cloned(), tool: what.cloned() }
}

fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
