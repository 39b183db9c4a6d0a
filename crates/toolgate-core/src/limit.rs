//! Limits: how often, how many at once and how dear, for a tenant, its principals and its tools.

use serde::{Deserialize, Serialize};

use crate::contract::text_form;
use crate::pattern::Pattern;

/// A rule of measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Whose calls count; none named means everyone's. `agent:*` names all agents.
    #[serde(default)]
    pub principals: Vec<Pattern>,
    /// Calls of which tools count; none named means all.
    #[serde(default)]
    pub tools: Vec<Pattern>,
    /// What has a measure of its own.
    pub per: Per,
    /// Calls a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_minute: Option<u32>,
    /// Calls at the same time on one node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// What calls may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Budget>,
    /// What happens when rate or cost is used up.
    #[serde(default)]
    pub on_overrun: Overrun,
}

impl Limit {
    /// Whether calls of this tool by this principal count.
    #[must_use]
    pub fn counts(&self, principal: &str, tool: &str) -> bool {
        let named = |patterns: &[Pattern], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(text))
        };
        named(&self.principals, principal) && named(&self.tools, tool)
    }
}

/// A limit that can't be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadLimit {
    /// It limits nothing.
    #[error("a limit needs at least one of `rate_per_minute`, `concurrency` and `cost`")]
    Nothing,
    /// A measure of nothing at all would be a kill switch.
    #[error("`rate_per_minute` and `concurrency` must be at least 1, `cost.micros` at least 0")]
    Zero,
    /// A budget over a choice of calls can't be read from the record.
    #[error(
        "a `cost` budget counts whole tenants, principals or tools: name `principals` only with `per: principal` or \
         `principal_and_tool`, and `tools` only with `per: tool` or `principal_and_tool`"
    )]
    PartialBudget,
}

impl Limit {
    /// Whether it can be kept.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self) -> Result<(), BadLimit> {
        if self.rate_per_minute.is_none() && self.concurrency.is_none() && self.cost.is_none() {
            return Err(BadLimit::Nothing);
        }
        if self.rate_per_minute == Some(0)
            || self.concurrency == Some(0)
            || self.cost.is_some_and(|cost| cost.micros < 0)
        {
            return Err(BadLimit::Zero);
        }
        let whole = match self.per {
            Per::Tenant => self.principals.is_empty() && self.tools.is_empty(),
            Per::Principal => self.tools.is_empty(),
            Per::Tool => self.principals.is_empty(),
            Per::PrincipalAndTool => true,
        };
        if self.cost.is_some() && !whole {
            return Err(BadLimit::PartialBudget);
        }
        Ok(())
    }
}

/// What has a measure of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// One measure for the whole tenant.
    Tenant,
    /// One for each principal.
    Principal,
    /// One for each tool.
    Tool,
    /// One for each principal and tool.
    PrincipalAndTool,
}

/// An amount of money in a span of time. Spans follow the calendar in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// How much, in millionths of the tenant's unit.
    pub micros: i64,
    /// In which span.
    pub every: Span,
}

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// From one full hour to the next.
    Hour,
    /// From midnight to midnight.
    Day,
    /// From the first of a month to the first of the next.
    Month,
}

text_form!(Span { Hour = "hour", Day = "day", Month = "month" });

/// What happens when a measure is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overrun {
    /// The call is refused.
    #[default]
    Stop,
    /// A person is asked.
    Ask,
}
