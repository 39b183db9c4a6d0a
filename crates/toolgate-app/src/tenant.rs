//! Tenants: made, changed and switched off by those who run the server, from the default tenant.

use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{Area, Expect};
use toolgate_core::id::{ApiKeyId, PrincipalId, Slug, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::{ApiKey, Principal};
use toolgate_core::scope::Scopes;
use toolgate_core::tenant::Tenant;
use toolgate_core::{AccessRules, Actor};

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
        let admin: PrincipalId = "user:admin".parse().map_err(impossible)?;
        let role: Slug = "admin".parse().map_err(impossible)?;
        let secret = ApiKeySecret::generate().map_err(|_| impossible("no randomness"))?;
        let principal = Principal {
            tenant: id.clone(),
            id: admin.clone(),
            title: "Administrator".to_owned(),
            rules: AccessRules::default(),
            roles: vec![role],
            acts_for: Vec::new(),
            disabled: false,
            created_at: now,
        };
        let key = ApiKey {
            id: ApiKeyId::generate(),
            tenant: id.clone(),
            principal: admin.clone(),
            subject: None,
            hash: hash_key(secret.reveal()),
            label: "first administrator".to_owned(),
            scopes: Scopes::default(),
            created_by: actor.principal.clone(),
            created_at: now,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        };
        let summary = json!({
            "action": "tenant.created", "tenant": id, "title": title, "by_tenant": actor.tenant,
            "principal": admin, "key": key.id,
        });
        let writes = vec![
            Write::PutTenant { title, disabled: false, expect: Expect::Absent },
            Write::PutPrincipal { principal: Box::new(principal), expect: Expect::Absent },
            Write::PutKey(Box::new(key)),
        ];
        let change = AdminChange::new(id.clone(), actor.principal.clone(), now, &summary, writes);
        self.commit(change).await.map_err(|cause| match cause {
            AppError::Conflict { .. } => {
                AppError::Conflict { message: format!("there is a tenant `{id}` already") }
            }
            other => other,
        })?;
        Ok((self.store().tenant(&id).await?.ok_or_else(unknown)?, secret))
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
    fn runs_the_server(&self, actor: &Actor) -> Result<(), AppError> {
        if actor.tenant == TenantId::default_tenant() && self.require(actor, Area::Tenants).is_ok() {
            return Ok(());
        }
        Err(unknown())
    }
}

const fn unknown() -> AppError {
    AppError::NotFound { what: "tenant" }
}

fn impossible(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> AppError {
    AppError::Store(StoreError::unavailable(cause))
}
