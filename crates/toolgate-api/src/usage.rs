//! Counts over calls, on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The calls of one tool on one day that ended one way.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UsageRowView {
    /// The tool.
    pub tool: String,
    /// The day, in UTC.
    #[schema(example = "2026-01-31")]
    pub day: String,
    /// How they stand.
    pub status: String,
    /// How many.
    pub calls: u64,
    /// What they cost together, in millionths.
    pub cost_micros: i64,
    /// How long they ran together, in milliseconds.
    pub run_ms: f64,
    /// When the last of them was made.
    pub last_at: String,
}

/// Counts over calls: one's own, or everyone's for those who read the record.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// By tool, day and status, the largest counts first; at most 10,000.
    pub usage: Vec<UsageRowView>,
}
