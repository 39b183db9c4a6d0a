//! What happens once, when a server starts.

use std::sync::Arc;

use toolgate_core::catalog::{Collision, Tools};
use toolgate_core::id::{ApiKeyId, TenantId};
use toolgate_core::port::store::{ApiKey, Store, StoreError, ToolRow};
use toolgate_core::{BoundTool, Catalog, JsonText, Timestamp};

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
    let admin = "user:admin".parse().map_err(StoreError::unavailable)?;
    let outcome = match (given, store.any_key().await?) {
        (Some(key), _) => (key, AdminKey::Given),
        (None, true) => return Ok(AdminKey::Kept),
        (None, false) => {
            let key = ApiKeySecret::generate().map_err(|_| StoreError::unavailable("no randomness"))?;
            (key.clone(), AdminKey::Made(key))
        }
    };
    store.put_principal(&tenant, &admin, &["*".to_owned()]).await?;
    if store.actor_by_key(&hash_key(outcome.0.reveal())).await?.is_some() {
        return Ok(outcome.1);
    }
    store
        .put_key(ApiKey {
            id: ApiKeyId::generate(),
            tenant,
            principal: admin,
            hash: hash_key(outcome.0.reveal()),
            label: "first administrator".to_owned(),
            created_at: at,
        })
        .await?;
    Ok(outcome.1)
}

/// One catalog for all tenants, as it was when the server started.
#[derive(Debug)]
pub struct FixedTools(Arc<Catalog>);

impl FixedTools {
    /// Serves this catalog.
    #[must_use]
    pub fn new(catalog: Catalog) -> Self {
        Self(Arc::new(catalog))
    }
}

impl Tools for FixedTools {
    fn of(&self, _tenant: &TenantId) -> Arc<Catalog> {
        Arc::clone(&self.0)
    }
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

/// Records the tools and their contracts, and builds the catalog from what the database says of them: its word on
/// approval stands, not the code's.
///
/// # Errors
/// When two tools want one id, or the store can't be written.
pub async fn set_up_tools(
    store: &dyn Store,
    tools: Vec<BoundTool>,
    today: &str,
    at: Timestamp,
) -> Result<Catalog, ToolSetUpError> {
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
    let tools = tools.into_iter().map(|mut tool| {
        tool.requires_approval |= approvals.get(&tool.contract.id).copied().unwrap_or(true);
        Arc::new(tool)
    });
    Ok(Catalog::of(tools, today)?)
}
