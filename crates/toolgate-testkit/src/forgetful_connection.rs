//! No connections.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::connection::{Connection, KeyCheck, Owner, SealedSecret};
use toolgate_core::id::{ConnectionId, TenantId};
use toolgate_core::port::connection_store::{ConnectionStore, Renewal, StoredSecret};
use toolgate_core::port::store::StoreError;

use crate::Forgetful;

type Answer<T> = Result<T, StoreError>;

#[async_trait]
impl ConnectionStore for Forgetful {
    async fn connection(
        &self,
        _: &TenantId,
        _: &str,
        _: &Owner,
    ) -> Answer<Option<(Connection, SealedSecret)>> {
        Ok(None)
    }
    async fn connections(
        &self,
        _: &TenantId,
        _: Option<&[Owner]>,
        _: Option<ConnectionId>,
        _: u32,
    ) -> Answer<Vec<Connection>> {
        Ok(Vec::new())
    }
    async fn claim_renewal(
        &self,
        _: &TenantId,
        _: ConnectionId,
        _: u64,
        _: Timestamp,
        _: Timestamp,
    ) -> Answer<bool> {
        Ok(false)
    }
    async fn renew_connection(&self, _: &TenantId, _: ConnectionId, _: u64, _: Renewal) -> Answer<()> {
        Err(StoreError::NotFound)
    }
    async fn touch_connections(&self, _: &[(ConnectionId, Timestamp)]) -> Answer<()> {
        Ok(())
    }
    async fn secrets_not_under(&self, _: &str, _: u32) -> Answer<Vec<StoredSecret>> {
        Ok(Vec::new())
    }
    async fn rewrap_secret(&self, _: &StoredSecret) -> Answer<()> {
        Ok(())
    }
    async fn key_check(&self) -> Answer<Option<KeyCheck>> {
        Ok(None)
    }
    async fn set_key_check(&self, _: Option<&str>, _: KeyCheck) -> Answer<()> {
        Ok(())
    }
}
