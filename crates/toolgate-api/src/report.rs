//! Results of calls that were handed on.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::InvocationView;

/// What came of a call: `result` or `error`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolResultRequest {
    /// The call; left out at a callback address, which knows it.
    #[serde(rename = "callId", default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The result; it must fit the tool's output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub result: Option<Value>,
    /// Why there is none, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub error: Option<String>,
    /// What it cost, in millionths of the tenant's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub cost_micros: Option<i64>,
}

/// Where the answer to a waiting call goes.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LinksView {
    /// Where the result is to be reported, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// Where a person answers, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_url: Option<String>,
}

/// What became of a reported result.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolResultView {
    /// Whether it is the call's outcome; a late one is kept and changes nothing.
    pub taken: bool,
    /// The call.
    pub invocation: InvocationView,
}
