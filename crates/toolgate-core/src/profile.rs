//! Profiles: policy bundles on an assignment. Every field can only tighten.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limit::{Budget, Overrun};

/// What holds for an agent's use of assigned tools, on top of everything else. There is no field that loosens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Whether every call asks a person. Leaving it out keeps what policy and tool say; there is no `auto` here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ProfileApproval>,
    /// Calls a minute, for each agent and tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time, for each agent and tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// What the calls of each agent may cost altogether.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Budget>,
    /// What happens when rate or cost is used up.
    #[serde(default)]
    pub on_overrun: Overrun,
    /// A JSON Schema the input must fit besides the tool's own: bounds on arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

/// The one way a profile may change approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileApproval {
    /// Every call waits for a person.
    AlwaysAsk,
}
