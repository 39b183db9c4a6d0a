//! Limits as a port: the rules from the tenant's snapshot, the meters of this node, and the record for budgets.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use toolgate_core::error::CallError;
use toolgate_core::id::{PrincipalId, TenantId, ToolName};
use toolgate_core::limit::Overrun;
use toolgate_core::port::gate::{Admission, Ask, LimitError, Limiter, Permit};
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::{Actor, Timestamp};
use toolgate_policy::{Concern, Knocks, Meters, concerns, rate_used, strictest, take_places, within_budgets};

use crate::snapshot::Snapshots;

/// Rate, cost and concurrency for all tenants.
pub struct Limits {
    store: Arc<dyn Store>,
    snapshots: Arc<Snapshots>,
    meters: Meters,
    knocks: Option<Knocks>,
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits").field("meters", &self.meters).finish_non_exhaustive()
    }
}

impl Limits {
    /// Limits as the tenants' managers set them; and so many calls a second for each principal, if the operator says so.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, snapshots: Arc<Snapshots>, per_second: Option<NonZeroU32>) -> Self {
        Self { store, snapshots, meters: Meters::default(), knocks: per_second.map(Knocks::new) }
    }

    fn concerns(&self, ask: &Ask<'_>) -> Vec<Concern> {
        let Some(snapshot) = self.snapshots.get(&ask.actor.tenant) else { return Vec::new() };
        let limits = snapshot.limits.iter().map(|(name, limit)| (name.as_str(), limit));
        // Who has no use of the tool does not get here.
        let profiles =
            snapshot.gate.profiles_of(&ask.actor.principal, &ask.tool.contract.id).unwrap_or_default();
        let profiles = profiles.into_iter().map(|(name, profile)| (name.as_str(), &profile.profile));
        concerns(ask.actor, &ask.tool.contract, limits, profiles)
    }

    /// Reads from the record what was spent, where it is not known well enough.
    async fn learn_spending(&self, concerns: &[Concern], now: Timestamp) -> Result<(), StoreError> {
        for (budget, spending) in concerns.iter().filter_map(|concern| concern.budget.as_ref()) {
            let Some(since) = self.meters.unknown(spending, budget.every, now) else { continue };
            let (who, what) = (spending.principal.as_ref(), spending.tool.as_ref());
            let micros = self.store.spent(&spending.tenant, who, what, since).await?;
            self.meters.learn(spending.clone(), budget.every, since, micros, now);
        }
        Ok(())
    }

    /// Takes one call from a rate: on this node, or for all nodes where they share a store.
    async fn take(&self, tenant: &TenantId, concern: &Concern) -> Result<Result<(), Duration>, StoreError> {
        let Some(rate) = concern.rate else { return Ok(Ok(())) };
        match self.store.shared_meters() {
            None => Ok(self.meters.take(tenant, &concern.rule, &concern.key, rate)),
            Some(shared) => {
                shared.take(&format!("{tenant} {} {} {rate}", concern.rule, concern.key), rate).await
            }
        }
    }
}

#[async_trait]
impl Limiter for Limits {
    fn knock(&self, actor: &Actor) -> Result<(), CallError> {
        self.knocks.as_ref().map_or(Ok(()), |knocks| knocks.knock(&actor.tenant, &actor.principal))
    }

    async fn admit(&self, ask: &Ask<'_>) -> Result<Admission, LimitError> {
        let concerns = self.concerns(ask);
        if concerns.is_empty() {
            return Ok(Admission::Granted(Permit::free()));
        }
        self.learn_spending(&concerns, ask.now).await?;
        let tenant = &ask.actor.tenant;
        if let Err(answer) = within_budgets(&self.meters, &concerns, ask.now) {
            return answer.map_err(LimitError::Used);
        }
        let permit = take_places(&self.meters, tenant, &concerns).map_err(LimitError::Used)?;
        let mut used = Vec::new();
        for concern in &concerns {
            if let Err(wait) = self.take(tenant, concern).await? {
                used.push((concern, wait));
            }
        }
        let Some(deciding) = strictest(used.iter().map(|(concern, _)| *concern)) else {
            return Ok(Admission::Granted(permit));
        };
        // There is room when the last of them has some.
        let wait = used.iter().map(|(_, wait)| *wait).max().unwrap_or_default();
        rate_used(deciding, wait).map_err(LimitError::Used)
    }

    async fn admit_approved(&self, ask: &Ask<'_>) -> Result<Permit, LimitError> {
        let mut concerns = self.concerns(ask);
        if concerns.is_empty() {
            return Ok(Permit::free());
        }
        // What asks when it is used up has been asked: a person let this call through.
        for concern in &mut concerns {
            if concern.on_overrun == Overrun::Ask {
                concern.budget = None;
            }
        }
        self.learn_spending(&concerns, ask.now).await?;
        if let Err(Err(error)) = within_budgets(&self.meters, &concerns, ask.now) {
            return Err(LimitError::Used(error));
        }
        take_places(&self.meters, &ask.actor.tenant, &concerns).map_err(LimitError::Used)
    }

    fn charge(&self, tenant: &TenantId, principal: &PrincipalId, tool: &ToolName, micros: i64) {
        self.meters.charge(tenant, principal, tool, micros);
    }
}
