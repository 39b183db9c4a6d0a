//! Keys on the wire: everything about one but the key itself, which is shown once.

use serde::{Deserialize, Serialize};
use toolgate_core::Timestamp;
use toolgate_core::principal::ApiKey;
use utoipa::ToSchema;

use crate::rfc3339;

/// A bearer key, without the key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KeyView {
    /// Its id.
    #[schema(pattern = "^key_[0-9a-f]{32}$")]
    pub id: String,
    /// Who it speaks for.
    pub principal: String,
    /// The person that principal works for when it uses this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What people call it.
    pub label: String,
    /// What it may do of what its principal may do; none means all of it.
    pub scopes: Vec<String>,
    /// `active`, `expired` or `revoked`.
    #[schema(example = "active")]
    pub status: String,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: String,
    /// When it stops working by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
    /// When it was last used, to within a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    /// The key that was rotated to make this one. Revoking that one revokes this one too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^key_[0-9a-f]{32}$")]
    pub replaces: Option<String>,
}

impl KeyView {
    /// A key as it stands at this moment.
    #[must_use]
    pub fn at(key: ApiKey, now: Timestamp) -> Self {
        let status = match (key.revoked_at, key.works_at(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "active",
            (None, false) => "expired",
        };
        Self {
            id: key.id.to_string(),
            principal: key.principal.to_string(),
            subject: key.subject.map(|subject| subject.to_string()),
            label: key.label,
            scopes: key.scopes.as_slice().iter().map(ToString::to_string).collect(),
            status: status.to_owned(),
            created_by: key.created_by.to_string(),
            created_at: rfc3339(key.created_at),
            expires_at: key.expires_at.map(rfc3339),
            revoked_at: key.revoked_at.map(rfc3339),
            last_used_at: key.last_used_at.map(rfc3339),
            replaces: key.replaces.map(|old| old.to_string()),
        }
    }
}

/// A page of keys.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KeyListView {
    /// The keys, oldest first.
    pub keys: Vec<KeyView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A new key. Shown once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NewKeyView {
    /// What is kept of it.
    pub key: KeyView,
    /// The key itself. It is not stored and can't be shown again.
    #[schema(example = "tgk_…")]
    pub secret: String,
}

/// A key to make.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKeyRequest {
    /// Who it speaks for; left out, you.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$", example = "agent:helper")]
    pub principal: Option<String>,
    /// What people call it.
    #[schema(min_length = 1, max_length = 120)]
    pub label: String,
    /// What it may do of what its principal may do: `tool:<id or start*>`, `effect:<effect>`, `rule:<access rule>`,
    /// `approve`, `manage` or `manage:<area>`. Left out, all of it. Never more than the key that makes it.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub scopes: Vec<String>,
    /// After how many seconds it stops working, at most 366 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub expires_in_seconds: Option<u64>,
    /// When it stops working (RFC 3339), at most 366 days ahead; instead of `expires_in_seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Whether the agent or service works for you when it uses this key. It must be one that may.
    #[serde(default)]
    pub on_behalf: bool,
}

/// How a key is rotated.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateKeyRequest {
    /// For how many seconds the old key still works, at most 7 days, or an hour when an agent or a service rotates its
    /// own; left out, it stops at once.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 604_800)]
    pub overlap_seconds: u64,
}
