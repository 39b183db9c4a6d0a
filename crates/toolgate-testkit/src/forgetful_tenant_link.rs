//! Nobody is linked in a store that keeps nothing.

use async_trait::async_trait;
use toolgate_core::id::{PrincipalId, TenantId, TenantLinkId};
use toolgate_core::port::store::StoreError;
use toolgate_core::port::tenant_link::TenantLinkStore;
use toolgate_core::principal::Principal;
use toolgate_core::tenant_link::{LinkedUser, TenantLink};

use crate::Forgetful;

type Answer<T> = Result<T, StoreError>;

#[async_trait]
impl TenantLinkStore for Forgetful {
    async fn linked_users(&self, _: &TenantId, _: &PrincipalId) -> Answer<Vec<LinkedUser>> {
        Ok(Vec::new())
    }
    async fn tenant_link(&self, _: &TenantId, _: TenantLinkId) -> Answer<Option<TenantLink>> {
        Ok(None)
    }
    async fn tenant_links(
        &self,
        _: &TenantId,
        _: Option<&PrincipalId>,
        _: Option<TenantLinkId>,
        _: u32,
    ) -> Answer<Vec<TenantLink>> {
        Ok(Vec::new())
    }
    async fn were_linked(&self, _: (&TenantId, &PrincipalId), _: (&TenantId, &PrincipalId)) -> Answer<bool> {
        Ok(false)
    }
    async fn users_of_identity(&self, _: &str, _: &str) -> Answer<Vec<Principal>> {
        Ok(Vec::new())
    }
}
