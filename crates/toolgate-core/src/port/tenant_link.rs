//! Where links between users of different tenants are kept. They are written by an
//! [`AdminChange`](crate::administration::AdminChange), each half in its own tenant.

use async_trait::async_trait;

use crate::id::{PrincipalId, TenantId, TenantLinkId};
use crate::port::store::StoreError;
use crate::principal::Principal;
use crate::tenant_link::{LinkedUser, TenantLink};

/// Links between users of different tenants. One whose other half is missing or ended does not hold, and is not seen.
#[async_trait]
pub trait TenantLinkStore: Send + Sync {
    /// Whom a user is linked with, switched off or not, in order of tenant and link.
    async fn linked_users(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Vec<LinkedUser>, StoreError>;

    /// One link, from this tenant's side.
    async fn tenant_link(
        &self,
        tenant: &TenantId,
        id: TenantLinkId,
    ) -> Result<Option<TenantLink>, StoreError>;

    /// Links of a user (or all) of this tenant after `after`, in order of id.
    async fn tenant_links(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<TenantLinkId>,
        limit: u32,
    ) -> Result<Vec<TenantLink>, StoreError>;

    /// Whether two users were ever linked, whatever became of it.
    async fn were_linked(
        &self,
        one: (&TenantId, &PrincipalId),
        other: (&TenantId, &PrincipalId),
    ) -> Result<bool, StoreError>;

    /// The users of all tenants that this person at an identity provider is, in order of tenant.
    async fn users_of_identity(&self, issuer: &str, sub: &str) -> Result<Vec<Principal>, StoreError>;
}
