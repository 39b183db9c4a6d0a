//! Nobody gives what they do not have: whether a caller holds all that it would hand to another.
//!
//! What a principal can do comes from four places: its access rules, its roles (policies speak of them), what policy
//! lets it manage, and what policies give to it alone, by its id or name. The first three are compared, each on its
//! own, and a narrowed credential counts for no more than it can do. The last can't be compared, so only a whole
//! administrator hands out a principal that policies can tell from others.

use std::sync::Arc;

use toolgate_core::actor::{AccessRules, Actor, Credential};
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, Expect};
use toolgate_core::id::{PrincipalId, Slug, TenantId};
use toolgate_core::principal::Principal;
use toolgate_core::scope::Scopes;

use crate::snapshot::Snapshot;
use crate::{App, AppError};

impl App {
    /// The caller's tenant as it stands in the store just now, read again if another node changed it.
    pub(crate) async fn as_it_stands(&self, actor: &Actor) -> Result<Arc<Snapshot>, AppError> {
        self.tenant_as_it_stands(&actor.tenant).await?.ok_or(AppError::NotFound { what: "tenant" })
    }

    /// The same for any tenant; none when there is no such tenant.
    pub(crate) async fn tenant_as_it_stands(
        &self,
        tenant: &TenantId,
    ) -> Result<Option<Arc<Snapshot>>, AppError> {
        let Some(row) = self.store().tenant(tenant).await? else { return Ok(None) };
        match self.snapshots.load(tenant).await? {
            Some(known) if known.tenant.generation == row.generation => Ok(Some(known)),
            _ => {
                self.snapshots.reload(tenant).await?;
                Ok(self.snapshots.load(tenant).await?)
            }
        }
    }

    /// Refuses unless the caller holds everything `holder` can do with a credential of these scopes.
    pub(crate) fn holds_as_much(
        &self,
        actor: &Actor,
        snapshot: &Snapshot,
        holder: &Principal,
        scopes: &Scopes,
    ) -> Result<(), AppError> {
        let rules = scopes.narrow_rules(&snapshot.rules(holder));
        for rule in &rules {
            holds_rule(actor, rule)?;
        }
        for role in &holder.roles {
            holds_role(actor, snapshot, role)?;
        }
        self.manages_as_much(actor, holder, &rules, scopes)
    }

    /// Refuses unless the caller manages every area that `holder` would.
    pub(crate) fn manages_as_much(
        &self,
        actor: &Actor,
        holder: &Principal,
        rules: &[String],
        scopes: &Scopes,
    ) -> Result<(), AppError> {
        if is_whole(actor) {
            return Ok(());
        }
        let as_holder = Actor {
            tenant: actor.tenant.clone(),
            principal: holder.id.clone(),
            subject: None,
            rules: AccessRules::new(rules.to_vec()),
            roles: holder.roles.iter().map(ToString::to_string).collect(),
            scopes: Arc::new(scopes.clone()),
            credential: Credential::Internal,
        };
        for area in Area::ALL {
            if self.require(&as_holder, area).is_ok() && self.require(actor, area).is_err() {
                return Err(beyond(format!("`{}` may manage {}, and you may not", holder.id, area.as_str())));
            }
        }
        Ok(())
    }
}

/// Whether the caller is an administrator with nothing narrowed, acting for nobody else.
fn is_whole(actor: &Actor) -> bool {
    actor.is_admin() && actor.subject.is_none()
}

/// Refuses whoever is not a whole administrator where policies can tell this principal from others: what they give to
/// it alone is in none of its rules and roles. Oneself is no gift.
pub(crate) fn is_like_others(
    actor: &Actor,
    snapshot: &Snapshot,
    principal: &PrincipalId,
) -> Result<(), AppError> {
    if is_whole(actor) || *principal == actor.principal || !snapshot.names(principal) {
        return Ok(());
    }
    Err(beyond(format!(
        "policies can tell `{principal}` from others, so it may be able to do what you can't"
    )))
}

/// Refuses unless the caller holds this access rule itself, and so does the person it works for.
pub(crate) fn holds_rule(actor: &Actor, rule: &str) -> Result<(), AppError> {
    // A narrowed key of an administrator must not become a whole one by giving `*` to someone else.
    let held = if rule == "*" {
        is_whole(actor)
    } else {
        actor.rules.hold(rule) && actor.subject.as_ref().is_none_or(|subject| subject.rules.hold(rule))
    };
    if held { Ok(()) } else { Err(beyond(format!("you do not hold the access rule `{rule}` yourself"))) }
}

/// Refuses unless the caller may hand on this role: it holds the role's rules, and the role itself or `*`, since
/// policies can give a role more than its rules.
pub(crate) fn holds_role(actor: &Actor, snapshot: &Snapshot, role: &Slug) -> Result<(), AppError> {
    for rule in snapshot.role(role.as_str()).unwrap_or_default() {
        holds_rule(actor, rule).map_err(|_| {
            beyond(format!("the role `{role}` gives `{rule}`, which you do not hold yourself"))
        })?;
    }
    if actor.rules.hold("*") || actor.roles.iter().any(|held| held == role.as_str()) {
        return Ok(());
    }
    Err(beyond(format!("you do not have the role `{role}` yourself")))
}

/// A write that makes a change fail when anything in the tenant was changed since it was looked at: what was checked
/// still holds when it is written.
pub(crate) fn nothing_changed_since(snapshot: &Snapshot) -> Write {
    Write::PutTenant {
        title: snapshot.tenant.title.clone(),
        disabled: snapshot.tenant.disabled,
        expect: Expect::Revision(snapshot.tenant.generation),
    }
}

fn beyond(message: String) -> AppError {
    AppError::Forbidden {
        message,
        rule: Some("nobody gives what they do not have".to_owned()),
        hint: Some("ask someone who holds it, such as an administrator".to_owned()),
    }
}
