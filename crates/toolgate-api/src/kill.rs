//! Kill switches on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A thrown switch.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KillView {
    /// What it stops: `tool`, `principal`, `connection`, `session` or `tenant`.
    #[schema(example = "tool")]
    pub kind: String,
    /// Which one.
    #[schema(example = "crm__refund")]
    pub target: String,
    /// Why.
    pub reason: String,
    /// Who threw it.
    pub by: String,
    /// When.
    pub at: String,
}

/// A switch just thrown.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ThrownKillView {
    /// The switch.
    #[serde(flatten)]
    pub kill: KillView,
    /// Whether there is what it names. A switch for what is not there holds from the moment it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<bool>,
}

/// A page of thrown switches.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KillListView {
    /// The switches, ordered by kind and target.
    pub kills: Vec<KillView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A switch to throw: what it names is stopped at once, whatever policy says. Managing goes on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ThrowKillRequest {
    /// What it stops: `tool`, `principal`, `connection`, `session` or `tenant`.
    #[schema(pattern = "^(tool|principal|connection|session|tenant)$", example = "tool")]
    pub kind: String,
    /// Which one: its id. Left out for `tenant`, which is always your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "crm__refund")]
    pub target: Option<String>,
    /// Why, for those who meet it.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}
