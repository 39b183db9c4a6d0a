//! Approval rules: who has to decide on which calls, how many, and in what time.

use serde::{Deserialize, Serialize};

use crate::contract::Effect;
use crate::pattern::Pattern;

/// Who has to decide on calls. Policy says whether someone must; this says who and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Of which tools; none named means all.
    #[serde(default)]
    pub tools: Vec<Pattern>,
    /// Only tools with one of these effects; none named means all.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// By which principals; none named means everyone's.
    #[serde(default)]
    pub principals: Vec<Pattern>,
    /// The roles whose holders may decide; none named means whoever policy lets.
    #[serde(default)]
    pub approvers: Vec<String>,
    /// How many people must say yes.
    #[serde(default = "one")]
    pub needed: u32,
    /// After how many seconds it is passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_after_seconds: Option<u64>,
    /// To which roles; none named means to whoever policy lets.
    #[serde(default)]
    pub escalate_to: Vec<String>,
    /// After how many seconds it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after_seconds: Option<u64>,
}

const fn one() -> u32 {
    1
}

impl ApprovalRule {
    /// Whether it concerns calls of this tool by this principal.
    #[must_use]
    pub fn concerns(&self, tool: &str, effect: Effect, principal: &str) -> bool {
        let named = |patterns: &[Pattern], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(text))
        };
        named(&self.tools, tool)
            && named(&self.principals, principal)
            && (self.effects.is_empty() || self.effects.contains(&effect))
    }
}
