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
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInputRequest {
    /// By question id, or `chosen`, `notes`, `approved`.
    #[schema(value_type = Object)]
    pub answer: Value,
}
