//! Connections are never lost on the way.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::connection::{Connection, KeyCheck, Owner, SealedSecret};
use toolgate_core::id::{ConnectionId, TenantId};
use toolgate_core::port::connection_store::{ConnectionStore, Renewal, StoredSecret};

use super::{Answer, Losing};

#[async_trait]
impl ConnectionStore for Losing {
    async fn connection(
        &self,
        tenant: &TenantId,
        service: &str,
        owner: &Owner,
    ) -> Answer<Option<(Connection, SealedSecret)>> {
        self.store.connection(tenant, service, owner).await
    }
    async fn connections(
        &self,
        tenant: &TenantId,
        owners: Option<&[Owner]>,
        after: Option<ConnectionId>,
        limit: u32,
    ) -> Answer<Vec<Connection>> {
        self.store.connections(tenant, owners, after, limit).await
    }
    async fn claim_renewal(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        now: Timestamp,
        until: Timestamp,
    ) -> Answer<bool> {
        self.store.claim_renewal(tenant, id, seen, now, until).await
    }
    async fn renew_connection(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        renewal: Renewal,
    ) -> Answer<()> {
        self.store.renew_connection(tenant, id, seen, renewal).await
    }
    async fn touch_connections(&self, uses: &[(ConnectionId, Timestamp)]) -> Answer<()> {
        self.store.touch_connections(uses).await
    }
    async fn secrets_not_under(&self, key_id: &str, limit: u32) -> Answer<Vec<StoredSecret>> {
        self.store.secrets_not_under(key_id, limit).await
    }
    async fn rewrap_secret(&self, rewrapped: &StoredSecret) -> Answer<()> {
        self.store.rewrap_secret(rewrapped).await
    }
    async fn key_check(&self) -> Answer<Option<KeyCheck>> {
        self.store.key_check().await
    }
    async fn set_key_check(&self, seen: Option<&str>, check: KeyCheck) -> Answer<()> {
        self.store.set_key_check(seen, check).await
    }
}
