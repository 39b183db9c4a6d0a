//! Toolsets on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A named selection of tools.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolsetView {
    /// Its name.
    #[schema(example = "reading")]
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Tool ids, or the start of ids and `*`.
    pub tools: Vec<String>,
    /// Left out of the above.
    pub exclude: Vec<String>,
    /// Only tools with one of these effects; none named means all.
    pub effects: Vec<String>,
    /// Only tools with one of these egress classes; none named means all.
    pub egress: Vec<String>,
    /// How MCP clients find its tools: `list`, or `search`.
    pub mode: String,
    /// How many of the tenant's tools it holds now.
    pub tool_count: u64,
    /// Their ids, in order; left out in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_ids: Option<Vec<String>>,
    /// How often it was written: what `If-Match` takes.
    pub revision: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// A page of toolsets.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolsetListView {
    /// The toolsets, ordered by name.
    pub toolsets: Vec<ToolsetView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a toolset holds: what is named in `tools`, less `exclude`, with one of the effects and egress classes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutToolsetRequest {
    /// What people call it.
    #[serde(default)]
    #[schema(max_length = 120)]
    pub title: String,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// Tool ids, or the start of ids and `*`.
    #[schema(min_items = 1, max_items = 500)]
    pub tools: Vec<String>,
    /// Left out of the above.
    #[serde(default)]
    #[schema(max_items = 500)]
    pub exclude: Vec<String>,
    /// Only tools with one of these effects: `read`, `mutate`, `destructive`. None named means all.
    #[serde(default)]
    #[schema(max_items = 3)]
    pub effects: Vec<String>,
    /// Only tools with one of these egress classes: `none`, `read_only`, `write`. None named means all.
    #[serde(default)]
    #[schema(max_items = 3)]
    pub egress: Vec<String>,
    /// How MCP clients of `/mcp/{name}` find its tools: `list` shows them all, `search` offers three tools that find,
    /// describe and call the others. None named means `list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "search")]
    pub mode: Option<String>,
}
