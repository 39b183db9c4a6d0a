//! What happens once, when a server starts.

use std::sync::Arc;

use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::catalog::Collision;
use toolgate_core::document::Expect;
use toolgate_core::id::{ApiKeyId, PrincipalId, TenantId};
use toolgate_core::port::store::{Store, StoreError, ToolRow};
use toolgate_core::principal::{ApiKey, Principal};
use toolgate_core::scope::Scopes;
use toolgate_core::{AccessRules, BoundTool, Catalog, JsonText, Timestamp};

use crate::authenticate::{ApiKeySecret, hash_key};

/// How the first administrator gets in.
#[derive(Debug)]
pub enum AdminKey {
    /// Made just now; to be shown once.
    Made(ApiKeySecret),
    /// The operator gave it.
    Given,
    /// There was one already.
    Kept,
}

/// Makes sure that an administrator can get in: with the key given, or on first start with a new one.
///
/// # Errors
/// When the store can't be written, or the machine has no randomness to give.
pub async fn set_up_admin(
    store: &dyn Store,
    given: Option<ApiKeySecret>,
    at: Timestamp,
) -> Result<AdminKey, StoreError> {
    let tenant = TenantId::default_tenant();
    let admin: PrincipalId = "user:admin".parse().map_err(StoreError::unavailable)?;
    let outcome = match (given, store.any_key().await?) {
        (Some(key), _) => (key, AdminKey::Given),
        (None, true) => return Ok(AdminKey::Kept),
        (None, false) => {
            let key = ApiKeySecret::generate().map_err(|_| StoreError::unavailable("no randomness"))?;
            (key.clone(), AdminKey::Made(key))
        }
    };
    let hash = hash_key(outcome.0.reveal());
    if store.key_by_hash(&hash).await?.is_some() {
        return Ok(outcome.1);
    }
    let principal = Principal {
        tenant: tenant.clone(),
        id: admin.clone(),
        title: "Administrator".to_owned(),
        rules: AccessRules::default(),
        roles: vec!["admin".parse().map_err(StoreError::unavailable)?],
        acts_for: Vec::new(),
        disabled: false,
        created_at: at,
    };
    let key = ApiKey {
        id: ApiKeyId::generate(),
        tenant: tenant.clone(),
        principal: admin.clone(),
        subject: None,
        hash,
        label: "first administrator".to_owned(),
        scopes: Scopes::default(),
        created_by: admin.clone(),
        created_at: at,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        replaces: None,
    };
    let summary = serde_json::json!({ "action": "server.set_up", "principal": admin, "key": key.id });
    let writes = vec![
        Write::PutPrincipal { principal: Box::new(principal), expect: Expect::Anything },
        Write::PutKey(Box::new(key)),
    ];
    store.change(AdminChange::new(tenant, admin, at, &summary, writes)).await?;
    Ok(outcome.1)
}

/// Why the tools could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ToolSetUpError {
    /// Two want one id.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// They could not be written.
    #[error("the tools could not be recorded")]
    Store(#[from] StoreError),
}

/// Records the tools and their contracts, and returns them as the database says they are: its word on approval stands,
/// not the code's. All tools must fit into one catalog.
///
/// # Errors
/// When two tools want one id, or the store can't be written.
pub async fn set_up_tools(
    store: &dyn Store,
    tools: Vec<BoundTool>,
    today: &str,
    at: Timestamp,
) -> Result<Vec<Arc<BoundTool>>, ToolSetUpError> {
    let mut rows = Vec::with_capacity(tools.len());
    for tool in &tools {
        rows.push(ToolRow {
            id: tool.contract.id.clone(),
            version: tool.version.clone(),
            effect: tool.contract.effect,
            egress: tool.contract.egress,
            requires_approval: tool.requires_approval,
            contract: JsonText::from_serialize(&*tool.contract).map_err(StoreError::unavailable)?,
        });
    }
    let kept = store.record_tools(&TenantId::default_tenant(), rows, at).await?;
    let approvals: std::collections::HashMap<_, _> =
        kept.into_iter().map(|row| (row.id, row.requires_approval)).collect();
    let tools: Vec<_> = tools
        .into_iter()
        .map(|mut tool| {
            tool.requires_approval |= approvals.get(&tool.contract.id).copied().unwrap_or(true);
            Arc::new(tool)
        })
        .collect();
    Catalog::of(tools.iter().cloned(), today)?;
    Ok(tools)
}
