//! Where connections are kept. They are made and removed by an
//! [`AdminChange`](crate::administration::AdminChange); what happens to them without anybody's doing is here.

use async_trait::async_trait;

use crate::connection::{Connection, ConnectionState, KeyCheck, Owner, SealedSecret};
use crate::id::{ConnectionId, TenantId};
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// What became of a connection by its service's doing.
#[derive(Debug, Clone)]
pub struct Renewal {
    /// A new secret; none when only the state changed. Its version is one more than that seen.
    pub secret: Option<SealedSecret>,
    /// Whether it works.
    pub state: ConnectionState,
    /// When.
    pub at: Timestamp,
}

/// A stored secret and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSecret {
    /// In which tenant.
    pub tenant: TenantId,
    /// Of which connection.
    pub connection: ConnectionId,
    /// The secret.
    pub secret: SealedSecret,
}

/// Connections and their sealed secrets.
#[async_trait]
pub trait ConnectionStore: Send + Sync {
    /// The connection of this owner to this service, with its secret.
    async fn connection(
        &self,
        tenant: &TenantId,
        service: &str,
        owner: &Owner,
    ) -> Result<Option<(Connection, SealedSecret)>, StoreError>;

    /// Connections of these owners (or all) after `after`, in order of id.
    async fn connections(
        &self,
        tenant: &TenantId,
        owners: Option<&[Owner]>,
        after: Option<ConnectionId>,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError>;

    /// Takes the right to renew a connection until `until`, if its secret still has the version seen and nobody else
    /// has that right at `now`. Answers whether it was taken.
    async fn claim_renewal(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Writes what became of a connection, if its secret still has the version seen, and gives the right to renew it
    /// back. Otherwise answers [`StoreError::Conflict`], or [`StoreError::NotFound`] when it is gone.
    async fn renew_connection(
        &self,
        tenant: &TenantId,
        id: ConnectionId,
        seen: u64,
        renewal: Renewal,
    ) -> Result<(), StoreError>;

    /// Notes when these connections were last used. Never moves a time back.
    async fn touch_connections(&self, uses: &[(ConnectionId, Timestamp)]) -> Result<(), StoreError>;

    /// Secrets whose key is not wrapped by this master key, of all tenants.
    async fn secrets_not_under(&self, key_id: &str, limit: u32) -> Result<Vec<StoredSecret>, StoreError>;

    /// Writes a secret's key wrapped anew, if the secret still has this version. One that was replaced in the meantime
    /// is left alone.
    async fn rewrap_secret(&self, rewrapped: &StoredSecret) -> Result<(), StoreError>;

    /// What tells the master key of this store, once there is one.
    async fn key_check(&self) -> Result<Option<KeyCheck>, StoreError>;

    /// Writes it, if what is there is still for the key seen; otherwise answers [`StoreError::Conflict`].
    async fn set_key_check(&self, seen: Option<&str>, check: KeyCheck) -> Result<(), StoreError>;
}
