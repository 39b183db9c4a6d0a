//! How often standing grants were used.

use async_trait::async_trait;

use crate::id::{InvocationId, PrincipalId, TenantId, ToolName};
use crate::port::store::StoreError;

/// The most uses that are counted: beyond it, more is all that one needs to know.
pub const MOST_COUNTED: u32 = 1_000;

/// The most calls that are looked at for one grant, newest last.
pub const MOST_LOOKED_AT: u32 = 10_000;

/// Calls that a grant may have let run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantUse {
    /// The rule that such calls name in the record.
    pub rule: String,
    /// Of which tool.
    pub tool: ToolName,
    /// By whom.
    pub actor: PrincipalId,
    /// The call it was given with; its uses came later.
    pub after: InvocationId,
}

/// Counts over what grants let run.
#[async_trait]
pub trait GrantUseStore: Send + Sync {
    /// How often each was used, in the same order: up to [`MOST_COUNTED`], among the first [`MOST_LOOKED_AT`] calls of its
    /// caller to its tool.
    async fn grant_uses(&self, tenant: &TenantId, grants: &[GrantUse]) -> Result<Vec<u64>, StoreError>;
}
