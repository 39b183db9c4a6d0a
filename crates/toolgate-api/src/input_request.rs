//! Questions put to people by a link.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What a link asks.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InputRequestView {
    /// The request: `title`, `instructions`, and one of `questions`, `choose`, `markup` and `approve`.
    #[schema(value_type = Object)]
    pub request: Value,
    /// Until when it can be answered, in RFC 3339.
    pub expires_at: String,
    /// The MCP server that asks, where one does: the words are its own. Such a question can be declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInputRequest {
    /// By question id, or `chosen`, `notes`, `approved`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub answer: Value,
    /// Refuses to answer, instead: only what an MCP server asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
}
