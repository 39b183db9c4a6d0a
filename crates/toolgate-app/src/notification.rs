//! Notifications as those who manage approvals see them: what was told, what was not, and whether a channel works.

use toolgate_core::document::Area;
use toolgate_core::id::NotificationId;
use toolgate_core::notification::{Notification, NotificationKind, NotificationState, Tried};
use toolgate_core::port::store::StoreError;
use toolgate_core::{Actor, Timestamp};

use crate::outbox_message::Message;
use crate::{App, AppError};

/// How long notifications that are over are kept.
const KEPT_MICROS: i64 = 30 * 24 * 3600 * 1_000_000;

impl App {
    /// Notifications of the caller's tenant, newest first, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage approvals.
    pub async fn list_notifications(
        &self,
        actor: &Actor,
        state: Option<NotificationState>,
        after: Option<NotificationId>,
        limit: u32,
    ) -> Result<(Vec<Notification>, Option<NotificationId>), AppError> {
        self.require(actor, Area::Approvals)?;
        let mut found =
            self.store().notifications(&actor.tenant, state, after, limit.saturating_add(1)).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|last| last.id);
        Ok((found, next))
    }

    /// Sends a notification that was not delivered once more, dead or not.
    ///
    /// # Errors
    /// "Not found" for one that is not there, a conflict for one that was delivered.
    pub async fn retry_notification(
        &self,
        actor: &Actor,
        id: NotificationId,
    ) -> Result<Notification, AppError> {
        self.require(actor, Area::Approvals)?;
        match self.store().retry_notification(&actor.tenant, id, self.now()).await {
            Err(StoreError::NotFound) => Err(AppError::NotFound { what: "notification" }),
            Err(StoreError::Conflict) => {
                Err(AppError::Conflict { message: "the notification was delivered already".to_owned() })
            }
            other => Ok(other?),
        }
    }

    /// Sends a message to a channel at once, to see whether it arrives. It is tried once.
    ///
    /// # Errors
    /// "Not found" for a channel that the tenant does not have.
    pub async fn test_channel(&self, actor: &Actor, name: &str) -> Result<Notification, AppError> {
        self.require(actor, Area::Approvals)?;
        let mut own = self.outbox.channels.iter().filter(|channel| channel.tenant == actor.tenant);
        let channel =
            own.find(|channel| channel.name == name).ok_or(AppError::NotFound { what: "channel" })?;
        let (id, now) = (NotificationId::generate(), self.now());
        let key = format!("{id}.{name}");
        let message = Message::test(key.clone(), &actor.tenant, actor.principal.as_str(), now);
        let mut notification = Notification {
            id,
            tenant: actor.tenant.clone(),
            channel: name.to_owned(),
            kind: NotificationKind::Test,
            call: None,
            key,
            payload: message.to_json(),
            state: NotificationState::Waiting,
            // Claimed from the start, so that nobody else sends it.
            attempts: 1,
            due_at: Some(now.plus(self.outbox.pace.lease)),
            created_at: now,
            delivered_at: None,
            last_error: None,
        };
        self.store().post(&[], vec![notification.clone()]).await?;
        // There is no second try: whoever asked is still there.
        let tried = match self.try_send(channel, &notification).await {
            Tried::Later { error, .. } => Tried::Dead { error },
            other => other,
        };
        let claimed = notification.clone();
        notification.due_at = None;
        match &tried {
            Tried::Delivered { at } => {
                notification.state = NotificationState::Delivered;
                notification.delivered_at = Some(*at);
            }
            Tried::Later { error, .. } | Tried::Dead { error } => {
                notification.state = NotificationState::Dead;
                notification.last_error = Some(error.clone());
            }
        }
        self.store().settle_notification(&claimed, tried).await?;
        Ok(notification)
    }

    /// Forgets notifications that are over and old.
    pub(crate) async fn forget_notifications(&self) -> Result<(), StoreError> {
        let before = Timestamp::from_micros(self.now().as_micros() - KEPT_MICROS);
        self.store().forget_notifications(before).await
    }
}
