//! Links by which anyone may look at one call, for a while.

use serde::{Deserialize, Serialize};
use toolgate_core::share::Share;
use utoipa::ToSchema;

use crate::rfc3339;

/// A link to make.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareRequest {
    /// How long it lasts: 7 days when left out, at most 30 days or what the operator allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub expires_in_seconds: Option<u64>,
}

/// A link that was just made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NewShareView {
    /// Its id.
    pub id: String,
    /// The link. It is shown this once; only a hash of it is kept.
    pub url: String,
    /// When it ends.
    pub expires_at: String,
}

/// A link, without what opens it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ShareView {
    /// Its id.
    pub id: String,
    /// The call it shows.
    pub call_id: String,
    /// Who made it.
    pub by: String,
    /// When it was made.
    pub created_at: String,
    /// When it ends.
    pub expires_at: String,
}

impl From<&Share> for ShareView {
    fn from(share: &Share) -> Self {
        Self {
            id: share.id.to_string(),
            call_id: share.call.to_string(),
            by: share.by.to_string(),
            created_at: rfc3339(share.created_at),
            expires_at: rfc3339(share.expires_at),
        }
    }
}

/// The links to a call that still work.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ShareListView {
    /// The links, newest first.
    pub shares: Vec<ShareView>,
}
