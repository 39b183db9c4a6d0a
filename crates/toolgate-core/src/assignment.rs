//! Assignments: which tools an agent has at all. An agent with none has no tools.

use serde::{Deserialize, Serialize};

use crate::id::{PrincipalId, Slug, ToolName};

/// What is assigned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assigned {
    /// One tool.
    Tool(ToolName),
    /// All tools of a toolset.
    Toolset(Slug),
}

/// Binds tools to an agent, if wanted with a profile that tightens what it may do with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// The agent.
    pub agent: PrincipalId,
    /// What it gets.
    pub target: Assigned,
    /// What holds on top for these tools. A profile that is gone means no calls: it can't be known what it forbade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Slug>,
}

impl Assignment {
    /// The document's name: one for each agent and target.
    #[must_use]
    pub fn document_name(agent: &PrincipalId, target: &Assigned) -> String {
        match target {
            Assigned::Tool(tool) => format!("{agent} tool:{tool}"),
            Assigned::Toolset(name) => format!("{agent} toolset:{name}"),
        }
    }
}
