//! Roles: named sets of access rules, and what policies speak of.

use serde::{Deserialize, Serialize};

/// A role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The access rules it gives: `<plugin>.<resource>.<level>`, or `*`.
    #[serde(default)]
    pub rules: Vec<String>,
}

/// The roles every tenant has: name, description, rules. A tenant's own role of the same name takes the place of one.
pub const BUILT_IN: [(&str, &str, &[&str]); 4] = [
    ("admin", "manages the tenant", &["*"]),
    ("approver", "decides on other people's calls", &[]),
    ("auditor", "reads the record", &[]),
    ("member", "sees and calls tools", &[]),
];
