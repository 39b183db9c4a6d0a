//! Where links to calls are kept. They are made and taken back as changes
//! ([`Write`](crate::administration::Write)), so that each is in the record.

use async_trait::async_trait;

use crate::id::{InvocationId, ShareId, TenantId};
use crate::port::store::StoreError;
use crate::share::Share;
use crate::time::Timestamp;

/// Links to calls.
#[async_trait]
pub trait ShareStore: Send + Sync {
    /// The link with this hash, of whatever tenant, whether it still works or not.
    async fn share_by_hash(&self, hash: &[u8; 32]) -> Result<Option<Share>, StoreError>;

    /// One link of this tenant, whether it still works or not.
    async fn share(&self, tenant: &TenantId, id: ShareId) -> Result<Option<Share>, StoreError>;

    /// The links to a call that still work at `now`, newest first, at most `limit`.
    async fn shares_of(
        &self,
        tenant: &TenantId,
        call: InvocationId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Share>, StoreError>;
}
