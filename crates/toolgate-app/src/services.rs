//! Which outside services there are, by what the tenant's managers wrote down: MCP servers, as `mcp:<name>`.

use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::connection::Place;
use toolgate_core::document::DocumentKind;
use toolgate_core::id::TenantId;
use toolgate_core::port::broker::Services;
use toolgate_core::port::store::{Store, StoreError};
use toolgate_core::upstream::{Transport, Upstream};

/// Services as the store has them at each moment, so that a change on another node holds here at once.
pub struct StoredServices(Arc<dyn Store>);

impl std::fmt::Debug for StoredServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoredServices")
    }
}

impl StoredServices {
    /// Those of this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

#[async_trait]
impl Services for StoredServices {
    async fn place(&self, tenant: &TenantId, service: &str) -> Result<Option<Place>, StoreError> {
        let upstream = upstream_of(self.0.as_ref(), tenant, service).await?;
        Ok(upstream.map(|upstream| place_of(&upstream)))
    }
}

/// Where a server is.
pub(crate) fn place_of(upstream: &Upstream) -> Place {
    match &upstream.transport {
        Transport::Http { url, .. } => Place::Url(url.clone()),
        Transport::Stdio { command, args, env } => {
            let set = env.iter().map(|(name, value)| format!("{name}={value}"));
            Place::Program(set.chain([command.clone()]).chain(args.iter().cloned()).collect())
        }
    }
}

/// The MCP server that a service is.
pub(crate) async fn upstream_of(
    store: &dyn Store,
    tenant: &TenantId,
    service: &str,
) -> Result<Option<Upstream>, StoreError> {
    let Some(name) = service.strip_prefix("mcp:") else { return Ok(None) };
    let Some(document) = store.document(tenant, DocumentKind::Upstream, name).await? else { return Ok(None) };
    serde_json::from_str(document.body.as_str()).map(Some).map_err(StoreError::unavailable)
}
