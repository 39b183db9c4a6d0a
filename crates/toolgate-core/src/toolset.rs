//! Toolsets: named selections of tools.

use serde::{Deserialize, Serialize};

use crate::contract::{Effect, Egress, ToolContract};
use crate::pattern::Pattern;

/// A named selection of tools: what is included, less what is excluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolset {
    /// What people call it.
    #[serde(default)]
    pub title: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Tool ids; `*` at the end stands for any rest.
    pub tools: Vec<Pattern>,
    /// Left out of the above.
    #[serde(default)]
    pub exclude: Vec<Pattern>,
    /// Only tools with one of these effects; none named means all.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// Only tools with one of these egress classes; none named means all.
    #[serde(default)]
    pub egress: Vec<Egress>,
    /// How MCP clients of its endpoint find its tools.
    #[serde(default, skip_serializing_if = "ToolsetMode::is_list")]
    pub mode: ToolsetMode,
}

/// How MCP clients find the tools of a toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolsetMode {
    /// They are listed.
    #[default]
    List,
    /// They are searched for: three tools find, describe and call the others.
    Search,
}

impl ToolsetMode {
    fn is_list(&self) -> bool {
        *self == Self::List
    }

    /// The text form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Search => "search",
        }
    }
}

impl Toolset {
    /// Whether this tool is in it.
    #[must_use]
    pub fn holds(&self, tool: &ToolContract) -> bool {
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(tool.id.as_str()));
        named(&self.tools)
            && !named(&self.exclude)
            && (self.effects.is_empty() || self.effects.contains(&tool.effect))
            && (self.egress.is_empty() || self.egress.contains(&tool.egress))
    }
}
