//! Links between users of different tenants go through untouched.

use async_trait::async_trait;
use toolgate_core::id::{PrincipalId, TenantId, TenantLinkId};
use toolgate_core::port::tenant_link::TenantLinkStore;
use toolgate_core::principal::Principal;
use toolgate_core::tenant_link::{LinkedUser, TenantLink};

use super::{Answer, Losing};

#[async_trait]
impl TenantLinkStore for Losing {
    async fn linked_users(&self, tenant: &TenantId, principal: &PrincipalId) -> Answer<Vec<LinkedUser>> {
        self.store.linked_users(tenant, principal).await
    }
    async fn tenant_link(&self, tenant: &TenantId, id: TenantLinkId) -> Answer<Option<TenantLink>> {
        self.store.tenant_link(tenant, id).await
    }
    async fn tenant_links(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<TenantLinkId>,
        limit: u32,
    ) -> Answer<Vec<TenantLink>> {
        self.store.tenant_links(tenant, principal, after, limit).await
    }
    async fn were_linked(
        &self,
        one: (&TenantId, &PrincipalId),
        other: (&TenantId, &PrincipalId),
    ) -> Answer<bool> {
        self.store.were_linked(one, other).await
    }
    async fn users_of_identity(&self, issuer: &str, sub: &str) -> Answer<Vec<Principal>> {
        self.store.users_of_identity(issuer, sub).await
    }
}
