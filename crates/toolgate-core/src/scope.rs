//! Scopes: what a key may do of what its principal may do. They narrow and never widen.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::contract::{Effect, ToolContract};
use crate::document::Area;
use crate::id::BadId;
use crate::pattern::Pattern;

/// One thing a narrowed credential may still do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `tool:<id or start*>`: see and call these tools.
    Tool(Pattern),
    /// `effect:<read|mutate|destructive>`: only tools with such an effect.
    Effect(EffectScope),
    /// `rule:<access rule>`: of the principal's access rules, only these.
    Rule(String),
    /// `approve`: decide on waiting calls.
    Approve,
    /// `manage`: everything its principal may manage.
    ManageAll,
    /// `manage:<area>`: one area of it.
    Manage(Area),
}

impl Scope {
    const fn rule(&self) -> Option<&String> {
        match self {
            Self::Rule(rule) => Some(rule),
            _ => None,
        }
    }
}

/// An effect, ordered so that scopes can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectScope(u8);

impl EffectScope {
    const ALL: [Effect; 3] = [Effect::Read, Effect::Mutate, Effect::Destructive];

    fn effect(self) -> Effect {
        Self::ALL[usize::from(self.0)]
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(pattern) => write!(f, "tool:{pattern}"),
            Self::Effect(effect) => write!(f, "effect:{}", effect.effect().as_str()),
            Self::Rule(rule) => write!(f, "rule:{rule}"),
            Self::Approve => f.write_str("approve"),
            Self::ManageAll => f.write_str("manage"),
            Self::Manage(area) => write!(f, "manage:{}", area.as_str()),
        }
    }
}

impl FromStr for Scope {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId {
            expected: "scope: `tool:<id or start*>`, `effect:<effect>`, `rule:<access rule>`, `approve`, `manage` or \
                       `manage:<area>`",
        };
        match text.split_once(':') {
            None if text == "approve" => Ok(Self::Approve),
            None if text == "manage" => Ok(Self::ManageAll),
            Some(("tool", pattern)) => pattern.parse().map(Self::Tool).map_err(|_| bad()),
            Some(("effect", effect)) => EffectScope::ALL
                .iter()
                .zip(0..)
                .find(|(known, _)| known.as_str() == effect)
                .map(|(_, number)| Self::Effect(EffectScope(number)))
                .ok_or_else(bad),
            Some(("rule", rule)) if is_rule(rule) => Ok(Self::Rule(rule.to_owned())),
            Some(("manage", area)) => Area::from_text(area).map(Self::Manage).ok_or_else(bad),
            _ => Err(bad()),
        }
    }
}

/// Whether this can be an access rule: `<plugin>.<resource>.<level>`, or `*`.
#[must_use]
pub fn is_rule(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && (text == "*" || text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)))
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The scopes of a credential. None at all means everything its principal may do; otherwise only what is named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(Vec<Scope>);

impl Scopes {
    /// These scopes and nothing else; none means no narrowing.
    #[must_use]
    pub fn new(scopes: impl IntoIterator<Item = Scope>) -> Self {
        let mut scopes: Vec<Scope> = scopes.into_iter().collect();
        scopes.sort();
        scopes.dedup();
        Self(scopes)
    }

    /// Whether nothing is narrowed.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes.
    #[must_use]
    pub fn as_slice(&self) -> &[Scope] {
        &self.0
    }

    /// Whether this tool may be seen and called.
    #[must_use]
    pub fn reach(&self, tool: &ToolContract) -> bool {
        if self.is_all() {
            return true;
        }
        let mut named = None;
        let mut effects = None;
        let mut rules = false;
        for scope in &self.0 {
            match scope {
                Scope::Tool(pattern) => {
                    named = Some(named.unwrap_or(false) || pattern.matches(tool.id.as_str()));
                }
                Scope::Effect(effect) => {
                    effects = Some(effects.unwrap_or(false) || effect.effect() == tool.effect);
                }
                Scope::Rule(_) => rules = true,
                Scope::Approve | Scope::ManageAll | Scope::Manage(_) => {}
            }
        }
        // A key for approving or managing is not a key for calling.
        (named.is_some() || effects.is_some() || rules) && named.unwrap_or(true) && effects.unwrap_or(true)
    }

    /// Whether tools are narrowed, whatever else may be.
    #[must_use]
    pub fn narrow_tools(&self) -> bool {
        self.0.iter().any(|scope| matches!(scope, Scope::Tool(_) | Scope::Effect(_) | Scope::Rule(_)))
    }

    /// Whether decisions on waiting calls are among them.
    #[must_use]
    pub fn may_approve(&self) -> bool {
        self.is_all() || self.0.contains(&Scope::Approve)
    }

    /// Whether managing this area is among them.
    #[must_use]
    pub fn may_manage(&self, area: Area) -> bool {
        self.is_all() || self.0.iter().any(|s| *s == Scope::ManageAll || *s == Scope::Manage(area))
    }

    /// Of these access rules, those that are left.
    #[must_use]
    pub fn narrow_rules(&self, held: &[String]) -> Vec<String> {
        let named: Vec<&String> = self.0.iter().filter_map(Scope::rule).collect();
        if named.is_empty() {
            return held.to_vec();
        }
        let all = held.iter().any(|rule| rule == "*");
        named.into_iter().filter(|rule| all || held.contains(rule)).cloned().collect()
    }

    /// Whether a credential with these scopes can do no more than one with `outer`.
    #[must_use]
    pub fn within(&self, outer: &Self) -> bool {
        if outer.is_all() {
            return true;
        }
        if self.is_all() {
            return false;
        }
        let has = |wanted: fn(&Scope) -> bool, scopes: &Self| scopes.0.iter().any(wanted);
        // A dimension that the outer one narrows must be narrowed here too, unless nothing can be called at all.
        let calls =
            |scopes: &Self| has(|s| matches!(s, Scope::Tool(_) | Scope::Effect(_) | Scope::Rule(_)), scopes);
        let kept = |dimension: fn(&Scope) -> bool| !has(dimension, outer) || has(dimension, self);
        if calls(self)
            && !(calls(outer)
                && kept(|s| matches!(s, Scope::Tool(_)))
                && kept(|s| matches!(s, Scope::Effect(_)))
                && kept(|s| matches!(s, Scope::Rule(_))))
        {
            return false;
        }
        self.0.iter().all(|scope| match scope {
            Scope::Tool(pattern) => {
                !has(|s| matches!(s, Scope::Tool(_)), outer)
                    || outer.0.iter().any(|s| matches!(s, Scope::Tool(wide) if pattern.within(wide)))
            }
            Scope::Effect(_) => !has(|s| matches!(s, Scope::Effect(_)), outer) || outer.0.contains(scope),
            Scope::Rule(_) => !has(|s| matches!(s, Scope::Rule(_)), outer) || outer.0.contains(scope),
            Scope::Approve => outer.may_approve(),
            Scope::ManageAll => outer.0.contains(&Scope::ManageAll),
            Scope::Manage(area) => outer.may_manage(*area),
        })
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
