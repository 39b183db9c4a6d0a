//! No links.

use async_trait::async_trait;
use toolgate_core::Timestamp;
use toolgate_core::id::{InvocationId, ShareId, TenantId};
use toolgate_core::port::share::ShareStore;
use toolgate_core::port::store::StoreError;
use toolgate_core::share::Share;

use crate::Forgetful;

#[async_trait]
impl ShareStore for Forgetful {
    async fn share_by_hash(&self, _: &[u8; 32]) -> Result<Option<Share>, StoreError> {
        Ok(None)
    }
    async fn share(&self, _: &TenantId, _: ShareId) -> Result<Option<Share>, StoreError> {
        Ok(None)
    }
    async fn shares_of(
        &self,
        _: &TenantId,
        _: InvocationId,
        _: Timestamp,
        _: u32,
    ) -> Result<Vec<Share>, StoreError> {
        Ok(Vec::new())
    }
}
