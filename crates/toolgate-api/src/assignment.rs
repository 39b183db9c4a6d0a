//! Assignments on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Tools an agent has: one, or those of a toolset.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AssignmentView {
    /// The agent.
    #[schema(example = "agent:helper")]
    pub agent: String,
    /// The tool it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The toolset it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// The profile that tightens what it may do with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How often it was written.
    pub revision: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// A page of assignments.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AssignmentListView {
    /// The assignments, ordered by agent and then by what is assigned.
    pub assignments: Vec<AssignmentView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Tools to give to an agent: either `tool` or `toolset`. Takes the place of what was said of the same pair before.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutAssignmentRequest {
    /// The agent.
    #[schema(pattern = "^agent:[A-Za-z0-9_.@+/:-]{1,128}$", example = "agent:helper")]
    pub agent: String,
    /// A tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$", max_length = 64)]
    pub tool: Option<String>,
    /// A toolset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    pub toolset: Option<String>,
    /// A profile that tightens what the agent may do with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    pub profile: Option<String>,
}
