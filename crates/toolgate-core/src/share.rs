//! Links by which anyone may look at one call, for a while.

use crate::id::{ApiKeyId, InvocationId, PrincipalId, ShareId, TenantId};
use crate::time::Timestamp;

/// A link to a call. The secret in it is never stored, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Its id.
    pub id: ShareId,
    /// Whose wall the call stands within.
    pub tenant: TenantId,
    /// Which call it shows.
    pub call: InvocationId,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
    /// Who made it. It shows no more than they may see.
    pub by: PrincipalId,
    /// The key they made it with, if it was one: when that is taken away, the link ends too.
    pub key: Option<ApiKeyId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

impl Share {
    /// Whether it still works.
    #[must_use]
    pub fn works(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}
