//! Users, agents and services on the wire.

use serde::{Deserialize, Serialize};
use toolgate_core::id::PrincipalKind;
use toolgate_core::principal::Principal;
use utoipa::ToSchema;

use crate::rfc3339;

/// A user, agent or service.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PrincipalView {
    /// Its id.
    #[schema(example = "agent:helper")]
    pub id: String,
    /// `user`, `agent` or `service`.
    #[schema(example = "agent")]
    pub kind: String,
    /// What people call it.
    pub title: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// Access rules of its own, beside those of its roles; `*` is all of them.
    pub rules: Vec<String>,
    /// The people an agent or service may work for, by id or pattern.
    pub acts_for: Vec<String>,
    /// Whether it gets in no more.
    pub disabled: bool,
    /// When it was made.
    pub created_at: String,
}

impl From<Principal> for PrincipalView {
    fn from(principal: Principal) -> Self {
        let kind = match principal.id.kind() {
            PrincipalKind::User => "user",
            PrincipalKind::Agent => "agent",
            PrincipalKind::Service => "service",
        };
        Self {
            id: principal.id.to_string(),
            kind: kind.to_owned(),
            title: principal.title,
            roles: principal.roles.iter().map(ToString::to_string).collect(),
            rules: principal.rules.as_slice().to_vec(),
            acts_for: principal.acts_for.iter().map(ToString::to_string).collect(),
            disabled: principal.disabled,
            created_at: rfc3339(principal.created_at),
        }
    }
}

/// A page of principals.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PrincipalListView {
    /// The principals, ordered by id.
    pub principals: Vec<PrincipalView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A principal to make. Nobody can give roles or rules that they do not hold themselves.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePrincipalRequest {
    /// Its id: `user:`, `agent:` or `service:` and a name.
    #[schema(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$", example = "agent:helper")]
    pub id: String,
    /// What people call it; left out, the name in its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 120)]
    pub title: Option<String>,
    /// Its roles.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub roles: Vec<String>,
    /// Access rules of its own, such as `crm.contacts.read`; `*` is all of them.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub rules: Vec<String>,
    /// The people an agent or service may work for: ids, or the start of ids and `*`.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub acts_for: Vec<String>,
}

/// What to change of a principal; what is left out stays, and a list that is sent takes the place of the old one.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdatePrincipalRequest {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 120)]
    pub title: Option<String>,
    /// Its roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub roles: Option<Vec<String>>,
    /// Access rules of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub rules: Option<Vec<String>>,
    /// The people an agent or service may work for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub acts_for: Option<Vec<String>>,
    /// Whether it gets in no more: its keys stop working and its sign-ins end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}
