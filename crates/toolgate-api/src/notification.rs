//! Notifications on the wire.

use serde::{Deserialize, Serialize};
use toolgate_core::notification::Notification;
use utoipa::ToSchema;

use crate::rfc3339;

/// One message to one channel.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NotificationView {
    /// Its id.
    pub id: String,
    /// The operator's name for where it goes.
    pub channel: String,
    /// What it tells: `approval.requested`, `approval.escalated`, `approval.decided`, `input.requested`, `call.in_doubt`
    /// or `channel.test`.
    pub event: String,
    /// The call it speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What the other side knows it by: `Toolgate-Id`, the same however often it is sent.
    pub key: String,
    /// `waiting`, `delivered` or `dead`.
    pub state: String,
    /// How often it was sent.
    pub attempts: u32,
    /// When it arose, in RFC 3339.
    pub created_at: String,
    /// When it is sent next, or counts as lost by whoever sends it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<String>,
    /// When the other side took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<String>,
    /// How the last try went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl From<Notification> for NotificationView {
    fn from(notification: Notification) -> Self {
        Self {
            id: notification.id.to_string(),
            channel: notification.channel,
            event: notification.kind.as_str().to_owned(),
            call_id: notification.call.map(|call| call.to_string()),
            key: notification.key,
            state: notification.state.as_str().to_owned(),
            attempts: notification.attempts,
            created_at: rfc3339(notification.created_at),
            due_at: notification.due_at.map(rfc3339),
            delivered_at: notification.delivered_at.map(rfc3339),
            last_error: notification.last_error,
        }
    }
}

/// A page of notifications.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NotificationListView {
    /// The notifications, newest first.
    pub notifications: Vec<NotificationView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
