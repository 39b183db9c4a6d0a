//! Rules as data: allowlists by tool, effect, egress and principal.

use serde::{Deserialize, Serialize};
use toolgate_core::port::gate::{Decision, Policy, Verdict};
use toolgate_core::{Actor, Effect, Egress, ToolContract};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleDecision {
    /// The call may run.
    Allow,
    /// A person must decide.
    Ask,
    /// The call may not run.
    Deny,
}

/// One rule. Every list narrows; an empty list matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What denials and records call it.
    pub name: String,
    /// What it says.
    pub decision: RuleDecision,
    /// Tool ids; `*` at the end stands for any rest.
    #[serde(default)]
    pub tools: Vec<String>,
    /// What the tool does to state.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// What leaves the house.
    #[serde(default)]
    pub egress: Vec<Egress>,
    /// Principals; `*` at the end stands for any rest, as in `agent:*`.
    #[serde(default)]
    pub principals: Vec<String>,
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// It has no name to blame.
    #[error("rule {0} has no name")]
    Unnamed(usize),
    /// Two rules have one name.
    #[error("two rules are named `{0}`")]
    Twice(String),
    /// A `*` stands anywhere but at the end.
    #[error("rule `{rule}`: `{pattern}` may have `*` only at its end")]
    Pattern {
        /// The rule.
        rule: String,
        /// The pattern.
        pattern: String,
    },
}

/// Rules in force.
#[derive(Debug, Clone)]
pub struct RulePolicy {
    rules: Vec<Rule>,
}

impl Default for RulePolicy {
    /// Reads are free; what changes something asks a person first.
    fn default() -> Self {
        let rule = |name: &str, decision, effects: &[Effect]| Rule {
            name: name.to_owned(),
            decision,
            tools: Vec::new(),
            effects: effects.to_vec(),
            egress: Vec::new(),
            principals: Vec::new(),
        };
        Self {
            rules: vec![
                rule("default: reads run", RuleDecision::Allow, &[Effect::Read]),
                rule(
                    "default: changes ask a person",
                    RuleDecision::Ask,
                    &[Effect::Mutate, Effect::Destructive],
                ),
            ],
        }
    }
}

impl RulePolicy {
    /// A policy of these rules and nothing else.
    ///
    /// # Errors
    /// The first rule that cannot be used.
    pub fn new(rules: Vec<Rule>) -> Result<Self, BadRule> {
        for (i, rule) in rules.iter().enumerate() {
            if rule.name.trim().is_empty() {
                return Err(BadRule::Unnamed(i + 1));
            }
            if rules[..i].iter().any(|other| other.name == rule.name) {
                return Err(BadRule::Twice(rule.name.clone()));
            }
            for pattern in rule.tools.iter().chain(&rule.principals) {
                if pattern.is_empty() || pattern[..pattern.len() - 1].contains('*') {
                    return Err(BadRule::Pattern { rule: rule.name.clone(), pattern: pattern.clone() });
                }
            }
        }
        Ok(Self { rules })
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Policy for RulePolicy {
    fn decide(&self, actor: &Actor, tool: &ToolContract) -> Decision {
        let strictest = self.rules.iter().filter(|rule| rule.matches(actor, tool)).max_by_key(|rule| {
            match rule.decision {
                RuleDecision::Allow => 0,
                RuleDecision::Ask => 1,
                RuleDecision::Deny => 2,
            }
        });
        let Some(rule) = strictest else {
            return Decision {
                verdict: Verdict::Deny,
                rule: "deny by default".to_owned(),
                reason: format!("no rule lets `{}` call `{}`", actor.principal, tool.id),
                hint: Some("add an `allow` or `ask` rule for this tool to the policy".to_owned()),
            };
        };
        match rule.decision {
            RuleDecision::Allow => Decision {
                verdict: Verdict::Allow,
                rule: rule.name.clone(),
                reason: String::new(),
                hint: None,
            },
            RuleDecision::Ask => Decision {
                verdict: Verdict::Ask,
                rule: rule.name.clone(),
                reason: format!("rule `{}` asks a person first", rule.name),
                hint: None,
            },
            RuleDecision::Deny => Decision {
                verdict: Verdict::Deny,
                rule: rule.name.clone(),
                reason: format!("rule `{}` denies it", rule.name),
                hint: Some(format!("whoever keeps the policy can narrow the rule `{}`", rule.name)),
            },
        }
    }
}

impl Rule {
    fn matches(&self, actor: &Actor, tool: &ToolContract) -> bool {
        any_pattern(&self.tools, tool.id.as_str())
            && any_pattern(&self.principals, actor.principal.as_str())
            && (self.effects.is_empty() || self.effects.contains(&tool.effect))
            && (self.egress.is_empty() || self.egress.contains(&tool.egress))
    }
}

fn any_pattern(patterns: &[String], text: &str) -> bool {
    patterns.is_empty()
        || patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => text.starts_with(start),
            None => pattern == text,
        })
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
