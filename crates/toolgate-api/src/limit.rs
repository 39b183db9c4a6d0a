//! Limits on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An amount of money in a span of time. Spans follow the calendar in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetView {
    /// How much, in millionths of the tenant's unit.
    #[schema(minimum = 0)]
    pub micros: i64,
    /// In which span: `hour`, `day` or `month`.
    #[schema(pattern = "^(hour|day|month)$", example = "day")]
    pub every: String,
}

/// How often, how many at once and how dear.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LimitView {
    /// Its name.
    #[schema(example = "agents-per-day")]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whose calls count; none named means everyone's.
    pub principals: Vec<String>,
    /// Calls of which tools count; none named means all.
    pub tools: Vec<String>,
    /// What has a measure of its own: `tenant`, `principal`, `tool` or `principal_and_tool`.
    #[schema(example = "principal")]
    pub per: String,
    /// Calls a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time on one node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// What calls may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<BudgetView>,
    /// What happens when rate or cost is used up: `stop` or `ask`.
    #[schema(example = "stop")]
    pub on_overrun: String,
    /// How often it was written: what `If-Match` takes.
    pub revision: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// A page of limits.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LimitListView {
    /// The limits, ordered by name.
    pub limits: Vec<LimitView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a limit says: at least one of `rate_per_minute`, `concurrency` and `cost`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutLimitRequest {
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// Whose calls count: ids, or the start of ids and `*` (`agent:*` names all agents). None named means everyone's.
    #[serde(default)]
    #[schema(max_items = 500)]
    pub principals: Vec<String>,
    /// Calls of which tools count: ids, or the start of ids and `*`. None named means all.
    #[serde(default)]
    #[schema(max_items = 500)]
    pub tools: Vec<String>,
    /// What has a measure of its own: `tenant`, `principal`, `tool` or `principal_and_tool`.
    #[schema(pattern = "^(tenant|principal|tool|principal_and_tool)$", example = "principal")]
    pub per: String,
    /// Calls a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time on one node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub concurrency: Option<u32>,
    /// What calls may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<BudgetView>,
    /// What happens when rate or cost is used up: `stop` (as when left out) or `ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(stop|ask)$")]
    pub on_overrun: Option<String>,
}
