//! How often tools were called, how it ended, and what it cost.

use async_trait::async_trait;

use crate::actor::Acting;
use crate::id::{TenantId, ToolName};
use crate::invocation::Status;
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// Which calls to count.
#[derive(Debug, Clone)]
pub struct UsageQuery {
    /// Of one tool, or of all.
    pub tool: Option<ToolName>,
    /// Seen by these, as in [`InvocationFilter`](crate::port::store::InvocationFilter); none means everyone's.
    pub visible_to: Option<Acting>,
    /// Made at or after this moment.
    pub since: Timestamp,
    /// Made before this moment.
    pub until: Timestamp,
    /// The most rows; the largest counts come first.
    pub limit: u32,
}

/// The calls of one tool on one day that ended one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The tool.
    pub tool: ToolName,
    /// The day, in days since 1970-01-01 UTC.
    pub day: i64,
    /// How they stand.
    pub status: Status,
    /// How many.
    pub calls: u64,
    /// What they cost together, in millionths.
    pub cost_micros: i64,
    /// How long they ran together, in microseconds.
    pub run_micros: i64,
    /// When the last of them was made.
    pub last_at: Timestamp,
}

/// Counts over calls.
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// The counts, by tool, day and status. Only calls within the time asked for are read, however many there are.
    async fn usage(&self, tenant: &TenantId, query: &UsageQuery) -> Result<Vec<UsageRow>, StoreError>;
}
