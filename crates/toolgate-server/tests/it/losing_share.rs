//! Links go through untouched.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::id::{InvocationId, ShareId, TenantId};
use toolgate_core::port::share::ShareStore;
use toolgate_core::share::Share;

use super::{Answer, Losing};

#[async_trait]
impl ShareStore for Losing {
    async fn share_by_hash(&self, hash: &[u8; 32]) -> Answer<Option<Share>> {
        self.store.share_by_hash(hash).await
    }
    async fn share(&self, tenant: &TenantId, id: ShareId) -> Answer<Option<Share>> {
        self.store.share(tenant, id).await
    }
    async fn shares_of(
        &self,
        tenant: &TenantId,
        call: InvocationId,
        now: Timestamp,
        limit: u32,
    ) -> Answer<Vec<Share>> {
        self.store.shares_of(tenant, call, now, limit).await
    }
}
