//! The ports that answer from snapshots: tools, policy, and who principals are.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use toolgate_core::actor::{Credential, Subject};
use toolgate_core::catalog::Tools;
use toolgate_core::document::Area;
use toolgate_core::id::{ApiKeyId, PrincipalId, TenantId};
use toolgate_core::port::gate::{
    Ask, Decision, Directory, Policy, ReviewTerms, StandingGrant, Verdict, Whose,
};
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::principal::Principal;
use toolgate_core::scope::Scopes;
use toolgate_core::{AccessRules, Actor, Catalog, Timestamp};

use crate::snapshot::{Snapshot, Snapshots};

impl Tools for Snapshots {
    fn of(&self, tenant: &TenantId) -> Arc<Catalog> {
        self.catalog(tenant)
    }
}

impl Policy for Snapshots {
    fn decide(&self, ask: &Ask<'_>) -> Decision {
        self.get(&ask.actor.tenant).map_or_else(nobody_home, |snapshot| snapshot.gate.decide(ask))
    }

    fn decide_input(&self, ask: &Ask<'_>, input: &Value, decided: &Decision) -> Decision {
        self.get(&ask.actor.tenant)
            .map_or_else(nobody_home, |snapshot| snapshot.gate.decide_input(ask, input, decided))
    }

    fn decide_approval(&self, ask: &Ask<'_>, whose: Whose, input: &Value) -> Decision {
        self.get(&ask.actor.tenant)
            .map_or_else(nobody_home, |snapshot| snapshot.gate.decide_approval(ask, whose, input))
    }

    fn standing_grant(&self, ask: &Ask<'_>, input: &Value) -> Option<StandingGrant> {
        self.get(&ask.actor.tenant)?.gate.standing_grant(ask, input)
    }

    fn review_terms(&self, ask: &Ask<'_>) -> ReviewTerms {
        self.get(&ask.actor.tenant)
            .map_or_else(ReviewTerms::default, |snapshot| snapshot.gate.review_terms(ask))
    }

    fn decide_manage(&self, actor: &Actor, area: Area, now: Timestamp) -> Decision {
        self.get(&actor.tenant)
            .map_or_else(nobody_home, |snapshot| snapshot.gate.decide_manage(actor, area, now))
    }

    fn reads_labels(&self, tenant: &TenantId) -> bool {
        self.get(tenant).is_some_and(|snapshot| snapshot.gate.reads_labels())
    }
}

fn nobody_home() -> Decision {
    Decision::new(Verdict::Hide, "no such tenant", "there is no such tenant")
}

/// Who principals are: the store's records with the roles of their tenant.
pub struct Records {
    store: Arc<dyn Store>,
    snapshots: Arc<Snapshots>,
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Records")
    }
}

impl Records {
    /// Records of this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, snapshots: Arc<Snapshots>) -> Self {
        Self { store, snapshots }
    }
}

#[async_trait]
impl Directory for Records {
    async fn actor(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        subject: Option<&PrincipalId>,
        key: Option<ApiKeyId>,
    ) -> Result<Option<Actor>, StoreError> {
        let Some(snapshot) = self.snapshots.load(tenant).await? else { return Ok(None) };
        let scopes = match key {
            None => Scopes::default(),
            // One that has run out in the meantime was good when the call was made; one that was taken away was not.
            Some(key) => match self.store.key(tenant, key).await? {
                Some(key) if key.revoked_at.is_none() => key.scopes,
                _ => return Ok(None),
            },
        };
        let Some(known) = self.store.principal(tenant, principal).await? else { return Ok(None) };
        let behind = match subject {
            None => None,
            Some(subject) => match self.store.principal(tenant, subject).await? {
                Some(behind) => Some(behind),
                None => return Ok(None),
            },
        };
        Ok(snapshot.actor(known, Credential::Internal, scopes, behind))
    }
}

impl Snapshot {
    /// A caller from the records: none when the tenant, the principal or the person behind it is switched off, or when
    /// the principal does not (or no longer) work for that person.
    pub(crate) fn actor(
        &self,
        principal: Principal,
        credential: Credential,
        scopes: Scopes,
        subject: Option<Principal>,
    ) -> Option<Actor> {
        if self.tenant.disabled || principal.disabled || principal.tenant != self.tenant.id {
            return None;
        }
        let subject = match subject {
            None => None,
            Some(person) => {
                let works_for = principal.acts_for.iter().any(|who| who.matches(person.id.as_str()));
                if person.disabled || person.tenant != self.tenant.id || !works_for {
                    return None;
                }
                Some(Subject {
                    rules: AccessRules::new(self.rules(&person)),
                    roles: role_names(&person),
                    principal: person.id,
                })
            }
        };
        let rules = scopes.narrow_rules(&self.rules(&principal));
        Some(Actor {
            tenant: principal.tenant.clone(),
            roles: role_names(&principal),
            principal: principal.id,
            subject,
            rules: AccessRules::new(rules),
            scopes: Arc::new(scopes),
            credential,
        })
    }

    /// A principal's access rules: its own and those of its roles.
    pub(crate) fn rules(&self, principal: &Principal) -> Vec<String> {
        let of_roles = principal.roles.iter().filter_map(|role| self.role(role.as_str())).flatten();
        let mut rules: Vec<String> = principal.rules.as_slice().iter().chain(of_roles).cloned().collect();
        rules.sort();
        rules.dedup();
        rules
    }
}

fn role_names(principal: &Principal) -> Arc<[String]> {
    let mut names: Vec<String> = principal.roles.iter().map(ToString::to_string).collect();
    names.sort();
    names.into()
}
