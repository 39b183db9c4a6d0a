//! Standing grants: a person's word that lets such calls run without asking again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{InvocationId, PrincipalId, SessionId, ToolName};
use crate::time::Timestamp;

/// What a person let run beforehand: one tool, one caller, within these arguments, for so long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Which tool.
    pub tool: ToolName,
    /// Whose calls.
    pub actor: PrincipalId,
    /// For whom that caller works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<PrincipalId>,
    /// Only in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// A JSON Schema the arguments must fit; none means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Who gave it.
    pub by: PrincipalId,
    /// When.
    pub created_at: Timestamp,
    /// The call it was given with.
    pub call: InvocationId,
}

impl Grant {
    /// The rule the record names a grant by.
    #[must_use]
    pub fn rule(name: &str) -> String {
        format!("grant: {name}")
    }
}
