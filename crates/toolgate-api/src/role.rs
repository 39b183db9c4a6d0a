//! Roles on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A named set of access rules, and what policies speak of.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    /// Its name.
    #[schema(example = "approver")]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The access rules it gives.
    pub rules: Vec<String>,
    /// Whether every tenant has a role of this name.
    pub built_in: bool,
    /// Whether this tenant's managers wrote it: a built-in role can be both.
    pub own: bool,
    /// How often it was written; none for a built-in one as it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Who wrote it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

/// A page of roles.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RoleListView {
    /// The roles, ordered by name.
    pub roles: Vec<RoleView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a role says. Nobody can write rules into a role that they do not hold themselves.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutRoleRequest {
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// The access rules it gives: `<plugin>.<resource>.<level>`, or `*`.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub rules: Vec<String>,
}
