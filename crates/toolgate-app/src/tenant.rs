//! Tenants: made, changed and switched off by those who run the server, from the default tenant.

use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{Area, Expect};
use toolgate_core::id::{ApiKeyId, PrincipalId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::{ApiKey, Principal};
use toolgate_core::scope::Scopes;
use toolgate_core::tenant::Tenant;
use toolgate_core::{AccessRules, Actor, Timestamp};

use crate::authenticate::{ApiKeySecret, hash_key};
use crate::{App, AppError, bounds};

/// What to change of a tenant.
#[derive(Debug, Clone, Default)]
pub struct TenantChange {
    /// What people call it.
    pub title: Option<String>,
    /// Whether nobody gets in.
    pub disabled: Option<bool>,
}

impl App {
    /// The tenants of this server after `after`, and where the next part starts.
    ///
    /// # Errors
    /// "Not found" for everyone who does not run the server.
    pub async fn list_tenants(
        &self,
        actor: &Actor,
        after: Option<TenantId>,
        limit: u32,
    ) -> Result<(Vec<Tenant>, Option<TenantId>), AppError> {
        self.runs_the_server(actor)?;
        let mut found = self.store().tenants(after.as_ref(), limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|tenant| tenant.id.clone());
        Ok((found, next))
    }

    /// One tenant: one's own, or any for those who run the server.
    ///
    /// # Errors
    /// "Not found" for what does not exist and for what the caller may not see.
    pub async fn read_tenant(&self, actor: &Actor, id: &TenantId) -> Result<Tenant, AppError> {
        if *id != actor.tenant {
            self.runs_the_server(actor)?;
        }
        self.store().tenant(id).await?.ok_or_else(unknown)
    }

    /// Makes a tenant with its first administrator, `user:admin`, and a key for them.
    ///
    /// # Errors
    /// A conflict when the slug is taken.
    pub async fn create_tenant(
        &self,
        actor: &Actor,
        id: TenantId,
        title: Option<&str>,
    ) -> Result<(Tenant, ApiKeySecret), AppError> {
        self.runs_the_server(actor)?;
        let title = bounds::title(title.unwrap_or(id.as_str()))?;
        let now = self.now();
        let principal = administrator(&id, now)?;
        let (key, secret) = key_for(&principal, "first administrator", &actor.principal, now)?;
        let summary = json!({
            "action": "tenant.created", "tenant": id, "title": title, "by_tenant": actor.tenant,
            "principal": principal.id, "key": key.id,
        });
        let writes = vec![
            Write::PutTenant { title: title.clone(), disabled: false, expect: Expect::Absent },
            Write::PutPrincipal { principal: Box::new(principal), expect: Expect::Absent },
            Write::PutKey(Box::new(key)),
        ];
        let change = AdminChange::new(id.clone(), actor.principal.clone(), now, &summary, writes);
        let generation = self.committed(change).await.map_err(|cause| match cause {
            AppError::Conflict { .. } => {
                AppError::Conflict { message: format!("there is a tenant `{id}` already") }
            }
            other => other,
        })?;
        // Not read again: what could go wrong there would lose the key.
        Ok((Tenant { id, title, disabled: false, generation, created_at: now }, secret))
    }

    /// Lets a tenant in again whose keys are lost: a fresh key for its `user:admin`, who is switched on and made an
    /// administrator if need be. Earlier keys go on working. A tenant that is switched off stays so.
    ///
    /// # Errors
    /// A conflict for the default tenant, or when the tenant was changed in the meantime.
    pub async fn recover_tenant(
        &self,
        actor: &Actor,
        id: &TenantId,
    ) -> Result<(Tenant, ApiKeySecret), AppError> {
        self.runs_the_server(actor)?;
        let tenant = self.store().tenant(id).await?.ok_or_else(unknown)?;
        if *id == TenantId::default_tenant() {
            return Err(AppError::Conflict {
                message: "the default tenant is recovered by starting the server with `TOOLGATE_ADMIN_KEY`"
                    .to_owned(),
            });
        }
        let now = self.now();
        let fresh = administrator(id, now)?;
        let principal = match self.store().principal(id, &fresh.id).await? {
            None => fresh,
            Some(mut known) => {
                known.disabled = false;
                let missing = fresh.roles.into_iter().filter(|role| !known.roles.contains(role));
                known.roles = known.roles.iter().cloned().chain(missing).collect();
                known
            }
        };
        let (key, secret) = key_for(&principal, "recovered", &actor.principal, now)?;
        let summary = json!({
            "action": "tenant.recovered", "tenant": id, "by_tenant": actor.tenant,
            "principal": principal.id, "roles": principal.roles, "key": key.id,
        });
        let (title, disabled) = (tenant.title.clone(), tenant.disabled);
        let writes = vec![
            // Nothing was changed since it was looked at.
            Write::PutTenant { title, disabled, expect: Expect::Revision(tenant.generation) },
            Write::PutPrincipal { principal: Box::new(principal), expect: Expect::Anything },
            Write::PutKey(Box::new(key)),
        ];
        let change = AdminChange::new(id.clone(), actor.principal.clone(), now, &summary, writes);
        let generation = self.committed(change).await?;
        Ok((Tenant { generation, ..tenant }, secret))
    }

    /// Changes a tenant: what it is called, and whether anybody gets in.
    ///
    /// # Errors
    /// A conflict when it is the default tenant that should be switched off.
    pub async fn update_tenant(
        &self,
        actor: &Actor,
        id: &TenantId,
        wanted: TenantChange,
    ) -> Result<Tenant, AppError> {
        self.runs_the_server(actor)?;
        let tenant = self.store().tenant(id).await?.ok_or_else(unknown)?;
        let title = wanted.title.map_or(Ok(tenant.title), |title| bounds::title(&title))?;
        let disabled = wanted.disabled.unwrap_or(tenant.disabled);
        if disabled && *id == TenantId::default_tenant() {
            return Err(AppError::Conflict {
                message: "the default tenant can't be switched off: the server is run from it".to_owned(),
            });
        }
        let summary = json!({
            "action": "tenant.changed", "tenant": id, "title": title, "disabled": disabled,
            "by_tenant": actor.tenant,
        });
        let write = Write::PutTenant { title, disabled, expect: Expect::Revision(tenant.generation) };
        let change = AdminChange::new(id.clone(), actor.principal.clone(), self.now(), &summary, vec![write]);
        self.commit(change).await?;
        self.store().tenant(id).await?.ok_or_else(unknown)
    }

    /// Only managers of tenants in the default tenant see more than their own; to all others there is nothing.
    /// Whether this caller is one of those who run the server and see all of it.
    #[must_use]
    pub fn runs_this_server(&self, actor: &Actor) -> bool {
        self.runs_the_server(actor).is_ok()
    }

    fn runs_the_server(&self, actor: &Actor) -> Result<(), AppError> {
        if actor.tenant == TenantId::default_tenant() && self.require(actor, Area::Tenants).is_ok() {
            return Ok(());
        }
        Err(unknown())
    }
}

/// A tenant's first administrator.
fn administrator(tenant: &TenantId, now: Timestamp) -> Result<Principal, AppError> {
    Ok(Principal {
        tenant: tenant.clone(),
        id: "user:admin".parse().map_err(impossible)?,
        title: "Administrator".to_owned(),
        rules: AccessRules::default(),
        roles: vec!["admin".parse().map_err(impossible)?],
        acts_for: Vec::new(),
        disabled: false,
        created_at: now,
    })
}

fn key_for(
    principal: &Principal,
    label: &str,
    by: &PrincipalId,
    now: Timestamp,
) -> Result<(ApiKey, ApiKeySecret), AppError> {
    let secret = ApiKeySecret::generate().map_err(|_| impossible("no randomness"))?;
    let key = ApiKey {
        id: ApiKeyId::generate(),
        tenant: principal.tenant.clone(),
        principal: principal.id.clone(),
        subject: None,
        hash: hash_key(secret.reveal()),
        label: label.to_owned(),
        scopes: Scopes::default(),
        created_by: by.clone(),
        created_at: now,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        replaces: None,
    };
    Ok((key, secret))
}

const fn unknown() -> AppError {
    AppError::NotFound { what: "tenant" }
}

fn impossible(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> AppError {
    AppError::Store(StoreError::unavailable(cause))
}
