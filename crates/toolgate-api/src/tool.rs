//! Tools as callers see them. The one place a contract is put on the wire: no executor, no secret.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::BoundTool;
use utoipa::ToSchema;

/// A tool in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolSummaryView {
    /// Its id.
    #[schema(example = "core__get_current_time")]
    pub id: String,
    /// What people call it.
    pub title: String,
    /// When to use it and when not.
    pub description: String,
    /// Where it stands in the library.
    pub category: String,
    /// An icon's name.
    pub icon: String,
    /// What a call does to state: `read`, `mutate` or `destructive`.
    #[schema(example = "read")]
    pub effect: String,
    /// What leaves the house: `none`, `read_only` or `write`.
    #[schema(example = "none")]
    pub egress: String,
    /// Whether the same call twice is the same as once.
    pub idempotent: bool,
    /// Whether every call waits for a person.
    pub requires_approval: bool,
    /// The contract's content address.
    pub version: String,
}

/// A page of tools.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolListView {
    /// The tools, ordered by id.
    pub tools: Vec<ToolSummaryView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A tool with everything a form or a model needs.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolView {
    /// What lists show.
    #[serde(flatten)]
    pub summary: ToolSummaryView,
    /// JSON Schema of the input.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// JSON Schema of the output.
    #[schema(value_type = Object)]
    pub output_schema: Value,
    /// The output fields that are shown.
    pub redaction_allow: Vec<String>,
    /// Access rules the caller needs.
    pub permissions: Vec<String>,
    /// How long a call may run.
    pub timeout_ms: u64,
    /// How large a result may be.
    pub max_result_bytes: u64,
    /// How people see the output: key, label, type and how to draw it.
    #[schema(value_type = Vec<Object>)]
    pub output_sections: Value,
    /// Old ids that still work.
    pub aliases: Vec<String>,
}

impl From<&BoundTool> for ToolSummaryView {
    fn from(tool: &BoundTool) -> Self {
        let contract = &tool.contract;
        Self {
            id: contract.id.to_string(),
            title: contract.title.clone(),
            description: contract.description.clone(),
            category: contract.category.clone(),
            icon: contract.icon.clone(),
            effect: contract.effect.as_str().to_owned(),
            egress: contract.egress.as_str().to_owned(),
            idempotent: contract.idempotent,
            requires_approval: tool.requires_approval,
            version: tool.version.0.clone(),
        }
    }
}

impl From<&BoundTool> for ToolView {
    fn from(tool: &BoundTool) -> Self {
        let contract = &tool.contract;
        Self {
            summary: tool.into(),
            input_schema: contract.input_schema.to_value(),
            output_schema: contract.output_schema.to_value(),
            redaction_allow: contract.redaction.allow.clone(),
            permissions: contract.permissions.clone(),
            timeout_ms: contract.limits.timeout_ms,
            max_result_bytes: contract.limits.max_result_bytes,
            output_sections: serde_json::to_value(&contract.output).unwrap_or_default(),
            aliases: contract.aliases.iter().map(|alias| alias.id.to_string()).collect(),
        }
    }
}
