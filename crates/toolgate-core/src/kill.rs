//! Kill switches: what is stopped at once, whatever policy says.

use serde::{Deserialize, Serialize};

use crate::contract::text_form;

/// What a switch stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KillKind {
    /// All calls of a tool.
    Tool,
    /// All calls by a principal, or on its behalf.
    Principal,
    /// All calls that use a connection.
    Connection,
    /// All calls in a session.
    Session,
    /// All calls of the tenant.
    Tenant,
}

text_form!(KillKind {
    Tool = "tool",
    Principal = "principal",
    Connection = "connection",
    Session = "session",
    Tenant = "tenant"
});

/// A thrown switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    /// What it stops.
    pub kind: KillKind,
    /// Which one: an id; the tenant's own for a tenant.
    pub target: String,
    /// Why, for those who meet it.
    pub reason: String,
}

impl Kill {
    /// The document's name.
    #[must_use]
    pub fn document_name(kind: KillKind, target: &str) -> String {
        format!("{}:{target}", kind.as_str())
    }
}
