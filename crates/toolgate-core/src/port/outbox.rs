//! Messages to the outside, kept until they were taken there.

use async_trait::async_trait;

use crate::event::Event;
use crate::id::{NotificationId, TenantId};
use crate::notification::{Notification, NotificationState, Tried};
use crate::port::store::StoreError;
use crate::time::Timestamp;

/// An event that people may have to be told of, and that nobody has looked at yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Its number among the news.
    pub number: i64,
    /// What happened.
    pub event: Event,
}

/// News and notifications.
///
/// The store itself notes an event as news in the transaction that writes it, for these kinds: `tool.needs_approval`,
/// `tool.review_changed`, `tool.approved`, `tool.rejected`, `tool.expired`, `tool.waiting` and `tool.in_doubt`. So an event
/// that is in the record and not yet news does not exist, and writing one costs no further round trip.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    /// News of all tenants, oldest first. Looking takes none away.
    async fn news(&self, limit: u32) -> Result<Vec<News>, StoreError>;

    /// Takes these news away and writes what people are told of them, as one. If any of the news was taken by someone
    /// else, answers [`StoreError::Conflict`] and changes nothing. A notification whose key is there already is left out.
    async fn post(&self, news: &[i64], notifications: Vec<Notification>) -> Result<(), StoreError>;

    /// Claims up to `limit` notifications of a channel that are due, the longest due first: counts an attempt and puts
    /// their next look off to `until`. Whoever else asks at the same time gets others.
    async fn claim_notifications(
        &self,
        tenant: &TenantId,
        channel: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError>;

    /// Writes how a try went, if it is still the last one of this notification: a sender that comes back late changes
    /// nothing. Answers whether it counted.
    async fn settle_notification(&self, claimed: &Notification, tried: Tried) -> Result<bool, StoreError>;

    /// Makes a notification that is not delivered due at `at`, dead or not. A delivered one answers
    /// [`StoreError::Conflict`], one that is not there [`StoreError::NotFound`].
    async fn retry_notification(
        &self,
        tenant: &TenantId,
        id: NotificationId,
        at: Timestamp,
    ) -> Result<Notification, StoreError>;

    /// Notifications of a tenant, in one state or all, newest first, after `after`.
    async fn notifications(
        &self,
        tenant: &TenantId,
        state: Option<NotificationState>,
        after: Option<NotificationId>,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError>;

    /// Forgets notifications that arose before this moment and are over, delivered or dead.
    async fn forget_notifications(&self, before: Timestamp) -> Result<(), StoreError>;
}
