//! Tenants: the walls between organisations.

use crate::id::TenantId;
use crate::time::Timestamp;

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its slug.
    pub id: TenantId,
    /// What people call it.
    pub title: String,
    /// Whether nobody gets in.
    pub disabled: bool,
    /// Goes up with every change of what its managers decide; never down.
    pub generation: u64,
    /// When it was made.
    pub created_at: Timestamp,
}
