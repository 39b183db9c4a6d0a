//! Profiles on the wire. A profile can only tighten.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::BudgetView;

/// What holds for an agent's use of assigned tools, on top of everything else.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ProfileView {
    /// Its name.
    #[schema(example = "careful")]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// `always_ask` when every call asks a person; otherwise policy and tool decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Calls a minute, for each agent and tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time, for each agent and tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// What calls may cost, for each agent over all tools assigned with this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<BudgetView>,
    /// What happens when rate or cost is used up: `stop` or `ask`.
    #[schema(example = "stop")]
    pub on_overrun: String,
    /// A JSON Schema the input must fit besides the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// How often it was written: what `If-Match` takes.
    pub revision: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// A page of profiles.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ProfileListView {
    /// The profiles, ordered by name.
    pub profiles: Vec<ProfileView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a profile says. Every field can only tighten.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutProfileRequest {
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// `always_ask`, or left out. There is no `auto`: a profile can only tighten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^always_ask$")]
    pub approval: Option<String>,
    /// Calls a minute, for each agent and tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time, for each agent and tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub concurrency: Option<u32>,
    /// What calls may cost, for each agent over all tools assigned with this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<BudgetView>,
    /// What happens when rate or cost is used up: `stop` (as when left out) or `ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(stop|ask)$")]
    pub on_overrun: Option<String>,
    /// A JSON Schema the input must fit besides the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
}
